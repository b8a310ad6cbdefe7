"""What can never work beyond wrong numbers, and what a Pod's author should hear."""

from collections.abc import Iterator

from berth import closest, names
from berth.admission.rules import EnvHandling, Privileged, Rules
from berth.dialects import limit_ranger
from berth.dialects.completion import hides
from berth.dialects.dialect import Reading
from berth.model.demand import ContainerDemand, Demand
from berth.model.pod import Container, Pod
from berth.model.problem import Problem
from berth.model.said import Fact, Facts, Said, either
from berth.model.vendor import Vendor


def problems(pod: Pod, reading: Reading, rules: Rules) -> Iterator[Problem]:
    """Yield every reason to refuse the Pod, beside those in `reading`.

    A Pod that asks for a device in a wrong way is judged as one that asks: all at once.
    """
    yield from reading.problems
    for name in sorted(rules.known.intersection(pod.pod_level)) if pod.pod_level else ():
        yield Problem("pod-level", ("spec", "resources"), {"name": name})
    if not (reading.demand.any or reading.problems):
        return
    scheduler = rules.options.scheduler_name
    if pod.node_name and scheduler:
        facts = {"node": pod.node_name, "scheduler": scheduler}
        yield Problem("node-name", ("spec", "nodeName"), facts)
    if rules.privileged is Privileged.DENY:
        yield from _privileged(pod)
    for wanted in reading.demand.containers:
        if wanted.asks:
            yield from _withheld(wanted, rules)


def _privileged(pod: Pod) -> Iterator[Problem]:
    for container in pod.containers:
        if container.privileged:
            path = (*container.path, "securityContext", "privileged")
            yield Problem("privileged.container", path, {"container": container.name})


def _withheld(wanted: ContainerDemand, rules: Rules) -> Iterator[Problem]:
    """Yield the variables that the container sets and may not, once though of several vendors."""
    told: set[Fact] = set()
    for vendor in wanted.asks:
        if not vendor.withheld_env.isdisjoint(wanted.container.env_names):
            found = [*_variables(wanted.container, vendor, rules)]
            yield from (one for one in found if one.facts["name"] not in told)
            told.update(one.facts["name"] for one in found)


def _variables(container: Container, vendor: Vendor, rules: Rules) -> Iterator[Problem]:
    path = (*container.path, "env")
    if rules.limit_env is EnvHandling.DENY:
        asked = [one for one in (vendor.memory, vendor.cores) if one]
        for name in sorted(rules.options.foreign(container, vendor.limit_env)):
            facts = {"name": name, "resources": either(asked or [vendor.count])}
            yield Problem("device-env.limit", path, facts)
    if rules.device_env is not EnvHandling.DENY or (
        vendor.hide_from_others and hides(container, vendor)
    ):
        return
    if rules.options.foreign(container, {vendor.visible_env} - {""}):
        yield Problem("device-env.visible", path, {"name": vendor.visible_env})


def warnings(pod: Pod, demand: Demand, rules: Rules) -> Iterator[Said]:
    """Yield what the author of a Pod that is let through should hear."""
    if demand.any:
        if pod.annotations:
            if names.LIMIT_RANGER in pod.annotations:
                yield from limit_ranger.warnings(pod, demand)
            yield from _near(pod, rules)
            if not pod.annotations.keys().isdisjoint(names.SIZE_ANNOTATIONS):
                yield from _unread(pod, rules)
        yield from _paths(pod, demand, rules)
    elif pod.annotations and rules.options.conversion is not None:
        yield from _idle(pod, rules)


def _idle(pod: Pod, rules: Rules) -> Iterator[Said]:
    """Yield what is said of a device's size or model where no container names any device."""
    owned = rules.options.owners
    if any(not owned.keys().isdisjoint(one.limits) for one in pod.containers):
        return
    name = next((vendor.count for vendor in owned.values() if vendor.count), "")
    for key in names.SIZE_ANNOTATIONS:
        if key in pod.annotations:
            yield Said("no-effect.alone", {"path": ("metadata", "annotations", key), "name": name})


def _near(pod: Pod, rules: Rules) -> Iterator[Said]:
    """Yield annotations that look like ours and are not: nvidia.com/gpu.memory, a node's label."""
    for key in pod.annotations:
        domain, slash, word = key.partition("/")
        words = rules.words.get(domain) if slash else None
        if words is None:
            continue
        if key in rules.steering or key in rules.allocations or key in names.WRITTEN:
            continue
        meant = closest.near(word, words)
        if meant:
            path = ("metadata", "annotations", key)
            yield Said("not-read", {"path": path, "meant": f"{domain}/{meant}"})


def _unread(pod: Pod, rules: Rules) -> Iterator[Said]:
    """Yield annotations of ours that only a conversion reads, where none holds."""
    for key in names.SIZE_ANNOTATIONS if rules.options.conversion is None else ():
        if key in pod.annotations:
            yield Said("no-effect.conversion", {"path": ("metadata", "annotations", key)})


def _paths(pod: Pod, demand: Demand, rules: Rules) -> Iterator[Said]:
    """Yield what a node has to prevent, as admission cannot: paths that reach a card directly."""
    paths = tuple([path for share in demand.shares for path in share.vendor.device_paths])
    if not paths:
        return
    for volume, path in pod.host_paths.items():
        if path.startswith(paths) and path not in rules.injected_paths:
            about: Facts = {"path": ("spec", "volumes"), "volume": volume, "host": path}
            yield Said("past-shares.volume", about)
    for wanted in demand.containers:
        for mount in wanted.container.mounts:
            # NVIDIA's runtime takes such mount points, whatever is mounted, as a choice of cards.
            path = str(mount.get("mountPath"))
            if path.startswith(paths) and path not in rules.injected_paths:
                where = (*wanted.container.path, "volumeMounts")
                yield Said("past-shares.mount", {"path": where, "mount": path})
