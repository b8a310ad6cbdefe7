"""Pod templates are found by their shape, in kinds known and unknown."""

from typing import Any

import pytest

from berth.admission import templates
from berth.model.raw import JsonObject, Path

POD: JsonObject = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main"}]}}
WITHOUT: JsonObject = {"spec": {"volumes": []}}

FOUND: dict[str, tuple[JsonObject, list[Path]]] = {
    "a Pod": ({"kind": "Pod", **POD}, [()]),
    "a PodTemplate": ({"kind": "PodTemplate", "template": POD}, [("template",)]),
    "a Deployment": (
        {"kind": "Deployment", "spec": {"replicas": 1, "selector": {}, "template": POD}},
        [("spec", "template")],
    ),
    "a CronJob": (
        {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": POD}}}},
        [("spec", "jobTemplate", "spec", "template")],
    ),
    "a RayCluster": (
        {
            "kind": "RayCluster",
            "spec": {
                "headGroupSpec": {"template": POD},
                "workerGroupSpecs": [{"template": POD}, {"template": POD}],
            },
        },
        [
            ("spec", "headGroupSpec", "template"),
            ("spec", "workerGroupSpecs", 0, "template"),
            ("spec", "workerGroupSpecs", 1, "template"),
        ],
    ),
    "a PyTorchJob": (
        {
            "kind": "PyTorchJob",
            "spec": {
                "pytorchReplicaSpecs": {
                    "Master": {"replicas": 1, "template": POD},
                    "Worker": {"replicas": 2, "template": POD},
                }
            },
        },
        [
            ("spec", "pytorchReplicaSpecs", "Master", "template"),
            ("spec", "pytorchReplicaSpecs", "Worker", "template"),
        ],
    ),
    "a List": (
        {"kind": "List", "items": [{"kind": "Pod", **POD}, {"spec": {"template": POD}}]},
        [("items", 0), ("items", 1, "spec", "template")],
    ),
    "a kind of tomorrow": (
        {"spec": {"a": [[{"b": {"podSpec": POD}}]]}},
        [("spec", "a", 0, 0, "b", "podSpec")],
    ),
    "a ConfigMap": ({"kind": "ConfigMap", "data": {"spec": "containers: []"}}, []),
    "a kind with other containers": ({"spec": {"containers": ["a", "b"]}}, []),
    "no containers yet": ({"kind": "Pod", "spec": {"containers": []}}, []),
    "nothing": ({}, []),
}


@pytest.mark.parametrize(("document", "paths"), FOUND.values(), ids=FOUND.keys())
def test_templates_are_found_in_the_documents_order(
    document: JsonObject, paths: list[Path]
) -> None:
    """Each with its path; () is the document itself."""
    assert [template.path for template in templates.find(document)] == paths


def test_a_template_is_the_object_around_the_spec() -> None:
    """Metadata and spec, as a Pod has them, and not a copy."""
    (template,) = templates.find({"spec": {"template": POD, "other": WITHOUT}})
    assert template.pod is POD


def test_a_template_holds_no_other() -> None:
    """What stands within a Pod is its own business."""
    inner: Any = {"spec": {"containers": [{"name": "a", "x": POD}], "y": POD}}
    assert [template.path for template in templates.find(inner)] == [()]
