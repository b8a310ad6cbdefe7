"""Settings and device-config become the Rules of admission."""

from pathlib import Path

from berth import configfile
from berth.admission.rules import EnvEntry, Handling, Injection, Privileged, Rules
from berth.dialects import deviceconfig
from berth.dialects.hami import Options
from berth.errors import UsageError
from berth.settings import Settings
from berth.vendors import VENDORS


def rules(settings: Settings, device_config: Path | None) -> tuple[Rules, tuple[str, ...]]:
    """Resolve both files into one generation of Rules, with warnings. Raises UsageError."""
    vendors, warnings = (
        deviceconfig.apply(configfile.read(device_config), VENDORS, device_config)
        if device_config is not None
        else (VENDORS, tuple[str, ...]())
    )
    policy = settings.policy
    excluded = {*policy.excluded_namespaces, settings.registration.namespace}
    found = Rules(
        options=Options(
            vendors=vendors,
            scheduler_name=settings.scheduler.name,
            remove_device_env=policy.device_env == "remove",
            remove_limit_env=policy.limit_env == "remove",
        ),
        force_default_scheduler=settings.scheduler.force,
        privileged=Privileged(policy.privileged),
        device_env=Handling(policy.device_env),
        limit_env=Handling(policy.limit_env),
        excluded_namespaces=frozenset(excluded),
        injections=_injections(settings, {vendor.name for vendor in vendors}),
    )
    return found, warnings


def _injections(settings: Settings, vendors: set[str]) -> dict[str, Injection]:
    injections: dict[str, Injection] = {}
    for index, wanted in enumerate(settings.injections):
        where = f"injections[{index}]"
        if not wanted.name.replace("-", "").isalnum() or not wanted.name.islower():
            raise UsageError(
                f"{where}.name: {wanted.name!r} becomes part of a webhook's name; "
                "write lower-case letters, digits and dashes"
            )
        if wanted.name in injections:
            raise UsageError(f"{where}.name: {wanted.name} stands twice; give each its own name")
        if wanted.vendor not in vendors:
            known = ", ".join(sorted(vendors))
            raise UsageError(f"{where}.vendor: {wanted.vendor} is not known; known are {known}")
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
