"""What admitted Pods hold of the fleet until they are seen to be bound.

Else a hundred Pods that are created at once would all be sent to the card that is best now. The Pod
itself carries the decision, so every replica that is shown it holds the same for it.
"""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from berth import names
from berth.cluster.charges import OVER, Reader
from berth.cluster.fleet import Fleet
from berth.cluster.projections import UNSCHEDULABLE, Pod
from berth.model import decided
from berth.model.charge import Charge, Source


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """How long a Pod is waited for; seconds."""

    unseen: float = 10
    """After it was admitted: it may have been refused by others."""
    pending: float = 60
    """After it was seen, until it is bound."""


class _Reserved(msgspec.Struct, frozen=True):
    charge: Charge
    until: float
    owner: str = ""
    """The uid of the Pod that it is for, once that was seen."""


class Reservations:
    """All that are alive, each by the id of its decision. Their cards are held in the fleet."""

    def __init__(self, fleet: Fleet, reader: Reader, clock: Callable[[], float], times: Times):
        """Start with none; `clock` never goes back."""
        self.overlaps = 0
        """Pods of other replicas that were promised what was promised already."""
        self._fleet, self._reader = fleet, reader
        self._clock, self._times = clock, times
        self._unseen: dict[str, _Reserved] = {}
        self._pending: dict[str, _Reserved] = {}
        """Both in the order in which they end, as all in one live equally long."""

    def __len__(self) -> int:
        """Count those alive; a scrape may ask from another thread, so nothing is changed."""
        now = self._clock()
        each = (*tuple(self._unseen.values()), *tuple(self._pending.values()))
        return sum(one.until > now for one in each)

    def hold(self, charge: Charge) -> None:
        """Hold what an admitted Pod was promised, by the id in `charge.uid`."""
        self.drop(charge.uid)
        self._unseen[charge.uid] = _Reserved(charge, self._clock() + self._times.unseen)
        self._fleet.hold(charge)

    def drop(self, uid: str) -> None:
        """Give back what is held under this id, if anything is."""
        self._unseen.pop(uid, None)
        self._pending.pop(uid, None)
        self._fleet.release(uid)

    def expire(self) -> None:
        """Give back what nobody came for in time."""
        now = self._clock()
        for alive in (self._unseen, self._pending):
            while alive:
                uid, first = next(iter(alive.items()))
                if first.until > now:
                    break
                self.drop(uid)

    def move(self, fleet: Fleet, reader: Reader) -> None:
        """Hold all in another ledger."""
        self._fleet, self._reader = fleet, reader
        for one in (*self._unseen.values(), *self._pending.values()):
            fleet.hold(one.charge)

    def pod(self, old: Pod | None, new: Pod | None) -> None:
        """Take a change of the Pods, as a store tells it."""
        shown = new or old
        text = shown.metadata.annotations.get(names.DECISION) if shown else None
        found = decided.read(text)
        if shown is None or found is None or not found.node:
            return
        known = self._unseen.get(found.id) or self._pending.get(found.id)
        if known is None:
            first = new if old is None else None
            if first is not None and not _settled(first) and not _copied(first, None):
                self._adopt(found.id, found.node, first)
        elif _copied(shown, known):
            return
        elif new is None or _settled(new):
            self.drop(found.id)
        elif found.id in self._unseen:
            del self._unseen[found.id]
            until = self._clock() + self._times.pending
            self._pending[found.id] = replace(known, until=until, owner=new.metadata.uid)

    def _adopt(self, uid: str, node: str, pod: Pod) -> None:
        """Hold what another replica has promised, or we before we were started again."""
        spec = replace(pod.spec, node_name=node)
        charge, _ = self._reader.charge(replace(pod, spec=spec))
        if charge.source is not Source.DECIDED:
            return
        charge = replace(charge, uid=uid)
        until = self._clock() + self._times.pending
        self._pending[uid] = _Reserved(charge, until, pod.metadata.uid)
        self.overlaps += self._fleet.hold(charge)


def _copied(pod: Pod, known: _Reserved | None) -> bool:
    """Whether a Pod has its id from another: we write none where we are not asked.

    An id can be read once its Pod is stored, so the watch shows that one first.
    """
    metadata = pod.metadata
    if known is not None and known.owner:
        return metadata.uid != known.owner
    left_alone = any(metadata.labels.get(key) == value for key, value in names.OPT_OUTS)
    return left_alone or (known is not None and known.charge.namespace != metadata.namespace)


def _settled(pod: Pod) -> bool:
    """Whether nothing is to be held for it any more."""
    return bool(
        pod.spec.node_name or pod.status.phase in OVER or UNSCHEDULABLE in pod.status.conditions
    )
