"""What a namespace may hold: HAMi's worked cases and units, and what is refused in which words."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from berth import layered
from berth.admission import configuration
from berth.admission.rules import Rules
from berth.model.decision import Verdict
from berth.model.reason import Reason
from tests.pods import Pod, container, gpu_pod, pod
from tests.quotas import Cluster, mark, quota
from tests.reviews import SPACE

GPU, MEMORY = "nvidia.com/gpu", "nvidia.com/gpumem"
PERCENT, CORES = "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"
MLU, MLU_MEMORY = "cambricon.com/vmlu", "cambricon.com/mlu.smlu.vmemory"
MLU_CORES = "cambricon.com/mlu.smlu.vcore"
DCU, DCU_MEMORY = "hygon.com/dcunum", "hygon.com/dcumem"
CHIP = "huawei.com/Ascend910B2"
DEVICE_CONFIG = Path(__file__).parents[1] / "data/device-config.yaml"


Written = Callable[..., Rules]


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Give a function that reads HAMi's chart; `factor` is Hygon's and Ascend's memoryFactor."""

    @cache
    def read(*flags: str, factor: int = 1, default: int = 0, cores: int = 0) -> Rules:
        config = yaml.safe_load(DEVICE_CONFIG.read_text())
        config["nvidia"]["defaultMemory"] = default
        config["nvidia"]["defaultCores"] = cores
        config["hygon"]["memoryFactor"] = factor
        for chip in config["vnpus"]["configs"]:
            chip["memoryFactor"] = factor
        file = tmp_path_factory.mktemp("rules") / "device-config.yaml"
        file.write_text(yaml.safe_dump(config))
        return configuration.rules(layered.settings(None, flags), file)[0]

    return read


WORKED: dict[str, tuple[dict[str, str], dict[str, str], dict[str, str], bool]] = {
    # limits of a Pod in use, limits of the new Pod, the quota, whether it passes
    "memory within": ({MEMORY: "1000"}, {GPU: "1", MEMORY: "100"}, {MEMORY: "2000"}, True),
    "memory to the brim": ({MEMORY: "1000"}, {GPU: "1", MEMORY: "1000"}, {MEMORY: "2000"}, True),
    "memory beyond": ({MEMORY: "1000"}, {GPU: "1", MEMORY: "1024"}, {MEMORY: "2000"}, False),
    "memory times devices": ({MEMORY: "1000"}, {GPU: "2", MEMORY: "1024"}, {MEMORY: "2000"}, False),
    "within times devices": ({MEMORY: "1000"}, {GPU: "2", MEMORY: "400"}, {MEMORY: "2000"}, True),
    "cores times devices": ({}, {GPU: "3", MEMORY: "1", CORES: "40"}, {CORES: "100"}, False),
    "cores within": ({}, {GPU: "2", MEMORY: "1", CORES: "40"}, {CORES: "100"}, True),
    "cores of a whole card": ({CORES: "1", MEMORY: "1"}, {GPU: "1"}, {CORES: "100"}, False),
    "zero blocks all": ({}, {GPU: "1", MEMORY: "1"}, {MEMORY: "0"}, False),
    "zero blocks what is not sized": ({}, {GPU: "1", PERCENT: "10"}, {MEMORY: "0"}, False),
    "a suffix is a number": ({}, {GPU: "1", MEMORY: "1001"}, {MEMORY: "1k"}, False),
    "a fraction is cut": ({}, {GPU: "1", MEMORY: "2"}, {MEMORY: "1500m"}, False),
    "units of 256 MiB within": ({}, {MLU: "1", MLU_MEMORY: "50"}, {MLU_MEMORY: "100"}, True),
    "units of 256 MiB beyond": ({}, {MLU: "1", MLU_MEMORY: "200"}, {MLU_MEMORY: "100"}, False),
    "units times devices": ({}, {MLU: "2", MLU_MEMORY: "40"}, {MLU_MEMORY: "60"}, False),
    "cores of another vendor": (
        {MLU: "1", MLU_MEMORY: "1", MLU_CORES: "20"},
        {MLU: "1", MLU_MEMORY: "1", MLU_CORES: "60"},
        {MLU_CORES: "50"},
        False,
    ),
    "one vendor does not count for another": (
        {MLU: "1", MLU_MEMORY: "7"},
        {GPU: "1", MEMORY: "100"},
        {MEMORY: "100", MLU_MEMORY: "0"},
        True,
    ),
    "MetaX in GiB": (
        {"metax-tech.com/sgpu": "1", "metax-tech.com/vmemory": "10"},
        {"metax-tech.com/sgpu": "1", "metax-tech.com/vmemory": "7"},
        {"metax-tech.com/vmemory": "16"},
        False,
    ),
    "MetaX in bytes": (
        {"metax-tech.com/sgpu": "1", "metax-tech.com/vmemory": "10"},
        {"metax-tech.com/sgpu": "1", "metax-tech.com/vmemory": "6Gi"},
        {"metax-tech.com/vmemory": "16Gi"},
        True,
    ),
    "Enflame in GiB": (
        {"enflame.com/gcu-memory": "8", "enflame.com/gcu-core": "25"},
        {"enflame.com/gcu-memory": "9", "enflame.com/gcu-core": "25"},
        {"enflame.com/gcu-memory": "16"},
        False,
    ),
    "a vXPU as it is cut": (
        {},
        {"kunlunxin.com/vxpu": "1", "kunlunxin.com/vxpu-memory": "20000"},
        {"kunlunxin.com/vxpu-memory": "24575"},
        False,
    ),
    "Moore Threads in units of 512 MiB, of all cards": (
        {},
        {
            "mthreads.com/vgpu": "2",
            "mthreads.com/sgpu-memory": "192",
            "mthreads.com/sgpu-core": "32",
        },
        {"mthreads.com/sgpu-memory": "191"},
        False,
    ),
    "Iluvatar in units of 256 MiB": (
        {},
        {"iluvatar.ai/MR-V100-vgpu": "1", "iluvatar.ai/MR-V100.vMem": "65"},
        {"iluvatar.ai/MR-V100.vMem": "64"},
        False,
    ),
    "AMD": ({}, {"amd.com/gpu": "2", "amd.com/gpumem": "50"}, {"amd.com/gpumem": "99"}, False),
    "Ascend as it is cut": (
        {},
        {CHIP: "1", f"{CHIP}-memory": "9000"},
        {f"{CHIP}-memory": "16383"},
        False,
    ),
    "a count is Kubernetes' own": ({}, {GPU: "5", MEMORY: "1"}, {GPU: "1"}, True),
}


