"""`berth demo`: the real server on loopback, asked about the examples as kube-apiserver would."""

import ssl
import sys
import uuid
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from statistics import median
from time import perf_counter

import aiohttp
import click
import orjson
import uvloop

from berth import clock, names
from berth.admission import live, mutate, templates
from berth.admission.journal import Journal
from berth.admission.listen import listen
from berth.admission.live import Generation, Live, Sources
from berth.admission.load import Load
from berth.admission.rules import Rules
from berth.admission.serve import Handler
from berth.certs import authority, identity
from berth.cli import called, documents, show
from berth.cli.terminal import escaped
from berth.errors import UsageError
from berth.model.decision import Decision, Verdict
from berth.model.raw import JsonObject
from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness

NAMESPACE = "default"
"""Where all examples are created."""


@click.command()
@click.option(
    "folder",
    "--examples",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of manifests to show; else Berth's own examples.",
)
def command(*, folder: Path | None) -> None:
    """Show what Berth does, without a cluster.

    Starts the real server with a CA of its own on loopback, and sends it the examples over HTTPS.
    """
    shown = _examples(folder or _own_examples())
    generation = live.read(Sources(flags=("server.host=127.0.0.1", "server.port=0")))
    answers = uvloop.run(_demo(shown, generation))
    for example, answer in zip(shown, answers, strict=True):
        click.echo(click.style(f"# {escaped(example.comment)}", dim=True))
        title = f"{example.title}  {answer.milliseconds:.2f} ms"
        show.decision(title, example.pod, answer.decision, generation.settings.language)
    times = [answer.milliseconds for answer in answers]
    click.echo(show.summary(answer.decision for answer in answers))
    click.echo(
        f"Latency over HTTPS: {median(times):.2f} ms in the middle, {max(times):.2f} at most"
    )
    explain, manifests = called.as_typed("explain -f your-pod.yaml"), called.as_typed("manifests")
    click.echo(f"Next: {explain}, or {manifests} for a cluster.")


@dataclass(frozen=True, slots=True)
class Example:
    """One Pod of the examples, as a user wrote it."""

    title: str
    comment: str
    pod: JsonObject


@dataclass(frozen=True, slots=True)
class Answered:
    """What was decided about it, which is what the server said, and how long that took."""

    decision: Decision
    milliseconds: float


def _own_examples() -> Path:
    here = Path(__file__).resolve()
    for folder in (here.parents[1] / "examples", here.parents[3] / "examples"):
        if folder.is_dir():
            return folder
    raise UsageError("the examples are not installed; give a folder with --examples")


def _examples(folder: Path) -> list[Example]:
    found = []
    for file in sorted(folder.rglob("pod.yaml")) or sorted(folder.rglob("*.yaml")):
        for _, document in documents.read([str(file)]):
            comment = _comment(file)
            for template in templates.find(document):
                title = f"{file.parent.name}: {document.get('kind')}"
                found.append(Example(title, comment, template.pod))
    if not found:
        raise UsageError(f"{folder}: holds no manifest of a Pod")
    return found


def _comment(file: Path) -> str:
    first = file.read_bytes().partition(b"\n")[0].decode(errors="replace")
    return first.removeprefix("# ") if first.startswith("#") else file.name


async def _demo(shown: Sequence[Example], generation: Generation) -> list[Answered]:
    loaded, rules = generation.settings, generation.rules
    pair = authority.issue(identity.names(loaded), clock.now())
    shown_to_us = identity.Shown()
    shown_to_us.show(pair)
    handler = Handler(
        live=Live(generation),
        load=Load(),
        readiness=Readiness(missing={}),
        journal=Journal(Metrics(), lambda _name, _fields: None),
    )
    listener = await listen(loaded.server, handler, shown_to_us.context)
    address = f"https://127.0.0.1:{listener.port}"
    click.echo(f"berth webhook is listening on {address}{names.MUTATE_PATH}\n")
    trust = ssl.create_default_context(cadata=pair.authority.decode())
    try:
        async with aiohttp.ClientSession(
            address, connector=aiohttp.TCPConnector(ssl=trust)
        ) as session:
            await session.get("/readyz")  # so that the first Pod does not pay for the handshake
            answers = []
            with click.progressbar(length=len(shown), label="asking", file=sys.stderr) as bar:
                for example in shown:
                    answers.append(await _ask(session, example, rules))
                    bar.update(1)
            return answers
    finally:
        await listener.end()


async def _ask(session: aiohttp.ClientSession, example: Example, rules: Rules) -> Answered:
    """Ask the server, and decide beside it: the wire does not carry why. Raises UsageError."""
    started = perf_counter()
    try:
        async with session.post(names.MUTATE_PATH, json=_review(example.pod)) as answer:
            status, body = answer.status, await answer.read()
    except aiohttp.ClientError as error:
        raise UsageError(f"{example.title}: the server did not answer: {error}") from None
    milliseconds = (perf_counter() - started) * 1000
    if status != HTTPStatus.OK:
        said = body.decode(errors="replace")
        raise UsageError(f"{example.title}: the server answered {status}: {said}")
    decision = mutate.decide(example.pod, NAMESPACE, rules)
    if not agrees(orjson.loads(body)["response"], decision):
        raise UsageError(
            f"{example.title}: the server answered otherwise than Berth decides; "
            "please report it with the manifest"
        )
    return Answered(decision, milliseconds)


def agrees(response: JsonObject, decision: Decision) -> bool:
    """Whether the response of an AdmissionReview says what was decided."""
    patch = response.get("patch")
    operations = orjson.loads(b64decode(patch)) if isinstance(patch, str) else []
    allowed = decision.verdict is not Verdict.REFUSED
    return response.get("allowed") is allowed and operations == decision.operations


def _review(pod: JsonObject) -> JsonObject:
    """Return the AdmissionReview that kube-apiserver makes of the CREATE of `pod`."""
    kind: JsonObject = {"group": "", "version": "v1", "kind": "Pod"}
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": str(uuid.uuid4()),
            "kind": kind,
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "operation": "CREATE",
            "namespace": NAMESPACE,
            "object": {"apiVersion": "v1", "kind": "Pod", **pod},
        },
    }
