"""Many nodes at once, each with a request placed on it in thought."""

from typing import Self

import msgspec
import numpy as np

from berth.model.request import Shape
from berth.model.snapshot import Bools, Ints, Snapshot
from berth.placement.cards import need
from berth.placement.pick import FULLEST, Choice, pick


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """Rows that fit, before and after. Milli throughout: of a CPU, of a card."""

    rows: Ints
    cpu: Ints
    cpu_after: Ints
    left: Ints
    """Rows by cards: what is left of each card before."""
    room: Ints
    """Its sum."""
    room_after: Ints
    kind_of_node: Ints
    kind: Ints
    """Rows by picks: the kind of each card picked, no pick where no card is wanted."""
    cards: Ints
    old: Ints
    """What is left of the picked cards before, and `new` after."""
    new: Ints

    @classmethod
    def of(
        cls, shape: Shape, snapshot: Snapshot, rows: Ints, good: Bools, choice: Choice = FULLEST
    ) -> Self:
        """Place a shape on rows that fit, on the good cards that would be taken."""
        left, cpu, request = snapshot.left[rows], snapshot.cpu[rows], shape.request
        if request is None:
            cards = old = new = kind = np.zeros((len(rows), 0), dtype=np.int64)
        else:
            cards = pick(request, snapshot, rows, good, choice)
            each = np.arange(len(rows))[:, None]
            old, kind = left[each, cards], snapshot.kind[rows[:, None], cards]
            new = np.maximum(old - need(request, snapshot).milli[kind], 0)
            if need(request, snapshot).cut is not None:  # perhaps several of one card
                new = np.where(good[each, cards], new, old)
        room = snapshot.room[rows]
        return cls(
            rows=rows,
            cpu=cpu,
            cpu_after=cpu - shape.cpu_milli,
            left=left,
            room=room,
            room_after=room - (old - new).sum(axis=1),
            kind_of_node=snapshot.kind_of_node[rows],
            kind=kind,
            cards=cards,
            old=old,
            new=new,
        )
