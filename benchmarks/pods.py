"""The Pods inside the benchmark's bodies, in the state a mutating webhook sees them.

Defaulting and the plugins before the webhooks have run (tolerations, priority, service account);
storage, which gives uid, creation time and status, has not. An earlier webhook numbered the runs:
the managedFields, which the server computes before it calls any webhook, do not name what it adds.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

JSON: TypeAlias = "str | int | bool | Sequence[JSON] | Mapping[str, JSON] | None"
Object: TypeAlias = dict[str, JSON]

RUN = "example.com/run"
"""An annotation of eight digits that means nothing to any of the servers."""
TOKEN_VOLUME = "kube-api-access-"
"""How the name of the service account's token volume begins; five random letters end it."""

_GPU = "nvidia.com/gpu"
_POD_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "spec.nodeName",
    "status.podIP",
    "status.hostIP",
)


def web(name: str, *, gpu: bool) -> Object:
    """Return a Pod of a workload: one small container, with or without one GPU.

    It opts out of the automatic token and mounts a bound one, the shorter form of the same volume.
    """
    resources: Object = {"cpu": "500m"}
    if gpu:
        resources[_GPU] = "1"
    container = _container(name, "quay.example/web:1.4", resources)
    container["volumeMounts"] = [_mount("token", "/token", read_only=True)]
    token: JSON = {"serviceAccountToken": {"expirationSeconds": 3600, "path": "token"}}
    volume: Object = {"name": "token", "projected": {"sources": [token], "defaultMode": 420}}
    pod_spec = _spec([container], [volume], {"automountServiceAccountToken": False})
    return _pod(f"{name}-c4tz8", container, pod_spec)


def train() -> Object:
    """Return a training Pod: one GPU container with 90 env entries, four volumes, a sidecar.

    An earlier webhook of the training platform injected the env and the sidecar.
    """
    resources: Object = {"cpu": "8", "memory": "64Gi", _GPU: "1"}
    trainer = _container("train", "registry.example/train:2.7.1-cuda12.8", resources)
    trainer["command"] = ["torchrun", "--nnodes=8", "--nproc-per-node=1", "/app/train.py"]
    trainer["env"] = [_env(number) for number in range(90)]
    trainer["volumeMounts"] = [
        _mount("dataset", "/data", read_only=True),
        _mount("checkpoints", "/checkpoints"),
        _mount("shm", "/dev/shm"),
        _account_mount(),
    ]
    shipper = _container("log-shipper", "registry.example/log-shipper:0.9.3", {"cpu": "100m"})
    shipper["volumeMounts"] = [_mount("checkpoints", "/checkpoints"), _account_mount()]
    volumes: list[JSON] = [
        {"name": "dataset", "persistentVolumeClaim": {"claimName": "imagenet", "readOnly": True}},
        {"name": "checkpoints", "persistentVolumeClaim": {"claimName": "pretrain-checkpoints"}},
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}},
        _account_volume(),
    ]
    return _pod("pretrain-w9fk5", trainer, _spec([trainer, shipper], volumes, {}))


def _env(number: int) -> JSON:
    """Return an entry: the first few are read from the Pod, the others are plain values."""
    if number < len(_POD_FIELDS):
        source: JSON = {"fieldRef": {"apiVersion": "v1", "fieldPath": _POD_FIELDS[number]}}
        return {"name": f"WORKER_FIELD_{number}", "valueFrom": source}
    return {"name": f"NCCL_TUNING_OPTION_{number:02}", "value": f"level-{number:02}:enabled"}


def _container(name: str, image: str, resources: Object) -> Object:
    return {
        "name": name,
        "image": image,
        "resources": {"limits": resources, "requests": resources},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }


def _mount(name: str, path: str, *, read_only: bool = False) -> Object:
    mode: Object = {"readOnly": True} if read_only else {}
    return {"name": name, **mode, "mountPath": path}


def _account_mount() -> Object:
    path = "/var/run/secrets/kubernetes.io/serviceaccount"
    return _mount(f"{TOKEN_VOLUME}7x2lq", path, read_only=True)


def _account_volume() -> Object:
    namespace: JSON = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    authority: JSON = {"key": "ca.crt", "path": "ca.crt"}
    sources: list[JSON] = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [authority]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": namespace}]}},
    ]
    volume: JSON = {"sources": sources, "defaultMode": 420}
    return {"name": f"{TOKEN_VOLUME}7x2lq", "projected": volume}


def _pod(name: str, applied: Object, spec: Object) -> Object:
    metadata: Object = {
        "name": name,
        "namespace": "team-a",
        "annotations": {RUN: "00000000"},
        "managedFields": [_managed(applied)],
    }
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": {}}


def _spec(containers: list[Object], volumes: Sequence[JSON], chosen: Object) -> Object:
    return {
        "volumes": volumes,
        "containers": containers,
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "serviceAccount": "default",
        **chosen,
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "tolerations": [_toleration("not-ready"), _toleration("unreachable")],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }


def _toleration(state: str) -> Object:
    key = f"node.kubernetes.io/{state}"
    return {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


def _managed(container: Object) -> Object:
    """Return the entry of a server-side apply that set the container's image and resources."""
    key = f'k:{{"name":"{container["name"]}"}}'
    fields: Object = {".": {}, "f:image": {}, "f:name": {}, "f:resources": {}}
    return {
        "manager": "kubectl",
        "operation": "Apply",
        "apiVersion": "v1",
        "time": "2025-11-04T09:12:33Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:containers": {key: fields}}},
    }
