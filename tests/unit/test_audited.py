"""Which namespaces are in audit, by each way in which it is asked, and what is answered there."""

import base64
import json
from itertools import product
from typing import Any

import pytest

from berth.admission import (
    backstop,
    configuration,
    guard,
    live,
    registration,
    route,
    selector,
    wire,
)
from berth.admission.audited import Audited
from berth.model.decision import Verdict
from berth.settings import Audit, Registration, Settings
from tests import pods, reviews, webhook
from tests.quotas import Cluster

LABEL = ("mode", "audit")
LABELS: list[dict[str, str]] = [{}, {"mode": "audit"}, {"mode": "enforce"}, {"mode": ""}]


def generation(audit: Audit) -> live.Generation:
    """Return the settings as shipped, but for this."""
    settings = Settings(audit=audit)
    rules, _ = configuration.rules(settings, None)
    return live.Generation(number=3, settings=settings, rules=rules)


@pytest.mark.parametrize("named", [(), ("tried", "other"), ("*",)])
@pytest.mark.parametrize("label", [None, LABEL])
@pytest.mark.parametrize("url", ["", "https://127.0.0.1:8443/"])
def test_each_namespace_is_asked_about_once(
    named: tuple[str, ...], label: tuple[str, str] | None, url: str
) -> None:
    """Where it is enforced or where it is audited, never both; the backstop holds for the first."""
    base, _ = configuration.rules(Settings(), None)
    audited = Audited(names=frozenset(named), label=label)
    rules = type(base)(options=base.options, audited=audited)
    registered = Registration(url=url, workloads=True)
    policy, _binding = backstop.objects(rules, registered)
    for name, own in product(("tried", "served"), LABELS):
        labels = {**own, "kubernetes.io/metadata.name": name}
        wanted = audited.holds(name, labels)
        for whole in (registration, guard):
            asked: dict[str, list[dict[str, Any]]] = {}
            for entry in _webhooks(whole.configuration(rules, registered, b"")):
                if selector.matches(entry["namespaceSelector"], labels):
                    plain = entry["name"].split(".", 1)[1] if _is_twin(entry) else entry["name"]
                    asked.setdefault(plain, []).append(entry)
            assert asked
            for (entry,) in asked.values():
                assert _is_twin(entry) == wanted
                assert _path(entry).startswith("/audit/") == wanted
                assert entry["failurePolicy"] == "Ignore" or not wanted
        spec: Any = policy["spec"]
        assert selector.matches(spec["matchConstraints"]["namespaceSelector"], labels) != wanted


def _webhooks(configuration: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = configuration["webhooks"]
    names = [entry["name"] for entry in found]
    assert len(names) == len({*names}), "the API server wants a name of its own for each"
    return found


def _is_twin(entry: dict[str, Any]) -> bool:
    return bool(entry["name"].startswith("audit-"))


def _path(entry: dict[str, Any]) -> str:
    client = entry["clientConfig"]
    if "service" in client:
        return str(client["service"]["path"])
    return str(client["url"].removeprefix("https://127.0.0.1:8443"))


def _answer(path: str, pod: dict[str, Any], audit: Audit, namespace: str) -> dict[str, Any]:
    body = json.dumps(webhook.review(pod, namespace=namespace)).encode()
    review, used = wire.decode(body), generation(audit)
    decision = route.decide(review, used, path)
    found: dict[str, Any] = json.loads(wire.answer(review, decision, used.number))["response"]
    return found


@pytest.mark.parametrize(
    ("path", "namespace"),
    [
        ("/audit/mutate", "labelled"),
        ("/mutate", "named"),
        ("/webhook", "named"),
    ],
)
def test_the_audit_log_hears_what_was_not_done(path: str, namespace: str) -> None:
    """Allowed, no patch; by the path that the API server chose, or by a name that we know."""
    audit = Audit(namespaces=("named",))
    for limits, would in (
        ({"nvidia.com/gpu": "1"}, "patched"),
        ({"nvidia.com/gpu": "-1"}, "refused"),
    ):
        answer = _answer(path, pods.gpu_pod(limits), audit, namespace)
        assert answer["allowed"]
        assert "patch" not in answer
        told = answer["auditAnnotations"]
        assert (told["decision"], told["would"], told["generation"]) == ("audited", would, "3")
        enforced = _answer("/mutate", pods.gpu_pod(limits), Audit(), namespace)
        assert told["reasons"] == enforced["auditAnnotations"]["reasons"]
        assert answer["warnings"][0].startswith("audit: ")


def test_what_is_none_of_our_business_stays_so() -> None:
    """A Pod without a device, and one of another scheduler, leave no trace of a trial."""
    by = generation(Audit(namespaces=("default",)))
    for pod, verdict in (
        (pods.gpu_pod({"cpu": "1"}), Verdict.UNCHANGED),
        (pods.gpu_pod({"nvidia.com/gpu": "1"}, schedulerName="other"), Verdict.IGNORED),
    ):
        review = wire.decode(json.dumps(webhook.review(pod)).encode())
        decision = route.decide(review, by, "/audit/mutate")
        assert (decision.verdict, decision.warnings) == (verdict, ())


def test_a_trial_claims_nothing_of_a_quota() -> None:
    """What is only tried must not stand in the way of the namespace's next Pod."""
    by = generation(Audit())
    pod = pods.gpu_pod({"nvidia.com/gpu": "1", "nvidia.com/gpumem": "1000"})
    for path, claimed in (("/audit/mutate", 0), ("/mutate", 1)):
        cluster = Cluster(by.rules, {"limits.nvidia.com/gpumem": "8000"})
        route.decide(reviews.review(pod), by, path, cluster.standings)
        assert len(cluster.claims) == claimed


def test_no_answer_under_audit_has_a_patch() -> None:
    """Whatever the path: base64 of a patch is in none of them."""
    pod = pods.gpu_pod({"nvidia.com/gpu": "1"})
    patched = _answer("/mutate", pod, Audit(), "default")
    assert json.loads(base64.b64decode(patched["patch"]))
    for path in ("/audit/mutate", "/audit/validate", "/audit/inject/none"):
        answer = _answer(path, pod, Audit(), "default")
        assert answer["allowed"]
        assert "patch" not in answer
