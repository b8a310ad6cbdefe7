"""What a container with a share lacks, and what one without must not see."""

from collections.abc import Iterable, Iterator

from berth.dialects import variables
from berth.dialects.options import Hidden, Options
from berth.model.demand import ContainerDemand, Share
from berth.model.edit import Change, Put
from berth.model.pod import Container, Pod
from berth.model.said import Said
from berth.model.vendor import Vendor

_CORE_POLICY = Said("why.core-policy")
_CONTAINER_NAME = Said("why.container-name")
_DEVICE_PLUGIN = Said("why.device-plugin")
_HIDDEN = Said("why.hidden")


def complete(container: Container, share: Share, options: Options) -> Iterator[Change]:
    """Yield what a container that asks in HAMi's words lacks, and what it should not set."""
    yield from _set(container, share, share.vendor)
    for one in share.completion:
        # Limits and requests together: Kubernetes refuses devices where they differ.
        for kind in ("limits", "requests"):
            yield Put((*container.path, "resources", kind, one.name), str(one.value), one.why)
    yield from _removed(container, share.vendor, options)


def variables_of(
    container: Container, share: Share, words: Vendor, options: Options
) -> Iterator[Change]:
    """Yield the same of its variables alone, for a container whose resources are in `words`."""
    yield from _set(container, share, words)
    yield from _removed(container, words, options)


def _set(container: Container, share: Share, vendor: Vendor) -> Iterator[Change]:
    if share.priority is not None and vendor.priority_env:
        why = Said("why.priority", {"name": vendor.priority})
        yield from variables.put(container, vendor.priority_env, str(share.priority), why)
    if vendor.core_policy_env and vendor.core_policy not in ("", "default"):
        policy = vendor.core_policy
        yield from variables.put(container, vendor.core_policy_env, policy, _CORE_POLICY)
    if vendor.name_env and container.name and vendor.name_env not in container.env_names:
        yield from variables.put(container, vendor.name_env, container.name, _CONTAINER_NAME)


def _removed(container: Container, vendor: Vendor, options: Options) -> Iterator[Change]:
    if vendor.withheld_env.isdisjoint(container.env_names):
        return
    if options.remove_device_env or (vendor.hide_from_others and hides(container, vendor)):
        visible = options.foreign(container, {vendor.visible_env})
        yield from variables.drop(container, visible, _DEVICE_PLUGIN)
    if options.remove_limit_env:
        limits = options.foreign(container, vendor.limit_env)
        yield from variables.drop(container, limits, _DEVICE_PLUGIN)


def hides(container: Container, vendor: Vendor) -> bool:
    """Whether the container's variable takes the devices away, as ours does.

    Then it may well be ours, where another webhook has given the container a device since.
    """
    places = container.places(vendor.visible_env)
    return all(container.value(place) == vendor.hidden_value for place in places)


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


def classed(shares: Iterable[Share], pod: Pod) -> list[Change]:
    """Return the RuntimeClass that containers with such devices run under, where none is named."""
    for share in shares:
        if share.vendor.runtime_class and pod.runtime_class is None:
            why = Said("why.runtime-class", {"vendor": share.vendor.name})
            return [Put(("spec", "runtimeClassName"), share.vendor.runtime_class, why)]
    return []


def scheduled(pod: Pod, options: Options, why: Said) -> list[Change]:
    """Return the edit that names the scheduler of the stack, where the Pod names another."""
    if options.scheduler_name in ("", pod.scheduler_name):
        return []
    return [Put(("spec", "schedulerName"), options.scheduler_name, why)]
