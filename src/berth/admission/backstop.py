"""The ValidatingAdmissionPolicy that stands in for the webhook while no answer comes.

The API server evaluates it itself, after all webhooks: a Pod that asks for a device and does not
look rewritten is refused, whoever failed. It judges what the Pod says, not marks that we leave in
it: CEL cannot tell a user's mark from ours. It must never refuse what the running webhook lets
through; docs/decisions/0017-backstop.md says what it leaves open for that.
"""

from berth import names
from berth.admission import audited, registration, rewritten, spoken, zones
from berth.admission.rules import Rules
from berth.admission.zones import Zone
from berth.model.raw import Json, JsonObject
from berth.settings import Registration
from berth.words.catalogue import Language

_NO_WINDOWS = (
    '(object.spec.?os.?name.orValue("") != "" ? object.spec.os.name'
    f' : object.spec.?nodeSelector[?"{names.OS_LABEL}"].orValue("")) != "windows"'
)


def objects(rules: Rules, registered: Registration, language: Language = "en") -> list[JsonObject]:
    """Return a policy for each zone, and the binding that puts it in force.

    It refuses in `language`.
    """
    found = zones.find(rules, registered)
    return [one for zone in found for one in _of_zone(zone, registered, language)]


def _of_zone(zone: Zone, registered: Registration, language: Language) -> list[JsonObject]:
    name = "-".join([registered.name, "backstop", *filter(None, zone.name.split("."))])
    metadata: JsonObject = {"name": name, "labels": {names.NAME_LABEL: "berth"}}
    return [
        {
            "apiVersion": names.REGISTRATION_API,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": _spec(zone, language),
        },
        {
            "apiVersion": names.REGISTRATION_API,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata,
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        },
    ]


def _spec(zone: Zone, language: Language) -> JsonObject:
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
