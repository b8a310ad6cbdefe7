"""Expressions of users as tests of cards: computed for cards that fit, and kept until they change.

Cards in one state get one answer, so an expression that asks for no node and no UUID is computed a
few times only, however many cards there are.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from berth.model.quantity import MIB
from berth.model.snapshot import Bools, Ints, Snapshot
from berth.placement.cel import Program, program
from berth.placement.quantities import text_of

UNKNOWN, NO, YES = 0, 1, 2
OF_NODE = ("node.name", "node.labels")
COLUMNS = ("kind", "memory", "cores", "slots", "holders", "numa", "slots_total", "row", "card")
"""What tells states of a card apart."""


class Filter(msgspec.Struct, frozen=True):
    """A named expression that a card must pass."""

    name: str
    expression: str

    def __post_init__(self) -> None:
        """Read the expression. Raises UsageError."""
        program(self.expression)

    def passing(self, snapshot: Snapshot, rows: Ints, good: Bools) -> Bools:
        """Return which of the good cards of these rows pass as they are now."""
        kept = snapshot.keep(f"filter/{self.expression}", lambda _: Kept())
        return kept.passing(program(self.expression), snapshot, rows, good)

    def lasting(self, snapshot: Snapshot, rows: Ints, good: Bools) -> Bools:
        """Return which of them would pass with nothing on them."""
        at, card = np.nonzero(good)
        states = _states(program(self.expression), snapshot, rows[at], card, idle=True)
        passing = np.zeros_like(good)
        passing[at, card] = _each(program(self.expression), snapshot, states)
        return passing


class Kept:
    """What is known of every card's answer to one expression."""

    def __init__(self) -> None:
        """Know nothing."""
        self._known = np.zeros((0, 0), dtype=np.int8)
        self._seen = -1

    def passing(self, of: Program, snapshot: Snapshot, rows: Ints, good: Bools) -> Bools:
        """Return which of the good cards pass, and compute what is not known."""
        if self._known.shape != snapshot.kind.shape:
            self._known = np.zeros(snapshot.kind.shape, dtype=np.int8)
        self._known[snapshot.changed_since(self._seen)] = UNKNOWN
        self._seen = snapshot.clock
        at, card = np.nonzero(good & (self._known[rows] == UNKNOWN))
        if len(at):
            states = _states(of, snapshot, rows[at], card, idle=False)
            self._known[rows[at], card] = np.where(_each(of, snapshot, states), YES, NO)
        passing: Bools = good & (self._known[rows] == YES)
        return passing


def _states(of: Program, snapshot: Snapshot, rows: Ints, cards: Ints, *, idle: bool) -> Ints:
    """Return a line for each card, of `COLUMNS`: 0 in those that the expression cannot see."""
    at = rows, cards
    nothing = np.zeros(len(rows), dtype=np.int64)
    of_node, of_card = any(name in OF_NODE for name in of.names), "device.uuid" in of.names
    kinds = snapshot.kind[at]
    memory, cores = snapshot.mem_left[at], snapshot.cores_left[at]
    slots, holders = snapshot.slots_left[at], snapshot.holders[at]
    if idle:
        memory = np.array([kind.memory_mib for kind in snapshot.kinds])[kinds]
        cores = np.array([kind.cores for kind in snapshot.kinds])[kinds]
        slots, holders = snapshot.slots_total[at], nothing
    return np.stack(
        [
            kinds,
            memory if "device.memory.free" in of.names else nothing,
            cores if "device.cores.free" in of.names else nothing,
            slots if "device.slots.free" in of.names else nothing,
            holders if "device.holders" in of.names else nothing,
            snapshot.numa[at],
            snapshot.slots_total[at],
            rows if of_node or of_card else nothing,
            cards if of_card else nothing,
        ],
        axis=1,
    )


def _each(of: Program, snapshot: Snapshot, states: Ints) -> Bools:
    """Compute each state once."""
    distinct, which = np.unique(states, axis=0, return_inverse=True)
    readers = {name: READERS[name] for name in of.names}
    answers = [
        of.passes({name: read(snapshot, state) for name, read in readers.items()})
        for state in (dict(zip(COLUMNS, line, strict=True)) for line in distinct.tolist())
    ]
    found: Bools = np.array(answers, dtype=np.bool_)[which.reshape(-1)]
    return found


State = dict[str, int]


def _memory(mib: int) -> str:
    return text_of(mib * MIB)


READERS: dict[str, Callable[[Snapshot, State], Any]] = {
    "device.uuid": lambda some, at: some.nodes[at["row"]].devices[at["card"]].uuid,
    "device.vendor": lambda some, at: some.kinds[at["kind"]].vendor,
    "device.model": lambda some, at: some.kinds[at["kind"]].model,
    "device.mode": lambda some, at: some.kinds[at["kind"]].mode,
    "device.numa": lambda _, at: at["numa"],
    "device.memory.total": lambda some, at: _memory(some.kinds[at["kind"]].memory_mib),
    "device.memory.free": lambda _, at: _memory(at["memory"]),
    "device.cores.total": lambda some, at: some.kinds[at["kind"]].cores,
    "device.cores.free": lambda _, at: at["cores"],
    "device.slots.total": lambda _, at: at["slots_total"],
    "device.slots.free": lambda _, at: at["slots"],
    "device.holders": lambda _, at: at["holders"],
    "node.name": lambda some, at: some.nodes[at["row"]].name,
    "node.labels": lambda some, at: some.nodes[at["row"]].labels,
}
"""How the value of each variable of `cel.VARIABLES` is found."""
