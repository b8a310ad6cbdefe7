"""What a container with a share lacks, and what one without must not see."""

from collections.abc import Iterator

from berth.dialects import variables
from berth.dialects.options import Hidden, Options
from berth.model.demand import ContainerDemand, Demand, Share
from berth.model.edit import Change, Put
from berth.model.pod import Container, Pod


def complete(container: Container, share: Share, options: Options) -> Iterator[Change]:
    """Yield what a container that asks in HAMi's words lacks, and what it should not set."""
    vendor = share.vendor
    if share.priority is not None and vendor.priority_env:
        why = f"{vendor.priority} sets the task priority"
        yield from variables.put(container, vendor.priority_env, str(share.priority), why)
    if vendor.core_policy_env and vendor.core_policy not in ("", "default"):
        why = "the administrator's core policy"
        yield from variables.put(container, vendor.core_policy_env, vendor.core_policy, why)
    if vendor.name_env and container.name and vendor.name_env not in container.env_names:
        why = "the vendor's software looks for the container's name there"
        yield from variables.put(container, vendor.name_env, container.name, why)
    for one in share.completion:
        # Limits and requests together: Kubernetes refuses devices where they differ.
        for kind in ("limits", "requests"):
            yield Put((*container.path, "resources", kind, one.name), str(one.value), one.why)
    why = "the device plugin sets it"
    if options.remove_device_env and vendor.visible_env in container.env_names:
        yield from variables.drop(container, options.foreign(container, {vendor.visible_env}), why)
    if options.remove_limit_env:
        yield from variables.drop(container, options.foreign(container, vendor.limit_env), why)


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
        why = "overwriteEnv hides cards not asked for"
        yield from variables.put(container, hidden.variable, hidden.value, why)


def classed(demand: Demand, pod: Pod) -> Iterator[Change]:
    """Yield the RuntimeClass that containers with such devices run under, where none is named."""
    with_class = next((share for share in demand.shares if share.vendor.runtime_class), None)
    if with_class and pod.runtime_class is None:
        why = f"{with_class.vendor.name} containers run under this RuntimeClass"
        yield Put(("spec", "runtimeClassName"), with_class.vendor.runtime_class, why)
