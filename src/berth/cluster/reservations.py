"""What admitted Pods hold of the fleet until they are seen to be bound.

Else a hundred Pods that are created at once would all be sent to the card that is best now. The Pod
itself carries the decision, so every replica that is shown it holds the same for it.
"""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from berth import names
from berth.cluster.charges import Reader
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
    """Its uid is what the fleet knows it by: the decision's id, or the Pod's uid where another
    replica decided."""
    until: float


class Reservations:
    """All that are alive. Their cards are held in the fleet.

    Until its Pod is seen, one is known by the id of its decision, which nobody else can have read.
    From then on it is that Pod's, by its uid: a Pod with a copied id has one of its own at most.
    """

    def __init__(self, fleet: Fleet, reader: Reader, clock: Callable[[], float], times: Times):
        """Start with none; `clock` never goes back."""
        self.overlaps = 0
        """Pods of other replicas that were promised what was promised already."""
        self._fleet, self._reader = fleet, reader
        self._clock, self._times = clock, times
        self._unseen: dict[str, _Reserved] = {}
        self._pending: dict[str, _Reserved] = {}
        """By the Pod's uid. Both are in the order in which they end, as all in one live equally
        long."""

    def __len__(self) -> int:
        """Count those alive; a scrape may ask from another thread, so nothing is changed."""
        now = self._clock()
        each = (*tuple(self._unseen.values()), *tuple(self._pending.values()))
        return sum(one.until > now for one in each)

    def hold(self, charge: Charge) -> None:
        """Hold what an admitted Pod was promised, by the decision's id in `charge.uid`."""
        self.drop(charge.uid)
        self._unseen[charge.uid] = _Reserved(charge, self._clock() + self._times.unseen)
        self._fleet.hold(charge)

    def drop(self, decision: str) -> None:
        """Give back what is held for a Pod that was not seen yet, if anything is."""
        self._end(self._unseen, decision)

    def expire(self) -> None:
        """Give back what nobody came for in time."""
        now = self._clock()
        for alive in (self._unseen, self._pending):
            while alive:
                key, first = next(iter(alive.items()))
                if first.until > now:
                    break
                self._end(alive, key)

    def move(self, fleet: Fleet, reader: Reader) -> None:
        """Hold all in another ledger."""
        self._fleet, self._reader = fleet, reader
        for one in (*self._unseen.values(), *self._pending.values()):
            fleet.hold(one.charge)

    def pod(self, old: Pod | None, new: Pod | None) -> None:
        """Take a change of the Pods, as a store tells it."""
        shown = new or old
        if shown is None:
            return
        over = new is None or _settled(new)
        if shown.metadata.uid not in self._pending:
            self._shown(shown, first=old is None, over=over)
        elif over:
            self._end(self._pending, shown.metadata.uid)

    def _shown(self, pod: Pod, *, first: bool, over: bool) -> None:
        """Take a Pod that holds nothing of its own yet."""
        found = decided.read(pod.metadata.annotations.get(names.DECISION))
        if found is None or not found.node or _left_alone(pod):
            return
        promised = self._unseen.get(found.id)
        if promised is None:
            if first and not over:
                self._adopt(pod, found.node)
        elif promised.charge.namespace == pod.metadata.namespace:
            if over:
                self._end(self._unseen, found.id)
            else:
                del self._unseen[found.id]
                self._pend(pod, promised.charge)

    def _adopt(self, pod: Pod, node: str) -> None:
        """Hold what another replica has promised, or we before we were started again."""
        spec = replace(pod.spec, node_name=node)
        charge, _ = self._reader.charge(replace(pod, spec=spec))
        if charge.source is Source.DECIDED:
            self._pend(pod, charge)
            self.overlaps += self._fleet.hold(charge)

    def _pend(self, pod: Pod, charge: Charge) -> None:
        until = self._clock() + self._times.pending
        self._pending[pod.metadata.uid] = _Reserved(charge, until)

    def _end(self, alive: dict[str, _Reserved], key: str) -> None:
        ended = alive.pop(key, None)
        if ended is not None:
            self._fleet.release(ended.charge.uid)


def _left_alone(pod: Pod) -> bool:
    """Whether a Pod has its id from another: we write none where we are not asked."""
    return any(pod.metadata.labels.get(key) == value for key, value in names.OPT_OUTS)


def _settled(pod: Pod) -> bool:
    """Whether nothing is to be held for it any more."""
    return bool(pod.spec.node_name or pod.status.over or UNSCHEDULABLE in pod.status.conditions)
