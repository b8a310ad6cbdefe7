"""All nodes at one instant, in columns, cheap to try things on: place, and undo.

A row is a node until it leaves; then the row is dead, and `put` may give it to another. Each change
of a row takes the next number of `clock`, so that whoever keeps something per
row finds what has changed since by one comparison. What is kept that way lives by `keep`, so it
belongs to the snapshot and goes with it.
"""

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import TypeVar, cast

import numpy as np

from berth.model.columns import Bools, Floats, Ints, empty, empty_grid, longer, wider
from berth.model.device import SLICES, Device, Kind
from berth.model.mix import Mix
from berth.model.node import Node
from berth.model.placement import Allocation

T = TypeVar("T")

NOTHING = -1
"""The kind where there is no card, or none that may be used."""
PLACES = np.arange(SLICES)
SPARE = Node(name="", cpu_milli=0, memory_mib=0, pods=0, ready=False)
"""What stands in a row that no node has had yet."""
WHOLE = 1000
"""A card's worth, in milli: the measure that policies count in."""
__all__ = ["NOTHING", "WHOLE", "Bools", "Floats", "Ints", "Snapshot", "left_of"]


class Snapshot:
    """Columns by row; grids by row and card.

    `left` is what is left of a card in milli: of its memory or of its cores, whichever is less,
    and 0 where nothing may be placed. `room` is its sum over a node's cards.
    """

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        """Take nodes on which nothing runs."""
        self.nodes, self.kinds = list[Node](), list[Kind]()
        self.row: dict[str, int] = {}
        self.mix, self.clock = Mix(), 0
        self._kept: dict[str, object] = {}
        self._settled: dict[str, object] = {}
        self._of_kinds: dict[str, object] = {}
        self.rank, self.version = empty(), empty()
        self.cpu, self.memory, self.pods = empty(), empty(), empty()
        self.cpu_total, self.memory_total, self.pods_total = empty(), empty(), empty()
        self.room, self.room_total, self.kind_of_node = empty(), empty(), empty()
        self.most = empty()
        """What is left of the card of which most is left, in milli."""
        self.busy = empty()
        """Percent that a node's cards were busy lately, where that is measured."""
        self.ready, self.gone = (np.zeros(0, dtype=np.bool_) for _ in range(2))
        """Rows that may be used; rows whose node has left."""
        self.other, self.other_total = dict[str, Ints](), dict[str, Ints]()
        """By resource, of those that were asked for: `of_other`."""
        self.kind, self.left = empty_grid(), empty_grid()
        self.mem_left, self.cores_left, self.slots_left = empty_grid(), empty_grid(), empty_grid()
        self.holders, self.slices = empty_grid(), empty_grid()
        self.slots_total, self.numa = empty_grid(), empty_grid()
        self.cut = np.zeros((0, 0, SLICES), dtype=np.int16)
        """How many partitions lie on each slice: `slices` are those with some, as bits."""
        self.classes: dict[str, Ints] = {}
        """By class of workload: how many of its holds are on each card."""
        self.groups: dict[str, dict[int, int]] = {}
        """By Job or the like: how many of its Pods are on which rows."""
        self.extend(nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def extend(self, nodes: Iterable[Node]) -> None:
        """Add nodes on which nothing runs. One call for many is much cheaper than many."""
        new = list(nodes)
        first, more = len(self.nodes), len(new)
        self._widen(max((len(node.devices) for node in new), default=0))
        for name, column in vars(self).items():
            if isinstance(column, np.ndarray):
                setattr(self, name, longer(column, more))
        for named in (self.other, self.other_total, self.classes):
            for name, column in named.items():
                named[name] = longer(column, more)
        for row, node in enumerate(new, first):
            self.nodes.append(node)
            self.row[node.name] = row
            self._fill(row, node)
        self._settled.clear()

    def put(self, node: Node) -> None:
        """Take a node on which nothing runs, in place of the one of that name if there is one.

        Whoever had placed something on the old one places it again.
        """
        row = self.row.get(node.name)
        if row is None:
            row = self._free_row()
            self.row[node.name] = row
        self._widen(len(node.devices))
        self.nodes[row] = node
        self._empty(row)
        self._fill(row, node)
        self._settled.clear()

    def _free_row(self) -> int:
        """Return a dead row, made together with others so that many nodes one by one are cheap."""
        dead = np.flatnonzero(self.gone)
        if not len(dead):
            first = len(self)
            self.extend([SPARE] * max(1, first // 8))
            del self.row[SPARE.name]
            self.gone[first:] = True
            return first
        return int(dead[0])

    def _empty(self, row: int) -> None:
        self.gone[row] = False
        for column in vars(self).values():
            if isinstance(column, np.ndarray) and column.ndim > 1:
                column[row] = 0
        self.kind[row] = NOTHING
        for named in (self.other, self.other_total, self.classes):
            for column in named.values():
                column[row] = 0
        for group in [name for name, rows in self.groups.items() if row in rows]:
            self._count(group, row, -self.groups[group][row])

    def remove(self, name: str) -> None:
        """Take a node away, with all that runs there."""
        row = self.row.pop(name)
        self.ready[row], self.gone[row] = False, True
        for column in (self.cpu, self.memory, self.pods, self.room, self.most, self.busy):
            column[row] = 0
        for column in (self.cpu_total, self.memory_total, self.pods_total, self.room_total):
            column[row] = 0
        self._empty(row)
        self.gone[row] = True
        self._changed(row)
        self._settled.clear()

    def place(self, allocation: Allocation) -> None:
        """Charge what a Pod holds."""
        self._charge(allocation, 1)

    def undo(self, allocation: Allocation) -> None:
        """Give back what `place` charged, in any order: the Pod has left, or it was a try."""
        self._charge(allocation, -1)

    def only(self, rows: Ints) -> "Snapshot":
        """Return a snapshot of some nodes as they are now, to try things on their cards."""
        some = Snapshot()
        for name, column in vars(self).items():
            if isinstance(column, np.ndarray):
                setattr(some, name, column[rows])
        some.classes = {name: grid[rows] for name, grid in self.classes.items()}
        some._of_kinds = self._of_kinds
        some.nodes, some.kinds = [self.nodes[row] for row in rows.tolist()], self.kinds
        some.row = {node.name: at for at, node in enumerate(some.nodes)}
        return some

    def of_other(self, name: str) -> tuple[Ints, Ints]:
        """Return what is left of another resource on each row, and what there is of it.

        The columns are made when first asked for: a node may give thousands that nobody wants.
        """
        if name not in self.other:
            if name not in self.settled("others", _others):  # not kept: Pods make up names
                nothing = np.zeros_like(self.rank)
                return nothing, nothing
            self._make_other(name)
        return self.other[name], self.other_total[name]

    def _make_other(self, name: str) -> None:
        total = np.zeros_like(self.rank)
        for row in self.row.values():
            total[row] = self.nodes[row].other.get(name, 0)
        self.other[name], self.other_total[name] = total.copy(), total

    def measured(self, name: str, busy: int) -> None:
        """Note how busy a node's cards were lately, in percent."""
        row = self.row[name]
        if self.busy[row] != busy:
            self.busy[row] = busy
            self._changed(row)

    def keep(self, key: str, make: Callable[["Snapshot"], T]) -> T:
        """Return what is kept under this key, made when first asked for."""
        return self._in(self._kept, key, make)

    def settled(self, key: str, make: Callable[["Snapshot"], T]) -> T:
        """Return the same, but kept only until nodes come or go."""
        return self._in(self._settled, key, make)

    def of_kinds(self, key: str, make: Callable[["Snapshot"], T]) -> T:
        """Return the same, kept until there are new kinds of card."""
        return self._in(self._of_kinds, key, make)

    def _in(self, kept: dict[str, object], key: str, make: Callable[["Snapshot"], T]) -> T:
        if key not in kept:
            kept[key] = make(self)
        return cast("T", kept[key])

    def changed_since(self, clock: int) -> Ints:
        """Return the rows that have changed since the clock showed this."""
        return np.flatnonzero(self.version > clock)

    def _charge(self, allocation: Allocation, sign: int) -> None:
        row = self.row[allocation.node]
        self.cpu[row] = self.cpu.item(row) - sign * allocation.cpu_milli
        self.memory[row] = self.memory.item(row) - sign * allocation.memory_mib
        self.pods[row] = self.pods.item(row) - sign
        gives = self.nodes[row].other
        for name, amount in allocation.other.items():
            if name in gives:
                if name not in self.other:
                    self._make_other(name)
                self.other[name][row] -= sign * amount
        if allocation.group:
            self._count(allocation.group, row, sign)
        if allocation.holds:
            self._hold(row, allocation, sign)
        self._changed(row)

    def _count(self, group: str, row: int, more: int) -> None:
        rows = self.groups.setdefault(group, {})
        rows[row] = rows.get(row, 0) + more
        if not rows[row]:
            del rows[row]
        if not rows:
            del self.groups[group]

    def _hold(self, row: int, allocation: Allocation, sign: int) -> None:
        """Charge a row's cards, by `item`: numpy takes its time over single numbers otherwise."""
        devices = self.nodes[row].devices
        for hold in allocation.holds:
            at = row, hold.device
            memory = self.mem_left.item(at) - sign * hold.memory_mib
            cores = self.cores_left.item(at) - sign * hold.cores
            slots = self.slots_left.item(at) - sign * hold.slots
            self.mem_left[at], self.cores_left[at], self.slots_left[at] = memory, cores, slots
            self.holders[at] = self.holders.item(at) + sign
            if hold.slices:
                self._lay(row, hold.device, hold.slices, sign)
            if self.kind.item(at) != NOTHING:
                self.left[at] = left_of(devices[hold.device], memory, cores, slots)
        left = self.left[row].tolist()
        self.room[row], self.most[row] = sum(left), max(left)
        if allocation.workload:
            grid = self.classes.setdefault(allocation.workload, np.zeros_like(self.kind))
            np.add.at(grid[row], [hold.device for hold in allocation.holds], sign)

    def _lay(self, row: int, card: int, slices: int, sign: int) -> None:
        cut = self.cut[row, card]
        cut[(slices >> PLACES & 1).astype(np.bool_)] += sign
        self.slices[row, card] = int(((cut > 0) << PLACES).sum())

    def _changed(self, row: int) -> None:
        self.clock += 1
        self.version[row] = self.clock

    def _fill(self, row: int, node: Node) -> None:
        self.rank[row] = _rank(node)
        self.ready[row] = node.ready
        self.cpu[row] = self.cpu_total[row] = node.cpu_milli
        self.memory[row] = self.memory_total[row] = node.memory_mib
        self.pods[row] = self.pods_total[row] = node.pods
        for name in self.other:
            self.other[name][row] = self.other_total[name][row] = node.other.get(name, 0)
        self.kind[row] = self.kind_of_node[row] = NOTHING
        for card, device in enumerate(node.devices):
            at = (row, card)
            self.mem_left[at], self.cores_left[at] = device.memory_mib, device.cores
            self.slots_left[at] = self.slots_total[at] = device.slots
            self.numa[at] = device.numa
            kind = self._kind(device.kind)  # known also where no card of it is healthy
            if device.healthy:
                self.kind[at] = kind
                self.left[at] = left_of(device, device.memory_mib, device.cores, device.slots)
        self.room[row] = self.room_total[row] = self.left[row].sum()
        self.most[row] = self.left[row].max(initial=0)
        if node.devices:
            self.kind_of_node[row] = self.kind[row].max()
        self._changed(row)

    def _kind(self, kind: Kind) -> int:
        if kind not in self.kinds:
            self.kinds.append(kind)
            self._of_kinds.clear()
        return self.kinds.index(kind)

    def _widen(self, cards: int) -> None:
        more = cards - self.kind.shape[1]
        if more <= 0:
            return
        for name, grid in vars(self).items():
            if isinstance(grid, np.ndarray) and grid.ndim > 1:
                filler = NOTHING if name == "kind" else 0
                setattr(self, name, wider(grid, more, filler))
        for name, grid in self.classes.items():
            self.classes[name] = wider(grid, more, 0)


def _others(snapshot: Snapshot) -> frozenset[str]:
    """Return what else some node gives: Pods may ask for anything."""
    return frozenset().union(*[snapshot.nodes[row].other for row in snapshot.row.values()])


def left_of(device: Device, memory_mib: int, cores: int, slots: int) -> int:
    """Return how much of a card is left, in milli, when so much of it is free."""
    if slots <= 0:
        return 0
    memory = -(-memory_mib * WHOLE // max(1, device.memory_mib))  # up: a rest is never nothing
    return max(0, min(memory, cores * WHOLE // max(1, device.cores)))


def _rank(node: Node) -> int:
    if node.rank is not None:
        return node.rank
    return int.from_bytes(blake2b(node.name.encode(), digest_size=6).digest())
