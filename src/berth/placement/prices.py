"""Prices that the policy `scarcity` puts on what runs short: groups of whole cards, and kinds.

Plain functions of a few numbers; docs/decisions/0019-placement.md has the reasons.
"""

from math import sqrt

import numpy as np

from berth.model.snapshot import WHOLE, Bools, Floats

GROUP = 0.5
"""Price of a group of k cards that is broken, in cards' worths of it, once they run short."""
GROUP_CHURN = 10.0
"""The same where Pods leave as fast as they come: losses are nearly all of many cards then."""
SHORT_FROM = 0.7
"""The part of the groups that is expected to be wanted, from which they count as short."""
HARDLY_ANY = 0.5
MOST = 1.5
KIND = 4.0
KIND_MOST = 1.2
KIND_POWER = 4
ROUNDS = 6


def group_price(size: int, expected: float, groups: float) -> float:
    """Return the price of one group of `size` cards, in milli of a card.

    `expected` is how many Pods of that size are to come until the cluster is full, and `groups`
    how many of them could be placed now.
    """
    if not expected:
        return 0.0
    wanted = MOST if groups <= HARDLY_ANY else min(MOST, (expected + sqrt(expected)) / groups)
    return GROUP * (wanted if wanted >= SHORT_FROM else 0.0) * WHOLE * size


def prospect_price(size: int, expected: float, groups: float, churn: float) -> float:
    """Return the price of one group that is there or will be: `Columns.prospects`.

    `churn` is departures per arrival, 0 to 1.
    """
    return GROUP_CHURN * min(1.0, churn) * _held(expected, groups) * WHOLE * size


def own_shortness(expected: float, groups: float, own: Floats) -> Floats:
    """Return how many times as short as all groups of a size are those that one shape can use.

    `own` is how many groups there are for each shape.
    """
    held = _held(expected, groups)
    return np.array([_held(expected, one) / held if held else 1.0 for one in own])


def _held(expected: float, groups: float) -> float:
    return min(MOST, (expected + 3 * sqrt(expected)) / max(groups, HARDLY_ANY))


def kind_loads(demand: Floats, accepts: Bools, free: Floats) -> Floats:
    """Return, for each kind of card, the bound demand that is expected on it over what is free.

    `demand` is in milli by set of kinds, `accepts` sets by kinds, `free` milli by kind. Each set's
    demand is spread over its kinds, in rounds, towards those that are less wanted.
    """
    load, draw = np.zeros_like(free), free
    for _ in range(ROUNDS):
        share = np.where(accepts, draw, 0.0)
        total = share.sum(axis=1, keepdims=True)
        load = (demand[:, None] * share / np.where(total > 0, total, 1.0)).sum(axis=0)
        draw = free * free / (load + 0.05 * free + 1.0)
    return np.where(free > 0, load / np.where(free > 0, free, 1.0), 3.0)


def kind_prices(loads: Floats) -> Floats:
    """Return the price of a milli of each kind: steep, so next to 0 while there is room."""
    prices: Floats = KIND * np.minimum(loads, KIND_MOST) ** KIND_POWER
    return prices
