"""The objects of an installation: who runs the webhook, where, and with which rights."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from math import ceil
from operator import itemgetter

import orjson

from berth import names
from berth.model.raw import Json, JsonObject
from berth.settings import Metrics, Registration, Server

LABELS: JsonObject = {names.NAME_LABEL: "berth", "app.kubernetes.io/component": "webhook"}
SETTINGS_FOLDER = "/etc/berth"
TLS_FOLDER = "/etc/berth-tls"
SETTINGS = "settings.yaml"
DEVICE_CONFIG = "device-config.yaml"
AUTHORITY = "ca.crt"
CLIENT_AUTHORITY = "client-ca.crt"
_SPARE_SECONDS = 10  # of the grace period, for the end itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a person chooses about the Deployment."""

    image: str
    replicas: int
    tls_secret: str | None
    """A Secret to mount; None: Berth makes its own certificates."""
    server: Server
    metrics: Metrics
    files: Mapping[str, str]
    """Contents of settings.yaml, and of device-config.yaml, ca.crt, client-ca.crt where given."""


def _metadata(name: str, registration: Registration | None = None) -> JsonObject:
    metadata: JsonObject = {"name": name, "labels": LABELS}
    return metadata | ({"namespace": registration.namespace} if registration else {})


def namespace(registration: Registration) -> JsonObject:
    """Return Berth's own namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": _metadata(registration.namespace)}


def access(registration: Registration, watched: Iterable[tuple[str, str]]) -> list[JsonObject]:
    """Return the account, and its rights: to keep the two webhook configurations, no more.

    What is `watched`, such as Pods for quotas, it may read besides.

    Kubernetes cannot limit `create` to a name, and an apply creates what is not there.
    """
    group = names.REGISTRATION_GROUP
    kinds: list[Json] = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
    account = registration.service
    rules: list[Json] = [
        {"apiGroups": [group], "resources": kinds, "verbs": ["create"]},
        {
            "apiGroups": [group],
            "resources": kinds,
            "resourceNames": [registration.name],
            "verbs": ["get", "patch"],
        },
    ]
    for api, found in groupby(sorted(watched), key=itemgetter(0)):
        kept: list[Json] = [name for _, name in found]
        rules.append({"apiGroups": [api], "resources": kept, "verbs": ["list", "watch"]})
    return [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": _metadata(account, registration),
        },
        *_granted("ClusterRole", registration, _metadata(account), rules),
    ]


def secret_access(registration: Registration, name: str) -> list[JsonObject]:
    """Return the right to keep the Secret of our CA: it alone, but for its creation."""
    rules: list[Json] = [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
        {
            "apiGroups": [""],
            "resources": ["secrets"],
            "resourceNames": [name],
            "verbs": ["get", "patch"],
        },
    ]
    metadata = _metadata(registration.service, registration)
    return _granted("Role", registration, metadata, rules)


def _granted(
    kind: str, registration: Registration, metadata: JsonObject, rules: list[Json]
) -> list[JsonObject]:
    """Return a role, and the binding that gives it to our account."""
    group = "rbac.authorization.k8s.io"
    version = f"{group}/v1"
    subject: JsonObject = {
        "kind": "ServiceAccount",
        "name": registration.service,
        "namespace": registration.namespace,
    }
    role: JsonObject = {"apiGroup": group, "kind": kind, "name": metadata["name"]}
    return [
        {"apiVersion": version, "kind": kind, "metadata": metadata, "rules": rules},
        {
            "apiVersion": version,
            "kind": f"{kind}Binding",
            "metadata": metadata,
            "roleRef": role,
            "subjects": [subject],
        },
    ]


def workload(registration: Registration, choice: Choice) -> list[JsonObject]:
    """Return settings, Deployment, Service and disruption budget."""
    name = registration.service
    annotations: JsonObject = {names.CONFIG_CHECKSUM: _checksum(choice)}
    template: JsonObject = {
        "metadata": {"labels": LABELS, "annotations": annotations},
        "spec": _pod(registration, choice),
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": _metadata(name, registration),
            "data": dict(choice.files),
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": _metadata(name, registration),
            "spec": {
                "replicas": choice.replicas,
                "selector": {"matchLabels": LABELS},
                "strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
                "template": template,
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": _metadata(name, registration),
            "spec": {
                "selector": LABELS,
                "ports": [
                    {"name": "https", "port": registration.service_port, "targetPort": "https"}
                ],
            },
        },
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": _metadata(name, registration),
            "spec": {
                "maxUnavailable": 1,
                "unhealthyPodEvictionPolicy": "AlwaysAllow",
                "selector": {"matchLabels": LABELS},
            },
        },
    ]


def _checksum(choice: Choice) -> str:
    """Return what changes with what the Pods read at their start only."""
    return sha256(orjson.dumps(dict(choice.files), option=orjson.OPT_SORT_KEYS)).hexdigest()


def _pod(registration: Registration, choice: Choice) -> JsonObject:
    volumes: list[Json] = [{"name": "settings", "configMap": {"name": registration.service}}]
    mounts: list[Json] = [{"name": "settings", "mountPath": SETTINGS_FOLDER, "readOnly": True}]
    if choice.tls_secret:
        volumes.append({"name": "tls", "secret": {"secretName": choice.tls_secret}})
        mounts.append({"name": "tls", "mountPath": TLS_FOLDER, "readOnly": True})
    probe: JsonObject = {"port": "https", "scheme": "HTTPS"}
    container: JsonObject = {
        "name": "webhook",
        "image": choice.image,
        "command": ["berth", "webhook", *_arguments(choice)],
        "ports": _ports(choice),
        "readinessProbe": {"httpGet": {"path": "/readyz", **probe}, "periodSeconds": 5},
        "livenessProbe": {"httpGet": _alive(choice, probe), "failureThreshold": 6},
        # No CPU limit: throttling would show as latency of every Pod creation.
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"memory": "512Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": mounts,
    }
    return {
        "serviceAccountName": registration.service,
        "enableServiceLinks": False,
        "priorityClassName": "system-cluster-critical",
        "terminationGracePeriodSeconds": _grace(choice.server),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": names.HOST_LABEL,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": LABELS},
            }
        ],
        "containers": [container],
        "volumes": volumes,
    }


def _ports(choice: Choice) -> list[Json]:
    ports: list[Json] = [{"name": "https", "containerPort": choice.server.port}]
    if choice.metrics.enabled:
        ports.append({"name": "metrics", "containerPort": choice.metrics.port})
    return ports


def _alive(choice: Choice, probe: JsonObject) -> JsonObject:
    """Return where to ask whether it lives: where the answer does not wait for the event loop.

    A loop that hangs ends the process by itself (`server.hangSeconds`); one that is busy must not.
    """
    where: JsonObject = {"port": "metrics"} if choice.metrics.enabled else probe
    return {"path": "/healthz", **where}


def _grace(server: Server) -> int:
    """Return how long a replica may take to leave: serving on, then what is under way."""
    return ceil(server.stop_seconds + server.drain_seconds) + _SPARE_SECONDS


def _arguments(choice: Choice) -> list[Json]:
    arguments: list[Json] = ["--register", f"--config={SETTINGS_FOLDER}/{SETTINGS}"]
    if DEVICE_CONFIG in choice.files:
        arguments.append(f"--device-config={SETTINGS_FOLDER}/{DEVICE_CONFIG}")
    return arguments
