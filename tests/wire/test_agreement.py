"""A Pod of each section, end to end: HTTPS carries what the decision says, and nothing else."""

import json

import pytest

from tests.pods import Pod, container, gpu_pod, pod
from tests.vectors import laws
from tests.webhook import Webhook, review

GPU = {"nvidia.com/gpu": "1"}
PODS = {
    "M3": gpu_pod(GPU) | {"metadata": {"generateName": "train-"}},
    "M4": pod(container(limits=GPU), metadata={"annotations": {"a": "b"}}),
    "M6": pod(container(limits=GPU), metadata={"annotations": {"berth.dev/original-request": "x"}}),
    "R1": gpu_pod(GPU),
    "R3": pod(container() | {"resources": {"requests": GPU}}),
    "R5": gpu_pod({"nvidia.com/gpu": "0.5"}),
    "R8": gpu_pod({"nvidia.com/gpu": "0"}),
    "R10": gpu_pod({"nvidia.com/gpu": 2**63}),
    "R12": gpu_pod({"NVIDIA.com/gpu": "1"}),
    "R16": pod(container("a", {"cpu": "1"}), container("b", GPU)),
    "R18": pod(container(), resources={"limits": GPU}),
    "C1": pod(container(), initContainers=[container("init", GPU)]),
    "C8": pod(container(limits=GPU | {"nvidia.com/priority": "1"}, env=[{"name": "A"}])),
    "C13": pod(container(limits=GPU, securityContext={"privileged": True})),
    "K1": pod(container(limits=GPU), metadata={"annotations": {"kubernetes.io/config.mirror": ""}}),
    "K7": gpu_pod(GPU, nodeName="n1"),
    "K8": gpu_pod(GPU, schedulerName="volcano"),
    "K9": gpu_pod(GPU, schedulerName="hami-scheduler"),
    "K10": gpu_pod(GPU, os={"name": "windows"}),
}


@pytest.mark.parametrize("asked", PODS.values(), ids=PODS)
def test_https_carries_what_was_decided(webhook: Webhook, asked: Pod) -> None:
    """The process answers byte for byte as the same review is answered without it."""
    sown = laws.sown(asked)
    expected = laws.ask(sown)
    answer = webhook.ask(review(sown))
    assert answer.status == 200
    assert answer.response == expected.response
    if answer.patch:
        laws.holds(sown, answer.response, expected.decision)
        assert not webhook.ask(review(expected.pod)).patch


@pytest.mark.parametrize("wrong", [None, [], "x", {}, [None]], ids=json.dumps)
def test_c6_containers_of_a_wrong_shape_are_no_fault(webhook: Webhook, wrong: object) -> None:
    """Such a Pod is HTTP 400 or passes, and Kubernetes' own validation speaks."""
    asked = pod(initContainers=[container("init", GPU)])
    asked["spec"]["containers"] = wrong
    assert webhook.ask(review(asked)).status in (200, 400)
    assert not webhook.logged("admission.fault")
