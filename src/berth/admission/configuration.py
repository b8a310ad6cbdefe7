"""Settings and device-config become the Rules of admission."""

from collections.abc import Iterable
from ipaddress import IPv6Network, ip_address, ip_network
from pathlib import Path

from berth import closest, configfile
from berth.admission import conversions
from berth.admission.audited import Audited
from berth.admission.callers import Callers, Network
from berth.admission.placements import Manner, Placements, Special
from berth.admission.rules import EnvEntry, EnvHandling, Injection, Privileged, Rules, Undone
from berth.dialects import deviceconfig, volcano
from berth.dialects.options import Options
from berth.errors import UsageError
from berth.model.placed import Delivery
from berth.model.terms import Scoped, Terms
from berth.model.vendor import Vendor
from berth.settings import Audit, CardFilter, Fragment, Placement, Settings
from berth.settings import Callers as WantedCallers
from berth.settings import Injection as WantedInjection
from berth.settings import Manner as WantedManner
from berth.vendors import SECTIONS, VENDORS


def rules(settings: Settings, device_config: Path | None) -> tuple[Rules, tuple[str, ...]]:
    """Resolve both files into one generation of Rules, with warnings. Raises UsageError."""
    vendors, warnings = (
        deviceconfig.apply(configfile.read(device_config), SECTIONS, device_config)
        if device_config is not None
        else (VENDORS, tuple[str, ...]())
    )
    policy = settings.policy
    vendors = _managed(vendors, policy.unmanaged_vendors)
    vendors = volcano.recorded(vendors, settings.stacks.volcano.block_mib)
    excluded = {*policy.excluded_namespaces, settings.registration.namespace}
    found = Rules(
        options=Options(
            vendors=vendors,
            scheduler_name=settings.scheduler.name,
            remove_device_env=policy.device_env == "remove",
            remove_limit_env=policy.limit_env == "remove",
            injected_env=frozenset(
                (entry.name, entry.value)
                for injection in settings.injections
                for entry in injection.env
            ),
        ),
        force_default_scheduler=settings.scheduler.force,
        privileged=Privileged(policy.privileged),
        device_env=EnvHandling(policy.device_env),
        limit_env=EnvHandling(policy.limit_env),
        undone=_undone(settings),
        guards_allocations=policy.allocations == "deny",
        allocators=policy.allocators,
        excluded_namespaces=frozenset(excluded),
        audited=_audited(settings.audit),
        injections=_injections(settings, _names(vendors)),
        deny_unsized=settings.quota.unsized == "deny",
        placements=_placements(settings),
        terms=_terms(settings.placement),
    )
    found, more = conversions.resolve(settings, found)
    return found, (*warnings, *more)


def _placements(settings: Settings) -> Placements:
    usual = settings.placement
    return Placements(
        usual=_manner(usual, settings),
        special=tuple(
            Special(namespaces=one.namespaces, manner=_manner(one, settings))
            for one in usual.special
        ),
    )


def _manner(wanted: WantedManner, settings: Settings) -> Manner:
    delivery = wanted.delivery
    if wanted.visible_devices and settings.policy.device_env != "keep":
        raise UsageError(
            "placement.visibleDevices: writes what policy.deviceEnv removes; set that to keep"
        )
    if delivery == "auto":  # HAMi's extender does not read scores
        delivery = "require" if settings.scheduler.name else "prefer"
    return Manner(
        policy=wanted.policy,
        delivery=Delivery(delivery),
        auto=wanted.delivery == "auto",
        visible=wanted.visible_devices,
        among=wanted.pin_among,
        refuses_full=wanted.full == "refuse",
        classes=frozenset(wanted.full_priority_classes),
        refuses_never=wanted.never == "refuse",
    )


def _terms(wanted: Placement) -> Terms:
    return Terms(
        workload_key=wanted.workload_key,
        apart=tuple(
            (one, other) for one, _, other in (pair.partition(":") for pair in wanted.apart)
        ),
        tests=_tests(wanted.filters),
        rack=wanted.rack_label,
    )


def _tests(filters: tuple[CardFilter, ...]) -> tuple[Scoped, ...]:
    if not filters:
        return ()
    from berth.placement.filters import Filter  # noqa: PLC0415  numpy and CEL, that few need

    found, seen = list[Scoped](), set[str]()
    for index, one in enumerate(filters):
        if one.name in seen:
            raise UsageError(f"placement.filters[{index}].name: {one.name} stands there twice")
        seen.add(one.name)
        try:
            found.append(Scoped(Filter(one.name, one.expression), one.namespaces))
        except UsageError as error:
            raise UsageError(f"placement.filters[{index}].expression: {error}") from None
    return tuple(found)


def _undone(settings: Settings) -> Undone:
    """Who lets Pods pass while no answer comes does not want them refused for that afterwards."""
    if settings.policy.undone != "auto":
        return Undone(settings.policy.undone)
    return Undone.DENY if settings.registration.failure_policy == "Fail" else Undone.WARN


