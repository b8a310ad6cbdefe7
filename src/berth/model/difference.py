"""Where two snapshots of the same nodes differ: a ledger and a count anew must not."""

from collections.abc import Iterator

from berth.model.snapshot import NOTHING, Snapshot

COLUMNS = ("cpu", "memory", "pods", "room", "cpu_total", "memory_total", "pods_total", "room_total")
GRIDS = ("mem_left", "cores_left", "slots_left", "holders", "slices", "left")


def differences(one: Snapshot, other: Snapshot) -> tuple[str, ...]:
    """Return a sentence for each number that is not the same; rows may lie in any order."""
    return tuple(said for each in by_node(one, other).values() for said in each)


def by_node(one: Snapshot, other: Snapshot) -> dict[str, tuple[str, ...]]:
    """Return the same by the name of the node, without those on which nothing differs."""
    found = {
        name: tuple(_differences(one, other, name))
        for name in sorted(one.row.keys() | other.row.keys())
    }
    return {name: said for name, said in found.items() if said}


def _differences(one: Snapshot, other: Snapshot, name: str) -> Iterator[str]:
    if name not in one.row or name not in other.row:
        yield f"{name} is in one of them only"
        return
    first, second = dict(_numbers(one, name)), dict(_numbers(other, name))
    for key in sorted(first.keys() | second.keys()):
        if first.get(key) != second.get(key):
            yield f"{name}: {key} is {first.get(key)} and {second.get(key)}"


def _numbers(snapshot: Snapshot, name: str) -> Iterator[tuple[str, object]]:
    row = snapshot.row[name]
    node = snapshot.nodes[row]
    yield "node", node
    yield "ready", bool(snapshot.ready[row])
    for column in COLUMNS:
        yield column, int(getattr(snapshot, column)[row])
    yield from _others(snapshot, row)
    for card in range(len(node.devices)):
        kind = int(snapshot.kind[row, card])
        yield f"kind[{card}]", None if kind == NOTHING else snapshot.kinds[kind]
        for column in GRIDS:
            yield f"{column}[{card}]", int(getattr(snapshot, column)[row, card])
    yield from _company(snapshot, row)


def _company(snapshot: Snapshot, row: int) -> Iterator[tuple[str, object]]:
    """Yield which classes of workload are on a node's cards, and how much of which groups."""
    for workload, grid in snapshot.classes.items():
        cards = grid[row, : len(snapshot.nodes[row].devices)]  # apart from how wide the grid is
        if cards.any():
            yield f"classes[{workload}]", cards.tolist()
    for group, rows in snapshot.groups.items():
        if row in rows:
            yield f"groups[{group}]", rows[row]


def _others(snapshot: Snapshot, row: int) -> Iterator[tuple[str, object]]:
    for resource in snapshot.nodes[row].other.keys() | snapshot.other.keys():
        left, total = (int(column[row]) for column in snapshot.of_other(resource))
        if left or total:
            yield f"other[{resource}]", left
            yield f"other_total[{resource}]", total
