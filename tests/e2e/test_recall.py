"""Pods of one template on the real API server: decided twice, and answered each for itself."""

import json
from typing import Any

from tests import pods
from tests.cluster.kubectl import Kubectl
from tests.e2e.api import Api
from tests.e2e.conftest import Register
from tests.e2e.test_quota import eventually, limited, stored

GPU = {"nvidia.com/gpu": "1"}
SIZED = GPU | {"nvidia.com/gpumem": "1000"}
REPLICAS = 12
ALONE = ("--set", "placement.enforce=never", "--set", "quota.enforce=never")
DEFAULT_ACCOUNT = "serviceaccount/default"


def deployment(name: str, container: dict[str, Any]) -> str:
    """Return a Deployment of `REPLICAS` Pods with one container."""
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    selector = {"matchLabels": {"app": name}}
    made = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}}
    return json.dumps(
        made | {"spec": {"replicas": REPLICAS, "selector": selector, "template": template}}
    )


def test_the_replicas_of_a_deployment_are_decided_twice(
    api: Api, register: Register, kubectl: Kubectl, namespace: str
) -> None:
    """What a real controller creates comes alike; all are stored as wished, logged one by one."""
    eventually(lambda: kubectl("get", DEFAULT_ACCOUNT, check=False).returncode == 0)
    with register(*ALONE) as running:
        kubectl("apply", "-f", "-", input=deployment("train", pods.container("main", GPU)))
        eventually(lambda: len(stored(api, namespace)) == REPLICAS)

        def told() -> list[dict[str, Any]]:
            return [
                line
                for line in running.logged("admission.reviewed")
                if line["namespace"] == namespace and line["path"] == "/mutate"
            ]

        eventually(lambda: len(told()) >= REPLICAS)  # lines are read beside the test
        lines = told()
        for pod in stored(api, namespace):
            (container,) = pod["spec"]["containers"]
            assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"
            assert pod["spec"]["schedulerName"] == "hami-scheduler"
        assert {line["decision"] for line in lines} == {"patched"}
        assert len({line["uid"] for line in lines}) == len(lines) == REPLICAS
        assert {line["pod"].rsplit("-", 1)[0] for line in lines} == {lines[0]["owner"][11:]}
        # The first two of /mutate and of /validate are worked out.
        assert running.figure("berth_recalled_total") >= 2 * (REPLICAS - 2)


def test_where_quotas_are_known_each_is_decided_by_them(
    api: Api, register: Register, kubectl: Kubectl, namespace: str
) -> None:
    """Twelve Pods alike, and room for five: the sixth is refused, however often it comes."""
    eventually(lambda: kubectl("get", DEFAULT_ACCOUNT, check=False).returncode == 0)
    with register("--set", "placement.enforce=never") as running:
        limited(api, namespace, {"limits.nvidia.com/gpumem": "5000"}, SIZED)
        kubectl("apply", "-f", "-", input=deployment("train", pods.container("main", SIZED)))

        def refused() -> bool:
            told = running.logged("admission.reviewed")
            mine = [line for line in told if line["namespace"] == namespace]
            return any(line["decision"] == "refused" and not line["dry_run"] for line in mine)

        eventually(refused)
        eventually(lambda: len(stored(api, namespace)) >= 5)  # one may be on its way to etcd
        assert len(stored(api, namespace)) == 5
