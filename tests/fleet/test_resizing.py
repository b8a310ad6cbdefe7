"""Pods whose CPU and memory change while they run (KEP-1287), counted as the scheduler counts."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from berth.cluster import amounts
from berth.cluster.fleet import Fleet
from berth.cluster.projections import Pod
from berth.vendors import VENDORS
from tests.fleet.objects import node

Cpu = Mapping[str, str]
SMALL, MIDDLE, LARGE = ({"cpu": cpu} for cpu in ("1", "2500m", "4"))
NONE: Cpu = {}
INFEASIBLE = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
DEFERRED = {**INFEASIBLE, "reason": "Deferred"}
SCHEDULED = {"type": "PodScheduled", "status": "True"}


def stored(
    asked: Cpu, granted: Cpu, has: Cpu | None, *conditions: object, kind: str = "app"
) -> Pod:
    """Return a Pod on n1, as the API server sends it, one container of which is resized."""
    of: dict[str, Any] = {"name": "main", "resources": {"requests": asked, "limits": LARGE}}
    status: dict[str, Any] = {"name": "main", "allocatedResources": granted, "ready": True}
    status |= {} if has is None else {"resources": {"requests": has, "limits": LARGE}}
    app = {"name": "app", "resources": {}}
    spec: dict[str, Any] = {"nodeName": "n1", "containers": [of]}
    said: dict[str, Any] = {"containerStatuses": [status]}
    if kind != "app":
        restart = {"restartPolicy": "Always"} if kind == "sidecar" else {}
        spec |= {"containers": [app], "initContainers": [of | restart]}
        said = {"containerStatuses": [{"name": "app"}], "initContainerStatuses": [status]}
    whole = {
        "metadata": {"namespace": "a", "name": "x", "uid": "u"},
        "spec": spec,
        "status": {"phase": "Running", "conditions": [SCHEDULED, *conditions], **said},
    }
    return msgspec.json.decode(json.dumps(whole), type=Pod)


@pytest.mark.parametrize(
    ("pod", "milli"),
    [
        pytest.param(stored(LARGE, LARGE, LARGE), 4000, id="at-rest"),
        pytest.param(stored(LARGE, LARGE, SMALL), 4000, id="grown-and-not-yet-in-force"),
        pytest.param(stored(SMALL, LARGE, LARGE), 4000, id="shrunk-and-not-yet-granted"),
        pytest.param(stored(SMALL, SMALL, MIDDLE), 2500, id="shrunk-and-not-yet-in-force"),
        pytest.param(stored(LARGE, SMALL, SMALL, DEFERRED), 4000, id="deferred"),
        pytest.param(stored(LARGE, SMALL, SMALL, INFEASIBLE), 1000, id="never-possible"),
        pytest.param(stored(LARGE, MIDDLE, SMALL, INFEASIBLE), 2500, id="never-but-granted-before"),
        pytest.param(stored(LARGE, NONE, NONE, INFEASIBLE), 0, id="never-and-had-asked-for-none"),
        pytest.param(stored(SMALL, LARGE, None), 1000, id="a-kubelet-that-does-not-resize"),
        pytest.param(stored(SMALL, LARGE, LARGE, kind="sidecar"), 4000, id="a-sidecar"),
        pytest.param(stored(SMALL, LARGE, LARGE, kind="init"), 1000, id="an-init-container"),
    ],
)
def test_a_pod_that_is_resized_holds_as_the_scheduler_counts(pod: Pod, milli: int) -> None:
    """AggregateContainerRequests of component-helpers."""
    assert amounts.of_pod(pod)[0].cpu_milli == milli


def test_nothing_is_kept_of_containers_that_hold_what_they_ask_for() -> None:
    """As nearly all do: 5,000 Pods take no more memory."""
    assert stored(LARGE, LARGE, LARGE).status.container_statuses == ()
    assert stored(LARGE, {}, {}, DEFERRED).status.container_statuses == ()
    assert stored(LARGE, {}, {}, DEFERRED).status.conditions == ()


def test_the_ledger_follows_a_resize_that_only_the_status_tells_of() -> None:
    """What the kubelet grants and gives changes without the spec."""
    fleet = Fleet(VENDORS)
    fleet.node(None, node("n1", cpu="8"))
    shrinking = stored(SMALL, LARGE, LARGE)
    fleet.pod(None, shrinking)
    assert fleet.snapshot.cpu[0] == 4000
    shrunk = stored(SMALL, SMALL, SMALL)
    fleet.pod(shrinking, shrunk)
    assert fleet.snapshot.cpu[0] == 7000
    refused = stored(LARGE, SMALL, SMALL, INFEASIBLE)
    fleet.pod(shrunk, stored(LARGE, SMALL, SMALL))
    assert fleet.snapshot.cpu[0] == 4000
    fleet.pod(stored(LARGE, SMALL, SMALL), refused)
    assert fleet.snapshot.cpu[0] == 7000
