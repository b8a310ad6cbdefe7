"""The rows of tests/vendors/rows, and Pods made of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests import pods

FOLDER = Path(__file__).parent / "rows"
PLACES = ("containers", "initContainers", "sidecar")


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a container asks for, and what it comes to; rows/README.md has the keys."""

    section: str
    what: str
    limits: dict[str, str]
    added: dict[str, str] = field(default_factory=dict)
    share: tuple[int, int | None, int | None] | None = None
    percent: int | None = None
    slices: int | None = None
    env: dict[str, str] = field(default_factory=dict)
    annotated: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    runtime_class: str | None = None
    config: Any = None
    warned: int = 0
    refused: tuple[tuple[str, str], ...] = ()

    def pod(self, place: str) -> pods.Pod:
        """Return a Pod whose container "main" asks for this, as an app or init container."""
        asking = pods.container("main", self.limits)
        if place == "sidecar":
            asking["restartPolicy"] = "Always"
        metadata = {"annotations": self.annotated} if self.annotated else {}
        if place == "containers":
            return pods.pod(asking, metadata=metadata)
        # The other container is privileged, so that hiding devices leaves it alone.
        other = pods.container("app", securityContext={"privileged": True})
        return pods.pod(other, metadata=metadata, initContainers=[asking])


def rows() -> Iterator[tuple[str, Row]]:
    """Yield each row with an id."""
    for file in sorted(FOLDER.glob("*.yaml")):
        table = yaml.safe_load(file.read_text())
        for written in table["rows"]:
            entry = {**written, "section": table["section"]}
            if "class" in entry:
                entry["runtime_class"] = entry.pop("class")
            for key in ("share", "refused"):
                if entry.get(key):
                    tuples = map(tuple, entry[key]) if key == "refused" else entry[key]
                    entry[key] = tuple(tuples)
            yield f"{file.stem}: {entry['what']}", Row(**entry)
