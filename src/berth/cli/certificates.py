"""`berth certificates`: look at the CA that the replicas share, and have it replaced."""

import asyncio
from pathlib import Path

import click

from berth import clock, layered
from berth.certs import choice, own, rotation
from berth.certs.store import TRUSTED, FileStore, Store
from berth.cli import called, options
from berth.errors import UsageError
from berth.settings import Settings

_TRIES = 10


@click.group()
def command() -> None:
    """Show or replace the CA that Berth keeps."""


@command.command(short_help="Print each CA that is trusted, and until when.")
@options.configuration
@options.kubeconfig
def show(
    *,
    config: Path | None,
    device_config: Path | None,  # noqa: ARG001  taken as by the other commands
    settings: tuple[str, ...],
    kubeconfig: Path | None,
) -> None:
    """Print each CA that is trusted, until when, and until when its leaves last."""
    kept = _store(layered.settings(config, settings), kubeconfig)
    held = asyncio.run(kept.read())
    if held.stored is None:
        raise UsageError(f"there is no CA yet; {called.as_typed('webhook --register')} makes one")
    for what, one in _named(held.stored):
        click.echo(f"{what:8} until {one.ends:%F %T}, its leaves until {one.leaves_end:%F %T} UTC")


@command.command()
@options.configuration
@options.kubeconfig
def rotate(
    *,
    config: Path | None,
    device_config: Path | None,  # noqa: ARG001  taken as by the other commands
    settings: tuple[str, ...],
    kubeconfig: Path | None,
) -> None:
    """Have the next CA take over now. The replicas see it through; no call fails."""
    loaded = layered.settings(config, settings)
    kept = _store(loaded, kubeconfig)
    click.echo(asyncio.run(_rotate(kept, loaded)))


async def _rotate(kept: Store, loaded: Settings) -> str:
    """Stage the next CA, and say what follows. Raises UsageError."""
    life = choice.authority_life(loaded.certificates)
    for _ in range(_TRIES):
        held = await kept.read()
        if held.stored is None:
            raise UsageError(
                f"there is no CA yet; {called.as_typed('webhook --register')} makes one"
            )
        if rotation.usable(held.stored.next, clock.now()):
            show = called.as_typed("certificates show")
            return f"a rotation is under way already; {show} shows how far"
        following = own.make(clock.now(), life)
        if await kept.write(rotation.staged(held.stored, following), held):
            return _staged(kept, loaded.certificates.settle_seconds)
    raise UsageError("the CA is written by others all the time; try again")


def _staged(kept: Store, wait: float) -> str:
    """Say what follows, which is the webhook's to do."""
    if isinstance(kept, FileStore):
        return (
            f"the next CA is there, and signs after {wait:g} s (certificates.settleSeconds, as the "
            f"webhook has it); before that, callers have to read {kept.folder / TRUSTED} again"
        )
    return f"the next CA is there, and signs once it was in the caBundle for {wait:g} s"


def _named(stored: rotation.Stored) -> list[tuple[str, rotation.Authority]]:
    following = [("next", stored.next)] if stored.next else []
    return [("current", stored.current), *following, *(("retired", one) for one in stored.retired)]


def _store(loaded: Settings, kubeconfig: Path | None) -> Store:
    if choice.needs_folder(loaded, registers=True):
        raise UsageError(
            "no CA is shared with these settings; set certificates.folder, or "
            "certificates.store=secret, as the webhook has it"
        )
    return choice.store(loaded, kubeconfig, Path(loaded.certificates.folder), registers=True)
