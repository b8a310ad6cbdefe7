"""The HAMi dialect: resources such as nvidia.com/gpu, gpumem and gpucores in a container's limits.

`read` finds the demand, `write` completes the Pod as HAMi's scheduler and device plugin expect it.
The order of the steps is that of HAMi 2.10 (device/nvidia/device.go, MutateAdmission); where we
differ on purpose is in docs/reference/differences.md.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import msgspec

from berth.dialects import amounts, variables
from berth.model.decision import Problem, Reason
from berth.model.demand import ContainerDemand, Demand, Share
from berth.model.edit import Change, Put
from berth.model.pod import Container, Pod
from berth.model.raw import Json, dotted
from berth.model.vendor import Vendor

WHOLE_CARD = 100


class Reading(msgspec.Struct, frozen=True):
    """The demand of a Pod, all that is wrong with it, and what its author should know."""

    demand: Demand
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the cluster wants this dialect written."""

    vendors: tuple[Vendor, ...]
    scheduler_name: str
    """HAMi's scheduler; "" leaves the Pod's own."""
    remove_device_env: bool = True
    remove_limit_env: bool = False
    injected_env: frozenset[tuple[str, str]] = frozenset()
    """Names and values that the cluster itself injects: they are nobody's way out of a share."""

    def foreign(self, container: Container, names: AbstractSet[str]) -> frozenset[str]:
        """Return which of `names` stand in the container with a value that is not the cluster's."""
        return frozenset(
            name
            for name in names & container.env_names
            if any(
                (name, container.value(place)) not in self.injected_env
                for place in container.places(name)
            )
        )


def read(pod: Pod, vendors: Sequence[Vendor], *, skip_privileged: bool) -> Reading:
    """Read each container's share; a privileged one may count as asking for nothing."""
    containers: list[ContainerDemand] = []
    problems: list[Problem] = []
    warnings: list[str] = list(_misplaced(pod, vendors))
    for container in pod.containers:
        share, asks = None, None
        for vendor in vendors:
            if not _names(container, vendor):
                continue
            if container.privileged and skip_privileged:
                warnings.append(
                    f"{dotted(container.path)}: privileged, so it sees every card of its node "
                    f"and its {vendor.count} request is not managed"
                )
                continue
            found, wrong = amounts.read(container, vendor)
            wrong += tuple(_contradictions(container, vendor, found))
            problems += wrong
            if not wrong:
                share, heard = _share(container, vendor, found)
                warnings += heard
            if share or wrong:
                asks = vendor
        containers.append(ContainerDemand(container, share, asks))
    return Reading(Demand(tuple(containers)), tuple(problems), tuple(warnings))


def _names(container: Container, vendor: Vendor) -> bool:
    return vendor.named_in(container.limits) or vendor.named_in(container.requests)


def _misplaced(pod: Pod, vendors: Sequence[Vendor]) -> Iterator[str]:
    """Say so where a resource name is an annotation's key, which asks for nothing."""
    for vendor in vendors:
        for name in vendor.resources:
            if name in pod.annotations:
                where = f"metadata.annotations[{name}]"
                yield f"{where} has no effect; write it under a container's limits"


def _contradictions(
    container: Container, vendor: Vendor, found: amounts.Amounts
) -> Iterator[Problem]:
    """Yield what cannot be meant together, whether or not each number is right in itself."""

    def asked(name: str, value: int | None) -> bool:
        return bool(name) and name in container.limits and value != 0

    limits = (*container.path, "resources", "limits")
    memory = asked(vendor.memory, found.memory)
    percent = asked(vendor.memory_percent, found.memory_percent)
    if memory and percent:
        what = f"memory is asked for twice, here and as {vendor.memory_percent}"
        fix = "leave one of them out"
        yield Problem(Reason.MEMORY_TWICE, (*limits, vendor.memory), what, fix)
    if found.count == 0 and (memory or percent or asked(vendor.cores, found.cores)):
        what = "0 devices are asked for, with memory or cores of each"
        fix = "write 1, or drop the others"
        yield Problem(Reason.SHARE_OF_NOTHING, (*limits, vendor.count), what, fix)


def _share(
    container: Container, vendor: Vendor, found: amounts.Amounts
) -> tuple[Share | None, tuple[str, ...]]:
    sized = found.memory or found.memory_percent or found.cores
    count = found.count or (vendor.default_count if sized and found.count is None else 0)
    if not count:
        return None, _idle(container, vendor, found)
    return (
        Share(
            vendor=vendor,
            count=count,
            memory_mib=found.memory * max(vendor.memory_factor, 1) if found.memory else None,
            memory_percent=found.memory_percent or None,
            cores=WHOLE_CARD if _is_whole(vendor, found) else found.cores,
            priority=found.priority,
        ),
        (),
    )


