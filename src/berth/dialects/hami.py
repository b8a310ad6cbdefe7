"""The HAMi dialect: resources such as nvidia.com/gpu, gpumem and gpucores in a container's limits.

`read` finds the demand, `write` completes the Pod as HAMi's scheduler and device plugins expect it,
for whatever accelerator (HAMi 2.10, the MutateAdmission of each); where we differ on purpose is in
docs/reference/differences.md.
"""

from collections.abc import Iterator, Mapping

from berth.dialects import amounts, shares, variables, wishes
from berth.dialects.dialect import Dialect, Reading
from berth.dialects.options import Hidden, Options
from berth.model.decided import Decided
from berth.model.decision import Problem
from berth.model.demand import ContainerDemand, Demand, Share
from berth.model.edit import Change, Put
from berth.model.pod import Container, Pod
from berth.model.raw import Json
from berth.model.said import Said
from berth.model.vendor import Vendor

__all__ = ["DIALECT", "Options", "Reading", "completed", "read", "write"]

_CORE_POLICY = Said("why.core-policy")
_CONTAINER_NAME = Said("why.container-name")
_DEVICE_PLUGIN = Said("why.device-plugin")
_HIDDEN = Said("why.hidden")
_SCHEDULER = Said("why.scheduler")
_VENDOR_ANNOTATION = Said("why.vendor-annotation")
_DECIDED = Said("why.decided")


def read(pod: Pod, options: Options, *, skip_privileged: bool) -> Reading:
    """Read each container's share; a privileged one may count as asking for nothing."""
    containers: list[ContainerDemand] = []
    problems: list[Problem] = []
    warnings: list[Said] = list(_misplaced(pod, options))
    for container in pod.containers:
        named = _named(container, options.owners)
        if not named:
            containers.append(ContainerDemand(container, None))
            continue
        if container.privileged and skip_privileged:
            warnings += (_privileged(container, vendor) for vendor in named)
            containers.append(ContainerDemand(container, None))
            continue
        asking: list[tuple[Vendor, Share | None]] = []
        for vendor in named:
            one = _sized(container, vendor, pod)
            problems += one.problems
            warnings += one.warnings
            if one.share or one.problems:
                asking.append((vendor, one.share))
        if len(asking) > 1:
            problems += _several(container, [vendor for vendor, _ in asking])
        asks, share = asking[0] if asking else (None, None)
        containers.append(ContainerDemand(container, share, asks))
    demand = Demand(tuple(containers))
    if pod.annotations and (demand.any or problems):
        asked = [wanted.asks for wanted in containers if wanted.asks]
        problems += wishes.problems(pod.annotations, asked)
    return Reading(demand, tuple(problems), tuple(warnings))


def _named(container: Container, owners: Mapping[str, Vendor]) -> list[Vendor]:
    """Return whose devices a container names, each once; nearly always none or one."""
    found: list[Vendor] = []
    for resources in (container.limits, container.requests):
        for name in resources:
            vendor = owners.get(name)
            if vendor is not None and vendor not in found:
                found.append(vendor)
    return sorted(found, key=lambda one: one.name) if len(found) > 1 else found


def _sized(container: Container, vendor: Vendor, pod: Pod) -> shares.Sized:
    asked, wrong = amounts.read(container, vendor)
    if wrong:
        also = tuple(shares.contradictions(container, vendor, asked))
        return shares.Sized(problems=(*wrong, *also))
    return shares.size(container, vendor, asked, pod.annotations)


def _several(container: Container, asking: list[Vendor]) -> Iterator[Problem]:
    """Refuse what no device plugin and no container runtime is made for."""
    for other in asking[1:]:
        name = next(n for n in other.resources if n in {**container.limits, **container.requests})
        path = (*container.path, "resources", "limits", name)
        yield Problem("several-vendors", path, {"other": asking[0].name})


def _privileged(container: Container, vendor: Vendor) -> Said:
    return Said("unmanaged.privileged", {"path": container.path, "count": vendor.count})


def _misplaced(pod: Pod, options: Options) -> Iterator[Said]:
    """Say so where a resource name is an annotation's key, which asks for nothing."""
    for name in pod.annotations:
        if name in options.owners:
            yield Said("no-effect.annotation", {"path": ("metadata", "annotations", name)})


