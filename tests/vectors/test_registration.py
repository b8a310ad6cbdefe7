"""Vector L12: the registration itself, whatever the settings make of it."""

from typing import Any

import pytest

from berth import layered
from berth.admission import guard, registration
from berth.settings import Injection, Policy
from tests.vectors import laws

VARIANTS: dict[str, dict[str, Any]] = {
    "as shipped": {},
    "with injections": {"injections": (Injection(name="one"), Injection(name="two"))},
}


@pytest.mark.parametrize("given", VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize("flags", [(), ("registration.url=https://127.0.0.1:8443",)], ids=str)
def test_l12_the_registration_is_as_it_should_be(given: dict[str, Any], flags: list[str]) -> None:
    """No side effects, a short timeout, full names, v1, guarded conditions, our namespace out."""
    wanted = layered.settings(None, flags).registration
    found: Any = registration.configuration(laws.rules(**given), wanted, b"CA")
    webhooks = found["webhooks"]
    names = [webhook["name"] for webhook in webhooks]
    assert len(names) == len(set(names)) == 1 + len(given.get("injections", ()))
    for webhook in webhooks:
        assert webhook["name"].count(".") >= 2
        assert webhook["sideEffects"] == "None"
        assert 1 <= webhook["timeoutSeconds"] <= 30
        assert webhook["admissionReviewVersions"] == ["v1"]
        assert [rule["scope"] for rule in webhook["rules"]] == ["Namespaced"]
        assert [rule["operations"] for rule in webhook["rules"]] == [["CREATE"]]
        (left_out,) = (
            expression["values"]
            for expression in webhook["namespaceSelector"]["matchExpressions"]
            if expression["key"] == "kubernetes.io/metadata.name"
        )
        assert {"kube-system", wanted.namespace} <= set(left_out)
        for condition in webhook["matchConditions"]:
            assert "has(object." in condition["expression"]


STRICT = Policy(privileged="deny", undone="warn")
LENIENT = Policy(allocations="keep", device_env="keep", limit_env="keep")


@pytest.mark.parametrize(
    ("policy", "flags", "entries"),
    [
        (Policy(), (), ["validate", "allocations", "debug"]),
        (
            STRICT,
            ("registration.workloads=true",),
            ["validate", "allocations", "debug", "workloads"],
        ),
        (LENIENT, (), ["validate"]),
    ],
    ids=["as shipped", "strict", "lenient"],
)
def test_l12_the_validating_registration_is_as_it_should_be(
    policy: Policy, flags: tuple[str, ...], entries: list[str]
) -> None:
    """The same holds of its other half, of which only what the settings judge is registered."""
    wanted = layered.settings(None, flags).registration
    found: Any = guard.configuration(laws.rules(policy=policy), wanted, b"CA")
    webhooks = found["webhooks"]
    assert [webhook["name"].partition(".")[0] for webhook in webhooks] == entries
    for webhook in webhooks:
        assert webhook["name"].count(".") >= 2
        assert "reinvocationPolicy" not in webhook
        assert webhook["sideEffects"] == "None"
        assert webhook["admissionReviewVersions"] == ["v1"]
        assert {rule["scope"] for rule in webhook["rules"]} == {"Namespaced"}
        assert webhook["matchConditions"]
        assert webhook["clientConfig"]["service"]["path"] == "/validate"
        (left_out,) = (
            expression["values"]
            for expression in webhook["namespaceSelector"]["matchExpressions"]
            if expression["key"] == "kubernetes.io/metadata.name"
        )
        assert {"kube-system", wanted.namespace} <= set(left_out)
    workloads = [one for one in webhooks if one["name"].startswith("workloads")]
    assert all(one["failurePolicy"] == "Ignore" for one in workloads)