@pytest.mark.parametrize(("there", "asks", "hard", "passes"), WORKED.values(), ids=WORKED)
def test_what_passes_beside_what_is_there(
    rules: Written,
    there: dict[str, str],
    asks: dict[str, str],
    hard: dict[str, str],
    *,
    passes: bool,
) -> None:
    """HAMi's worked cases: each share times its devices, in the units that containers use."""
    cluster = Cluster(rules())
    assert not there or cluster.create(gpu_pod(there), "old")
    cluster.limits.put(quota({f"limits.{name}": most for name, most in hard.items()}))
    assert cluster.create(gpu_pod(asks), "new") is passes


FACTORS = {
    "within": (2, {DCU: "1", DCU_MEMORY: "800"}, {DCU_MEMORY: "1000"}, True),
    "beyond": (2, {DCU: "1", DCU_MEMORY: "1200"}, {DCU_MEMORY: "1000"}, False),
    "Ascend within": (4, {CHIP: "1", f"{CHIP}-memory": "4096"}, {f"{CHIP}-memory": "8192"}, True),
    "Ascend beyond": (4, {CHIP: "1", f"{CHIP}-memory": "8193"}, {f"{CHIP}-memory": "8192"}, False),
}


@pytest.mark.parametrize(("factor", "asks", "hard", "passes"), FACTORS.values(), ids=FACTORS)
def test_the_administrators_factor_holds_on_both_sides(
    rules: Written, factor: int, asks: dict[str, str], hard: dict[str, str], *, passes: bool
) -> None:
    """An amount in a quota means what it means in a container (HAMi: limit times factor)."""
    cluster = Cluster(rules(factor=factor), {f"limits.{name}": most for name, most in hard.items()})
    assert cluster.create(gpu_pod(asks)) is passes


def sized(mib: int, name: str = "main", **more: Any) -> Pod:
    """Return a container with one share."""
    return container(name, {GPU: "1", MEMORY: str(mib)}, **more)


CONTAINERS: dict[str, tuple[list[Pod], list[Pod], bool]] = {
    "init containers by their largest": ([sized(800, "i"), sized(800, "j")], [sized(500)], True),
    "an init container that is larger": ([sized(1500, "i")], [sized(100)], False),
    "app containers together": ([], [sized(600, "a"), sized(600, "b")], False),
    "a sidecar beside the app": ([sized(600, "s", restartPolicy="Always")], [sized(600)], False),
    "a container that asks for nothing": (
        [container("i")],
        [sized(600, "a"), sized(600, "b")],
        False,
    ),
}


