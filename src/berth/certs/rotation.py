"""What to do next about our CA and our leaf: decided from values alone, so tested in virtual time.

A CA goes one way: `next` is trusted and signs nothing; `current` signs; `retired` is trusted, and
its key is gone. All three stand in the caBundle. Two promises hold in every interleaving of
replicas, whoever sleeps and for however long:

- a CA signs only after it was seen in the caBundle for as long as an API server may need to hear
  of it (admission.md 3, pattern 3);
- `leaves_end` of a CA is written down before a leaf is signed that lasts so long, so whoever
  reads it later knows when the last leaf has ended, without asking the other replicas.

A clock may have been ahead, such as that of a machine before it heard of the time. What was made
then is valid for nobody yet: it is made anew, and not waited for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, TypeAlias

import msgspec

BACK_DATED = timedelta(hours=1)
"""How long before it is made a certificate is valid, for machines whose clocks are behind."""


Moment: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]


class Authority(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A CA. `certificate` and `key` are PEM; the first tells one CA from another."""

    certificate: str
    key: str
    begins: Moment
    ends: Moment
    leaves_end: Moment
    """No leaf that it signed lasts longer."""


class Stored(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What the replicas share."""

    current: Authority
    next: Authority | None = None
    retired: tuple[Authority, ...] = ()

    @property
    def trusted(self) -> tuple[Authority, ...]:
        """All whose leaves shall be believed."""
        return (self.current, *((self.next,) if self.next else ()), *self.retired)


@dataclass(frozen=True, slots=True)
class Leaf:
    """The leaf in use: the PEM certificate of its CA, and its life."""

    issuer: str
    begins: datetime
    ends: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How long a leaf lasts, an API server may need to hear of a caBundle, and we do not look."""

    leaf: timedelta
    settle: timedelta
    check: timedelta


Seen: TypeAlias = Mapping[str, datetime]
"""Since when each CA has been seen in the registered caBundle without a break."""


@dataclass(frozen=True, slots=True)
class Make:
    """Make the first CA."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Make the next CA, to be trusted beside the present one."""


@dataclass(frozen=True, slots=True)
class Store:
    """Write `stored` over what is there; `event` is what it means."""

    stored: Stored
    event: str


@dataclass(frozen=True, slots=True)
class Sign:
    """Write the promise, then sign a leaf with the current CA that lasts until `ends`."""

    ends: datetime
    promise: Stored


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before `until`, but look again then."""

    until: datetime


Step: TypeAlias = Make | Stage | Store | Sign | Wait


def decide(
    stored: Stored | None, leaf: Leaf | None, seen: Seen | None, now: datetime, terms: Terms
) -> Step:
    """Say what to do now, one step at a time. `seen` is None where no registration is watched."""
    if stored is None or _to_come(stored.current, now):
        return Make()
    ends = _leaf_due(stored, leaf, seen, now, terms)
    if ends is not None:
        return Sign(ends, promised(stored, ends))
    kept = tuple(one for one in stored.retired if one.leaves_end + terms.settle > now)
    if kept != stored.retired:
        return Store(msgspec.structs.replace(stored, retired=kept), "certificates.retired")
    following = usable(stored.next, now)
    if following and _settled(following, seen, now, terms):
        return Store(promoted(stored, following), "certificates.promoted")
    if not following and now >= due(stored.current.begins, stored.current.ends):
        return Stage()
    later = (moment for moment in _moments(stored, leaf, seen, terms) if moment > now)
    return Wait(min(now + terms.check, *later))


def due(begins: datetime, ends: datetime) -> datetime:
    """When something is renewed: at two thirds of its life."""
    return begins + (ends - begins) * 2 / 3


def usable(following: Authority | None, now: datetime) -> Authority | None:
    """Return the next CA, if it can ever take over: it has not ended, and is valid by now."""
    if following is None or following.ends <= now or _to_come(following, now):
        return None
    return following


def staged(stored: Stored, following: Authority) -> Stored:
    """Put a CA behind the current one."""
    return msgspec.structs.replace(stored, next=following)


def promoted(stored: Stored, following: Authority) -> Stored:
    """Have `following` sign; its forerunner is trusted on, and can sign no more."""
    before = msgspec.structs.replace(stored.current, key="")
    return Stored(current=following, retired=(*stored.retired, before))


def promised(stored: Stored, ends: datetime) -> Stored:
    """Write down that leaves of the current CA last until `ends`."""
    current = stored.current
    if current.leaves_end >= ends:
        return stored
    return msgspec.structs.replace(
        stored, current=msgspec.structs.replace(current, leaves_end=ends)
    )


def remade(made: Authority, *before: Stored | None) -> Stored:
    """Begin anew with `made`, where what was stored is gone or is of no use now.

    Leaves may be about that need what was stored `before`.
    """
    every = {one.certificate: one for stored in before if stored for one in stored.trusted}
    retired = (msgspec.structs.replace(one, key="") for one in every.values())
    return Stored(current=made, retired=tuple(retired))


def _leaf_due(
    stored: Stored, leaf: Leaf | None, seen: Seen | None, now: datetime, terms: Terms
) -> datetime | None:
    """Say until when a new leaf shall last, where one is wanted now and can be had."""
    ends = min(now + terms.leaf, stored.current.ends)
    if ends <= now:
        return None
    if leaf is None or leaf.ends <= now or _to_come(leaf, now):
        return ends
    if leaf.issuer != stored.current.certificate:
        lost = seen is not None and leaf.issuer not in seen
        return ends if lost or _settled(stored.current, seen, now, terms) else None
    # Near the end of its CA a leaf cannot be made to last longer: then this one is the best.
    return ends if now >= due(leaf.begins, leaf.ends) and ends > leaf.ends else None


def _to_come(made: Authority | Leaf, now: datetime) -> bool:
    """Whether it is not valid yet, as the clock was ahead when it was made."""
    return made.begins - BACK_DATED > now


def _settled(authority: Authority, seen: Seen | None, now: datetime, terms: Terms) -> bool:
    since = _since(authority, seen)
    return since is not None and since + terms.settle <= now


def _since(authority: Authority, seen: Seen | None) -> datetime | None:
    """Say since when it is published; where nobody watches, since it was made."""
    return authority.begins if seen is None else seen.get(authority.certificate)


def _moments(
    stored: Stored, leaf: Leaf | None, seen: Seen | None, terms: Terms
) -> Iterator[datetime]:
    """Yield when something may have to be done."""
    yield due(stored.current.begins, stored.current.ends)
    yield from (one.leaves_end + terms.settle for one in stored.retired)
    for authority in (stored.current, stored.next):
        since = _since(authority, seen) if authority else None
        if since is not None:
            yield since + terms.settle
    if leaf is not None:
        yield due(leaf.begins, leaf.ends)
        yield leaf.ends
