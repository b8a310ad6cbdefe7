"""What kube-apiserver would never send costs a caller his request, and us nothing."""

import contextlib
from typing import Any

import pytest

from berth import names
from berth.admission import mutate
from berth.errors import BadReview
from berth.model.decision import Verdict
from tests.dialects import converting
from tests.dialects.converting import A100, WRITTEN
from tests.pods import container, pod

ANNOTATIONS = (
    *(names.GPU_MEMORY, names.GPU_MODEL, names.MODEL, names.MODEL_USE, names.MODEL_PRECISION),
    *(names.ORIGINAL_REQUEST, names.DECISION, names.OVERSUBSCRIPTION),
    *names.KAI_ANNOTATIONS,
)
WRONG: tuple[Any, ...] = (None, True, 0, 1.5, [], {}, ["x"], {"x": []}, "")
SPECS: tuple[Any, ...] = (None, {}, {"containers": None}, {"containers": []})


@pytest.mark.parametrize("writes", WRITTEN)
def test_an_annotation_of_another_type_is_no_fault_of_ours(writes: str) -> None:
    """Alone, and beside KAI's, in a Pod that asks and in one that has no containers."""
    rules, answered = converting.converting(writes, A100), set[Verdict]()
    asking = pod(container("main", {"nvidia.com/gpu": "1"}))["spec"]
    plain = pod(container("main", {}))["spec"]
    for key in ANNOTATIONS:
        for value in WRONG:
            for spec in (asking, plain, *SPECS):
                for beside in ({}, {"gpu-memory": "3000"}, {names.MODEL: "7b"}):
                    annotations = {**beside, key: value}
                    given = {"metadata": {"name": "p", "annotations": annotations}, "spec": spec}
                    with contextlib.suppress(BadReview):
                        decision = mutate.decide(given, "default", rules)
                        answered.add(decision.verdict)
                        refused = decision.verdict is Verdict.REFUSED
                        assert refused is bool(decision.problems), given
    assert answered >= {Verdict.PATCHED, Verdict.UNCHANGED, Verdict.REFUSED}
