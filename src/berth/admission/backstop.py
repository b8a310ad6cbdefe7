"""The ValidatingAdmissionPolicy that stands in for the webhook while no answer comes.

The API server evaluates it itself, after all webhooks: a Pod that asks for a device and does not
look rewritten is refused, whoever failed. It judges what the Pod says, not marks that we leave in
it: CEL cannot tell a user's mark from ours. It must never refuse what the running webhook lets
through; docs/decisions/0017-backstop.md says what it leaves open for that.
"""

import orjson

from berth import names
from berth.admission import audited, registration, rewritten, zones
from berth.admission.rules import Rules
from berth.admission.zones import Zone
from berth.model.raw import Json, JsonObject
from berth.settings import Registration

_SAYS = "the GPU webhook did not rewrite this Pod: container "
_DO = "; try again shortly, and tell the cluster's administrators if it stays so"
_NO_WINDOWS = (
    '(object.spec.?os.?name.orValue("") != "" ? object.spec.os.name'
    f' : object.spec.?nodeSelector[?"{names.OS_LABEL}"].orValue("")) != "windows"'
)


def objects(rules: Rules, registered: Registration) -> list[JsonObject]:
    """Return a policy for each zone, and the binding that puts it in force."""
    return [one for zone in zones.find(rules, registered) for one in _of_zone(zone, registered)]


def _of_zone(zone: Zone, registered: Registration) -> list[JsonObject]:
    name = "-".join([registered.name, "backstop", *filter(None, zone.name.split("."))])
    group = "admissionregistration.k8s.io/v1"
    metadata: JsonObject = {"name": name, "labels": {"app.kubernetes.io/name": "berth"}}
    return [
        {
            "apiVersion": group,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": _spec(zone),
        },
        {
            "apiVersion": group,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata,
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        },
    ]


def _spec(zone: Zone) -> JsonObject:
    rules = zone.rules
    conditions = registration.conditions(rules, "names-a-device", registration.names_device(rules))
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": registration.created_pods(),
            **registration.reach(),
            "namespaceSelector": audited.enforced(zone.selector, rules.audited),
        },
        "matchConditions": [*conditions, {"name": "no-windows", "expression": _NO_WINDOWS}],
        "variables": [
            {"name": name, "expression": expression}
            for name, expression in rewritten.variables(rules).items()
        ],
        "validations": [_validation(check) for check in rewritten.checks(rules)],
    }


def _validation(check: rewritten.Check) -> Json:
    said = (_SAYS, f"{check.why}{_DO}")
    before, after = (orjson.dumps(text).decode() for text in said)
    return {
        "expression": check.holds,
        "reason": "Forbidden",
        "messageExpression": f'{before} + variables.{check.who}.join(", ") + {after}',
    }
