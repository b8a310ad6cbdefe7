"""What is written in any dialect is read again as what was meant, up to losses with names."""

import random
import sys
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from berth import names
from berth.admission import mutate, project
from berth.admission.rules import Rules
from berth.dialects import convert, kai, translate
from berth.model.decision import Verdict
from berth.model.demand import NO_WISHES, Share, Wishes
from berth.model.loss import Loss
from berth.model.reason import Reason
from tests.dialects import converting
from tests.dialects.converting import A100, T4, WRITTEN
from tests.e2e import dialect_pods
from tests.pods import Pod, container, pod

BLOCK = 256
STACKS = {"volcano": {"blockMib": BLOCK, "minor": 16}}
RULES = {
    handling: {
        one: converting.converting(
            one, A100, stacks=STACKS, loss=handling, losses={"init-container": handling}
        )
        for one in WRITTEN
    }
    for handling in ("warn", "refuse", "drop")
}
FLEETS = ((A100,), (T4,), (T4, A100), ())
LATER = {one: [RULES["drop"][one].knowing(cards) for cards in FLEETS] for one in WRITTEN}
"""When other cards have come."""
BACK = {one: converting.converting(one, A100, stacks=STACKS, reads=[]) for one in WRITTEN}
"""Where nothing but the written dialect is read."""
SPOKEN = {one.dialect: one for one in RULES["warn"]["hami"].options.words if one.name == "nvidia"}
SPOKEN["plain"] = converting.words(RULES["warn"]["plain"])

Meaning = tuple[Any, ...]
Size = tuple[int | None, int | None] | None
"""MiB, or percent; None: all of the card."""


@dataclass(frozen=True)
class Asked:
    """A demand that was drawn, and the Pod that asks for it."""

    pod: Pod
    shares: dict[str, Share]
    """By container."""
    wishes: Wishes
    early: frozenset[str]
    """The containers that are init containers or sidecars."""
    model: bool
    """Whether models are chosen by our own annotation, which stays."""


def amounts(share: Share) -> Meaning:
    """Return what a share comes to, whichever way it is said: all of a card is no percent of it."""
    percent = None if share.memory_percent in (None, 100) else share.memory_percent
    return share.count, share.memory_mib, percent, share.cores or 0


def choices(wishes: Wishes) -> Meaning:
    """Return which cards are chosen."""
    listed = (wishes.models, wishes.not_models, wishes.uuids, wishes.not_uuids)
    return *listed, wishes.numa, wishes.mode


