"""What is written in any dialect is read again as what was meant, up to losses with names."""

import random
import sys
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from berth import names
from berth.admission import mutate, project
from berth.dialects import convert, kai, translate
from berth.model.decision import Reason, Verdict
from berth.model.demand import NO_WISHES, Share, Wishes
from berth.model.loss import Loss
from tests.dialects import converting
from tests.dialects.converting import A100, EVERY, T4, WRITTEN
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

Meaning = tuple[Any, ...]


def meaning(share: Share) -> Meaning:
    """Return what a share means, whichever way it is said: all of a card is no percent of it."""
    wishes = share.wishes
    return (
        share.count,
        share.memory_mib,
        None if share.memory_percent in (None, 100) else share.memory_percent,
        share.cores or 0,
        wishes.models,
        wishes.not_models,
        wishes.uuids,
        wishes.not_uuids,
        wishes.numa,
        wishes.mode,
    )


def sayable(share: Share, dialect: str) -> tuple[Meaning, set[Loss]]:
    """Return what of a share a dialect can say, as its documentation has it, and what is lost."""
    if dialect == "hami":
        return meaning(share), set()
    lost = {Loss.PRIORITY} if share.priority is not None else set()
    whole = share.memory_mib is None and share.memory_percent in (None, 100)
    mib, cores = share.memory_mib, share.cores or 0
    if not whole and mib is None:
        mib = max(A100.memory_mib * int(share.memory_percent or 0) // 100, 1)
    if dialect == "volcano" and mib is not None and mib % BLOCK:
        lost.add(Loss.ROUNDING)
        mib = -(-mib // BLOCK) * BLOCK
    if dialect == "plain":
        lost |= set() if whole else {Loss.MEMORY}
        lost |= {Loss.CORES} if 0 < cores < 100 or (whole and not cores) else set()
        mib, cores = None, 100
    wishes, gone = choices(share.wishes, dialect)
    return meaning(
        replace(share, memory_mib=mib, memory_percent=None, cores=cores, wishes=wishes)
    ), (lost | gone)


def choices(wishes: Wishes, dialect: str) -> tuple[Wishes, set[Loss]]:
    """Return which of a Pod's choices of cards a dialect can say, and what is lost."""
    lost = {Loss.NUMA} if wishes.numa else set()
    if dialect == "volcano":
        return replace(wishes, numa=False), lost
    lost |= {Loss.MODELS} if wishes.models or wishes.not_models else set()
    lost |= {Loss.DEVICES} if wishes.uuids or wishes.not_uuids else set()
    lost |= {Loss.MODE} if wishes.mode else set()
    return NO_WISHES, lost


SIZES = st.one_of(
    st.none(),
    st.integers(1, 40960).map(lambda mib: (mib, None)),
    st.integers(1, 99).map(lambda p: (None, p)),
)
CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "nvidia.com/use-gputype": st.just("a100"),
        "nvidia.com/nouse-gputype": st.just("t4"),
        "nvidia.com/use-gpuuuid": st.just("GPU-1,GPU-2"),
        "nvidia.com/nouse-gpuuuid": st.just("GPU-9"),
        "nvidia.com/numa-bind": st.just("true"),
        "nvidia.com/vgpu-mode": st.sampled_from(["hami-core", "mig"]),
    },
)


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, Pod]:
    """Return a dialect and a Pod that asks in it for any share that it can say."""
    dialect = draw(st.sampled_from(EVERY))
    count = draw(st.integers(1, 8))
    size = draw(SIZES)
    mib, percent = size or (None, None)
    metadata: Pod = {}
    if dialect == "kai":
        mib = mib or (None if percent else 4096)
        said = {names.KAI_MEMORY: str(mib)} if mib else {names.KAI_FRACTION: f"0.{percent:02}"}
        metadata["annotations"] = said | {names.KAI_DEVICES: str(count)}
        return dialect, pod(container(), metadata=metadata, schedulerName="kai-scheduler")
    words = converting.words(RULES["warn"][dialect])
    share = Share(
        vendor=words,
        count=count,
        memory_mib=mib,
        memory_percent=percent if words.memory_percent else None,
        cores=draw(st.one_of(st.none(), st.integers(1, 100))),
        priority=draw(st.one_of(st.none(), st.integers(0, 9))) if words.priority else None,
    )
    if dialect == "hami":
        metadata["annotations"] = draw(CHOICES)
    return dialect, pod(container(limits=convert.limits(share, words)), metadata=metadata)


