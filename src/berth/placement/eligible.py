"""Which nodes a Pod may run on by labels and taints: computed by label value, not node by node."""

import re
from collections.abc import Callable

import msgspec
import numpy as np

from berth import names
from berth.model.eligibility import NODE_NAME, Eligibility, Expression, Toleration
from berth.model.node import Taint
from berth.model.snapshot import Bools, Ints, Snapshot

KEPT = 256
"""Different wishes that are remembered."""


class Eligible(msgspec.Struct, frozen=True):
    """The nodes that a Pod accepts, and those that accept it."""

    selected: Bools
    tolerated: Bools
    """Judged by the taints that stay until somebody takes them away."""
    now: Bools
    """Judged by those that come and go with a node's state, as that of a cordoned one."""
    all: Bools


def eligible(wish: Eligibility, snapshot: Snapshot) -> Eligible:
    """Return which nodes are eligible; remembered until nodes change."""
    known: dict[Eligibility, Eligible] = snapshot.settled("eligible", lambda _: {})
    found = known.get(wish)
    if found is None:
        if len(known) > KEPT:
            known.clear()
        selected = _selected(wish, snapshot)
        tolerated = _tolerated(wish.tolerations, snapshot, passing=False)
        now = _tolerated(wish.tolerations, snapshot, passing=True)
        found = known[wish] = Eligible(selected, tolerated, now, selected & tolerated & now)
    return found


def _selected(wish: Eligibility, snapshot: Snapshot) -> Bools:
    selected = _term(wish.all_of, snapshot)
    if wish.any_of:
        terms = [_term(term, snapshot) for term in wish.any_of if term]  # an empty one: no node
        selected &= np.logical_or.reduce(terms) if terms else np.zeros_like(selected)
    return selected


def _term(term: tuple[Expression, ...], snapshot: Snapshot) -> Bools:
    good = np.ones(len(snapshot), dtype=np.bool_)
    for expression in term:
        values, codes = label(expression.key, snapshot)
        holds = OPERATORS[expression.operator]
        known = [holds(value, expression.values) for value in values]
        good &= np.array(known, dtype=np.bool_)[codes]
    return good


def label(key: str, snapshot: Snapshot) -> tuple[list[str | None], Ints]:
    """Return the values of a label, None for nodes without it, and each node's place in them."""

    def coded(snapshot: Snapshot) -> tuple[list[str | None], Ints]:
        name = key == NODE_NAME
        each = [node.name if name else node.labels.get(key) for node in snapshot.nodes]
        values = list(dict.fromkeys(each))
        place = {value: at for at, value in enumerate(values)}
        return values, np.array([place[value] for value in each], dtype=np.int64)

    if key != NODE_NAME and key not in snapshot.settled("label keys", _keys):
        return [None], np.zeros(len(snapshot), dtype=np.int64)  # not kept: Pods make up keys
    return snapshot.settled(f"label/{key}", coded)


def _keys(snapshot: Snapshot) -> frozenset[str]:
    return frozenset().union(*[node.labels for node in snapshot.nodes])


_INTEGER = re.compile(r"([+-]?)0*([0-9]{1,19})")


def _number(text: str | None) -> int | None:
    """Return what Go's ParseInt reads, which Kubernetes compares by: 64 bits, no underscores."""
    found = _INTEGER.fullmatch(text or "")
    if found is None:
        return None
    number = int(found[1] + found[2])
    return number if -(2**63) <= number < 2**63 else None


def _compared(value: str | None, values: tuple[str, ...], sign: int) -> bool:
    has, limit = _number(value), _number(values[0] if values else None)
    return has is not None and limit is not None and sign * has > sign * limit


OPERATORS: dict[str, Callable[[str | None, tuple[str, ...]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
    "Gt": lambda value, values: _compared(value, values, 1),
    "Lt": lambda value, values: _compared(value, values, -1),
}

NUMERIC = frozenset({"Gt", "Lt"})
"""Of tolerations too, where the API server admits them: from Kubernetes 1.35, by a feature gate."""


def _tolerated(tolerations: tuple[Toleration, ...], snapshot: Snapshot, *, passing: bool) -> Bools:
    sets, codes = snapshot.settled("taints", _taints)
    good = [
        all(
            any(tolerates(one, taint) for one in tolerations)
            for taint in taints
            if taint.key.startswith(names.NODE_CONDITIONS) == passing
        )
        for taints in sets
    ]
    tolerated: Bools = np.array(good, dtype=np.bool_)[codes]
    return tolerated


def _taints(snapshot: Snapshot) -> tuple[list[tuple[Taint, ...]], Ints]:
    each = [
        tuple(taint for taint in node.taints if taint.effect != "PreferNoSchedule")
        for node in snapshot.nodes
    ]
    sets = list(dict.fromkeys(each))
    place = {taints: at for at, taints in enumerate(sets)}
    return sets, np.array([place[taints] for taints in each], dtype=np.int64)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Say whether a toleration is for this taint, as `ToleratesTaint` of Kubernetes does."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in NUMERIC:
        return OPERATORS[toleration.operator](taint.value, (toleration.value,))
    if toleration.operator == "Exists":
        return True
    equal = toleration.operator == "Equal" and bool(toleration.key)
    return equal and toleration.value == taint.value
