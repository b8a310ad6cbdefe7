"""What can never work beyond wrong numbers, and what a Pod's author should hear."""

from collections.abc import Iterator

from berth import closest
from berth.admission.rules import Handling, Privileged, Rules
from berth.dialects.hami import Reading
from berth.model.decision import Problem, Reason
from berth.model.demand import Demand
from berth.model.pod import Container, Pod
from berth.model.raw import dotted
from berth.model.vendor import Vendor


def problems(pod: Pod, reading: Reading, rules: Rules) -> Iterator[Problem]:
    """Yield every reason to refuse the Pod, beside those in `reading`.

    A Pod that asks for a device in a wrong way is judged as one that asks: all at once.
    """
    yield from reading.problems
    for name in sorted(rules.known.intersection(pod.pod_level)):
        what = f"{name} cannot be asked for by the Pod as a whole"
        fix = "write it under the limits of the container that uses it"
        yield Problem(Reason.POD_LEVEL, ("spec", "resources"), what, fix)
    if not (reading.demand.any or reading.problems):
        return
    scheduler = rules.options.scheduler_name
    if pod.node_name and scheduler:
        what = f"set to {pod.node_name}, so {scheduler} would never give the Pod its device"
        fix = "use node affinity on metadata.name instead"
        yield Problem(Reason.NODE_NAME, ("spec", "nodeName"), what, fix)
    if rules.privileged is Privileged.DENY:
        yield from _privileged(pod)
    for wanted in reading.demand.containers:
        if wanted.asks:
            yield from _variables(wanted.container, wanted.asks, rules)


def _privileged(pod: Pod) -> Iterator[Problem]:
    for container in pod.containers:
        if container.privileged:
            path = (*container.path, "securityContext", "privileged")
            what = f"container {container.name} is privileged and would see every card"
            fix = "run it in a Pod of its own or without privileges"
            yield Problem(Reason.PRIVILEGED, path, what, fix)


def _variables(container: Container, vendor: Vendor, rules: Rules) -> Iterator[Problem]:
    path = (*container.path, "env")
    if rules.limit_env is Handling.DENY:
        for name in sorted(rules.options.foreign(container, vendor.limit_env)):
            what = f"{name} is set by the device plugin from the container's limits"
            resources = " or ".join(one for one in (vendor.memory, vendor.cores) if one)
            yield Problem(Reason.DEVICE_ENV, path, what, f"remove it and ask with {resources}")
    visible = {vendor.visible_env} - {""}
    if rules.device_env is Handling.DENY and rules.options.foreign(container, visible):
        what = f"{vendor.visible_env} is set by the device plugin to the devices given"
        yield Problem(Reason.DEVICE_ENV, path, what, "remove it")


def warnings(pod: Pod, demand: Demand, rules: Rules) -> Iterator[str]:
    """Yield what the author of a Pod that is let through should hear."""
    if demand.any:
        yield from _near(pod, rules)
        yield from _paths(pod, demand, rules)


def _near(pod: Pod, rules: Rules) -> Iterator[str]:
    """Yield annotations that look like ours and are not: nvidia.com/gpu.memory, a node's label."""
    for key in pod.annotations:
        domain, slash, word = key.partition("/")
        words = rules.words.get(domain) if slash else None
        if words is None or key in rules.steering or key in rules.allocations:
            continue
        meant = closest.near(word, words)
        if meant:
            yield f"metadata.annotations[{key}] is not read; did you mean {domain}/{meant}?"


def _paths(pod: Pod, demand: Demand, rules: Rules) -> Iterator[str]:
    """Yield what a node has to prevent, as admission cannot: paths that reach a card directly."""
    paths = tuple(
        path
        for wanted in demand.containers
        if wanted.share
        for path in wanted.share.vendor.device_paths
    )
    for volume, path in pod.host_paths.items():
        if path.startswith(paths) and path not in rules.injected_paths:
            where = dotted(("spec", "volumes"))
            yield f"{where}: {volume} shows {path}, which reaches cards past their shares"
    for wanted in demand.containers:
        for mount in wanted.container.mounts:
            # NVIDIA's runtime takes such mount points, whatever is mounted, as a choice of cards.
            path = str(mount.get("mountPath"))
            if path.startswith(paths) and path not in rules.injected_paths:
                where = dotted((*wanted.container.path, "volumeMounts"))
                yield f"{where}: {path} reaches cards past their shares"
