"""The objects of an installation: who runs the webhook, where, and with which rights."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import orjson

from berth import names
from berth.certs.authority import Pair
from berth.model.raw import Json, JsonObject
from berth.settings import Registration

LABELS: JsonObject = {"app.kubernetes.io/name": "berth", "app.kubernetes.io/component": "webhook"}
SETTINGS_FOLDER = "/etc/berth"
TLS_FOLDER = "/etc/berth-tls"
SETTINGS = "settings.yaml"
DEVICE_CONFIG = "device-config.yaml"
AUTHORITY = "ca.crt"
CLIENT_AUTHORITY = "client-ca.crt"
GRACE_SECONDS = 45  # longer than server.drainSeconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a person chooses about the Deployment."""

    image: str
    replicas: int
    tls_secret: str
    port: int
    files: Mapping[str, str]
    """Contents of settings.yaml, and of device-config.yaml, ca.crt, client-ca.crt where given."""
    certificate: JsonObject
    """`data` of the Secret that is printed too; empty where `tls_secret` is there already."""


def _metadata(name: str, registration: Registration | None = None) -> JsonObject:
    metadata: JsonObject = {"name": name, "labels": LABELS}
    return metadata | ({"namespace": registration.namespace} if registration else {})


def namespace(registration: Registration) -> JsonObject:
    """Return Berth's own namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": _metadata(registration.namespace)}


def secret(registration: Registration, name: str, pair: Pair) -> JsonObject:
    """Return the Secret of a certificate that was made here."""
    data = {"tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": pair.authority}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "metadata": _metadata(name, registration),
        "data": {key: b64encode(value).decode() for key, value in data.items()},
    }


def access(registration: Registration) -> list[JsonObject]:
    """Return the account, and its rights: to keep the one webhook configuration, no more.

    Kubernetes cannot limit `create` to a name, and an apply creates what is not there.
    """
    group = "admissionregistration.k8s.io"
    kind = "mutatingwebhookconfigurations"
    account = registration.service
    rules: list[Json] = [
        {"apiGroups": [group], "resources": [kind], "verbs": ["create"]},
        {
            "apiGroups": [group],
            "resources": [kind],
            "resourceNames": [registration.name],
            "verbs": ["get", "patch"],
        },
    ]
    subject: JsonObject = {
        "kind": "ServiceAccount",
        "name": account,
        "namespace": registration.namespace,
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": _metadata(account, registration),
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": _metadata(account),
            "rules": rules,
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": _metadata(account),
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": account,
            },
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
    read = {"files": dict(choice.files), "certificate": choice.certificate}
    return sha256(orjson.dumps(read, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _pod(registration: Registration, choice: Choice) -> JsonObject:
    volumes: list[Json] = [
        {"name": "tls", "secret": {"secretName": choice.tls_secret}},
        {"name": "settings", "configMap": {"name": registration.service}},
    ]
    mounts: list[Json] = [
        {"name": "tls", "mountPath": TLS_FOLDER, "readOnly": True},
        {"name": "settings", "mountPath": SETTINGS_FOLDER, "readOnly": True},
    ]
    probe: JsonObject = {"port": "https", "scheme": "HTTPS"}
    container: JsonObject = {
        "name": "webhook",
        "image": choice.image,
        "command": ["berth", "webhook", *_arguments(choice)],
        "ports": [{"name": "https", "containerPort": choice.port}],
        "readinessProbe": {"httpGet": {"path": "/readyz", **probe}, "periodSeconds": 5},
        "livenessProbe": {"httpGet": {"path": "/healthz", **probe}, "failureThreshold": 6},
        # No CPU limit: throttling would show as latency of every Pod creation.
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"memory": "256Mi"},
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
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": LABELS},
            }
        ],
        "containers": [container],
        "volumes": volumes,
    }


def _arguments(choice: Choice) -> list[Json]:
    arguments: list[Json] = ["--register", f"--config={SETTINGS_FOLDER}/{SETTINGS}"]
    if DEVICE_CONFIG in choice.files:
        arguments.append(f"--device-config={SETTINGS_FOLDER}/{DEVICE_CONFIG}")
    return arguments