@pytest.mark.parametrize(("init", "apps", "passes"), CONTAINERS.values(), ids=CONTAINERS)
def test_containers_count_as_kubernetes_counts_them(
    rules: Written, init: list[Pod], apps: list[Pod], *, passes: bool
) -> None:
    """The largest init container against all that run together."""
    cluster = Cluster(rules(), {f"limits.{MEMORY}": "1000"})
    assert cluster.create(pod(*apps, initContainers=init)) is passes


def test_init_containers_give_back_when_all_have_ended(rules: Written) -> None:
    """HAMi's case: 30000 allowed, init 20000, app 10000: pass, refused, and then pass."""
    cluster = Cluster(rules(), {f"limits.{MEMORY}": "30000"})
    asked = pod(sized(10000), initContainers=[sized(20000, "i"), container("j")])
    first = cluster.ask(asked)
    cluster.show(first.pod, "first")
    assert not cluster.create(asked, "second")
    ended = {"name": "i", "state": {"terminated": {"exitCode": 0}}}
    cluster.show(first.pod, "first", initContainerStatuses=[ended])
    assert not cluster.create(asked, "second")
    other = {"name": "j", "state": {"terminated": {"exitCode": 1}}}
    cluster.show(first.pod, "first", initContainerStatuses=[ended, other])
    assert not cluster.create(asked, "second")
    other = {"name": "j", "state": {"terminated": {"exitCode": 0}}}
    cluster.show(first.pod, "first", initContainerStatuses=[ended, other])
    assert cluster.create(asked, "second")


def said(cluster: Cluster, asked: Pod, **more: Any) -> str:
    """Return the sentence with which a Pod is refused."""
    decision = cluster.ask(asked, **more)
    assert decision.verdict is Verdict.REFUSED
    (problem,) = decision.problems
    assert problem.reason is Reason.QUOTA
    assert problem.reason.is_policy
    return str(problem)


LIMITS = "spec.containers[0].resources.limits"


def test_a_refusal_says_used_asked_and_limit(rules: Written) -> None:
    """Where, what is used, asked and allowed, by which quota, and what would pass."""
    cluster = Cluster(rules(), {f"limits.{MEMORY}": "10k", f"limits.{CORES}": "30"})
    assert cluster.create(gpu_pod({GPU: "1", MEMORY: "8000", CORES: "30"}), "old")
    assert said(cluster, gpu_pod({GPU: "1", MEMORY: "4000"})) == (
        f"{LIMITS}[{MEMORY}]: namespace default uses 8000 MiB, this Pod asks for 4000 MiB more, "
        f"and ResourceQuota gpu allows 10000 MiB (limits.{MEMORY}); "
        "ask for at most 2000 MiB in all, end other Pods or have the quota raised"
    )
    assert said(cluster, gpu_pod({GPU: "1", MEMORY: "1000", CORES: "1"})) == (
        f"{LIMITS}[{CORES}]: namespace default uses 30, this Pod asks for 1 more, and "
        f"ResourceQuota gpu allows 30 (limits.{CORES}); end other Pods or have the quota raised"
    )


def test_every_limit_that_is_crossed_is_named(rules: Written) -> None:
    """Memory and cores at once."""
    cluster = Cluster(rules(), {f"limits.{MEMORY}": "10", f"limits.{CORES}": "10"})
    decision = cluster.ask(gpu_pod({GPU: "1", MEMORY: "20", CORES: "20"}))
    assert [problem.path[-1] for problem in decision.problems] == [CORES, MEMORY]


def test_a_share_of_unknown_size_passes_with_a_warning_or_is_refused(rules: Written) -> None:
    """Nobody knows the card yet: the quota's administrator says what that means."""
    cluster = Cluster(rules(), {f"limits.{MEMORY}": "1000"})
    asked = gpu_pod({GPU: "1", PERCENT: "50"})
    passed = cluster.ask(asked, dry_run=True)
    assert passed.verdict is Verdict.PATCHED
    (warning,) = passed.warnings
    assert str(warning) == f"{MEMORY} is not named, so quota gpu cannot count all of it"
    assert said(cluster, asked, deny_unsized=True) == (
        f"{LIMITS}[{GPU}]: namespace default uses 0 MiB, this Pod asks for memory that is "
        "not known before it has a device, and ResourceQuota gpu allows 1000 MiB "
        f"(limits.{MEMORY}); name {MEMORY} in each container with a device"
    )
    assert cluster.create(gpu_pod({MEMORY: "1000"}), "full")
    assert said(cluster, asked).endswith("; end other Pods or have the quota raised")


