"""How the cluster stands, for each decision: quotas, the fleet, and what is on its way.

From the look at what is free to the claim nothing is awaited, so the event loop is the lock.
"""

from collections.abc import Callable
from typing import Protocol

from berth import names
from berth.admission import mutate, quota
from berth.admission.claims import Claim, Claims
from berth.admission.classes import Classes
from berth.admission.quotas import Quotas
from berth.admission.review import Review
from berth.admission.rules import Rules
from berth.admission.standing import Placing, Standing, marked
from berth.cluster.projections import Pod
from berth.model import decided
from berth.model.card import Card
from berth.model.decision import Decision, Verdict
from berth.model.placed import Placed
from berth.model.raw import JsonObject


class Places(Protocol):
    """Decides where Pods go, and holds their places."""

    synced: bool
    """Whether the whole fleet is known; before, it is not asked."""
    required: bool
    """Whether no Pod may pass before."""

    @property
    def cards(self) -> tuple[Card, ...]:
        """The kinds of cards that there are: the same object until there are others."""

    def placing(self, namespace: str, rules: Rules, decision: str, known: Placed | None) -> Placing:
        """Return what decides about one Pod, or again about one that was placed as `known`."""

    def hold(self, review: Review, placed: Placed) -> None:
        """Hold the place of a Pod that was admitted."""

    def drop(self, decision: str) -> None:
        """Hold nothing for this decision any more."""


class Standings:
    """Decides about new Pods with all that is known, and keeps what they were promised."""

    def __init__(
        self,
        claims: Claims,
        make_id: Callable[[], str],
        quotas: Quotas | None = None,
        places: Places | None = None,
    ) -> None:
        """Know of quotas and places what is given; `make_id` gives an id that nobody has had."""
        self.claims = claims
        self.classes = Classes()
        self._make_id = make_id
        self._quotas = quotas
        self._places = places
        self._knowing: tuple[Rules, tuple[Card, ...], Rules] | None = None

    @property
    def missing(self) -> str:
        """What has to be known before any Pod may pass, and is not yet; "" where nothing."""
        for name, one in (("quota", self._quotas), ("fleet", self._places)):
            if one and one.required and not one.synced:
                return name
        return ""

    def knowing(self, rules: Rules) -> Rules:
        """Return rules that know the cards of the fleet, once all of it was read.

        They are made when other rules come, or other cards; not for each request.
        """
        places, last = self._places, self._knowing
        cards = places.cards if places and places.synced else ()
        if last is None or last[0] is not rules or last[1] is not cards:
            last = self._knowing = (rules, cards, rules.knowing(cards))
        return last[2]

    def decide(self, review: Review, raw: JsonObject, rules: Rules) -> Decision:
        """Decide about a new Pod, and claim what it takes. Raises BadReview.

        A dry run is answered as any other and claims nothing.
        """
        known = None if review.dry_run else self._known(review, raw)
        standing = self._standing(review.namespace, rules, known)
        decision = mutate.decide(raw, review.namespace, rules, review.user, standing)
        if standing and not review.dry_run:
            self._settle(review, decision, standing)
        warnings = tuple(self.classes.warnings(decision))
        return decision.warned(warnings) if warnings else decision

    def finish(self, review: Review, decision: Decision) -> None:
        """Take our last word on a Pod, after all that changes it: it holds nothing if refused."""
        mark = marked(review.object)
        if review.dry_run or not review.creates_pod or not mark:
            return
        if self.claims.of(mark, review.namespace, review.shown_name) is None:
            return  # a copy of another's id: its own Pod is still to come
        if decision.verdict is Verdict.REFUSED:
            self._drop(mark, review.namespace)
        else:
            self.claims.seal(mark, review.namespace)

    def pod(self, _old: Pod | None, new: Pod | None) -> None:
        """Take a change of the Pods, as a store tells it: what is stored is claimed no more."""
        found = decided.read(new.metadata.annotations.get(names.DECISION)) if new else None
        if new and found:
            self.claims.drop(found.id, new.metadata.namespace)

    def _known(self, review: Review, raw: JsonObject) -> Claim | None:
        """Return the claim of an earlier pass over this very creation."""
        mark = marked(raw)
        return self.claims.known(mark, review.namespace, review.shown_name) if mark else None

    def _standing(self, namespace: str, rules: Rules, known: Claim | None) -> Standing | None:
        quotas, places = self._quotas, self._places
        decision = known.decision if known else self._make_id()
        allowance, placing = None, None
        if quotas and quotas.synced:
            allowance = quotas.allowance(namespace, rules, self.claims, known)
        if places and places.synced:
            before = known.placed if known else None
            placing = places.placing(namespace, rules, decision, before)
        ranges = self.classes.ranged(namespace)
        if allowance is None and placing is None and not ranges:
            return None
        return Standing(decision=decision, allowance=allowance, placing=placing, ranges=ranges)

    def _settle(self, review: Review, decision: Decision, standing: Standing) -> None:
        """Claim what was decided, in place of what an earlier pass had claimed."""
        mark, namespace, allowance = standing.decision, review.namespace, standing.allowance
        demand, placed = decision.demand, decision.placed
        if decision.verdict is Verdict.REFUSED or demand is None:
            self._drop(mark, namespace)
            return
        asks = quota.asked(demand) if allowance else quota.Asked()
        counts = allowance is not None and quota.counts(asks, allowance)
        if not counts and placed is None:
            self._drop(mark, namespace)
            return
        uses = asks.amounts if counts else {}
        self.claims.claim(mark, namespace, review.shown_name, uses, placed)
        if self._places and placed:
            self._places.hold(review, placed)

    def _drop(self, mark: str, namespace: str) -> None:
        if self.claims.drop(mark, namespace) and self._places:
            self._places.drop(mark)