def read(asked: Pod, dialect: str) -> Share:
    """Return the share as the namespace of a written dialect reads it."""
    return converting.only_share(asked, RULES["warn"][dialect])


@pytest.mark.parametrize("target", WRITTEN)
@settings(max_examples=120)
@given(case=asked())
def test_what_is_written_is_read_as_what_was_meant(target: str, case: tuple[str, Pod]) -> None:
    """For every pair of dialects; and a second pass finds nothing to do."""
    dialect, before = case
    share = read(before, target)
    said, _ = sayable(share, target)
    decision = converting.decide(before, RULES["warn"][target])
    assert decision.verdict in (Verdict.PATCHED, Verdict.UNCHANGED), (dialect, decision.problems)
    assert meaning(converting.only_share(decision.pod, BACK[target])) == said
    limits = converting.limits(decision)
    others = {one for word in RULES["warn"][target].options.words for one in word.resources}
    assert others & limits.keys() <= {*converting.words(RULES["warn"][target]).resources}


@pytest.mark.parametrize("target", WRITTEN)
@settings(max_examples=80)
@given(case=asked())
def test_each_loss_has_its_name(target: str, case: tuple[str, Pod]) -> None:
    """With `refuse`, just the Pods that lose something are refused; with `drop`, none is told."""
    _, before = case
    share = read(before, target)
    if share.vendor.dialect == target:
        return  # nothing is translated
    _, lost = sayable(share, target)
    refused = mutate.decide(before, "default", RULES["refuse"][target])
    named = {str(problem.facts["kind"]) for problem in refused.problems}
    assert named == {loss.value for loss in lost}
    assert {problem.reason for problem in refused.problems} <= {Reason.LOSS}
    warned = mutate.decide(before, "default", RULES["warn"][target])
    lost_there = (one for one in warned.warnings if one.code == "lost")
    assert {str(one.facts["kind"]) for one in lost_there} == named
    dropped = mutate.decide(before, "default", RULES["drop"][target])
    assert "lost" not in [one.code for one in dropped.warnings]
    assert dropped.pod == warned.pod


@settings(max_examples=80)
@given(case=asked(), there=st.sampled_from(WRITTEN), back=st.sampled_from(WRITTEN))
def test_there_and_back(case: tuple[str, Pod], there: str, back: str) -> None:
    """A Pod that is translated twice means what the poorer of the two dialects can say of it."""
    _, before = case
    first = converting.decide(before, RULES["warn"][there]).pod
    again: Any = deepcopy(first)
    again["metadata"].get("annotations", {}).pop(names.ORIGINAL_REQUEST, None)
    again["spec"]["schedulerName"] = "default-scheduler"
    second = converting.decide(again, RULES["warn"][back]).pod
    expected, _ = sayable(read(again, there), back)
    found = meaning(read(second, back))
    assert found[:4] == expected[:4]


def test_pods_of_all_kinds_are_at_rest_after_one_pass() -> None:
    """Mixed, forged and wrong ones too: what was decided once stands, whichever cards come."""
    seed = random.SystemRandom().getrandbits(32)
    sys.stdout.write(f"seed {seed}\n")
    dice = random.Random(seed)
    for number in range(1200):
        before = dialect_pods.random_pod(dice, number)
        for one in (*before["spec"]["containers"], *before["spec"].get("initContainers", [])):
            one["resources"]["requests"] = dict(one["resources"]["limits"])
        by = RULES["drop"][WRITTEN[number % 4]]
        decision = mutate.decide(before, "default", by)
        again = mutate.decide(decision.pod, "default", dice.choice(LATER[WRITTEN[number % 4]]))
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
