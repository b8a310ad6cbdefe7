"""HAMi's device-config.yaml: taken as it is, and what is said about what is wrong in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from berth import configfile
from berth.admission import configuration
from berth.dialects import deviceconfig
from berth.errors import UsageError
from berth.model.vendor import Vendor
from berth.settings import Policy, Settings
from berth.vendors import SECTIONS, VENDORS

WHOLE = Path(__file__).parents[1] / "data" / "device-config.yaml"
FILE = Path("device-config.yaml")


def apply(**section: Any) -> tuple[Vendor, tuple[str, ...]]:
    """Return NVIDIA by a file with this `nvidia` section, and the warnings."""
    vendors, warnings = deviceconfig.apply({"nvidia": section}, SECTIONS, FILE)
    return vendors[0], warnings


def test_hamis_whole_file_is_taken_without_a_warning() -> None:
    """With HAMi's defaults it says what holds without a file."""
    rules, warnings = configuration.rules(Settings(), WHOLE)
    assert warnings == ()
    assert rules == configuration.rules(Settings(), None)[0]


def test_hamis_whole_file_has_all_sections() -> None:
    """So that the test above leaves none out."""
    assert configfile.read(WHOLE).keys() == {section.key for section in SECTIONS}


NOT_RENDERED = {
    "nvidia.disableCoreLimit",
    "enflame.resourceNameVGCU",
    "enflame.resourceNameVGCUPercentage",
    "mthreads.memoryPerCard",  # of later charts
}


def keys(value: Any, place: str) -> Iterator[str]:
    """Yield each key as `vnpus.configs.templates.name`."""
    for one in value if isinstance(value, (list, tuple)) else [value]:
        for key, below in one.items() if isinstance(one, dict) else ():
            yield f"{place}.{key}"
            yield from keys(below, f"{place}.{key}")


def test_every_key_that_we_read_is_in_hamis_whole_file() -> None:
    """A key that HAMi does not have would be dead, and one that we lack would be ignored."""
    tree = yaml.safe_load(WHOLE.read_text())
    theirs = {key for section, value in tree.items() for key in keys(value, section)}
    ours = {
        key
        for section in SECTIONS
        for key in keys(msgspec.to_builtins(section.default), section.key)
    }
    assert ours - theirs == NOT_RENDERED
    assert theirs <= ours


def changed(value: Any) -> Iterator[Any]:
    """Yield the value with one leaf changed, for each leaf."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from ({**value, key: other} for other in changed(below))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from ([*value[:index], other, *value[index + 1 :]] for other in changed(below))
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield f"{value}x"
    else:
        yield value + 1


NODE_SIDE = {
    *("deviceSplitCount", "deviceMemoryScaling", "deviceCoreScaling", "libCudaLogLevel"),
    *("preConfiguredDeviceMemory", "enableNumaTopology", "sgpuTopologyAware", "hamiVnpuCore"),
    *("chipName", "aiCore", "aiCPU", "name"),
}
"""Held to their types and bounds; admission has nothing to decide by them."""


def test_every_value_of_hamis_whole_file_matters() -> None:
    """Another value gives other accelerators, or is refused; but for those of the node side."""
    tree = configfile.read(WHOLE)
    idle = set()
    for other in changed(tree):
        try:
            vendors, _ = deviceconfig.apply(other, SECTIONS, FILE)
        except UsageError:
            continue
        if vendors == VENDORS:
            (key,) = {key for key in NODE_SIDE if str(_of(other, key)) != str(_of(tree, key))}
            idle.add(key)
    assert idle <= NODE_SIDE


def _of(tree: Any, key: str) -> list[Any]:
    """Return all values of a key, in order."""
    if isinstance(tree, list):
        return [found for one in tree for found in _of(one, key)]
    if not isinstance(tree, dict):
        return []
    own = [tree[key]] if key in tree else []
    return own + [found for one in tree.values() for found in _of(one, key)]


def test_what_the_file_leaves_out_keeps_the_charts_default() -> None:
    """HAMi takes Go's zero: no cards by default, and resources without a name."""
    vendor, warnings = apply(resourceCountName="example.com/card")
    assert vendor.count == "example.com/card"
    assert vendor.memory == "nvidia.com/gpumem"
    assert vendor.default_count == 1
    assert warnings == ()


