"""The answers that Pods alike are given: worked out for the second of them, and kept for the next.

A controller creates a thousand Pods of one template within seconds, and tries again for hours what
was refused. What is kept is a function of the review's own bytes (without what no decision reads,
see `alike`), its path and one generation of the settings: nothing of the cluster as it stands.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import msgspec
import orjson

from berth.admission import route, told, wire
from berth.admission.alike import OWN, Asked
from berth.admission.live import Generation
from berth.admission.review import Review
from berth.admission.standing import marked
from berth.model.decision import Decision, Verdict

KEPT = 32
"""Answers, of /mutate and /validate. With the Pods that they are about, the largest take 4 MiB."""
_NOTED = 4096
"""Reviews that came once: a number each."""
_LEFT = frozenset({Verdict.IGNORED, Verdict.UNCHANGED})


class Answered(msgspec.Struct, frozen=True):
    """A review, and what became of it."""

    review: Review
    decision: Decision
    answer: bytes
    line: Mapping[str, object] | None = None
    """What the log tells of it; None where that is still to be found."""


class Outcome(msgspec.Struct, frozen=True):
    """What becomes of all reviews alike, but for what is each one's own."""

    common: Answered
    before: bytes
    """Of the answer, what comes before the review's uid."""
    after: bytes
    line: Mapping[str, object]

    def of(self, asked: Asked) -> Answered:
        """Return what becomes of one of them."""
        uid, name = asked.uid.decode(), asked.name.decode()
        review = msgspec.structs.replace(self.common.review, uid=uid, name=name)
        line = {**self.line, "uid": uid, "pod": name or self.line["pod"]}
        answer = self.before + asked.uid + self.after
        return Answered(review, self.common.decision, answer, line)

    @property
    def stands_alone(self) -> bool:
        """Whether nothing of the cluster bears on it: no device is asked for, none was promised."""
        decision = self.common.decision
        asks = decision.demand and decision.demand.any
        return decision.verdict in _LEFT and not asks and not marked(self.common.review.object)


def decided(body: bytes, generation: Generation, path: str) -> Answered:
    """Decide about the review in a body, with no cluster in sight. Raises BadReview."""
    review = wire.decode(body)
    return answered(review, route.decide(review, generation, path), generation)


def answered(review: Review, decision: Decision, generation: Generation) -> Answered:
    """Answer a review as was decided."""
    language = generation.settings.language
    return Answered(review, decision, wire.answer(review, decision, generation.number, language))


def outcome(generation: Generation, path: str, rest: bytes) -> Outcome | None:
    """Decide about reviews alike, by what they share; None where the answer tells them apart.

    A refusal names its Pod, for one. Raises BadReview.
    """
    common = decided(rest, generation, path)
    line = told.line(common.review, common.decision)
    shown = orjson.dumps([common.decision.operations, line | {"uid": "", "pod": ""}])
    if OWN in shown or common.answer.count(OWN) != 1:
        return None
    before, _, after = common.answer.partition(OWN)
    return Outcome(common, before, after, line)


class Recall:
    """What is kept, of one generation of the settings at a time."""

    _outcome: Callable[[str, bytes], Outcome | None]

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._generation: Generation | None = None
        self._noted: set[int] = set()

    def of(self, asked: Asked, path: str, generation: Generation) -> Outcome | None:
        """Return what is answered to reviews alike; None for the first of them. Raises BadReview.

        What comes once only, as most do where each Pod is another, costs a note of it.
        """
        if generation is not self._generation:
            self._generation, self._noted = generation, set()
            self._outcome = lru_cache(KEPT)(partial(outcome, generation))
        note = hash((path, asked.rest))
        if note in self._noted:
            return self._outcome(path, asked.rest)
        if len(self._noted) == _NOTED:
            self._noted.clear()
        self._noted.add(note)
        return None
