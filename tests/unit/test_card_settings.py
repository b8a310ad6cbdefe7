"""Settings about cards: what becomes of them, and what is said of a bad one."""

from pathlib import Path

import pytest

from berth import layered
from berth.admission import configuration
from berth.errors import UsageError
from berth.model.terms import Terms


def terms(folder: Path, text: str) -> Terms:
    """Return the terms of a settings file with this under `placement`."""
    file = folder / "settings.yaml"
    file.write_text(f"placement: {text}")
    return configuration.rules(layered.settings(file), None)[0].terms


def test_without_settings_inference_is_kept_from_training() -> None:
    """By a label that nobody has who has not read of it."""
    found = configuration.rules(layered.settings(None), None)[0].terms
    assert found.apart == (("inference", "training"),)
    assert found.tests == ()


def test_filters_pairs_and_the_rack(tmp_path: Path) -> None:
    """As they are written."""
    text = (
        "{filters: [{name: a, expression: 'device.numa == 0', namespaces: [x]}],"
        " apart: ['a:b', 'c:c'], workloadKey: team, rackLabel: rack}"
    )
    found = terms(tmp_path, text)
    assert found.apart == (("a", "b"), ("c", "c"))
    assert [(one.test.name, one.namespaces) for one in found.tests] == [("a", ("x",))]
    assert (found.workload_key, found.rack) == ("team", "rack")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "{filters: [{name: a, expression: 'true'}, {name: b, expression: 'device.modl == 1'}]}",
            r"placement.filters\[1\].expression: column 7: there is no device.modl; did you mean",
        ),
        (
            "{filters: [{name: a, expression: 'true'}, {name: a, expression: 'true'}]}",
            r"placement.filters\[1\].name: a stands there twice",
        ),
        ("{filters: [{name: a, expresion: 'true'}]}", "did you mean expression"),
        ("{apart: [inference]}", r"placement.apart\[0\]: expected two names with a colon"),
    ],
)
def test_a_bad_setting_is_refused_when_it_is_read(tmp_path: Path, text: str, said: str) -> None:
    """With its path and what may be meant."""
    with pytest.raises(UsageError, match=said):
        terms(tmp_path, text)