@pytest.mark.parametrize("tree", [{}, {"nvidia": None}, {"nvidia": {}}], ids=str)
def test_an_empty_section_changes_nothing(tree: Any) -> None:
    """Nor does none."""
    assert deviceconfig.apply(tree, SECTIONS, FILE) == (VENDORS, ())


def test_null_is_left_out() -> None:
    """A chart renders an empty value as null."""
    tree: Any = {
        "nvidia": {"runtimeClassName": None, "defaultMemory": None},
        "vnpus": {"configs": None},
    }
    assert deviceconfig.apply(tree, SECTIONS, FILE) == (VENDORS, ())


CHIP: dict[str, Any] = {
    "commonWord": "X",
    "resourceName": "huawei.com/X",
    "memoryAllocatable": 1000,
    "memoryCapacity": 1000,
}


def test_chips_may_be_a_list_as_older_charts_write_them() -> None:
    """HAMi's charts had the chips right under vnpus, before hamiVnpuCore stood there too."""
    vendors, warnings = deviceconfig.apply({"vnpus": [CHIP]}, SECTIONS, FILE)
    assert warnings == ()
    assert vendors == deviceconfig.apply({"vnpus": {"configs": [CHIP]}}, SECTIONS, FILE)[0]
    with pytest.raises(UsageError, match=r"vnpus\[0\]\.memoryCapacity: 0 is out of range"):
        deviceconfig.apply({"vnpus": [{**CHIP, "memoryCapacity": 0}]}, SECTIONS, FILE)
    _, warnings = deviceconfig.apply({"vnpus": [{**CHIP, "superpod": True}]}, SECTIONS, FILE)
    assert warnings == (
        f"{FILE}: vnpus[0].superpod is not a key of HAMi's; did you mean superPod?",
    )


MODEL = {"chipName": "X", "commonWord": "X", "resourceCountName": "iluvatar.ai/X"}
UNKNOWN: dict[str, tuple[dict[Any, Any], str]] = {
    "a misspelt section": (
        {"nvdia": {}},
        "nvdia is not a section of HAMi's; did you mean nvidia?",
    ),
    "a misspelt key": (
        {"nvidia": {"defaultGPUNumber": 2}},
        "nvidia.defaultGPUNumber is not a key of HAMi's; did you mean defaultGPUNum?",
    ),
    "a key in other letters": (
        {"nvidia": {"overwriteenv": True}},
        "nvidia.overwriteenv is not a key of HAMi's; did you mean overwriteEnv?",
    ),
    "a key of an older HAMi": (
        {"nvidia": {"knownMigGeometries": []}},
        "nvidia.knownMigGeometries is not a key of HAMi's",
    ),
    "a misspelt key in a list": (
        {"vnpus": {"configs": [{**CHIP, "superpod": True}]}},
        "vnpus.configs[0].superpod is not a key of HAMi's; did you mean superPod?",
    ),
    "a misspelt key in a section that is a list": (
        {
            "iluvatars": [
                MODEL,
                {**MODEL, "commonWord": "Y", "resourceCountName": "x.com/y", "chip": "Y"},
            ]
        },
        "iluvatars[1].chip is not a key of HAMi's; did you mean chipName?",
    ),
    "a number": ({1: {}}, "1 is not a section of HAMi's"),
}


