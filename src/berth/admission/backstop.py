"""The ValidatingAdmissionPolicy that stands in for the webhook while no answer comes.

The API server evaluates it itself, after all webhooks: a Pod that asks for a device and does not
look rewritten is refused, whoever failed. It judges what the Pod says, not marks that we leave in
it: CEL cannot tell a user's mark from ours. It must never refuse what the running webhook lets
through; docs/decisions/0017-backstop.md says what it leaves open for that.
"""

from berth import names
from berth.admission import audited, registration, rewritten, spoken
from berth.admission.rules import Rules
from berth.model.raw import Json, JsonObject
from berth.settings import Registration
from berth.words.catalogue import Language

_NO_WINDOWS = (
    '(object.spec.?os.?name.orValue("") != "" ? object.spec.os.name'
    f' : object.spec.?nodeSelector[?"{names.OS_LABEL}"].orValue("")) != "windows"'
)


def objects(rules: Rules, registered: Registration, language: Language = "en") -> list[JsonObject]:
    """Return the policy, and the binding that puts it in force; it refuses in `language`."""
    name = f"{registered.name}-backstop"
    group = "admissionregistration.k8s.io/v1"
    metadata: JsonObject = {"name": name, "labels": {"app.kubernetes.io/name": "berth"}}
    return [
        {
            "apiVersion": group,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": _spec(rules, registered, language),
        },
        {
            "apiVersion": group,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata,
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        },
    ]


def _spec(rules: Rules, registered: Registration, language: Language) -> JsonObject:
    conditions = registration.conditions(rules, "names-a-device", registration.names_device(rules))
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": registration.created_pods(),
            **registration.reach(rules, registered),
            "namespaceSelector": audited.enforced(
                registration.namespaces(rules, registered), rules.audited
            ),
        },
        "matchConditions": [*conditions, {"name": "no-windows", "expression": _NO_WINDOWS}],
        "variables": [
            {"name": name, "expression": expression}
            for name, expression in rewritten.variables(rules, language).items()
        ],
        "validations": [_validation(check, language) for check in rewritten.checks(rules)],
    }


def _validation(check: rewritten.Check, language: Language) -> Json:
    return {
        "expression": check.holds,
        "reason": "Forbidden",
        "messageExpression": spoken.expression(check.says, language),
    }
