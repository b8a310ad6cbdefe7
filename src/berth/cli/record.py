"""`berth record`: what happens in a cluster, as lines that `berth simulate` replays."""

import asyncio
import contextlib
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click
import msgspec

from berth import __version__, clock
from berth.admission import stored
from berth.admission.rules import Rules
from berth.cli import clustered, configured, options
from berth.cli.stop import Stop
from berth.cli.terminal import warn
from berth.cluster.hashed import Hashed
from berth.cluster.mirror import Mirror
from berth.cluster.projections import AskingPod, Pod
from berth.cluster.recorder import Recorder
from berth.cluster.watch import Source
from berth.errors import UsageError
from berth.model import recording
from berth.model.recording import Begin, End
from berth.model.request import PodRequest

_FLUSH_SECONDS = 0.5
_DIGITS = 3  # of seconds: what is seen is a millisecond old anyway


@click.command()
@click.argument("file", type=options.FILE, default=Path("-"))
@click.option(
    "seconds", "--for", type=options.DURATION, help="End after so long; else on SIGINT or SIGTERM."
)
@options.configuration
@options.kubeconfig
def command(
    *,
    file: Path,
    seconds: float | None,
    config: Path | None,
    device_config: Path | None,
    settings: tuple[str, ...],
    kubeconfig: Path | None,
) -> None:
    """Record what happens in a cluster, for berth simulate.

    A line of JSON each goes to FILE, or stdout: nodes and their cards, Pods that come, where they
    are bound, when they leave. Names are hashed under a key that is forgotten at the end.
    """
    _, rules = configured.read(config, device_config, settings)
    source = clustered.source(kubeconfig, _said)
    with _opened(file) as out:
        count = asyncio.run(_record(source, rules, out, seconds))
    warn(f"{count} lines recorded")


def _said(why: str) -> None:
    """Say what went wrong; what happens meanwhile is recorded when it is seen."""
    warn(f"{why}; asking again")


async def _record(source: Source, rules: Rules, out: BinaryIO, seconds: float | None) -> int:
    written = 0

    def write(line: recording.Entry) -> None:
        nonlocal written
        out.write(recording.write(line))
        written += 1

    def wanted(pod: Pod) -> PodRequest:
        raw = msgspec.json.decode(msgspec.json.encode(pod))
        stack = rules.within(pod.metadata.namespace).options.stack
        return stored.authored(raw, rules.reading, stack)[1]

    loop, stop = asyncio.get_running_loop(), Stop()
    stop.listen(loop)
    recorder = Recorder(rules.vendors, wanted, Hashed(secrets.token_bytes(32)), write)
    mirror = Mirror(source, AskingPod)
    write(Begin(at=0.0, time=f"{clock.now():%FT%TZ}", berth=__version__))
    mirror.nodes.listen(recorder.node)
    mirror.pods.listen(recorder.pod)
    async with mirror.following():
        began = source.clock()
        recorder.clock = lambda: round(source.clock() - began, _DIGITS)
        ends = None if seconds is None else loop.call_later(seconds, stop.asked.set)
        while not stop.asked.is_set():
            out.flush()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FLUSH_SECONDS):
                    await stop.asked.wait()
        if ends:
            ends.cancel()
        write(End(at=recorder.clock()))
        return written


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    if str(file) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        with file.open("wb") as out:
            yield out
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from None
