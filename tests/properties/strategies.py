"""Random Pods: some as people write them, some as nobody should."""

from typing import Any

from hypothesis import strategies as st

Pod = dict[str, Any]

QUANTITIES = st.one_of(
    st.integers(-1, 20).map(str),
    st.integers(0, 3),
    st.sampled_from(
        ["100", "50", "4096", "16Gi", "1k", "500m", "0.5", "1e3", "", " 1", "x", "\uff18"]
    ),
    st.sampled_from(["9223372036854775808", "1e999", "-1", "3000", "20k", "101", None, True, 0.5]),
)
GOOD = {
    "nvidia.com/gpu": st.sampled_from(["0", "1", "2", "8", 1]),
    "nvidia.com/gpumem": st.sampled_from(["0", "3000", "8k", "16384"]),
    "nvidia.com/gpumem-percentage": st.sampled_from(["0", "50", "100"]),
    "nvidia.com/gpucores": st.sampled_from(["0", "30", "100"]),
    "nvidia.com/priority": st.sampled_from(["0", "1"]),
    "cpu": st.sampled_from(["1", "500m"]),
    "nvidia.com/mig-1g.10gb": st.just("1"),
    "amd.com/gpu": st.just("1"),
}
ENV_NAMES = (
    "A",
    "NVIDIA_VISIBLE_DEVICES",
    "CUDA_TASK_PRIORITY",
    "GPU_CORE_UTILIZATION_POLICY",
    "CUDA_DEVICE_SM_LIMIT",
    "LD_PRELOAD",
)
ENTRIES = st.one_of(
    st.builds(
        lambda name, value: {"name": name, "value": value},
        st.sampled_from(ENV_NAMES),
        st.sampled_from(["", "all", "none", "1", "force"]),
    ),
    st.builds(
        lambda name: {"name": name, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        st.sampled_from(ENV_NAMES),
    ),
)
ODD_KEYS = st.sampled_from(["fooBeta", "a/b~c", "~1", "", "x.y/z"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(ODD_KEYS, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def resources(draw: st.DrawFn, amounts: dict[str, st.SearchStrategy[Any]]) -> Pod:
    """Return resources, mostly with requests equal to limits as defaulting leaves them."""
    names = draw(st.lists(st.sampled_from(sorted(amounts)), unique=True, max_size=4))
    limits = {name: draw(amounts[name]) for name in names}
    shape = draw(st.integers(0, 9))
    if shape == 0:
        return {"requests": limits}
    if shape == 1:
        return {"limits": limits, "requests": None}
    return {"limits": limits, "requests": dict(limits)} if limits else {}


@st.composite
def containers(draw: st.DrawFn, amounts: dict[str, st.SearchStrategy[Any]]) -> Pod:
    """Return a container with a few env entries, twins included, and fields nobody knows."""
    container: Pod = {"name": draw(st.sampled_from(["main", "side", "init", "x"])), "image": "i"}
    if draw(st.booleans()):
        container["resources"] = draw(resources(amounts))
    if draw(st.booleans()):
        container["env"] = draw(st.lists(ENTRIES, max_size=5))
    if draw(st.integers(0, 5)) == 0:
        container["securityContext"] = {"privileged": draw(st.booleans())}
    if draw(st.integers(0, 5)) == 0:
        container[draw(ODD_KEYS)] = draw(JSON)
    return container


@st.composite
def pods(draw: st.DrawFn, *, good: bool = False) -> Pod:
    """Return a Pod; `good` ones have no mistake that a number alone makes."""
    bad = dict.fromkeys(GOOD, QUANTITIES)
    amounts = GOOD if good else draw(st.sampled_from([GOOD, GOOD | bad]))
    spec: Pod = {"containers": draw(st.lists(containers(amounts), min_size=1, max_size=3))}
    if draw(st.booleans()):
        spec["initContainers"] = draw(st.lists(containers(amounts), max_size=2))
    spec["schedulerName"] = draw(
        st.sampled_from(["default-scheduler", "hami-scheduler", "volcano", ""])
    )
    for key, values in (
        ("nodeName", ["", "n1"]),
        ("runtimeClassName", [None, "nvidia", "gvisor"]),
        ("os", [None, {"name": "linux"}, {"name": "windows"}]),
        ("tolerations", [None, [{"operator": "Exists"}]]),
        ("volumes", [None, [{"name": "d", "hostPath": {"path": "/dev/nvidia0"}}]]),
    ):
        if draw(st.integers(0, 4)) == 0:
            spec[key] = draw(st.sampled_from(values))
    metadata: Pod = {"name": "p"}
    if draw(st.booleans()):
        metadata["annotations"] = draw(
            st.one_of(
                st.none(),
                st.dictionaries(
                    st.sampled_from(["berth.dev/original-request", "a/b~c", "nvidia.com/gpumem"]),
                    st.sampled_from(["", "{}", "1", '{"v":1,"containers":{"main":{}}}']),
                    max_size=2,
                ),
            )
        )
    if draw(st.integers(0, 9)) == 0:
        spec[draw(ODD_KEYS)] = draw(JSON)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
