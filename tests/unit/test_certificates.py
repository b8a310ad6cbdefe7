"""Stores, bundles and pairs: what they hold on to, and what they refuse."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization

from berth import clock
from berth.certs import authority, bundle, identity, own, rotation, store
from berth.certs.identity import Shown
from berth.certs.own import Own
from berth.certs.registered import Registered
from berth.certs.rotation import Stored
from berth.certs.status import Health, Status
from berth.certs.store import FileStore
from berth.errors import UsageError

HOUR = timedelta(hours=1)


def made() -> Stored:
    """Return a state with a new CA."""
    return Stored(own.make(clock.now(), HOUR))


def test_of_two_that_write_over_the_same_one_is_told(tmp_path: Path) -> None:
    """A folder is written as a Secret is: over what was read, or not at all."""

    async def race() -> None:
        mine, yours = FileStore(tmp_path / "ca"), FileStore(tmp_path / "ca")
        nothing = await mine.read()
        assert (nothing.stored, nothing.version) == (None, "")
        first, second = made(), made()
        assert await mine.write(first, nothing)
        assert not await yours.write(second, nothing)
        held = await yours.read()
        assert held.stored == first
        assert await yours.write(second, held)
        assert not await mine.write(first, held)
        assert (tmp_path / "ca/ca.crt").read_bytes() == store.trusted(second)

    asyncio.run(race())
    assert (tmp_path / "ca/authorities.json").stat().st_mode & 0o077 == 0


def test_a_state_that_we_did_not_write_is_a_sentence(tmp_path: Path) -> None:
    """It says which file it is, and what to do."""
    (tmp_path / "authorities.json").write_text("{}")
    with pytest.raises(UsageError, match=r"authorities\.json is not what Berth wrote: .*delete it"):
        asyncio.run(FileStore(tmp_path).read())


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda text: text.replace('Z"', '"', 1), "Expected `datetime` with a timezone"),
        (lambda text: text.replace("leavesEnd", "leaves_end"), "leaves_end"),
    ],
    ids=["a time without a zone", "a field by another name"],
)
def test_a_state_that_was_edited_by_hand_is_a_sentence(
    edit: Callable[[str], str], why: str, tmp_path: Path
) -> None:
    """And no time that cannot be compared with others."""
    (tmp_path / "authorities.json").write_text(edit(msgspec.json.encode(made()).decode()))
    with pytest.raises(UsageError, match=why):
        asyncio.run(FileStore(tmp_path).read())


def test_a_ca_whose_key_was_edited_signs_nothing(tmp_path: Path) -> None:
    """What its key signs nobody takes: the leaf before it is shown on."""
    good, other = made().current, made().current
    edited = Stored(msgspec.structs.replace(good, key=other.key))
    terms = rotation.Terms(leaf=HOUR, settle=timedelta(0), check=HOUR)
    source = Own(FileStore(tmp_path), ("localhost",), HOUR, terms)

    async def turn() -> None:
        assert await source.store.write(edited, await source.store.read())
        await source.turn(None, Registered(watched=False))

    with pytest.raises(UsageError, match=r"the stored CA vouches for no leaf of its key: .*remove"):
        asyncio.run(turn())


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    """A file stands there, say."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"set certificates\.folder to a folder"):
        asyncio.run(FileStore(tmp_path / "file").read())


def test_a_bundle_keeps_what_others_may_need_until_it_has_ended() -> None:
    """Ours first, each once; what is no certificate is left out."""
    now = clock.now()
    ours, theirs, ended = (
        authority.make(now - 3 * HOUR, now + life)[0].decode() for life in (HOUR, HOUR, -HOUR)
    )
    assert bundle.merged(ours.encode() * 2, [ended, theirs, ours], now) == (ours + theirs).encode()
    assert list(bundle.split(b"# a comment\n" + ours.replace("\n", "\r\n").encode())) == [ours]
    garbage = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    assert bundle.split(garbage + ours[:100].encode()) == {}


def test_a_bundle_ends_with_the_first_that_still_vouches() -> None:
    """One that has ended long ago, and nobody swept out, is no alarm; where all have, it is one."""
    now = clock.now().replace(microsecond=0)
    past, near, far = (
        authority.make(now - 9 * HOUR, now + hours * HOUR)[0] for hours in (-1, 1, 2)
    )
    assert bundle.ends(far + past + near, now) == now + HOUR
    assert bundle.ends(past, now) == now - HOUR
    assert bundle.ends(b"", now) is None


def test_health_is_judged_by_the_share_of_its_life() -> None:
    """A certificate of ninety days and one of a day are renewed in time alike."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    status = Status(leaf_begins=start, leaf_ends=start + timedelta(days=6))
    for days, health in ((4.9, Health.GOOD), (5, Health.ENDING), (6, Health.EXPIRED)):
        assert status.health(start + timedelta(days=days)) is health
    assert Status().health(start) is None


def test_a_broken_pair_is_a_sentence_and_the_good_one_stays() -> None:
    """Whatever is wrong, it is found before it is shown."""
    good, other = (authority.issue(("localhost",), clock.now()) for _ in range(2))
    key = serialization.load_pem_private_key(good.key, None)
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    shown = Shown()
    shown.show(good)
    for broken, why in (
        (replace(good, key=other.key), "key values mismatch"),
        (replace(good, key=b""), "not pem"),
        (replace(good, certificate=good.certificate[:90]), "not pem"),
        (replace(good, key=locked), "encrypted"),
    ):
        with pytest.raises(UsageError, match=why):
            shown.show(broken)
    assert shown.pair == good
    assert shown.distrusted(good.authority, "localhost") is None


def test_a_pair_is_held_against_what_a_caller_trusts() -> None:
    """By a real handshake: the name, the authority, the dates."""
    now = clock.now()
    ca = authority.make(now, now + HOUR)
    pair = authority.sign(ca, ("a.example", "::1"), now, now + HOUR)
    stranger = authority.make(now, now + HOUR)[0]
    assert identity.distrusted(pair, stranger + ca[0], "a.example") is None
    assert identity.distrusted(pair, ca[0], "::1") is None
    assert identity.distrusted(pair, pair.certificate, "a.example") is None  # as Go has it
    old = authority.sign(ca, ("a.example",), now - 3 * HOUR, now - HOUR)
    for shown, trusted, host, why in (
        (pair, ca[0], "b.example", "Hostname mismatch"),
        (pair, stranger, "a.example", "unable to get local issuer"),
        (pair, b"", "a.example", "no certificate of an authority"),
        (old, ca[0], "a.example", "certificate has expired"),
    ):
        assert why in (identity.distrusted(shown, trusted, host) or "")
