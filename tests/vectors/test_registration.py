"""Vector L12: the registration itself, whatever the settings make of it."""

from typing import Any

import pytest

from berth import settings
from berth.admission import registration
from berth.settings import Injection
from tests.vectors import laws

VARIANTS: dict[str, dict[str, Any]] = {
    "as shipped": {},
    "with injections": {"injections": (Injection(name="one"), Injection(name="two"))},
}


@pytest.mark.parametrize("given", VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize("flags", [(), ("registration.url=https://127.0.0.1:8443",)], ids=str)
def test_l12_the_registration_is_as_it_should_be(given: dict[str, Any], flags: list[str]) -> None:
    """No side effects, a short timeout, full names, v1, guarded conditions, our namespace out."""
    wanted = settings.load(None, flags).registration
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