def write(demand: Demand, placed: Decided | None, pod: Pod, options: Options) -> Iterator[Change]:
    """Yield what completes `pod` for HAMi, and warnings about what that replaces."""
    for wanted in demand.containers:
        if wanted.share:
            yield from _complete(wanted.container, wanted.share, options)
        for hidden in options.hidden:
            yield from _hide(wanted, hidden)
    if demand.any:
        yield from _pod_wide(demand, pod, options.scheduler_name)
    if placed is not None and placed.devices:
        yield from _chosen(demand, placed, pod)


def completed(
    container: Container, vendor: Vendor, annotations: Mapping[str, Json]
) -> dict[str, Json] | None:
    """Return `vendor`'s limits of `container` as `write` leaves them, None without a share."""
    asked, wrong = amounts.read(container, vendor)
    share = None if wrong else shares.size(container, vendor, asked, annotations).share
    if share is None:
        return None
    limits = {name: container.limits[name] for name in vendor.resources if name in container.limits}
    return limits | {one.name: str(one.value) for one in share.completion}


def _complete(container: Container, share: Share, options: Options) -> Iterator[Change]:
    vendor = share.vendor
    if share.priority is not None and vendor.priority_env:
        why = Said("why.priority", {"name": vendor.priority})
        yield from variables.put(container, vendor.priority_env, str(share.priority), why)
    if vendor.core_policy_env and vendor.core_policy not in ("", "default"):
        policy = vendor.core_policy
        yield from variables.put(container, vendor.core_policy_env, policy, _CORE_POLICY)
    if vendor.name_env and container.name and vendor.name_env not in container.env_names:
        yield from variables.put(container, vendor.name_env, container.name, _CONTAINER_NAME)
    for one in share.completion:
        # Limits and requests together: Kubernetes refuses devices where they differ.
        for kind in ("limits", "requests"):
            yield Put((*container.path, "resources", kind, one.name), str(one.value), one.why)
    if options.remove_device_env and vendor.visible_env in container.env_names:
        visible = options.foreign(container, {vendor.visible_env})
        yield from variables.drop(container, visible, _DEVICE_PLUGIN)
    if options.remove_limit_env:
        limits = options.foreign(container, vendor.limit_env)
        yield from variables.drop(container, limits, _DEVICE_PLUGIN)


def _hide(wanted: ContainerDemand, hidden: Hidden) -> Iterator[Change]:
    container = wanted.container
    if container.privileged or container.has_claims:
        return
    if wanted.share and wanted.share.vendor.visible_env == hidden.variable:
        return
    holds_other = any(
        name.startswith(hidden.domains) and name not in hidden.resources
        for name in container.limits
    )
    if not holds_other:
        yield from variables.put(container, hidden.variable, hidden.value, _HIDDEN)


def _pod_wide(demand: Demand, pod: Pod, scheduler_name: str) -> Iterator[Change]:
    sharing = [wanted.share for wanted in demand.containers if wanted.share]
    with_class = next((share for share in sharing if share.vendor.runtime_class), None)
    if with_class and pod.runtime_class is None:
        why = Said("why.runtime-class", {"vendor": with_class.vendor.name})
        yield Put(("spec", "runtimeClassName"), with_class.vendor.runtime_class, why)
    if any(share.annotations for share in sharing):
        yield from _annotations(pod, sharing)
    if scheduler_name and pod.scheduler_name != scheduler_name:
        yield Put(("spec", "schedulerName"), scheduler_name, _SCHEDULER)


def _annotations(pod: Pod, sharing: list[Share]) -> Iterator[Change]:
    """Later containers win, as in HAMi: an annotation can speak of one of them only."""
    wanted = {key: value for share in sharing for key, value in share.annotations.items()}
    for key, value in wanted.items():
        path, there = ("metadata", "annotations", key), pod.annotations.get(key)
        if there not in (None, value):
            yield Said("replaced.annotation", {"path": path, "value": value})
        if there != value:
            yield Put(path, value, _VENDOR_ANNOTATION)


def _chosen(demand: Demand, placed: Decided, pod: Pod) -> Iterator[Change]:
    """Name the devices that were decided on: HAMi gives out none but those listed."""
    sharing = {one.container.name: one.share for one in demand.containers if one.share}
    chosen: dict[str, list[str]] = {}
    for device in placed.devices:
        share = sharing.get(device.container)
        if share:
            for key in share.vendor.selectors.uuids[:1]:
                chosen.setdefault(key, []).append(device.uuid)
    for key, uuids in chosen.items():
        text = ",".join(dict.fromkeys(uuids))
        if pod.annotations.get(key) != text:
            yield Put(("metadata", "annotations", key), text, _DECIDED)


DIALECT = Dialect(name="hami", read=read, write=write)
