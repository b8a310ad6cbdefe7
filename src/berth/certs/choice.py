"""Puts the parts together that the settings name."""

from datetime import timedelta
from pathlib import Path

from berth.certs import given, identity
from berth.certs.own import Own
from berth.certs.rotation import Terms
from berth.certs.source import Source
from berth.certs.store import FileStore, SecretStore, Store
from berth.errors import UsageError
from berth.settings import Certificates, Settings


def terms(wanted: Certificates) -> Terms:
    """Return how long things last. Raises UsageError where a CA would end before its successor."""
    settle = timedelta(seconds=wanted.settle_seconds)
    check = timedelta(seconds=wanted.check_seconds)
    if authority_life(wanted) / 3 <= settle + 2 * check:
        raise UsageError(
            f"certificates.authorityDays: {wanted.authority_days:g} is too short for the next CA "
            "to settle; a third of it must be longer than settleSeconds and two checkSeconds"
        )
    return Terms(leaf=timedelta(days=wanted.leaf_days), settle=settle, check=check)


def authority_life(wanted: Certificates) -> timedelta:
    """Return how long a CA lasts."""
    return timedelta(days=wanted.authority_days)


def shared(wanted: Certificates, url: str, *, registers: bool) -> bool:
    """Whether the CA is kept in a Secret."""
    if wanted.store == "auto":
        return registers and not url and not wanted.folder
    return wanted.store == "secret"


def needs_folder(settings: Settings, *, registers: bool) -> bool:
    """Whether a folder for this process alone is wanted: for CAs that nobody else shares."""
    own, url = settings.certificates, settings.registration.url
    given = settings.server.cert_file or own.folder
    return not given and not shared(own, url, registers=registers)


def store(settings: Settings, kubeconfig: Path | None, folder: Path, *, registers: bool) -> Store:
    """Return the place of our CA; `folder` is for files."""
    wanted, registered = settings.certificates, settings.registration
    if shared(wanted, registered.url, registers=registers):
        return SecretStore(kubeconfig, registered.namespace, wanted.secret)
    return FileStore(folder)


def source(settings: Settings, kept: Store) -> Source:
    """Return what the settings name: the given files, or a leaf by the CA in `kept`."""
    wanted = settings.certificates
    if settings.server.cert_file:
        return given.given(settings.server, terms(wanted))
    return Own(
        kept,
        identity.names(settings),
        authority_life(wanted),
        terms(wanted),
    )
