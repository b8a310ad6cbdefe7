"""What is remembered of containers that ask alike: an answer is the same as if nothing were."""

import copy
import random
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import msgspec
import pytest
import yaml

from berth import layered
from berth.admission import configuration, mutate, project
from berth.admission.rules import Rules
from berth.dialects import convert, reading
from berth.errors import BadReview
from berth.model import decision
from berth.model.problem import Problem
from berth.settings import Settings
from berth.words.catalogue import CATALOGUES
from tests.pods import Pod, container, gpu_pod, pod
from tests.properties import laws

GPU, MEMORY, CORES = "nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpucores"
PODS = 150
MEMORIES = (reading.remembered, convert.remembered)


def _plain(*flags: str) -> Rules:
    return configuration.rules(layered.settings(None, flags), None)[0]


def _converting(writes: str, **more: Any) -> Rules:
    conversion = {"name": "c", "namespaces": ["*"], "reads": ["hami", "volcano", "plain"]}
    text = yaml.safe_dump({"conversions": [{**conversion, "writes": writes, **more}]})
    settings = msgspec.convert(yaml.safe_load(text), Settings)
    return configuration.rules(settings, None)[0]


GENERATIONS = [
    _plain(),
    _plain("policy.privileged=allow", "scheduler.name="),
    _converting("volcano", defaults={"cpuRequest": "4", "memoryRequest": "16Gi"}),
    _converting("pool", memory="8Gi"),
    _converting("hami", oversubscription={"memory": 2, "cores": 1.5}),
]
"""The settings as they were read, one after the other, while Pods kept coming."""


def _forget() -> None:
    for memory in (*MEMORIES, decision.because):
        memory.cache_clear()


def _decided(asked: Pod, rules: Rules) -> str:
    try:
        found = mutate.decide(asked, "default", rules)
    except BadReview as error:
        return str(error)
    wanted = found.demand.shares if found.demand else ()
    shares = [msgspec.structs.replace(share, vendor=share.vendor.name) for share in wanted]
    return repr((msgspec.structs.replace(found, demand=None), shares, [*_sentences(found)]))


def _sentences(found: decision.Decision) -> Iterator[str]:
    for language in CATALOGUES:
        yield from found.reasons(language)
        yield from (warning.text(language) for warning in found.warnings)


def _akin(dice: random.Random, asked: Pod) -> Iterator[Pod]:
    """Yield Pods that differ from one in a single thing that may count."""
    kept = copy.deepcopy(asked)
    yield kept
    for change in (_another_amount, _another_kind, _another_request, _another_place, _chosen):
        other = copy.deepcopy(asked)
        change(dice, other)
        yield other
    yield kept


def _amounts(dice: random.Random, asked: Pod, kind: str) -> tuple[dict[str, Any], str]:
    first = asked["spec"]["containers"][0]
    resources = first["resources"] = first.get("resources") or {}
    amounts = resources.get(kind) or {GPU: "1"}
    resources[kind] = amounts
    return amounts, dice.choice([*amounts])


def _another_amount(dice: random.Random, asked: Pod) -> None:
    for kind in ("limits", "requests"):
        amounts, name = _amounts(dice, asked, kind)
        amounts[name] = dice.choice(("1", "2", "3000"))


def _another_kind(dice: random.Random, asked: Pod) -> None:
    amounts, name = _amounts(dice, asked, "limits")
    amounts[name] = dice.choice((1, True, 1.0))


def _another_request(dice: random.Random, asked: Pod) -> None:
    amounts, name = _amounts(dice, asked, "requests")
    amounts[name] = "2"


def _another_place(dice: random.Random, asked: Pod) -> None:
    del dice
    asked["spec"]["containers"].insert(0, container("first"))


def _chosen(dice: random.Random, asked: Pod) -> None:
    value = dice.choice(("A100", "mig", "GPU-1", 7, ""))
    key = dice.choice(("nvidia.com/use-gputype", "nvidia.com/vgpu-mode", "nvidia.com/use-gpuuuid"))
    asked["metadata"]["annotations"] = {key: value}


