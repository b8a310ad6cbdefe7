"""Public manifests as Pods that an API server without their surroundings can create."""

import json
from collections.abc import Iterator
from copy import deepcopy
from itertools import count
from pathlib import Path
from typing import Any

from berth.admission import templates
from berth.cli import documents

FOLDER = Path(__file__).parent / "pods"
ADAPTED = Path(__file__).parent / "adapted.json"

Pod = dict[str, Any]


def pods() -> Iterator[tuple[str, Pod]]:
    """Yield each Pod template as a Pod, with an id; adapted only as adapted.json lists."""
    adaptations = json.loads(ADAPTED.read_text())
    number = count()
    for file in sorted(FOLDER.glob("*.yaml")):
        found = [
            template.pod
            for _, document in documents.read([str(file)])
            for template in templates.find(document)
        ]
        for index, template in enumerate(found):
            key = f"{file.name}#{index}"
            pod: Pod = deepcopy(dict(template))
            for change in adaptations.get(key, []):
                _put(pod, change["path"], change.get("value"))
            metadata = pod.get("metadata") or {}
            kept = {k: metadata[k] for k in ("labels", "annotations") if metadata.get(k)}
            name = f"pod-{next(number)}"
            yield (
                key,
                {"apiVersion": "v1", "kind": "Pod", "spec": pod["spec"]}
                | {"metadata": {"name": name, **kept}},
            )


def _put(pod: Pod, path: list[str | int], value: Any) -> None:
    """Set the value at a path; None takes it out."""
    node: Any = pod
    for key in path[:-1]:
        node = node[key]
    if value is None:
        del node[path[-1]]
    else:
        node[path[-1]] = value