def test_slices_of_unknown_size_are_to_be_asked_for_by_size(rules: Written) -> None:
    """Beside them a size has no effect: who only added one would be refused again."""
    memory = "enflame.com/gcu-memory"
    cluster = Cluster(rules(), {f"limits.{memory}": "16"})
    asked = gpu_pod({"enflame.com/drs-gcu": "1"})
    told = said(cluster, asked, deny_unsized=True)
    assert told.endswith(f"; write {memory} in place of enflame.com/drs-gcu")
    assert cluster.create(gpu_pod({memory: "16"}), "a")


def test_the_room_of_a_card_that_is_cut_is_one_of_its_sizes(rules: Written) -> None:
    """8000 MiB would be rounded up to 8738, which is what was refused."""
    chip, memory = "huawei.com/Ascend910A", "huawei.com/Ascend910A-memory"
    cluster = Cluster(rules(), {f"limits.{memory}": "8000"})
    told = said(cluster, gpu_pod({chip: "1", memory: "8000"}))
    assert "asks for 8738 MiB more" in told
    assert "; ask for at most 4369 MiB in all," in told
    assert cluster.create(gpu_pod({chip: "1", memory: "4369"}), "a")
    assert cluster.create(gpu_pod({chip: "1", memory: "2184"}), "b")
    told = said(cluster, gpu_pod({chip: "1", memory: "1"}))
    assert told.endswith("; end other Pods or have the quota raised")


def test_what_was_given_counts_once_it_is_known(rules: Written) -> None:
    """13 (HAMi#2468): half of a card of 40960 MiB counts as HAMi's scheduler records it."""
    cluster = Cluster(rules(), {f"limits.{MEMORY}": "25600"})
    decision = cluster.ask(gpu_pod({GPU: "2", PERCENT: "50"}))
    stored: Any = decision.pod
    record = ("hami.io/vgpu-devices-allocated", "GPU-1,NVIDIA,12288,0:GPU-2,NVIDIA,12288,0:;")
    stored["metadata"]["annotations"] |= dict([record])
    cluster.show(stored, "half")
    assert cluster.ask(gpu_pod({MEMORY: "1025"}), dry_run=True).operations, "no node, no device"
    stored["spec"]["nodeName"] = "n1"
    cluster.show(stored, "half")
    assert "uses 24576 MiB" in said(cluster, gpu_pod({MEMORY: "1025"}))
    assert cluster.create(gpu_pod({MEMORY: "1024"}), "rest")


def test_the_administrators_default_memory_counts(rules: Written) -> None:
    """A card without a size is that share, for the scheduler and so for the quota."""
    cluster = Cluster(rules(default=600), {f"limits.{MEMORY}": "1000"})
    assert cluster.create(gpu_pod({GPU: "1"}), "a")
    assert "asks for 600 MiB more" in said(cluster, gpu_pod({GPU: "1"}))


def test_the_administrators_default_cores_count(rules: Written) -> None:
    """For each card that names none, as in HAMi: not for one that names others, 0 among them."""
    cluster = Cluster(rules(cores=20), {f"limits.{CORES}": "50"})
    assert cluster.create(gpu_pod({GPU: "2", MEMORY: "100"}), "a")
    assert "uses 40, this Pod asks for 20 more" in said(cluster, gpu_pod({MEMORY: "100"}))
    assert cluster.create(gpu_pod({GPU: "1", CORES: "10"}), "b")
    assert cluster.create(gpu_pod({GPU: "1", CORES: "0"}), "c")


@pytest.mark.parametrize("other", ["another", "later"])
def test_the_strictest_of_several_quotas_holds(other: str, rules: Written) -> None:
    """HAMi#2997: neither does a second object win over the first, nor its end lift the limit.

    Whichever comes first by its name.
    """
    cluster = Cluster(rules(), {f"limits.{MEMORY}": "1000"})
    cluster.limits.put(quota({f"limits.{MEMORY}": "5000", "pods": "5"}, other))
    assert "ResourceQuota gpu allows 1000" in said(cluster, gpu_pod({MEMORY: "1500"}))
    cluster.limits.remove((SPACE, "gpu"))
    assert cluster.create(gpu_pod({MEMORY: "1500"}), "a")
    cluster.limits.put(quota({f"limits.{MEMORY}": "2000"}, other, 2))
    assert f"ResourceQuota {other} allows 2000" in said(cluster, gpu_pod({MEMORY: "1500"}))
    cluster.limits.remove((SPACE, other))
    assert cluster.create(gpu_pod({MEMORY: "9000"}), "b")


