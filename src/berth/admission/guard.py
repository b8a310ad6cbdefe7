"""The ValidatingWebhookConfiguration: what `/validate` is asked about (admissionregistration/v1).

Each entry is matched in the API server, by CEL, so that our outage can only stop what would have to
be judged. HAMi's own scheduler and device plugins never come.
"""

from collections.abc import Iterator

from berth import names
from berth.admission import audited, registration, zones
from berth.admission.registration import rule
from berth.admission.rules import EnvHandling, Privileged, Rules
from berth.admission.spoken import literal
from berth.model.raw import JsonObject
from berth.settings import Registration

_NOBODYS = "!has(object.metadata.ownerReferences)"
_TEMPLATES = ("object.spec.template", "object.spec.jobTemplate.spec.template")
_NEW = 'request.operation == "CREATE" && request.kind.kind == "Pod"'
_WORKLOADS = {
    "apps": ["daemonsets", "deployments", "replicasets", "statefulsets"],
    "batch": ["cronjobs", "jobs"],
}


def configuration(rules: Rules, registered: Registration, authority: bytes) -> JsonObject:
    """Return the whole object; `authority` as in `registration.configuration`."""
    webhooks: list[JsonObject] = [
        {
            **registration.entry(name, path, registered, authority),
            "failurePolicy": registered.failure_policy,
            "namespaceSelector": zones.anywhere(rules, registered),
            **more,
        }
        for name, path, more in _entries(rules, registered)
    ]
    return {
        "apiVersion": names.REGISTRATION_API,
        "kind": names.VALIDATING,
        "metadata": {"name": registered.name, "labels": {names.NAME_LABEL: "berth"}},
        "webhooks": [*audited.entries(webhooks, rules.audited, registration.base(registered))],
    }


def _entries(rules: Rules, registered: Registration) -> Iterator[tuple[str, str, JsonObject]]:
    """Yield the name and path of each entry, and what it has otherwise than the others."""
    for zone in zones.find(rules, registered):
        device = registration.names_device(zone.rules)
        matched = registration.conditions(zone.rules, "names-a-device", device)
        matched.append({"name": "comes-or-is-steered", "expression": _steered(zone.rules)})
        more: JsonObject = {
            "rules": [*registration.created_pods(), rule("", ["pods"], ["UPDATE"])],
            "namespaceSelector": zone.selector,
            "matchConditions": matched,
        }
        yield zone.entry(names.WEBHOOK_VALIDATE), zone.path(names.VALIDATE_PATH), more
    # A Pod of any zone comes here, and nothing but its records is to be judged by these rules.
    records = names.ALLOCATIONS_PATH if rules.zones else names.VALIDATE_PATH
    rules = rules.reading
    device = registration.names_device(rules)
    if rules.allocations:
        yield names.WEBHOOK_ALLOCATIONS, records, _allocations(rules)
    variables = _variables(rules)
    if variables or rules.privileged is Privileged.DENY:
        matched = registration.conditions(rules, "sees-devices", _sees(rules, variables))
        if not rules.sees_others:
            matched.append({"name": "names-a-device", "expression": device})
        shown = rule("", ["pods/ephemeralcontainers"], ["UPDATE"])
        more = {"rules": [shown], "matchConditions": matched}
        yield names.WEBHOOK_DEBUG, names.VALIDATE_PATH, more
    if registered.workloads:
        yield names.WEBHOOK_WORKLOADS, names.VALIDATE_PATH, _workloads(rules)


def _steered(rules: Rules) -> str:
    """Return CEL that is true of new Pods, and of waiting ones that shall be placed otherwise."""
    keys = literal(sorted(rules.steering))
    now, before = (f"{one}.metadata.?annotations" for one in ("object", "oldObject"))
    return (
        'request.operation == "CREATE" || (!has(object.spec.nodeName) && '
        f"{now} != {before} && {keys}.exists(k, {now}[?k] != {before}[?k]))"
    )


def _allocations(rules: Rules) -> JsonObject:
    """Return the entry for records, from which neither label nor scheduler opts out."""
    return {
        "rules": [
            rule("", ["pods"], ["CREATE", "UPDATE"]),
            rule("", ["pods/status"], ["UPDATE"]),
            # What a Binding has of annotations becomes the Pod's.
            rule("", ["pods/binding", "bindings"], ["CREATE"]),
        ],
        "objectSelector": {},
        "namespaceSelector": {"matchExpressions": [zones.unexcluded(rules)]},
        "matchConditions": [
            {"name": "is-not-an-allocator", "expression": _is_stranger(rules)},
            {"name": "writes-an-allocation", "expression": _records(rules)},
        ],
    }


def _is_stranger(rules: Rules) -> str:
    """Return CEL as `allocations` has it: who may change a Pod may not always create one."""
    exact = [one for one in rules.allocators if not one.endswith("*")]
    prefixes = [one[:-1] for one in rules.allocators if one.endswith("*")]
    user = "request.userInfo.username"
    begins = f"{literal(prefixes)}.exists(p, {user}.startsWith(p))"
    return f"!({user} in {literal(exact)}) && ({_NEW} || !{begins})"


def _records(rules: Rules) -> str:
    keys, kept = literal(sorted(rules.allocations)), literal(sorted(rules.kept))
    now, before = (f"{one}.metadata.?annotations" for one in ("object", "oldObject"))
    return (
        f'request.operation == "CREATE" ? {now}.orValue({{}}).exists(k, k in {keys})'
        f" : {now} != {before} && {kept}.exists(k, {now}[?k] != {before}[?k])"
    )


def _variables(rules: Rules) -> list[str]:
    """Return the variables that an ephemeral container must not set."""
    found = set[str]()
    for vendor in rules.vendors:
        found |= {vendor.visible_env} if rules.device_env is not EnvHandling.KEEP else set()
        found |= vendor.limit_env if rules.limit_env is not EnvHandling.KEEP else set()
    return sorted(found - {""})


def _sees(rules: Rules, variables: list[str]) -> str:
    sets = f"c.?env.orValue([]).exists(e, e.name in {literal(variables)})"
    if rules.privileged is Privileged.DENY:
        sets += " || c.?securityContext.?privileged.orValue(false)"
    return f"object.spec.?ephemeralContainers.orValue([]).exists(c, {sets})"


def _workloads(rules: Rules) -> JsonObject:
    """Return the entry that only ever warns: no answer is as good as one."""
    keys = literal(sorted(rules.steering))
    named = " || ".join(_template_names_device(rules, template) for template in _TEMPLATES)
    annotated = f"object.metadata.?annotations.orValue({{}}).exists(k, k in {keys})"
    return {
        "rules": [rule(group, kinds, ["CREATE"]) for group, kinds in _WORKLOADS.items()],
        "failurePolicy": "Ignore",
        "objectSelector": {},
        "matchConditions": [
            {"name": "is-nobodys", "expression": _NOBODYS},
            {"name": "names-a-device", "expression": f"{named} || {annotated}"},
        ],
    }


def _template_names_device(rules: Rules, template: str) -> str:
    keys = template.split(".")
    paths = [".".join(keys[:length]) for length in range(3, len(keys) + 1)]
    guards = " && ".join(f"has({path})" for path in [*paths, f"{template}.spec"])
    return f"({guards} && ({registration.names_device(rules, template)}))"
