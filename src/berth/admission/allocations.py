"""Who may write the annotations in which HAMi records what it gave (HAMi 2.10, contract 4.2).

HAMi's scheduler counts what stands there, and its device plugins hand it out, whoever wrote it and
whichever scheduler the Pod names. Our own decision is charged until then, so nobody changes that
either; a new Pod may bring one along, as a copy of another does: `mutate` takes it away.
"""

from collections.abc import Iterator

from berth import names
from berth.admission.rules import Rules
from berth.model import wildcard
from berth.model.problem import Problem
from berth.model.raw import JsonObject, annotations
from berth.model.said import Said

_SHOWN = 100  # characters of a name that an authenticator made up


def written(new: JsonObject, user: str, rules: Rules) -> Iterator[Problem]:
    """Yield the records that a new Pod brings along. `user` creates it; "" is anybody.

    Controllers create Pods for everybody, so a rule for all accounts of a namespace, which has
    theirs, says nothing here.
    """
    found = rules.allocations.intersection(annotations(new))
    one_account = user in rules.allocators and not user.endswith("*")
    if not found or one_account:
        return
    for key in sorted(found):
        yield Problem("allocation.new", ("metadata", "annotations", key))


def changed(new: JsonObject, old: JsonObject, user: str, rules: Rules) -> Iterator[Problem]:
    """Yield the records, and the decision, that `user` changes in a Pod that exists."""
    now, before = annotations(new), annotations(old)
    if now == before or wildcard.matches(user, rules.allocators):
        return
    for key in sorted(rules.kept):
        if now.get(key) != before.get(key):
            yield _changed(key, user)


def bound(binding: JsonObject, user: str, rules: Rules) -> Iterator[Problem]:
    """Yield the records that a Binding would write into its Pod.

    Not our decision: some schedulers copy all annotations of the Pod that they bind.
    """
    found = rules.allocations.intersection(annotations(binding))
    if found and not wildcard.matches(user, rules.allocators):
        yield from (_changed(key, user) for key in sorted(found))


def _changed(key: str, user: str) -> Problem:
    code = "allocation.decision" if key == names.DECISION else "allocation.changed"
    who = user[:_SHOWN] or Said("part.author")
    return Problem(code, ("metadata", "annotations", key), {"user": who})
