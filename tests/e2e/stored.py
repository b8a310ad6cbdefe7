"""Stored Pods, held against each other and against what a reader of the rules expects."""

import json
import re
from copy import deepcopy
from typing import Any

from berth.admission import project
from berth.admission.written import checksum

Pod = dict[str, Any]

GPU = "nvidia.com/gpu"
CORES = "nvidia.com/gpucores"
SIZES = ("nvidia.com/gpumem", "nvidia.com/gpumem-percentage")
NEURON = ("aws.amazon.com/neuron", "aws.amazon.com/neuroncore")
METAX = ("metax-tech.com/sgpu", "metax-tech.com/vmemory", "metax-tech.com/vcore")
ORIGINAL = "berth.dev/original-request"
# What the API server makes up anew for every Pod, or fills in later.
_OF_ITS_OWN = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "namespace")
_TOKEN = re.compile(r"kube-api-access-\w+")


def comparable(pod: Pod) -> Pod:
    """Return a stored Pod without what differs between any two."""
    plain: Pod = json.loads(_TOKEN.sub("kube-api-access", json.dumps(pod)))
    for key in _OF_ITS_OWN:
        plain["metadata"].pop(key, None)
    plain.pop("status", None)
    for container in containers(plain):
        if not container.get("env", [None]):
            del container["env"]  # an empty list is stored as none
    return plain


def containers(pod: Pod) -> list[Pod]:
    """Return all containers, init containers first."""
    spec = pod["spec"]
    return [*spec.get("initContainers", []), *spec["containers"]]


def wants_device(container: Pod) -> bool:
    """Whether a container asks for a managed share, as a person reads its limits."""
    limits = container.get("resources", {}).get("limits", {})
    names = (GPU, *SIZES, CORES, *NEURON, METAX[0])
    return any(limits.get(name, "0") != "0" for name in names)


def expected(without_us: Pod) -> Pod:
    """Return what a Pod of the default scheduler with devices must be stored as, by hand.

    Only the rules of whole cards and of memory without a count are needed by these manifests, and
    of other vendors only an annotation.
    """
    pod = deepcopy(without_us)
    asked = {}
    for container in containers(pod):
        if not wants_device(container):
            continue
        resources = container["resources"]
        names = (GPU, *SIZES, CORES, "nvidia.com/priority", *NEURON, *METAX)
        asked[container["name"]] = {
            name: _plain(resources["limits"][name]) for name in names if name in resources["limits"]
        }
        if {GPU, *SIZES, CORES} & resources["limits"].keys():
            _complete(container, resources)
    pod["spec"]["schedulerName"] = "hami-scheduler"
    written = checksum(project.pod(pod))
    held = {"containers": asked, "v": 1, "written": written}
    record = json.dumps(held, sort_keys=True, separators=(",", ":"))
    annotations = pod["metadata"].setdefault("annotations", {})
    annotations[ORIGINAL] = record
    if METAX[0] in record:
        annotations["metax-tech.com/sgpu-qos-policy"] = "best-effort"
    return pod


def _complete(container: Pod, resources: Pod) -> None:
    """Add what NVIDIA's rules want of a container."""
    if GPU not in resources["limits"]:
        _both(resources, GPU, "1")
    limits = resources["limits"]
    sized = [limits.get(name) for name in SIZES if name in limits]
    if CORES not in limits and sized in ([], ["100"]):
        _both(resources, CORES, "100")
    if "nvidia.com/priority" in limits:
        env = {"name": "CUDA_TASK_PRIORITY", "value": limits["nvidia.com/priority"]}
        container.setdefault("env", []).append(env)
    kept = [e for e in container.get("env", []) if e["name"] != "NVIDIA_VISIBLE_DEVICES"]
    if kept != container.get("env", []):
        container["env"] = kept


def _plain(amount: str) -> str:
    """Undo the API server's canonical form: 3k is 3000."""
    return f"{amount[:-1]}000" if amount.endswith("k") else amount


def _both(resources: Pod, name: str, value: str) -> None:
    resources["limits"][name] = value
    resources["requests"][name] = value
