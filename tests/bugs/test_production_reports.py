"""Public bug reports on running the webhook, by their number."""

import json

import yaml
from click.testing import CliRunner

from berth.admission import mutate, wire
from berth.admission.journal import Journal
from berth.admission.recall import Answered
from berth.cli import manifests
from berth.observe.metrics import Metrics
from tests.pods import gpu_pod
from tests.vectors import laws
from tests.webhook import review


def test_r31_labels_are_closed_lists() -> None:
    """31 (HAMi#2142): 100 Pods more, each with names and sizes of its own, are no series more.

    Nor are they where a caller makes up operations and resources.
    """
    metrics = Metrics()
    journal = Journal(metrics, lambda _name, _fields: None)

    def series_after(pods: range) -> set[tuple[str, ...]]:
        for number in pods:
            asked = gpu_pod({"nvidia.com/gpu": "1", "nvidia.com/gpumem": str(number * 1000)})
            asked["metadata"]["name"] = f"train-{number}"
            about = {
                "namespace": f"team-{number}",
                "uid": str(number),
                "operation": f"OPERATE{number}",
                "resource": {"resource": f"pods-{number}"},
            }
            read = wire.decode(json.dumps(review(asked, **about)).encode())
            decided = mutate.decide(asked, read.namespace, laws.SHIPPED)
            journal.reviewed(Answered(read, decided, b""), {}, 0.001)
        return {
            (sample.name, *sample.labels.values())
            for family in metrics.registry.collect()
            for sample in family.samples
        }

    assert series_after(range(2)) == series_after(range(2, 102))


def test_r37_one_node_that_is_lost_is_not_all_replicas() -> None:
    """37 (volcano#3734): two replicas, on different nodes, of which a drain takes one at a time.

    That `berth unregister` takes both configurations out, and that a web Pod is created while no
    replica lives, is shown on a real API server (`tests/e2e/test_registration.py`).
    """
    printed = CliRunner().invoke(manifests.command, []).output
    found = {one["kind"]: one["spec"] for one in yaml.safe_load_all(printed) if "spec" in one}
    deployment = found["Deployment"]
    assert deployment["replicas"] == 2
    assert found["PodDisruptionBudget"]["maxUnavailable"] == 1
    (spread,) = deployment["template"]["spec"]["topologySpreadConstraints"]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