def _is_whole(vendor: Vendor, found: amounts.Amounts) -> bool:
    """Whether nobody limited the share, so that the card is the container's alone."""
    if not vendor.cores or found.cores is not None or vendor.default_cores:
        return False
    if found.memory_percent:
        return found.memory_percent == WHOLE_CARD
    return not found.memory and not vendor.default_memory


def _idle(container: Container, vendor: Vendor, found: amounts.Amounts) -> tuple[str, ...]:
    named = [
        name
        for name, value in (
            (vendor.memory, found.memory),
            (vendor.memory_percent, found.memory_percent),
            (vendor.cores, found.cores),
            (vendor.priority, found.priority),
        )
        if value
    ]
    if not named or found.count == 0:
        return ()
    return (f"{dotted(container.path)}: {named[0]} without {vendor.count} gives no device; add it",)


def write(demand: Demand, pod: Pod, options: Options) -> Iterator[Change]:
    """Yield what completes `pod` for HAMi, and warnings about what that replaces."""
    for wanted in demand.containers:
        if wanted.share:
            yield from _complete(wanted.container, wanted.share, options)
        else:
            yield from _hide(wanted.container, options.vendors)
    if demand.any:
        yield from _pod_wide(demand, pod, options.scheduler_name)


def completed(container: Container, vendor: Vendor, options: Options) -> dict[str, Json] | None:
    """Return `vendor`'s limits of `container` as `write` leaves them, None without a share."""
    found, wrong = amounts.read(container, vendor)
    if wrong or any(_contradictions(container, vendor, found)):
        return None
    share, _ = _share(container, vendor, found)
    if share is None:
        return None
    limits = {name: container.limits[name] for name in vendor.resources if name in container.limits}
    for change in _complete(container, share, options):
        if isinstance(change, Put) and change.path[-2] == "limits":
            limits[str(change.path[-1])] = change.value
    return limits


def _complete(container: Container, share: Share, options: Options) -> Iterator[Change]:
    vendor = share.vendor
    if share.priority is not None and vendor.priority_env:
        why = f"{vendor.priority} sets the task priority"
        yield from variables.put(container, vendor.priority_env, str(share.priority), why)
    if vendor.core_policy not in ("", "default"):
        why = "the administrator's core policy"
        yield from variables.put(container, vendor.core_policy_env, vendor.core_policy, why)
    if not container.limits.get(vendor.count):
        yield from _resource(container, vendor.count, share.count, "memory or cores need a device")
    if share.cores == WHOLE_CARD and vendor.cores not in container.limits:
        why = "no share was named, so the whole card is this container's"
        yield from _resource(container, vendor.cores, WHOLE_CARD, why)
    why = "the device plugin sets it"
    if options.remove_device_env and vendor.visible_env in container.env_names:
        yield from variables.drop(container, options.foreign(container, {vendor.visible_env}), why)
    if options.remove_limit_env:
        yield from variables.drop(container, options.foreign(container, vendor.limit_env), why)


def _resource(container: Container, name: str, value: int, why: str) -> Iterator[Change]:
    """Limits and requests together: Kubernetes refuses devices where they differ."""
    for kind in ("limits", "requests"):
        yield Put((*container.path, "resources", kind, name), str(value), why)


def _hide(container: Container, vendors: Sequence[Vendor]) -> Iterator[Change]:
    if container.privileged or container.has_claims:
        return
    for vendor in vendors:
        if not vendor.hide_from_others:
            continue
        holds_other = any(
            name.startswith(vendor.domain) and name not in vendor.resources
            for name in container.limits
        )
        if not holds_other:
            why = "overwriteEnv hides cards not asked for"
            yield from variables.put(container, vendor.visible_env, "none", why)


def _pod_wide(demand: Demand, pod: Pod, scheduler_name: str) -> Iterator[Change]:
    for wanted in demand.containers:
        if wanted.share and wanted.share.vendor.runtime_class and pod.runtime_class is None:
            why = f"{wanted.share.vendor.name} containers run under this RuntimeClass"
            yield Put(("spec", "runtimeClassName"), wanted.share.vendor.runtime_class, why)
            break
    if scheduler_name and pod.scheduler_name != scheduler_name:
        why = "only HAMi's scheduler knows the shares of a card"
        yield Put(("spec", "schedulerName"), scheduler_name, why)