def test_pods_that_have_ended_or_are_gone_give_back(rules: Written) -> None:
    """Succeeded and Failed count no more, and nothing does that was deleted."""
    cluster = Cluster(rules(), {f"limits.{MEMORY}": "1000"})
    asked = gpu_pod({MEMORY: "1000"})
    for phase in ("Succeeded", "Failed"):
        decision = cluster.ask(asked)
        cluster.show(decision.pod, phase, phase="Pending")
        assert not cluster.create(asked, "next")
        cluster.show(decision.pod, phase, phase=phase)
    assert cluster.create(asked, "last")
    assert not cluster.create(asked, "next")
    cluster.pods.remove((SPACE, "last"))
    assert cluster.create(asked, "next")


OURS_ALONE = {
    "another scheduler": {"schedulerName": "volcano"},
    "Windows": {"os": {"name": "windows"}},
    "a Windows node": {"nodeSelector": {"kubernetes.io/os": "windows"}},
}


@pytest.mark.parametrize("spec", OURS_ALONE.values(), ids=OURS_ALONE)
def test_what_is_left_alone_does_not_count(rules: Written, spec: dict[str, Any]) -> None:
    """A stored Pod is read as a new one: what admission passes over holds nothing here."""
    cluster = Cluster(rules(), {f"limits.{MEMORY}": "1000"})
    cluster.show(gpu_pod({GPU: "1", MEMORY: "900"}, **spec), "foreign")
    assert cluster.create(gpu_pod({MEMORY: "1000"}), "ours")


def test_a_privileged_container_that_is_skipped_does_not_count(rules: Written) -> None:
    """By policy.privileged, as at admission."""
    asked = gpu_pod({GPU: "1", MEMORY: "900"})
    asked["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    for policy, passes in (("skip", True), ("allow", False)):
        cluster = Cluster(rules(f"policy.privileged={policy}"), {f"limits.{MEMORY}": "1000"})
        cluster.show(asked, "privileged")
        assert cluster.create(gpu_pod({MEMORY: "1000"}), "new") is passes


def test_a_soft_split_counts_as_soft(rules: Written) -> None:
    """An annotation says how an Ascend chip is cut, at admission and when the Pod is stored."""
    cluster = Cluster(rules(), {f"limits.{CHIP}-memory": "1999"})
    soft = gpu_pod({CHIP: "1", f"{CHIP}-memory": "1000"})
    soft["metadata"]["annotations"] = {"huawei.com/vnpu-mode": "hami-core"}
    assert cluster.create(soft, "a")
    assert "uses 1000 MiB, this Pod asks for 1000 MiB more" in said(cluster, soft)


def test_another_configuration_counts_anew(rules: Written) -> None:
    """After a reload the same Pods and quotas are read by the new rules."""
    cluster = Cluster(rules(), {f"limits.{DCU_MEMORY}": "1000"})
    assert cluster.create(gpu_pod({DCU: "1", DCU_MEMORY: "800"}), "old")
    cluster.rules = rules(factor=2)
    assert (
        "uses 1600 MiB, this Pod asks for 800 MiB more, and ResourceQuota gpu allows 2000 MiB"
        in (said(cluster, gpu_pod({DCU: "1", DCU_MEMORY: "400"})))
    )


def test_only_pods_that_count_are_marked(rules: Written) -> None:
    """Elsewhere Pods stay as they are: no quota, or none of what they ask for."""
    assert mark(Cluster(rules()).ask(gpu_pod({MEMORY: "1"}))) is None
    for key in (f"requests.{MEMORY}", "limits.cpu", f"limits.{GPU}", f"limits.{MLU_MEMORY}"):
        assert mark(Cluster(rules(), {key: "1"}).ask(gpu_pod({MEMORY: "1"}))) is None
    cluster = Cluster(rules(), {f"limits.{MEMORY}": "1"})
    assert cluster.ask(gpu_pod({"cpu": "1"})).verdict is Verdict.UNCHANGED
    assert mark(cluster.ask(gpu_pod({MEMORY: "1"}))) == "id-2"