def _audited(wanted: Audit) -> Audited:
    key, _, value = wanted.namespace_label.partition("=")
    return Audited(names=frozenset(wanted.namespaces), label=(key, value) if key else None)


def _managed(vendors: tuple[Vendor, ...], without: tuple[str, ...]) -> tuple[Vendor, ...]:
    known = _names(vendors)
    for name in without:
        if name not in known:
            hint = closest.hint(name, known)
            raise UsageError(f"policy.unmanagedVendors: {name} is no accelerator{hint}")
    return tuple(one for one in vendors if not {one.family, one.name} & {*without})


def _names(vendors: Iterable[Vendor]) -> set[str]:
    """Return the names by which settings may speak of accelerators: all of a family, or one."""
    return {name for vendor in vendors for name in (vendor.family, vendor.name)}


def callers(wanted: WantedCallers) -> Callers | None:
    """Resolve who may call, or None where everyone may. Raises UsageError."""
    if wanted.client_names and not wanted.client_ca_file:
        raise UsageError(
            "callers.clientNames: names are read in certificates that callers.clientCaFile vouches "
            "for; give that too"
        )
    found = Callers(
        certificate=bool(wanted.client_ca_file),
        names=frozenset(wanted.client_names),
        sources=tuple(
            _network(text, f"callers.sources[{index}]") for index, text in enumerate(wanted.sources)
        ),
        agents=wanted.user_agents,
    )
    return None if found == Callers() else found


def _network(text: str, where: str) -> Network:
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        raise UsageError(
            f"{where}: {text} is no range of addresses; write it as 10.0.0.0/8 or fd00::/8"
        ) from None
    address, _, length = text.partition("/")
    if length and network.network_address != ip_address(address):
        raise UsageError(f"{where}: {text} says more than its prefix; write {network}")
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    if mapped and network.prefixlen >= 96:
        plain = f"{mapped}/{network.prefixlen - 96}"
        raise UsageError(f"{where}: {text} holds IPv4 addresses; write {plain}")
    return network


def _injections(settings: Settings, vendors: set[str]) -> dict[str, Injection]:
    injections: dict[str, Injection] = {}
    volumes: dict[str, tuple[Fragment, str]] = {}
    for index, wanted in enumerate(settings.injections):
        where = f"injections[{index}]"
        if wanted.name in injections:
            raise UsageError(f"{where}.name: {wanted.name} stands twice; give each its own name")
        if wanted.vendor not in vendors:
            known = ", ".join(sorted(vendors))
            raise UsageError(f"{where}.vendor: {wanted.vendor} is not known; known are {known}")
        _volumes(wanted, where, volumes)
        _check_twins(wanted, where)
        injections[wanted.name] = Injection(
            name=wanted.name,
            vendor=wanted.vendor,
            namespace_selector=wanted.namespace_selector,
            env=tuple(
                EnvEntry(name=entry.name, value=entry.value, joined_by=entry.joined_by)
                for entry in wanted.env
            ),
            volumes=wanted.volumes,
            mounts=wanted.volume_mounts,
            annotations=wanted.annotations,
            tolerations=wanted.tolerations,
        )
    return injections


def _volumes(wanted: WantedInjection, where: str, known: dict[str, tuple[Fragment, str]]) -> None:
    """Add the volumes of an injection to the known ones. Raises UsageError.

    Two injections may meet in one Pod, which has one volume of a name.
    """
    for index, mount in enumerate(wanted.volume_mounts):
        for key in ("name", "mountPath"):
            _text(mount, key, f"{where}.volumeMounts[{index}]")
    for index, volume in enumerate(wanted.volumes):
        place = f"{where}.volumes[{index}]"
        name = _text(volume, "name", place)
        same, first = known.setdefault(name, (volume, place))
        if same != volume:
            raise UsageError(
                f"{place}: {name} is another volume than {first}; give one of them another name"
            )


def _check_twins(wanted: WantedInjection, where: str) -> None:
    """Raise UsageError for what a Pod would have twice: Kubernetes takes no two, or the last."""
    paths = [str(mount["mountPath"]).rstrip("/") or "/" for mount in wanted.volume_mounts]
    for kind, named in (
        ("env", [entry.name for entry in wanted.env]),
        ("volumes", [str(volume["name"]) for volume in wanted.volumes]),
        ("volumeMounts", paths),
    ):
        for index, name in enumerate(named):
            if name in named[:index]:
                raise UsageError(f"{where}.{kind}[{index}]: {name} stands twice; leave one out")


def _text(entry: Fragment, key: str, where: str) -> str:
    text = entry.get(key)
    if not isinstance(text, str) or not text:
        raise UsageError(f"{where}: {key} must be there, as text; Kubernetes needs it")
    return text
