"""Every accelerator's table, row by row, in every kind of container."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from berth import layered
from berth.admission import configuration, project, wire
from berth.admission.rules import Rules
from berth.dialects.reading import read
from berth.model.demand import Share
from berth.vendors import SECTIONS, VENDORS
from tests.hami.deciding import decide, faults
from tests.vendors import table

ROWS = dict(table.rows())
LONGEST = wire.LONGEST_WARNING - 1
"""Whole also in the 16th of a Pod's init containers."""


def rules(row: table.Row, folder: Path) -> Rules:
    """Return the rules of a cluster whose device-config has the row's keys."""
    file = folder / "device-config.yaml"
    file.write_text(yaml.safe_dump({} if row.config is None else {row.section: row.config}))
    found, warnings = configuration.rules(layered.settings(None), file)
    assert not warnings
    return found


def shares(pod: Any, by: Rules) -> list[Share | None]:
    """Return what each container named "main" asks for, as a scheduler will read it."""
    found = read(project.pod(pod), by.options, skip_privileged=True)
    return [one.share for one in found.demand.containers if one.container.name == "main"]


@pytest.mark.parametrize("place", table.PLACES)
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_a_container_gets_what_the_table_says(row: table.Row, place: str, tmp_path: Path) -> None:
    """Limits, requests, variables, annotations, RuntimeClass and scheduler, and nothing else."""
    by = rules(row, tmp_path)
    asked = row.pod(place)
    decision = decide(asked, by)
    kind = "containers" if place == "containers" else "initContainers"
    if row.refused:
        here = f"spec.{kind}[0].resources.limits"
        said = [(reason.value, where) for reason, where in faults(decision)]
        places = (f"{here}[{{}}]", "metadata.annotations[{}]")
        assert len(said) == len(row.refused)
        for (reason, name), found in zip(row.refused, said, strict=True):
            assert found in [(reason, place.format(name)) for place in places]
        return
    expected = row.pod(place)
    (main,) = (one for one in expected["spec"][kind] if one["name"] == "main")
    main["resources"] = dict.fromkeys(("limits", "requests"), row.limits | row.added)
    if row.env:
        main["env"] = [{"name": name, "value": value} for name, value in row.env.items()]
    if row.runtime_class:
        expected["spec"]["runtimeClassName"] = row.runtime_class
    expected["spec"]["schedulerName"] = "hami-scheduler" if row.share else "default-scheduler"
    stored: Any = decision.pod
    annotations = dict(stored["metadata"].get("annotations", {}))
    assert (annotations.pop("berth.dev/original-request", None) is not None) == (
        row.share is not None
    )
    assert annotations == row.annotated | row.annotations
    stored = {**stored, "metadata": expected["metadata"]}
    assert stored == expected
    assert len(decision.warnings) == row.warned
    assert [str(warning) for warning in decision.warnings if len(str(warning)) > LONGEST] == []


TAKEN = {name: row for name, row in ROWS.items() if not row.refused}


@pytest.mark.parametrize("row", TAKEN.values(), ids=TAKEN.keys())
def test_the_demand_is_that_of_the_table(row: table.Row, tmp_path: Path) -> None:
    """What is asked for, and what was stored, come to one and the same demand."""
    by = rules(row, tmp_path)
    asked = row.pod("containers")
    for pod in (asked, decide(asked, by).pod):
        (share,) = shares(pod, by)
        if row.share is None:
            assert share is None
            continue
        assert share is not None
        assert (share.count, share.memory_mib, share.cores) == row.share
        assert (share.memory_percent, share.slices) == (row.percent, row.slices)


def test_every_accelerator_has_a_table() -> None:
    """Each of the 25 is asked for in some row, by a file for each family."""
    assert {file.stem for file in table.FOLDER.glob("*.yaml")} == {s.family for s in SECTIONS}
    assert len(VENDORS) == 25
    asked = {name for row in ROWS.values() if row.share for name in row.limits}
    assert [one.name for one in VENDORS if asked.isdisjoint(one.resources)] == []
