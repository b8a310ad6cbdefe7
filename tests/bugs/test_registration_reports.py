"""Public bug reports on registration and on living with others, by their number."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from berth import layered, names, settings
from berth.admission import live, mutate, registration, route, templates, wire
from berth.admission.rules import Rules
from berth.model.decision import Verdict
from berth.model.reason import Reason
from tests.clauses import fix
from tests.hami.deciding import CORES, GPU, MEMORY, decide, faults, main, rules, spec
from tests.pods import Pod, container, gpu_pod, pod
from tests.webhook import review


def webhooks(by: Rules, *flags: str) -> list[dict[str, Any]]:
    """Return the webhooks that are registered under these rules."""
    loaded = layered.settings(None, flags)
    found: Any = registration.configuration(by, loaded.registration, b"CA")["webhooks"]
    return list(found)


def namespaces(webhook: dict[str, Any]) -> set[str]:
    """Return the namespaces that a webhook leaves out by name."""
    return {
        name
        for expression in webhook["namespaceSelector"]["matchExpressions"]
        if expression["key"] == "kubernetes.io/metadata.name" and expression["operator"] == "NotIn"
        for name in expression["values"]
    }


def test_r34_what_another_webhook_adds_later_is_seen(tmp_path: Path) -> None:
    """34 (kueue#4681): a second pass is asked for, and decides as if the Pod had come so."""
    by = rules(tmp_path)
    assert {webhook["reinvocationPolicy"] for webhook in webhooks(by)} == {"IfNeeded"}
    late: Any = deepcopy(decide(pod(container("app"), container("train")), by).pod)
    late["spec"]["containers"][1]["resources"] = {"limits": {GPU: "1"}, "requests": {GPU: "1"}}
    decision = decide(late, by)
    assert spec(decision)["containers"][1]["resources"]["limits"] == {GPU: "1", CORES: "100"}


def test_r34_an_injected_proxy_is_not_taken_for_the_app(tmp_path: Path) -> None:
    """34: a sidecar put before the app moves it, and nothing of ours goes by place."""
    by = rules(tmp_path)
    moved: Any = deepcopy(decide(gpu_pod({MEMORY: "3000"}), by).pod)
    moved["spec"]["containers"].insert(0, container("proxy"))
    assert decide(moved, by).pod == moved


def test_r35_a_runtime_class_is_set_only_where_configured(tmp_path: Path) -> None:
    """35 (HAMi#1021): not by default, not for zero cards, never over the user's.

    Whether the class exists is not looked up, as was hoped: an administrator who names one hears of
    it from the API server at the first Pod (`pod rejected: RuntimeClass "nvidia" not found`), and a
    Pod that is let through without it would start without its card.
    """
    plain = decide(gpu_pod({GPU: "1"}), rules(tmp_path))
    assert "runtimeClassName" not in spec(plain)
    by = rules(tmp_path, runtimeClassName="nvidia")
    assert spec(decide(gpu_pod({GPU: "1"}), by))["runtimeClassName"] == "nvidia"
    assert decide(gpu_pod({GPU: "0"}), by).verdict is Verdict.UNCHANGED
    theirs = gpu_pod({GPU: "1"}, runtimeClassName="mine")
    assert spec(decide(theirs, by))["runtimeClassName"] == "mine"


def test_r35_who_changed_the_pod_can_be_told(tmp_path: Path) -> None:
    """35: the Pod carries an annotation of ours."""
    decision = decide(gpu_pod({GPU: "1"}), rules(tmp_path, runtimeClassName="nvidia"))
    metadata: Any = decision.pod["metadata"]
    assert any(key.startswith("berth.dev/") for key in metadata["annotations"])


def test_r37_an_outage_stops_only_pods_that_name_a_device(tmp_path: Path) -> None:
    """37 (volcano#3734): fail closed, but matched by CEL in the API server, and shortly.

    That the expression means so is shown against a real API server.
    """
    (webhook,) = webhooks(rules(tmp_path))
    assert webhook["failurePolicy"] == "Fail"
    *_, condition = webhook["matchConditions"]
    assert GPU in condition["expression"]
    assert webhook["timeoutSeconds"] <= 5
    assert namespaces(webhook) == {"kube-system", "berth-system"}


def test_r37_excluded_namespaces_are_not_even_asked_about(tmp_path: Path) -> None:
    """37: an outage must not reach a namespace that the settings exclude."""
    flag = "policy.excludedNamespaces=kube-system,monitoring"
    (webhook,) = webhooks(rules(tmp_path, flag), flag)
    assert namespaces(webhook) == {"kube-system", "monitoring", "berth-system"}


def test_r37_hiding_cards_is_a_webhook_of_its_own_that_fails_open(tmp_path: Path) -> None:
    """37: what has to see every Pod must not be able to stop it."""
    ours, others = webhooks(rules(tmp_path, overwriteEnv=True))
    assert (ours["failurePolicy"], others["failurePolicy"]) == ("Fail", "Ignore")
    (*_, mine), (*_, rest) = ours["matchConditions"], others["matchConditions"]
    assert rest["expression"] == f"!({mine['expression']})"


def test_r38_pods_are_changed_at_create_alone(tmp_path: Path) -> None:
    """38 (kserve#3159): containers of a Pod that exists cannot be changed by anyone."""
    for webhook in webhooks(rules(tmp_path, overwriteEnv=True)):
        assert [rule["operations"] for rule in webhook["rules"]] == [["CREATE"]]
        assert [rule["resources"] for rule in webhook["rules"]] == [["pods"]]


@pytest.mark.parametrize(
    "request_",
    [
        {"operation": "UPDATE", "oldObject": gpu_pod({GPU: "1"})},
        {"operation": "DELETE", "object": None},
        {"subResource": "ephemeralcontainers", "operation": "UPDATE"},
        {"subResource": "binding"},
        {"kind": {"group": "example.com", "version": "v1", "kind": "Pod"}},
        {"resource": {"group": "", "version": "v1", "resource": "widgets"}},
    ],
    ids=["a label", "a deletion", "a debug container", "a binding", "a group", "a resource"],
)
def test_r38_anything_else_passes_should_it_ever_come(
    request_: dict[str, Any], tmp_path: Path
) -> None:
    """38: a registration of someone else's may send us more than ours asks for."""
    asked = review(gpu_pod({GPU: "1"}), **request_)
    decoded = wire.decode(json.dumps(asked).encode())
    assert not decoded.creates_pod
    generation = live.Generation(number=1, settings=settings.Settings(), rules=rules(tmp_path))
    decision = route.decide(decoded, generation, names.MUTATE_PATH)
    answer = json.loads(wire.answer(decoded, decision, generation.number))
    assert answer["response"]["uid"] == asked["request"]["uid"]
    assert answer["response"]["allowed"]
    assert "patch" not in answer["response"]


def test_r40_a_dry_run_is_answered_as_any_other(tmp_path: Path) -> None:
    """40 (kuma#828): nothing is written or kept, so the API server may ask for dry runs."""
    by = rules(tmp_path)
    assert {webhook["sideEffects"] for webhook in webhooks(by)} == {"None"}
    asked = gpu_pod({GPU: "1"})
    before = deepcopy(asked)
    dry = wire.decode(json.dumps(review(asked, dryRun=True)).encode())
    assert dry.dry_run
    assert dry.creates_pod
    assert dry.object == asked
    first = mutate.decide(asked, "default", by)
    assert mutate.decide(asked, "default", by) == first
    assert asked == before


def test_r41_a_pod_on_a_chosen_node_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """41 (HAMi#488): no scheduler would see it, so no device would be given."""
    decision = decide(gpu_pod({GPU: "1", MEMORY: "1000"}, nodeName="gpu-1"), rules(tmp_path))
    assert faults(decision) == [(Reason.NODE_NAME, "spec.nodeName")]
    assert "node affinity on metadata.name" in fix(decision.problems[0])


AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gpu-1"]}]}
            ]
        }
    }
}