def _pods(dice: random.Random) -> Iterator[Pod]:
    """Yield random Pods that the API server would pass on."""
    for _ in range(PODS):
        made = laws.random_pod(dice)
        with suppress(BadReview):
            project.pod(made)
            yield made


def _cases(dice: random.Random) -> Iterator[tuple[Pod, Rules]]:
    asked = [*_pods(dice), gpu_pod({GPU: "1", MEMORY: "3k"}), gpu_pod({GPU: "1", CORES: "30"})]
    for one in asked:
        for akin in _akin(dice, one):
            yield akin, dice.choice(GENERATIONS)


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_remembered_changes_no_answer(seed: int) -> None:
    """Random Pods and their like, by settings that are read anew: warm and cold say the same."""
    dice = random.Random(seed)
    cases = [*_cases(dice)]
    _forget()
    warm = [_decided(one, rules) for one, rules in cases]
    assert all(memory.cache_info().hits for memory in MEMORIES), "nothing was remembered"
    cold = []
    for one, rules in cases:
        _forget()
        cold.append(_decided(one, rules))
    wrong = [case for case, (now, then) in enumerate(zip(warm, cold, strict=True)) if now != then]
    assert not wrong, f"seed {seed}: {cases[wrong[0]]}"


def test_what_is_remembered_is_what_is_read() -> None:
    """Each container's wish, and its words, are those that all of the container and Pod give."""
    dice = random.Random(3)
    _forget()
    for one, rules in _cases(dice):
        options = rules.within("default").options
        made = project.pod(one)
        found = reading.read(made, options, skip_privileged=False)
        plain = [reading.asked(each, made.annotations, options) for each in made.containers]
        wanted = [(each.asks, each.share) for each in found.demand.containers]
        assert wanted == [(each.vendors, each.share) for each in plain], one
        problems = list[Problem]()
        for problem in [problem for each in plain for problem in each.problems]:
            if problem.path[0] == "spec" or problem not in problems:  # of the Pod: said once
                problems.append(problem)
        assert [*found.problems][: len(problems)] == problems, one
        assert all(found.problems.count(each) == 1 for each in problems if each.path[0] != "spec")
        warnings = [warning for each in plain for warning in each.warnings]
        assert [*found.warnings][len(found.warnings) - len(warnings) :] == warnings, one
        for each in found.demand.containers:
            if options.conversion and each.share and each.share.vendor.name == "nvidia":
                words = convert.asking(each, each.share, options)
                assert words == convert.written(each.container, each.share, options), one


def test_names_are_not_remembered() -> None:
    """Pods that ask alike are one key, whatever they and their containers are called."""
    _forget()
    for name in ("a", "b", "c"):
        made = pod(container(name, {GPU: "1"}), metadata={"name": name})
        mutate.decide(made, "default", GENERATIONS[2])
    assert [memory.cache_info().currsize for memory in MEMORIES] == [1, 1]


def test_a_huge_wish_is_answered_and_not_kept() -> None:
    """Keys are short: who sends many large Pods does not fill our memory."""
    _forget()
    for size, rules in product(range(3000, 3003), (GENERATIONS[0], GENERATIONS[2])):
        mutate.decide(gpu_pod({GPU: "1" * size}), "default", rules)
        annotations = {"nvidia.com/use-gputype": "x" * size}
        made = pod(container(limits={GPU: "1"}), metadata={"annotations": annotations})
        mutate.decide(made, "default", rules)
    assert [memory.cache_info().currsize for memory in MEMORIES] == [0, 0]


def test_a_sentence_that_was_asked_for_is_said_in_the_language_that_is_asked_for() -> None:
    """What one reader was told, in Chinese or English, is not what the next one reads."""
    _forget()
    first = mutate.decide(gpu_pod({GPU: "1"}), "default", GENERATIONS[2])
    english, chinese = ([warning.text(each) for warning in first.warnings] for each in CATALOGUES)
    assert english != chinese
    again = mutate.decide(gpu_pod({GPU: "1"}), "default", GENERATIONS[2])
    assert [warning.text("zh") for warning in again.warnings] == chinese
    assert [str(warning) for warning in again.warnings] == english
