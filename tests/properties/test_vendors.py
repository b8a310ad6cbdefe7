"""Random requests of every accelerator through the decision: the same laws for all of them."""

import copy
from typing import Any

import jsonpatch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berth import layered
from berth.admission import configuration, mutate, project, verify
from berth.dialects.reading import read
from berth.model.decision import Verdict
from berth.model.vendor import Vendor
from berth.vendors import VENDORS
from tests.pods import Pod, pod
from tests.properties import laws, strategies

RULES, _ = configuration.rules(layered.settings(None), None)
PROFILE = settings(
    max_examples=600,
    print_blob=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SIZES = st.sampled_from(["1", "2", "4", "16", "30", "50", "96", "100", "2000", "8738", "24576"])
AMOUNTS = {
    "count": st.sampled_from(["1", "1", "2", "3", "4", "0"]),
    "memory": SIZES | st.sampled_from(["0", "16Gi", "1025Mi", "8k", "32768", "40000", "98304"]),
    "memory_percent": st.sampled_from(["0", "50", "100"]),
    "cores": st.sampled_from(["0", "1", "2", "4", "16", "30", "100", "200"]),
    "priority": st.just("1"),
}
CHOICES = {
    "huawei.com/vnpu-mode": ["hami-core", "", "other"],
    "metax-tech.com/sgpu-app-class": ["online", "offline"],
    "metax-tech.com/sgpu-qos-policy": ["best-effort", "fixed-share", "none"],
    "mthreads.com/request-gpu-num": ["2", "7"],
    "nvidia.com/vgpu-mode": ["mig", "mps", "hami-core"],
    "nvidia.com/use-gputype": ["A100,H100", ""],
    "hami.io/device-scoring-weights": ["slot=1,core=1,memory=3"],
}


@st.composite
def amounts(draw: st.DrawFn, vendor: Vendor) -> dict[str, st.SearchStrategy[Any]]:
    """Return some of a vendor's resources with numbers that may suit them."""
    odd = draw(st.integers(0, 9)) == 0
    found = {
        name: strategies.QUANTITIES if odd else AMOUNTS[role] for role, name in vendor.named_roles
    }
    return {**found, "cpu": st.just("1")}


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    """Return a Pod whose containers each ask for one vendor's devices, mostly."""
    containers = []
    for index in range(draw(st.integers(1, 4))):
        one = draw(strategies.containers(draw(amounts(draw(st.sampled_from(VENDORS))))))
        containers.append({**one, "name": f"c{index}"})
    inits = draw(st.integers(0, len(containers) - 1))
    for one in containers[:inits]:
        if draw(st.booleans()):
            one["restartPolicy"] = "Always"
    annotations = {
        key: draw(st.sampled_from(values))
        for key, values in CHOICES.items()
        if draw(st.integers(0, 3)) == 0
    }
    spec = {"initContainers": containers[:inits]} if inits else {}
    return pod(*containers[inits:], metadata={"annotations": annotations}, **spec)


@PROFILE
@given(pods())
def test_a_request_of_any_accelerator_is_answered_soundly(asked: Pod) -> None:
    """Patch and result agree, and are valid; a second pass is at rest; strangers stay."""
    before = copy.deepcopy(asked)
    decision = mutate.decide(asked, "default", RULES)
    assert asked == before
    again = mutate.decide(decision.pod, "default", RULES)
    assert (again.operations, again.problems) == ([], decision.problems)
    if decision.verdict is Verdict.REFUSED:
        assert decision.problems
        return
    judged = verify.created(decision.pod, "default", "someone", RULES)
    assert (judged.verdict, judged.warnings) == (Verdict.UNCHANGED, ())
    assert jsonpatch.apply_patch(before, decision.operations) == decision.pod
    after: Any = decision.pod
    laws.check_nothing_is_lost(_without_ours(before), _without_ours(after))
    if decision.verdict is Verdict.PATCHED:
        _check_completed(before, after)


def _without_ours(pod: Pod) -> Pod:
    """Return a Pod without the numbers and annotations that a vendor's rule may replace."""
    plain = copy.deepcopy(pod)
    plain["metadata"].get("annotations", {}).pop("mthreads.com/request-gpu-num", None)
    for container in _containers(plain):
        for kind in ("limits", "requests"):
            for name in RULES.known & set((container.get("resources") or {}).get(kind) or {}):
                del container["resources"][kind][name]
    return plain


def _containers(pod: Pod) -> list[Any]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def _check_completed(before: Pod, after: Pod) -> None:
    """Hold requests against limits, and the demand of the result against that of the Pod."""
    for container in _containers(after):
        resources = container.get("resources") or {}
        limits, requests = (resources.get(kind) or {} for kind in ("limits", "requests"))
        for name in RULES.known & limits.keys() & requests.keys():
            assert str(limits[name]) == str(requests[name])
    demands = [
        read(project.pod(pod), RULES.options, skip_privileged=True).demand
        for pod in (before, after)
    ]
    assert demands[0].totals() == demands[1].totals()
    shares = [[one.share for one in demand.containers] for demand in demands]
    for first, second in zip(*shares, strict=True):
        assert (first is None) == (second is None)
        if first and second:
            assert (first.count, first.memory_mib) == (second.count, second.memory_mib)
            assert (first.vendor, first.wishes) == (second.vendor, second.wishes)
            assert second.completion == ()