def sayable(share: Share, dialect: str) -> tuple[Meaning, set[Loss]]:
    """Return what of a share a dialect can say, as its documentation has it, and what is lost."""
    if dialect == "hami":
        return amounts(share), set()
    lost = {Loss.PRIORITY} if share.priority is not None else set()
    whole = share.memory_mib is None and share.memory_percent in (None, 100)
    mib, cores = share.memory_mib, share.cores or 0
    if not whole and mib is None:
        mib = max(A100.memory_mib * int(share.memory_percent or 0) // 100, 1)
    if dialect == "volcano" and mib is not None and mib % BLOCK:
        # Percent of its own that becomes blocks was never a number of MiB.
        lost |= {Loss.ROUNDING} if share.vendor.dialect != "volcano" else set()
        mib = -(-mib // BLOCK) * BLOCK
    if dialect == "plain":
        lost |= set() if whole else {Loss.MEMORY}
        lost |= {Loss.CORES} if 0 < cores < 100 or (whole and not cores) else set()
        mib, cores = None, 100
    return amounts(replace(share, memory_mib=mib, memory_percent=None, cores=cores)), lost


def choosable(asked: Asked, dialect: str) -> tuple[Meaning, set[Loss]]:
    """Return which of a Pod's choices of cards a dialect can say, and what is lost."""
    wishes = asked.wishes
    if dialect == "hami":
        return choices(wishes), set()
    compared = wishes.node_policy or wishes.device_policy or wishes.weights
    lost = {Loss.POLICY} if compared else set()
    lost |= {Loss.NUMA} if wishes.numa else set()
    if dialect == "volcano":
        return choices(replace(wishes, numa=False)), lost
    lost |= {Loss.MODELS} if wishes.models or wishes.not_models else set()
    lost |= {Loss.DEVICES} if wishes.uuids or wishes.not_uuids else set()
    lost |= {Loss.MODE} if wishes.mode else set()
    return choices(Wishes(models=wishes.models) if asked.model else NO_WISHES), lost


def losses(asked: Asked, dialect: str) -> set[Loss]:
    """Return all that is lost of a Pod."""
    lost = choosable(asked, dialect)[1].union(
        *(sayable(share, dialect)[1] for share in asked.shares.values())
    )
    early = dialect == "volcano" and not asked.early.isdisjoint(asked.shares)
    return lost | ({Loss.INIT_CONTAINER} if early else set())


CHOICES: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "hami": {
        "nvidia.com/use-gputype": ("A100", {"models": ("a100",)}),
        "nvidia.com/nouse-gputype": ("T4,V100", {"not_models": ("t4", "v100")}),
        "nvidia.com/use-gpuuuid": ("GPU-1,GPU-2", {"uuids": frozenset({"GPU-1", "GPU-2"})}),
        "nvidia.com/nouse-gpuuuid": ("GPU-9", {"not_uuids": frozenset({"GPU-9"})}),
        "nvidia.com/numa-bind": ("true", {"numa": True}),
        "nvidia.com/vgpu-mode": ("mig", {"mode": "mig"}),
        names.NODE_POLICY: ("spread", {"node_policy": "spread"}),
        names.DEVICE_POLICY: ("mutex,binpack", {"device_policy": ("mutex", "binpack")}),
        names.WEIGHTS: ("slot=1,core=0,memory=2", {"weights": {"slot": 1}}),
    },
    "volcano": {
        "nvidia.com/use-gputype": ("A100", {"models": ("a100",)}),
        "volcano.sh/vgpu-use-gpuuuid": ("GPU-3", {"uuids": frozenset({"GPU-3"})}),
        "volcano.sh/vgpu-nouse-gpuuuid": ("GPU-4", {"not_uuids": frozenset({"GPU-4"})}),
        "volcano.sh/vgpu-mode": ("hami-core", {"mode": "hami-core"}),
    },
    "ours": {names.GPU_MODEL: ("A100", {"models": ("a100",)})},
}


@st.composite
def shares(draw: st.DrawFn, dialect: str) -> Share:
    """Return any share that a dialect can say."""
    words = SPOKEN[dialect]
    count = draw(st.integers(1, 8))
    one = Share(
        vendor=words, count=count, memory_mib=None, memory_percent=None, cores=100, priority=None
    )
    if dialect == "plain":
        return one
    sizes: list[st.SearchStrategy[Size]] = [
        st.none(),
        st.integers(1, 160).map(lambda blocks: (blocks * BLOCK, None)),
    ]
    if dialect != "volcano":
        sizes.append(st.integers(1, 40960).map(lambda mib: (mib, None)))
    if words.memory_percent or dialect == "kai":
        sizes.append(st.integers(1, 99).map(lambda percent: (None, percent)))
    if dialect == "kai":
        mib, percent = draw(st.one_of(sizes[1:])) or (None, None)
        return replace(one, memory_mib=mib, memory_percent=percent, cores=None)
    mib, percent = draw(st.one_of(sizes)) or (None, None)
    cores = draw(st.one_of(st.none(), st.integers(1, 100)))
    priority = draw(st.one_of(st.none(), st.integers(0, 9))) if words.priority else None
    return replace(one, memory_mib=mib, memory_percent=percent, cores=cores, priority=priority)


@st.composite
def asked(draw: st.DrawFn, dialects: tuple[str, ...] = WRITTEN) -> Asked:
    """Return a Pod with containers of all kinds, each asking in a dialect of its own, or not."""
    found: dict[str, tuple[str, Share]] = {}
    lists: dict[str, list[Pod]] = {"containers": [container("app")], "initContainers": []}
    early = set()
    for index in range(draw(st.integers(1, 4))):
        name, kind = f"c{index}", draw(st.sampled_from(("app", "app", "init", "sidecar")))
        limits = {}
        if not index or draw(st.booleans()):
            dialect = draw(st.sampled_from(dialects))
            share = draw(shares(dialect))
            found[name] = (dialect, share)
            limits = convert.limits(share, share.vendor)
        more = {"restartPolicy": "Always"} if kind == "sidecar" else {}
        lists["containers" if kind == "app" else "initContainers"].append(
            container(name, limits, **more)
        )
        early |= set() if kind == "app" else {name}
    spoken = {"hami" if one == "plain" else one for one, _ in found.values()} & CHOICES.keys()
    known = CHOICES[draw(st.sampled_from(sorted(spoken | {"ours"})))]
    chosen = draw(st.lists(st.sampled_from(sorted(known)), max_size=3, unique=True))
    meant = [known[key][1] for key in chosen]
    metadata: Pod = {"annotations": {key: known[key][0] for key in chosen}} if chosen else {}
    return Asked(
        pod(*lists["containers"], initContainers=lists["initContainers"], metadata=metadata),
        {name: share for name, (_, share) in found.items()},
        Wishes(**{key: value for one in meant for key, value in one.items()}),
        frozenset(early),
        names.GPU_MODEL in chosen,
    )


@st.composite
def fractional(draw: st.DrawFn) -> Asked:
    """Return a Pod that asks by KAI's annotations."""
    share = draw(shares("kai"))
    part = f"0.{share.memory_percent or 0:02}"
    size = (
        (names.KAI_FRACTION, part)
        if share.memory_percent
        else (names.KAI_MEMORY, str(share.memory_mib))
    )
    name = draw(st.sampled_from(("one", "two")))
    said = dict([size, (names.KAI_DEVICES, str(share.count)), (names.KAI_CONTAINER, name)])
    both = container("one"), container("two")
    whole = pod(*both, metadata={"annotations": said}, schedulerName="kai-scheduler")
    return Asked(whole, {name: share}, NO_WISHES, frozenset(), model=False)


def read(decided: Pod, by: Rules) -> dict[str, Share]:
    """Return the shares of a Pod's containers, by name, as some rules read them."""
    found = translate.read(project.pod(decided), by.options, skip_privileged=True)
    assert found.problems == ()
    return {one.container.name: one.share for one in found.demand.containers if one.share}


ANY = st.one_of(asked(), asked(), fractional())


@pytest.mark.parametrize("target", WRITTEN)
@settings(max_examples=80)
@given(case=ANY)
def test_what_is_written_is_read_as_what_was_meant(target: str, case: Asked) -> None:
    """For every pair of dialects; and a second pass finds nothing to do."""
    decision = converting.decide(case.pod, RULES["warn"][target])
    written: Any = decision.pod
    assert decision.verdict in (Verdict.PATCHED, Verdict.UNCHANGED), decision.problems
    found = read(decision.pod, BACK[target])
    assert {name: amounts(share) for name, share in found.items()} == {
        name: sayable(share, target)[0] for name, share in case.shares.items()
    }
    wanted, _ = choosable(case, target)
    assert {choices(share.wishes) for share in found.values()} == {wanted}
    allowed = {*converting.words(RULES["warn"][target]).resources}
    others = {one for word in RULES["warn"][target].options.words for one in word.resources}
    for kind in ("containers", "initContainers"):
        for index in range(len(written["spec"].get(kind) or ())):
            assert others & converting.limits(decision, index, kind).keys() <= allowed


@pytest.mark.parametrize("target", WRITTEN)
@settings(max_examples=50)
@given(case=ANY)
def test_each_loss_has_its_name(target: str, case: Asked) -> None:
    """With `refuse`, just the Pods that lose something are refused; with `drop`, none is told."""
    refused = mutate.decide(case.pod, "default", RULES["refuse"][target])
    named = {str(problem.facts["kind"]) for problem in refused.problems}
    assert named == {loss.value for loss in losses(case, target)}
    assert {problem.reason for problem in refused.problems} <= {Reason.LOSS}
    warned = mutate.decide(case.pod, "default", RULES["warn"][target])
    lost_there = (one for one in warned.warnings if one.code == "lost")
    assert {str(one.facts["kind"]) for one in lost_there} == named
    dropped = mutate.decide(case.pod, "default", RULES["drop"][target])
    assert "lost" not in [one.code for one in dropped.warnings]
    assert dropped.pod == warned.pod


@settings(max_examples=60)
@given(case=ANY, there=st.sampled_from(WRITTEN), back=st.sampled_from(WRITTEN))
def test_there_and_back(case: Asked, there: str, back: str) -> None:
    """A Pod that is translated twice means what the poorer of the two dialects can say of it."""
    first = converting.decide(case.pod, RULES["warn"][there]).pod
    again: Any = deepcopy(first)
    again["metadata"].get("annotations", {}).pop(names.ORIGINAL_REQUEST, None)
    again["spec"]["schedulerName"] = "default-scheduler"
    second = converting.decide(again, RULES["warn"][back]).pod
    between = read(first, BACK[there])
    assert {name: amounts(share) for name, share in read(second, BACK[back]).items()} == {
        name: sayable(share, back)[0] for name, share in between.items()
    }


def test_pods_of_all_kinds_are_at_rest_after_one_pass() -> None:
    """Mixed, forged and wrong ones too: what was decided once stands, whichever cards come."""
    seed = random.SystemRandom().getrandbits(32)
    sys.stdout.write(f"seed {seed}\n")
    dice = random.Random(seed)
    rules = [converting.converting(one, A100, T4, stacks=STACKS, loss="drop") for one in WRITTEN]
    for number in range(1200):
        before = dialect_pods.random_pod(dice, number)
        for one in (*before["spec"]["containers"], *before["spec"].get("initContainers", [])):
            one["resources"]["requests"] = dict(one["resources"]["limits"])
        by, later = rules[number % 4], dice.choice(LATER[WRITTEN[number % 4]])
        decision = mutate.decide(before, "default", by)
        # What was refused is not there, and may be taken with other cards.
        again = mutate.decide(decision.pod, "default", by if decision.problems else later)
        assert again.operations == [], (seed, before)
        assert bool(again.problems) == bool(decision.problems), (seed, before)


def test_each_dialect_reads_its_own_words_and_no_others() -> None:
    """`read` of a dialect by itself sees a Pod in another one's words as one that asks nothing."""
    options = RULES["warn"]["volcano"].options
    for reader in translate.DIALECTS:
        for limits, dialect in (
            ({converting.GPU: "1"}, "hami"),
            ({converting.NUMBER: "1"}, "volcano"),
            ({converting.POOL: "4Gi"}, "pool"),
        ):
            found = reader.read(
                project.pod(converting.asking(limits)), options, skip_privileged=True
            )
            assert found.demand.any == (reader.name == dialect)


def test_kai_is_read_only() -> None:
    """No stack of its kind is written."""
    assert kai.DIALECT.write is None
