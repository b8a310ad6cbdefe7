"""Certificates of our own making: carries out what rotation decides."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from berth import clock
from berth.certs import authority, identity, rotation, store
from berth.certs.authority import Pair
from berth.certs.registered import Registered
from berth.certs.rotation import Authority, Leaf, Stored, Terms
from berth.certs.source import Turn
from berth.certs.store import Held, Store
from berth.errors import UsageError

LOG = logging.getLogger("berth.certificates")
_MOST_STEPS = 10  # at a time: each is a read, and mostly a write


@dataclass(slots=True)
class Own:
    """A CA in a store that the replicas share, and a leaf that this process signs for itself."""

    store: Store
    names: tuple[str, ...]
    authority_life: timedelta
    terms: Terms
    remembered: Stored | None = None
    """What was last read: should the store be emptied, leaves of these CAs are about."""

    async def turn(self, in_use: Pair | None, registered: Registered) -> Turn:
        """Read, decide and act, until there is a new leaf or nothing to do."""
        for _ in range(_MOST_STEPS):
            held, now = await self.store.read(), clock.now()
            step = rotation.decide(held.stored, _leaf(in_use), registered.seen, now, self.terms)
            match step:
                case rotation.Make():
                    made = make(now, self.authority_life)
                    anew = rotation.remade(made, self.remembered, held.stored)
                    await self._write(anew, held, "certificates.made")
                case rotation.Stage() if held.stored:
                    following = make(now, self.authority_life)
                    await self._write(
                        rotation.staged(held.stored, following), held, "certificates.staged"
                    )
                case rotation.Store(stored, event):
                    await self._write(stored, held, event)
                case rotation.Sign(ends, promise):
                    if promise == held.stored or await self.store.write(promise, held):
                        self.remembered = promise
                        return Turn(self._sign(promise, now, ends), store.trusted(promise), now)
                case rotation.Wait(until) if held.stored:
                    self.remembered = held.stored
                    return Turn(None, store.trusted(held.stored), until)
        raise UsageError("the CA is written by others all the time; see who changes it")

    async def trusted(self, found: Collection[str]) -> bytes:  # noqa: ARG002  ours alone count
        """Return the CAs that some leaf may need, as the replicas share them."""
        held = await self.store.read()
        if held.stored is None:
            raise UsageError("there is no CA yet that could be registered")
        return store.trusted(held.stored)

    @property
    def watched(self) -> Sequence[Path]:
        """No files: the store is looked at again anyway."""
        return ()

    async def _write(self, stored: Stored, held: Held, event: str) -> None:
        """Write; where someone else was first, the next read shows what that was."""
        if await self.store.write(stored, held):
            LOG.info(event, extra={"trusted": len(stored.trusted)})

    def _sign(self, stored: Stored, now: datetime, ends: datetime) -> Pair:
        current = stored.current
        ca = (current.certificate.encode(), current.key.encode())
        try:
            pair = authority.sign(ca, self.names, now, ends)
        except (ValueError, TypeError) as error:
            raise UsageError(f"the stored CA cannot sign: {error}; remove it") from None
        why = identity.distrusted(pair, ca[0], self.names[0])
        if why:  # its key is another's: nobody would take what it signs
            raise UsageError(f"the stored CA vouches for no leaf of its key: {why}; remove it")
        return pair


def make(now: datetime, life: timedelta) -> Authority:
    """Make a CA that has signed nothing yet."""
    certificate, key = authority.make(now, now + life)
    return Authority(
        certificate=certificate.decode(),
        key=key.decode(),
        begins=now,
        ends=authority.life(certificate)[1],
        leaves_end=now,
    )


def _leaf(pair: Pair | None) -> Leaf | None:
    if pair is None:
        return None
    begins, ends = authority.life(pair.certificate)
    return Leaf(pair.authority.decode(), begins + rotation.BACK_DATED, ends)
