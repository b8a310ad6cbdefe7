"""Which decision the path of a review asks for: each webhook that is registered has its own."""

from functools import lru_cache

import msgspec

from berth import names
from berth.admission import mutate, shadow, verify
from berth.admission.live import Generation
from berth.admission.review import Review
from berth.admission.rules import Rules
from berth.admission.standings import Standings
from berth.model.decision import Decision, Verdict
from berth.model.said import Said

_PATHS = frozenset(
    {names.MUTATE_PATH, names.HAMI_PATH, names.VALIDATE_PATH, names.ALLOCATIONS_PATH}
)
_BEFORE_NAMES = frozenset({names.INJECT_PATH, names.MUTATE_PATH, names.VALIDATE_PATH})
"""After them comes the name of an injection, or of a conversion."""
_NOT_OURS = Decision(verdict=Verdict.IGNORED, pod={}, notes=(Said("left.no-creation"),))


@lru_cache(maxsize=64)  # the API servers call the same few, and strangers made up ones
def is_reviewed(path: str) -> bool:
    """Whether reviews may come to this path."""
    bare = path.removeprefix(names.AUDIT_PATH)
    if bare in _PATHS:
        return True
    root, name = _named(bare)
    return root in _BEFORE_NAMES and name != ""


def known(path: str, generation: Generation) -> str:
    """Return a path for the log, without what a caller has made up."""
    root, name = _named(path.removeprefix(names.AUDIT_PATH))
    listed = generation.rules.injections if root == names.INJECT_PATH else generation.rules.zones
    return path if (root in _PATHS and not name) or name in listed else f"{root}/"


@lru_cache(maxsize=64)
def _named(path: str) -> tuple[str, str]:
    """Split /mutate/volcano into its two parts."""
    root, _, name = path.rpartition("/")
    return (root, name) if root else (path, "")


def decide(
    review: Review, generation: Generation, path: str, standings: Standings | None = None
) -> Decision:
    """Decide about one review that came to `path`. Raises BadReview.

    By its path the API server says that a namespace is in audit; of the names, we know ourselves.
    """
    bare = path.removeprefix(names.AUDIT_PATH)
    rules, before = generation.rules, generation.before
    if standings:
        rules = standings.knowing(rules)
    if bare == path and not rules.audited.names_one(review.namespace):
        return _decide(review, rules, before, path, standings)
    root, zone = _named(bare)
    if root == names.VALIDATE_PATH:
        decision = verify.decide(review, rules.within(review.namespace, zone), audited=True)
    else:  # as a dry run, which claims nothing of a quota
        tried = msgspec.structs.replace(review, dry_run=True)
        decision = _decide(tried, rules, before, bare, standings)
    return shadow.of(decision, review.object or {})


def _decide(
    review: Review,
    rules: Rules,
    before: Rules | None,
    path: str,
    standings: Standings | None,
) -> Decision:
    root, name = _named(path)
    if path == names.ALLOCATIONS_PATH:
        return verify.decide_records(review, rules)
    if root == names.INJECT_PATH:
        return _injected(review, rules, name)
    # Where another replica has registered a conversion that is unknown here, our own rules hold.
    rules = rules.within(review.namespace, name)
    if root == names.VALIDATE_PATH:
        before = before.within(review.namespace, name) if before else None
        return _validated(review, rules, before, standings)
    return _mutated(review, rules, standings)


def _mutated(review: Review, rules: Rules, standings: Standings | None) -> Decision:
    if not review.creates_pod or review.object is None:
        return _NOT_OURS
    if standings:
        return standings.decide(review, review.object, rules)
    return mutate.decide(review.object, review.namespace, rules, review.user)


def _validated(
    review: Review, rules: Rules, before: Rules | None, standings: Standings | None
) -> Decision:
    decision = verify.decide(review, rules, before)
    if standings:
        standings.finish(review, decision)
    return decision


def _injected(review: Review, rules: Rules, name: str) -> Decision:
    if not review.creates_pod or review.object is None:
        return _NOT_OURS
    wanted = rules.injections.get(name)
    if wanted is None:
        # Another replica registered it, whose settings are newer or older for a moment.
        return Decision(
            verdict=Verdict.IGNORED,
            pod=review.object,
            notes=(Said("left.unknown-injection", {"injection": name}),),
            warnings=(Said("not-injected", {"injection": name}),),
        )
    return mutate.decide_injection(review.object, review.namespace, rules, wanted)
