"""The MutatingWebhookConfiguration that leads Pods to us, and no others (admissionregistration/v1).

Pods are matched in the API server, by CEL: with failurePolicy Fail, our outage can then only stop
Pods that name a device.
"""

from base64 import b64encode
from collections.abc import Iterator

from berth import names
from berth.admission import audited, zones
from berth.admission.rules import Rules
from berth.admission.selector import narrowed, requirement, requirements
from berth.admission.spoken import literal
from berth.admission.zones import Zone
from berth.model.raw import Json, JsonObject
from berth.settings import Registration


def configuration(rules: Rules, registration: Registration, authority: bytes) -> JsonObject:
    """Return the whole object.

    `authority` is the PEM bundle that vouches for our certificate; empty: no caBundle is set.
    """
    webhooks: list[JsonObject] = [
        webhook
        for zone in zones.find(rules, registration)
        for webhook in _of_zone(zone, registration, authority)
    ]
    for injection in rules.injections.values():
        webhook = _webhook(
            f"{injection.name}.{names.WEBHOOK_INJECT_SUFFIX}",
            f"{names.INJECT_PATH}/{injection.name}",
            registration,
            authority,
        )
        theirs = injection.namespace_selector
        ours = narrowed(zones.anywhere(rules, registration), *requirements(theirs))
        webhooks.append(
            webhook
            | {
                "failurePolicy": registration.failure_policy,
                "namespaceSelector": theirs | ours,
                "matchConditions": conditions(
                    rules.reading, "names-a-device", names_device(rules.reading)
                ),
            }
        )
    return {
        "apiVersion": names.REGISTRATION_API,
        "kind": names.MUTATING,
        "metadata": {"name": registration.name, "labels": {names.NAME_LABEL: "berth"}},
        "webhooks": [*audited.entries(webhooks, rules.audited, base(registration))],
    }


def _of_zone(zone: Zone, registration: Registration, authority: bytes) -> Iterator[JsonObject]:
    """Yield the entries for the Pods of one zone."""
    rules, path = zone.rules, zone.path(names.MUTATE_PATH)

    def entry(name: str, policy: str, matched: list[Json]) -> JsonObject:
        found = _webhook(zone.entry(name), path, registration, authority)
        policies: JsonObject = {"failurePolicy": policy, "matchConditions": matched}
        return found | {"namespaceSelector": zone.selector} | policies

    device = names_device(rules)
    ours = conditions(rules, "names-a-device", device)
    yield entry(names.WEBHOOK, registration.failure_policy, ours)
    if rules.sees_others:
        # Hiding cards from Pods without one is not worth a cluster's standstill: Ignore.
        yield entry(
            names.WEBHOOK_OTHERS, "Ignore", conditions(rules, "names-no-device", f"!({device})")
        )
    if rules.options.conversion:
        # Their authors hear that they are left alone; that is no reason to stop them either.
        yield entry(names.WEBHOOK_CONFLICTS, "Ignore", _conflicts(rules, device))


def _conflicts(rules: Rules, device: str) -> list[Json]:
    """Return the conditions of Pods that a foreign scheduler is to place.

    Of those with a device, unless our own is to place all.
    """
    found = []
    for condition in conditions(rules, "names-a-device", "true" if rules.whole_pods else device):
        if isinstance(condition, dict) and condition["name"] == "our-scheduler":
            foreign = f"!({condition['expression']})"
            condition = {"name": "foreign-scheduler", "expression": foreign}  # noqa: PLW2901
        found.append(condition)
    return found


def base(registration: Registration) -> str:
    """Return the URL before all paths; empty where a Service leads to us."""
    return registration.url.rstrip("/")


def conditions(rules: Rules, name: str, expression: str) -> list[Json]:
    """Return what must all hold of a Pod: the scope as `scope.ignored` has it, and `expression`.

    A Pod that we would leave alone anyhow is so out of the reach of our outages.
    """
    ours = literal(sorted(rules.schedulers))
    mirror = literal(names.MIRROR_ANNOTATION)
    found = {
        "our-scheduler": f"!has(object.spec.schedulerName) || object.spec.schedulerName in {ours}",
        "no-mirror": "!has(object.metadata.annotations) || "
        f"!({mirror} in object.metadata.annotations)",
        name: expression,
    }
    return [{"name": key, "expression": text} for key, text in found.items()]


def names_device(rules: Rules, pod: str = "object") -> str:
    """Return CEL that is true where a Pod names a resource or annotation of ours.

    `pod` is where it stands. Every optional field is guarded: an expression that fails refuses the
    Pod under Fail.
    """
    resources = literal(sorted(rules.known))
    annotations = literal(sorted(rules.steering))

    def named(holder: str) -> str:
        return (
            "("
            + " || ".join(
                f"(has({holder}.resources.{kind}) && "
                f"{holder}.resources.{kind}.exists(name, name in {resources}))"
                for kind in ("limits", "requests")
            )
            + ")"
        )

    return (
        f"(has({pod}.spec.containers) && {pod}.spec.containers != null && "
        f"{pod}.spec.containers.exists(c, has(c.resources) && {named('c')}))"
        f" || (has({pod}.spec.initContainers) && "
        f"{pod}.spec.initContainers.exists(c, has(c.resources) && {named('c')}))"
        f" || (has({pod}.spec.resources) && {named(f'{pod}.spec')})"
        f" || (has({pod}.metadata) && has({pod}.metadata.annotations) && "
        f"{pod}.metadata.annotations.exists(name, name in {annotations}))"
    )


def _webhook(name: str, path: str, registration: Registration, authority: bytes) -> JsonObject:
    found = entry(name, path, registration, authority)
    return found | {"reinvocationPolicy": "IfNeeded"}


def entry(name: str, path: str, registration: Registration, authority: bytes) -> JsonObject:
    """Return what the entries of both kinds of configuration have alike."""
    return {
        "name": name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": _client(path, registration, authority),
        "rules": created_pods(),
        **reach(),
        "sideEffects": "None",
        "timeoutSeconds": registration.timeout_seconds,
    }


def created_pods() -> list[Json]:
    """Return the rules that match the creation of Pods, and nothing else."""
    return [rule("", ["pods"], ["CREATE"])]


def rule(group: str, resources: list[str], operations: list[str]) -> Json:
    """Return the rule that matches these operations on resources of a group."""
    return {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "operations": [*operations],
        "resources": [*resources],
        "scope": "Namespaced",
    }


def reach() -> JsonObject:
    """Return how Pods are selected beside their namespaces."""
    out = [requirement(key, "NotIn", [value]) for key, value in names.OPT_OUTS]
    return {"objectSelector": narrowed({}, *out), "matchPolicy": "Equivalent"}


def _client(path: str, registration: Registration, authority: bytes) -> JsonObject:
    bundle: JsonObject = {"caBundle": b64encode(authority).decode()} if authority else {}
    if registration.url:
        return {"url": base(registration) + path, **bundle}
    service: JsonObject = {
        "namespace": registration.namespace,
        "name": registration.service,
        "port": registration.service_port,
        "path": path,
    }
    return {"service": service, **bundle}
