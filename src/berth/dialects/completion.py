"""What a container with a share lacks, and what one without must not see."""

from collections.abc import Iterator

from berth.dialects import variables
from berth.dialects.options import Hidden, Options
from berth.model.demand import ContainerDemand, Demand, Share
from berth.model.edit import Change, Put
from berth.model.pod import Container, Pod
from berth.model.said import Said

_CORE_POLICY = Said("why.core-policy")
_CONTAINER_NAME = Said("why.container-name")
_DEVICE_PLUGIN = Said("why.device-plugin")
_HIDDEN = Said("why.hidden")


def complete(container: Container, share: Share, options: Options) -> Iterator[Change]:
    """Yield what a container that asks in HAMi's words lacks, and what it should not set."""
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


def hide(wanted: ContainerDemand, hidden: Hidden) -> Iterator[Change]:
    """Yield the variable that takes devices from a container without any."""
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


def classed(demand: Demand, pod: Pod) -> Iterator[Change]:
    """Yield the RuntimeClass that containers with such devices run under, where none is named."""
    with_class = next((share for share in demand.shares if share.vendor.runtime_class), None)
    if with_class and pod.runtime_class is None:
        why = Said("why.runtime-class", {"vendor": with_class.vendor.name})
        yield Put(("spec", "runtimeClassName"), with_class.vendor.runtime_class, why)


def scheduled(pod: Pod, options: Options, why: Said) -> Iterator[Change]:
    """Yield the scheduler of the stack, where the Pod names another."""
    if options.scheduler_name and pod.scheduler_name != options.scheduler_name:
        yield Put(("spec", "schedulerName"), options.scheduler_name, why)
