"""What was decided about admitted Pods, and what they hold of quotas, until the watch shows them.

A Pod has no uid at CREATE and often no name, so it is known by the id of the decision about it,
which is written into it. Whoever may read Pods may copy an id; so it is believed only as long as
its claim lives, for a Pod of the same name, and once: the API server calls a webhook at most
twice for one creation. Once we were shown what will be stored, it is believed no more: only from
then on can anybody have read it.
"""

from collections import Counter
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from berth.admission.quota import Uses
from berth.model.placed import Placed


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What one Pod holds."""

    decision: str
    namespace: str
    pod: str
    """Its name, or what it begins with: train-*."""
    uses: Uses
    placed: Placed | None = None
    """Where it was decided that it goes."""
    until: float
    again: bool = False
    """Whether the same Pod has come a second time already, or can come no more."""


class Claims:
    """All that are alive, and their sum for each namespace."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        """Let each claim live for `seconds` of `clock`, which never goes back."""
        self._seconds = seconds
        self._clock = clock
        self._alive: dict[str, Claim] = {}
        """In the order in which they end, as all live equally long."""
        self._held: dict[str, Counter[str]] = {}

    def __len__(self) -> int:
        """Count those alive; a scrape may ask from another thread, so nothing is changed."""
        now = self._clock()
        return sum(claim.until > now for claim in tuple(self._alive.values()))

    def held(self, namespace: str) -> Uses:
        """Return what all claims of a namespace hold together."""
        self._expire()
        return self._held.get(namespace, {})

    def known(self, decision: str, namespace: str, pod: str) -> Claim | None:
        """Return the claim of a Pod that comes a second time, None where it is another's."""
        claim = self.of(decision, namespace, pod)
        return None if claim is None or claim.again else claim

    def of(self, decision: str, namespace: str, pod: str) -> Claim | None:
        """Return the claim that a Pod of this name holds, None where the id is another's."""
        self._expire()
        claim = self._alive.get(decision)
        if claim is None or (claim.namespace, claim.pod) != (namespace, pod):
            return None
        return claim

    def claim(
        self, decision: str, namespace: str, pod: str, uses: Uses, placed: Placed | None = None
    ) -> None:
        """Hold `uses` from now on, in place of what the same decision held before."""
        again = self.drop(decision, namespace)
        self._alive[decision] = Claim(
            decision=decision,
            namespace=namespace,
            pod=pod,
            uses=uses,
            placed=placed,
            until=self._clock() + self._seconds,
            again=again,
        )
        self._held[namespace] = self._held.get(namespace, Counter()) + Counter(uses)

    def seal(self, decision: str, namespace: str) -> None:
        """Believe the id no more: its Pod has been through all that changes it."""
        claim = self._alive.get(decision)
        if claim is not None and claim.namespace == namespace:
            self._alive[decision] = replace(claim, again=True)

    def drop(self, decision: str, namespace: str) -> bool:
        """End a claim: its Pod was seen, or refused after all. Return whether there was one."""
        claim = self._alive.get(decision)
        if claim is None or claim.namespace != namespace:
            return False
        del self._alive[decision]
        rest = self._held.pop(namespace, Counter()) - Counter(claim.uses)
        if rest:
            self._held[namespace] = rest
        return True

    def _expire(self) -> None:
        now = self._clock()
        while self._alive:
            first = next(iter(self._alive.values()))
            if first.until > now:
                return
            self.drop(first.decision, first.namespace)