@pytest.mark.parametrize(("tree", "said"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_a_key_that_nobody_knows_is_a_warning(tree: dict[Any, Any], said: str) -> None:
    """HAMi drops it without a word, so a file of a running HAMi must not stop us."""
    vendors, warnings = deviceconfig.apply(tree, SECTIONS, FILE)
    assert vendors[0] == VENDORS[0]
    assert warnings == (f"{FILE}: {said}",)


BIG = {"name": "a", "memory": 1, "aiCore": 3}
WRONG: dict[str, tuple[Any, str]] = {
    "the ConfigMap around it": (
        {"kind": "ConfigMap", "data": {"device-config.yaml": "nvidia: {}"}},
        "is a ConfigMap; give the file in it, data.device-config.yaml",
    ),
    "a section that is a list": ({"nvidia": []}, "nvidia must be a mapping of keys to values"),
    "text for a number": (
        {"nvidia": {"defaultMemory": "512Mi"}},
        "nvidia.defaultMemory: '512Mi' is not a whole number",
    ),
    "a fraction for a number": (
        {"nvidia": {"memoryFactor": 1.5}},
        "nvidia.memoryFactor: 1.5 is not a whole number",
    ),
    "a truth for a number": (
        {"nvidia": {"defaultGPUNum": True}},
        "nvidia.defaultGPUNum: 'true' is not a whole number",
    ),
    "text for a truth": (
        {"nvidia": {"overwriteEnv": "yes please"}},
        "nvidia.overwriteEnv: 'yes please' is not true or false",
    ),
    "a number for text": (
        {"nvidia": {"runtimeClassName": 7}},
        "nvidia.runtimeClassName: 7 is not text",
    ),
    "less than nothing": (
        {"nvidia": {"defaultCores": -1}},
        "nvidia.defaultCores: -1 is out of range; write a number from 0 to 2147483647",
    ),
    "more than HAMi's 32 bits": (
        {"nvidia": {"defaultMemory": 2**31}},
        "nvidia.defaultMemory: 2147483648 is out of range",
    ),
    "more devices for all than anybody may ask for": (
        {"nvidia": {"defaultGPUNum": 1025}},
        "nvidia.defaultGPUNum: 1025 is out of range; write a number from 0 to 1024",
    ),
    "more memory for all than a card has": (
        {"nvidia": {"defaultMemory": 2**20}},
        "nvidia.defaultMemory: 1048576 is out of range; write a number from 0 to 1048575",
    ),
    "more cores for all than a card has": (
        {"nvidia": {"defaultCores": 101}},
        "nvidia.defaultCores: 101 is out of range; write a number from 0 to 100",
    ),
    "no name for the count": (
        {"nvidia": {"resourceCountName": ""}},
        "nvidia.resourceCountName is empty",
    ),
    "a name that every Pod has": (
        {"nvidia": {"resourceMemoryName": "memory"}},
        "nvidia: memory is no resource of devices; name it such as x.com/gpu",
    ),
    "a name that Kubernetes keeps for itself": (
        {"nvidia": {"resourceCountName": "x.kubernetes.io/gpu"}},
        "nvidia: x.kubernetes.io/gpu is no resource of devices",
    ),
    "a name that is too long for Kubernetes": (
        {"nvidia": {"resourceCountName": f"x.com/{'a' * 64}"}},
        f"nvidia: x.com/{'a' * 64} is no resource of devices",
    ),
    "a name whose domain begins with no letter": (
        {"nvidia": {"resourceCountName": "-x.com/gpu"}},
        "nvidia: -x.com/gpu is no resource of devices",
    ),
    "one name for two resources": (
        {"nvidia": {"resourceCoreName": "nvidia.com/gpumem"}},
        "nvidia: nvidia.com/gpumem names two resources",
    ),
    "a section that is a mapping": ({"iluvatars": {}}, "iluvatars must be a list"),
    "an entry that is none": ({"vnpus": {"configs": [7]}}, "vnpus.configs[0] must be a mapping"),
    "a chip without a name": (
        {"vnpus": {"configs": [{**CHIP, "resourceName": None}]}},
        "vnpus.configs[0]: resourceName is missing",
    ),
    "a chip whose name is empty": (
        {"vnpus": {"configs": [{**CHIP, "resourceName": ""}]}},
        "vnpus: the resource name of X devices is empty",
    ),
    "a chip without memory": (
        {"vnpus": {"configs": [{**CHIP, "memoryCapacity": 0}]}},
        "vnpus.configs[0].memoryCapacity: 0 is out of range; write a number from 1 to 2147483647",
    ),
    "a template in words": (
        {"vnpus": {"configs": [{**CHIP, "templates": [{"name": "a", "memory": "8Gi"}]}]}},
        "vnpus.configs[0].templates[0].memory: '8Gi' is not a whole number",
    ),
    "a template that is larger than the chip": (
        {"vnpus": {"configs": [{**CHIP, "templates": [{"name": "a", "memory": 1001}]}]}},
        "vnpus: X: template a has more memory than the chip",
    ),
    "a template of more cores than the chip": (
        {"vnpus": {"configs": [{**CHIP, "aiCore": 2, "templates": [BIG]}]}},
        "vnpus: X: template a has more aiCore than the chip",
    ),
    "more to allocate than there is": (
        {"vnpus": {"configs": [{**CHIP, "memoryAllocatable": 1001}]}},
        "vnpus: X: memoryAllocatable is more than memoryCapacity",
    ),
    "one name for two accelerators": (
        {"amd": {"resourceCountName": "nvidia.com/gpu"}},
        "amd: nvidia.com/gpu names two resources",
    ),
    "a profile that is none": (
        {"nvidia": {"migProfileAllowlist": [{"models": ["A30"], "profiles": ["1g"]}]}},
        "nvidia.migProfileAllowlist[0].profiles[0]: '1g' is not a profile such as 1g.10gb",
    ),
    "profiles of no model": (
        {"nvidia": {"migProfileAllowlist": [{"models": [], "profiles": ["1g.6gb"]}]}},
        "nvidia.migProfileAllowlist[0].models must be a list, and not an empty one",
    ),
    "a log level that is none": (
        {"nvidia": {"libCudaLogLevel": 2}},
        "nvidia.libCudaLogLevel: 2 is none of 0, 1, 3, 4",
    ),
    "cards scaled to nothing": (
        {"nvidia": {"deviceMemoryScaling": 0}},
        "nvidia.deviceMemoryScaling: 0 is not a number above 0",
    ),
    "a policy that is none": (
        {"nvidia": {"gpuCorePolicy": "forced"}},
        "nvidia.gpuCorePolicy: forced is not a policy; did you mean force?",
    ),
}


@pytest.mark.parametrize(("tree", "said"), WRONG.values(), ids=WRONG.keys())
def test_a_value_that_cannot_be_used_is_an_error(tree: Any, said: str, tmp_path: Path) -> None:
    """The file, the path of the key and what is wanted are named."""
    file = tmp_path / "device-config.yaml"
    file.write_text(yaml.safe_dump(tree))
    with pytest.raises(UsageError) as error:
        configuration.rules(Settings(), file)
    assert str(error.value).startswith(f"{file}: {said}")


def test_a_section_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    """YAML would keep the last, without a word."""
    file = tmp_path / "device-config.yaml"
    file.write_text("nvidia: {defaultMemory: 1}\nnvidia: {defaultCores: 1}\n")
    with pytest.raises(UsageError, match="nvidia stands twice"):
        configuration.rules(Settings(), file)


def test_accelerators_that_hami_does_not_share_are_nobodys() -> None:
    """By family or one by one (policy.unmanagedVendors)."""
    without = Policy(unmanaged_vendors=("ascend", "metax-gpu"))
    rules, _ = configuration.rules(Settings(policy=without), WHOLE)
    assert len(rules.vendors) == 17
    assert "metax-tech.com/sgpu" in rules.known
    assert rules.known.isdisjoint({"metax-tech.com/gpu", "huawei.com/Ascend310P"})
    with pytest.raises(UsageError, match="ascent is no accelerator; did you mean ascend"):
        configuration.rules(Settings(policy=Policy(unmanaged_vendors=("ascent",))), None)
