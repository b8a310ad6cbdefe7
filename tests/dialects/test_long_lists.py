"""Lists of very many entries in an annotation, as long as the API server takes them, and longer.

A decision holds the event loop, and one of half a minute would end the process.
"""

import time

import pytest

from berth import names
from berth.admission import scope
from berth.model.decision import Verdict
from berth.model.reason import Reason
from tests.dialects.converting import GPU, asking, converting, decide
from tests.pods import Pod

_ENTRIES = 40_000
_MOST_CPU_SECONDS = 4  # a tenth of that is needed; with a look at each entry, ten times as much


def _asking(annotation: str, text: str) -> Pod:
    pod = asking({GPU: "1"})
    pod["metadata"]["annotations"] = {"nvidia.com/vgpu-mode": "mig", annotation: text}
    return pod


@pytest.mark.parametrize("annotation", ["nvidia.com/use-gputype", names.GPU_MODEL])
@pytest.mark.parametrize("entries", ["the same", "other ones"])
def test_a_long_list_of_models_is_read_quickly(annotation: str, entries: str) -> None:
    """Each model that is named has its profiles, and a million times the same ones too."""
    listed = ["a" if entries == "the same" else str(number) for number in range(_ENTRIES)]
    before = time.process_time()
    decide(_asking(annotation, ",".join(listed)), converting("hami"))
    assert time.process_time() - before < _MOST_CPU_SECONDS


@pytest.mark.parametrize("entry", ["", "x=1Gi", "1Gi", "?"])
def test_a_list_of_more_sizes_than_containers_is_no_size(entry: str) -> None:
    """One sentence, not one for each entry."""
    text = ",".join([entry] * _ENTRIES)
    before = time.process_time()
    decision = decide(_asking(names.GPU_MEMORY, text), converting("hami"))
    assert time.process_time() - before < _MOST_CPU_SECONDS
    assert decision.verdict is Verdict.REFUSED
    assert [problem.reason for problem in decision.problems] == [Reason.ANNOTATION]


@pytest.mark.parametrize("length", [1, 3 * 2**20])
def test_annotations_that_cannot_be_stored_are_not_read(length: int) -> None:
    """The API server refuses the Pod after us, and says why; before, others would wait for us."""
    pod = _asking("nvidia.com/use-gputype", "a," * (length // 2))
    pod["metadata"]["annotations"]["other"] = "x" * scope.MOST_ANNOTATION
    decision = decide(pod, converting("hami"))
    assert decision.verdict is Verdict.IGNORED
    assert [note.code for note in decision.notes] == ["left.too-long"]
    pod["metadata"]["annotations"] = {"other": "x" * (scope.MOST_ANNOTATION - 100)}
    assert decide(pod, converting("hami")).verdict is Verdict.PATCHED
