"""The fuzzer itself: faults that are planted are found, and any body can be made again."""

import random
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from berth import clock
from berth.certs import authority
from tests import webhook
from tests.fuzz import bodies, campaign, checks, values
from tests.fuzz.campaign import Plan
from tests.fuzz.case import Case
from tests.fuzz.load import Target

HONEST = Case("honest", bodies.RICH)


@contextmanager
def faulty(fault: str, folder: Path) -> Iterator[Target]:
    """Give a server with this fault, as a process of its own."""
    pair = authority.issue(("127.0.0.1",), clock.now())
    (folder / "tls.crt").write_bytes(pair.certificate)
    (folder / "tls.key").write_bytes(pair.key)
    (folder / "ca.crt").write_bytes(pair.authority)
    command = [sys.executable, "-m", "tests.fuzz.faulty", fault, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        tls = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        yield Target(port, tls, process.pid, deadline=0.5 if fault == "silence" else 10)
    finally:
        process.kill()
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()


def found(fault: str, folder: Path) -> list[str]:
    """Return what a short campaign of honest bodies finds in a server with this fault."""
    plan = Plan(lambda *_: HONEST, 7, range(8), [HONEST] * 4)
    with faulty(fault, folder) as target:
        return campaign.run(plan, target, []).faults


@pytest.mark.parametrize(
    ("fault", "sentence"),
    {
        "500": "HTTP 500",
        "503": "HTTP 503",
        "echo": "repeats what was sent",
        "silence": "no answer within 0.5 s",
        "hanging up": "no answer: ConnectionResetError",
        "html": "no AdmissionReview",
        "another uid": "to another question",
        "no verdict": "to another question",
        "patch that does not apply": "the patch does not apply",
        "patch without a type": "only one of patch and patchType",
        "refusal without a status": "a status and an allowance, or neither",
        "refusal with code 500": "refused with 500",
        "long warning": "warnings that kube-apiserver drops",
        "leak": "memory has grown",
    }.items(),
)
def test_a_planted_fault_is_found(fault: str, sentence: str, tmp_path: Path) -> None:
    """Each is named, with the seed and the number that send the body again."""
    faults = found(fault, tmp_path)
    assert faults, f"{fault} is not found"
    assert all(sentence in line for line in faults), faults
    if fault != "leak":
        assert faults[0].startswith("seed 7, number ")


def test_a_good_server_has_no_faults(tmp_path: Path) -> None:
    """What is found is not in the fuzzer."""
    assert found("", tmp_path) == []


def test_what_lies_on_the_floor_for_a_while_is_no_growth() -> None:
    """Large bodies come and go; a KiB in each of 100,000 bodies stays."""
    scattered = {number: 150.0 + 60 * (number % 7 == 0) for number in range(0, 100_000, 250)}
    leaking = {number: mib + number / 1024 for number, mib in scattered.items()}
    low, high = campaign.floors(scattered, range(100_000))
    assert low == high
    low, high = campaign.floors(leaking, range(100_000))
    assert high - low > 40


@pytest.mark.parametrize(
    "line",
    [
        {"event": "admission.fault", "error": "Traceback"},
        {"event": "stderr", "text": "Segmentation fault"},
        {"event": "x", "pod": "x" * 70_000},
        {"event": "x", "why": f"not a number: {values.SECRET}"},
    ],
)
def test_a_log_line_with_too_much_is_found(line: dict[str, Any]) -> None:
    """Stacks, what Python writes itself, whole Pods, and values of the user."""
    assert checks.logged(line)


def test_a_body_is_made_again_by_its_seed_and_number() -> None:
    """So what the fuzzer prints is enough to send it again."""
    for number in (*range(300), 10**6):
        assert bodies.make(5, number) == bodies.make(5, number)
    assert bodies.make(5, 1) != bodies.make(6, 1)


def test_two_hundred_thousand_have_every_value_at_every_place() -> None:
    """The sweep ends within them, whatever the seed, and repeats none before."""
    assert 3 * bodies.SWEEP <= 200_000
    seed = random.SystemRandom().getrandbits(32)
    turns = [bodies.turn(seed, number) for number in range(0, 3 * bodies.SWEEP, 3)]
    assert len(set(turns)) == bodies.SWEEP, seed


def test_a_splice_puts_text_where_a_value_was() -> None:
    """Also what no encoder writes, and in the place of the whole document."""
    document = orjson.dumps(webhook.review(None, uid="u"))
    assert b'"uid":NaN,"uid":1,' in bodies.splice(document, ("request", "uid"), b'NaN,"uid":1')
    assert bodies.splice(document, (), b"x") == b"x"
