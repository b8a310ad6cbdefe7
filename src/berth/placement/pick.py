"""Which of a node's suitable cards are taken: of many nodes at once.

By the request's own words where it has some (HAMi's `hami.io/gpu-scheduler-policy`, its weights),
else as the policy has it. The lower index wins of equals.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from berth.model.request import DeviceRequest, PodRequest, Shape
from berth.model.snapshot import WHOLE, Bools, Ints, Snapshot
from berth.placement.cards import sizes
from berth.placement.links import best_sets, nearness

STEPS = 1 << 14
"""More than any one word's key: words that come later decide among equals."""
WORDS = 2
"""Words that are looked at; there are but three."""
LAST = 1 << 56
"""Above all keys: of a card that is not suitable."""

Scored: TypeAlias = Callable[[Shape, Snapshot, Ints], Ints]
"""From a shape and rows to the card of each that a policy scores best: any where none will do."""


class Choice(msgspec.Struct, frozen=True):
    """Which of several suitable cards a policy takes."""

    fullest: bool = True
    """Those with the least left first, else those with the most."""
    linked: bool = False
    """Of several, the set with the best links, also where a request does not say so."""
    idle: bool = False
    """Only those that nobody holds."""
    scored: Scored | None = None
    """Which comes before all others where a Pod wants one share alone and has no order of cards."""

    def applied(self, wanted: PodRequest) -> PodRequest:
        """Return the request as the policy reads it."""
        if not (self.linked or self.idle):
            return wanted
        return wanted.each(lambda request: _read(request, self))

    def best(self, wanted: PodRequest, snapshot: Snapshot, rows: Ints) -> Ints | None:
        """Return the card that comes first on each row, where the policy scores cards for it."""
        if self.scored is None or len(wanted.devices) != 1 or wanted.init_devices:
            return None
        request = wanted.devices[0][1]
        if request.count > 1 or request.whole or request.order or not snapshot.kind.shape[1]:
            return None
        return self.scored(wanted.shape, snapshot, rows)


FULLEST = Choice()


@lru_cache(maxsize=4096)
def _read(request: DeviceRequest, choice: Choice) -> DeviceRequest:
    linked = request.linked or (choice.linked and request.count > 1)
    return msgspec.structs.replace(request, linked=linked, idle=request.idle or choice.idle)


def pick(
    request: DeviceRequest, snapshot: Snapshot, rows: Ints, good: Bools, choice: Choice
) -> Ints:
    """Return, for each row, the `count` suitable cards that are taken.

    Rows without enough of them get cards that are not suitable.
    """
    count = request.count
    if not good.shape[1]:
        return np.zeros((len(rows), 0), dtype=np.int64)
    if count == 1 and not (request.order or request.linked):
        left = snapshot.left[rows]
        return first(good, left if choice.fullest else -left, 1)
    keys = _keys(request, snapshot, rows, good, choice)
    if request.same_numa and count > 1:
        good = _of_one_numa(good, keys, snapshot.numa[rows], count)
    if request.linked and count > 1:
        return best_sets(snapshot, rows, good, count)[0]
    return first(good, keys, count)


def first(good: Bools, keys: NDArray[np.int64], count: int) -> Ints:
    """Return, for each row, its `count` suitable cards of the lowest keys, the lower index first.

    Rows without enough of them get cards that are not suitable.
    """
    ordered = np.where(good, keys * good.shape[1] + np.arange(good.shape[1]), LAST)
    cards: Ints = np.argsort(ordered, axis=1)[:, :count] if count > 1 else _lowest(ordered)
    return cards


def _lowest(ordered: Ints) -> Ints:
    lowest: Ints = ordered.argmin(axis=1)[:, None]
    return lowest


def _keys(
    request: DeviceRequest, snapshot: Snapshot, rows: Ints, good: Bools, choice: Choice
) -> Ints:
    """Return a number for each card: the lower, the earlier it is taken."""
    words = [_word(word, request, snapshot, rows) for word in request.order[:WORDS]]
    if request.linked and request.count == 1:
        words.insert(0, np.minimum(nearness(snapshot, rows, good), STEPS - 1))
    if not words:
        left = snapshot.left[rows]
        return left if choice.fullest else -left
    keys = words[0]
    for word in words[1:]:
        keys = keys * STEPS + word
    return keys


def _word(word: str, request: DeviceRequest, snapshot: Snapshot, rows: Ints) -> Ints:
    if word == "numa":
        return snapshot.numa[rows] + 1
    full = _fullness(request.weights, snapshot, rows)
    return STEPS - 1 - full if word == "binpack" else full


def _fullness(weights: tuple[int, int, int], snapshot: Snapshot, rows: Ints) -> Ints:
    """Return how full each card is, 0 to 1000: the mean of its slots, cores and memory, weighed.

    HAMi's score of a card, apart from what this request adds to all of them alike.
    """
    memory, cores = sizes(snapshot)
    kinds = snapshot.kind[rows]
    parts = (
        (snapshot.slots_left[rows], snapshot.slots_total[rows]),
        (snapshot.cores_left[rows], cores[kinds]),
        (snapshot.mem_left[rows], memory[kinds]),
    )
    used = [
        weight * (1 - left / total.clip(min=1))
        for weight, (left, total) in zip(weights, parts, strict=True)
    ]
    full = np.round(sum(used, np.zeros(kinds.shape)) * WHOLE / max(1, sum(weights)))
    fullness: Ints = np.clip(full, 0, WHOLE).astype(np.int64)
    return fullness


def _of_one_numa(good: Bools, keys: Ints, numa: Ints, count: int) -> Bools:
    """Keep the good cards of the NUMA node whose `count` first ones come first in sum."""
    nodes = np.unique(numa)
    each = np.array([good & (numa == node) for node in nodes])
    sums = np.sort(np.where(each, keys, LAST), axis=2)[:, :, :count].sum(axis=2)
    best = sums.argmin(axis=0)
    kept: Bools = each[best, np.arange(len(best))]
    return kept


def of_fullest_numa(counts: Ints, numa: Ints) -> Bools:
    """Keep, of each row, the cards of the NUMA node of which most count."""
    nodes = np.unique(numa)
    sums = np.array([np.where(numa == node, counts, 0).sum(axis=1) for node in nodes])
    kept: Bools = numa == nodes[sums.argmax(axis=0)][:, None]
    return kept
