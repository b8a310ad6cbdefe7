"""The MutatingWebhookConfiguration that leads Pods to us, and no others (admissionregistration/v1).

Pods are matched in the API server, by CEL: with failurePolicy Fail, our outage can then only stop
Pods that name a device.
"""

from base64 import b64encode

import orjson

from berth import names
from berth.admission import audited
from berth.admission.rules import Rules
from berth.model.raw import Json, JsonObject
from berth.settings import Registration


def configuration(rules: Rules, registration: Registration, authority: bytes) -> JsonObject:
    """Return the whole object.

    `authority` is the PEM bundle that vouches for our certificate; empty: no caBundle is set.
    """
    webhooks: list[JsonObject] = [
        _webhook(rules, names.WEBHOOK, names.MUTATE_PATH, registration, authority)
        | {
            "failurePolicy": registration.failure_policy,
            "matchConditions": conditions(rules, "names-a-device", names_device(rules)),
        }
    ]
    if rules.sees_others:
        # Hiding cards from Pods without one is not worth a cluster's standstill: Ignore.
        others = f"!({names_device(rules)})"
        webhooks.append(
            _webhook(rules, names.WEBHOOK_OTHERS, names.MUTATE_PATH, registration, authority)
            | {
                "failurePolicy": "Ignore",
                "matchConditions": conditions(rules, "names-no-device", others),
            }
        )
    for injection in rules.injections.values():
        webhook = _webhook(
            rules,
            f"{injection.name}.{names.WEBHOOK_INJECT_SUFFIX}",
            f"{names.INJECT_PATH}/{injection.name}",
            registration,
            authority,
        )
        selector = _merged(namespaces(rules, registration), injection.namespace_selector)
        webhooks.append(
            webhook
            | {
                "failurePolicy": registration.failure_policy,
                "namespaceSelector": selector,
                "matchConditions": conditions(rules, "names-a-device", names_device(rules)),
            }
        )
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": names.MUTATING,
        "metadata": {
            "name": registration.name,
            "labels": {"app.kubernetes.io/name": "berth"},
        },
        "webhooks": [*audited.entries(webhooks, rules.audited, base(registration))],
    }


def base(registration: Registration) -> str:
    """Return the URL before all paths; empty where a Service leads to us."""
    return registration.url.rstrip("/")


def conditions(rules: Rules, name: str, expression: str) -> list[Json]:
    """Return what must all hold of a Pod: the scope as `scope.ignored` has it, and `expression`.

    A Pod that we would leave alone anyhow is so out of the reach of our outages.
    """
    schedulers = {"", rules.options.scheduler_name}
    if rules.force_default_scheduler:
        schedulers.add(names.DEFAULT_SCHEDULER)
    ours = orjson.dumps(sorted(schedulers)).decode()
    mirror = orjson.dumps(names.MIRROR_ANNOTATION).decode()
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
    resources = orjson.dumps(sorted(rules.known)).decode()
    annotations = orjson.dumps(sorted(rules.steering)).decode()

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


def _webhook(
    rules: Rules, name: str, path: str, registration: Registration, authority: bytes
) -> JsonObject:
    found = entry(rules, name, path, registration, authority)
    return found | {"reinvocationPolicy": "IfNeeded"}


def entry(
    rules: Rules, name: str, path: str, registration: Registration, authority: bytes
) -> JsonObject:
    """Return what the entries of both kinds of configuration have alike."""
    return {
        "name": name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": _client(path, registration, authority),
        "rules": created_pods(),
        **reach(rules, registration),
        "sideEffects": "None",
        "timeoutSeconds": registration.timeout_seconds,
    }


def created_pods() -> list[Json]:
    """Return the rules that match the creation of Pods, and nothing else."""
    return [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["pods"],
            "scope": "Namespaced",
        }
    ]


def reach(rules: Rules, registration: Registration) -> JsonObject:
    """Return the selectors outside of which no Pod is our business."""
    return {
        "namespaceSelector": namespaces(rules, registration),
        "objectSelector": {
            "matchExpressions": [
                {
                    "key": names.WEBHOOK_OPT_OUT,
                    "operator": "NotIn",
                    "values": [names.WEBHOOK_OPT_OUT_VALUE],
                }
            ]
        },
        "matchPolicy": "Equivalent",
    }


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


def namespaces(rules: Rules, registration: Registration) -> JsonObject:
    """Return the namespaceSelector outside of which no Pod is sent to us."""
    expressions: list[Json] = [
        unexcluded(rules),
        {
            "key": names.WEBHOOK_OPT_OUT,
            "operator": "NotIn",
            "values": [names.WEBHOOK_OPT_OUT_VALUE],
        },
    ]
    if registration.only_labelled_namespaces:
        expressions.append(
            {
                "key": names.INJECT_LABEL,
                "operator": "In",
                "values": [names.INJECT_LABEL_VALUE],
            }
        )
    return {"matchExpressions": expressions}


def unexcluded(rules: Rules) -> JsonObject:
    """Return the expression of a namespaceSelector that leaves out what the settings exclude."""
    return {
        "key": names.NAMESPACE_NAME_LABEL,
        "operator": "NotIn",
        "values": [*sorted(rules.excluded_namespaces)],
    }


def _merged(ours: JsonObject, theirs: JsonObject) -> JsonObject:
    both: JsonObject = dict(theirs)
    expressions = [ours["matchExpressions"], theirs.get("matchExpressions") or []]
    both["matchExpressions"] = [
        entry for part in expressions if isinstance(part, list) for entry in part
    ]
    return both
