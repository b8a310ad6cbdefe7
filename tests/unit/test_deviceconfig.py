"""HAMi's device-config.yaml: taken as it is, and what is said about what is wrong in it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from berth import configfile
from berth.admission import configuration
from berth.dialects import deviceconfig
from berth.errors import UsageError
from berth.model.vendor import Vendor
from berth.settings import Settings
from berth.vendors import SECTIONS, VENDORS, nvidia

WHOLE = Path(__file__).parents[1] / "data" / "device-config.yaml"
FILE = Path("device-config.yaml")


def apply(**section: Any) -> tuple[Vendor, tuple[str, ...]]:
    """Return NVIDIA by a file with this `nvidia` section, and the warnings."""
    (vendor,), warnings = deviceconfig.apply({"nvidia": section}, VENDORS, FILE)
    return vendor, warnings


def test_hamis_whole_file_is_taken_without_a_warning() -> None:
    """With HAMi's defaults it says what holds without a file."""
    rules, warnings = configuration.rules(Settings(), WHOLE)
    assert warnings == ()
    assert rules == configuration.rules(Settings(), None)[0]


def test_hamis_whole_file_has_all_sections() -> None:
    """So that the test above leaves none out."""
    known = {vendor.section for vendor in VENDORS} | deviceconfig.OTHER_SECTIONS
    assert configfile.read(WHOLE).keys() == known


def test_every_key_that_admission_reads_is_in_hamis_whole_file() -> None:
    """A key that HAMi does not have would be dead."""
    section = yaml.safe_load(WHOLE.read_text())["nvidia"]
    assert {key for key, _ in nvidia.VENDOR.config_keys} <= section.keys()
    assert nvidia.VENDOR.node_keys - section.keys() == {"disableCoreLimit"}  # not rendered


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
    assert deviceconfig.apply(tree, VENDORS, FILE) == (VENDORS, ())


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
    "a number": ({1: {}}, "1 is not a section of HAMi's"),
}


@pytest.mark.parametrize(("tree", "said"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_a_key_that_nobody_knows_is_a_warning(tree: dict[Any, Any], said: str) -> None:
    """HAMi drops it without a word, so a file of a running HAMi must not stop us."""
    vendors, warnings = deviceconfig.apply(tree, VENDORS, FILE)
    assert vendors == VENDORS
    assert warnings == (f"{FILE}: {said}",)


WRONG: dict[str, tuple[Any, str]] = {
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
    "no name for the count": (
        {"nvidia": {"resourceCountName": ""}},
        "nvidia.resourceCountName is empty",
    ),
    "one name for two resources": (
        {"nvidia": {"resourceCoreName": "nvidia.com/gpumem"}},
        "nvidia: nvidia.com/gpumem names two resources",
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


def test_sections_of_other_accelerators_are_not_judged_yet() -> None:
    """They are HAMi's to read until Berth knows them."""
    tree: Any = {"hygon": {"resourceCountName": 7}, "vnpus": [], "iluvatars": {}}
    assert deviceconfig.apply(tree, VENDORS, FILE) == (VENDORS, ())