def test_r41_a_daemon_sets_pod_is_not_taken_for_one(tmp_path: Path) -> None:
    """41: it names its node by affinity, which the scheduler follows and we leave alone."""
    decision = decide(gpu_pod({GPU: "1"}, affinity=AFFINITY), rules(tmp_path))
    assert decision.verdict is Verdict.PATCHED
    assert spec(decision)["affinity"] == AFFINITY


def test_r41_a_mirror_pod_passes(tmp_path: Path) -> None:
    """41: the static Pod runs already, and its mirror always has a nodeName."""
    mirror = pod(
        container(limits={GPU: "1"}),
        metadata={"annotations": {"kubernetes.io/config.mirror": "0"}},
        nodeName="gpu-1",
    )
    assert decide(mirror, rules(tmp_path)).verdict is Verdict.IGNORED


WRITTEN = [{GPU: "1", MEMORY: "8000"}, {GPU: "4"}, {GPU: "2", CORES: "50", "memory": "64Gi"}]


@pytest.mark.parametrize("limits", WRITTEN, ids=["a share", "whole cards", "cores"])
def test_r61_r65_what_was_written_stays(limits: dict[str, str], tmp_path: Path) -> None:
    """61 (HAMi#1099), 65 (kuberay#321): autoscalers and frameworks read nvidia.com/gpu.

    We add to the limits and never take away, in the Pod and so in what its template says.
    """
    worker: Pod = gpu_pod(limits)
    cluster: Pod = {"kind": "RayCluster", "spec": {"workerGroupSpecs": [{"template": worker}]}}
    (template,) = templates.find(cluster)
    decision = decide(template.pod, rules(tmp_path))
    assert limits.items() <= main(decision)["resources"]["limits"].items()
