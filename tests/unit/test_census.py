"""The kinds of cards of a fleet, kept up node by node."""

import random
import sys

from berth.cluster.census import Census
from berth.model.card import Card, known
from berth.model.device import Device

SEED = random.SystemRandom().getrandbits(32)


def cards(dice: random.Random) -> tuple[Device, ...]:
    """Return the devices of some node, one kind or a mixture."""
    kinds = [("nvidia", "T4", 15360), ("nvidia", "A100", 40960), ("amd", "MI300X", 196608)]
    return tuple(
        Device(uuid=f"{at}", vendor=vendor, model=model, memory_mib=memory, healthy=at != 1)
        for at in range(dice.randint(0, 4))
        for vendor, model, memory in [dice.choice(kinds)]
    )


def test_what_is_kept_is_what_a_count_anew_finds() -> None:
    """Whatever comes, changes and leaves; and the object is another only where the cards are."""
    sys.stdout.write(f"seed {SEED}\n")
    dice, census, nodes = random.Random(SEED), Census(), dict[int, tuple[Device, ...]]()
    for _ in range(500):
        name, before = dice.randint(0, 5), census.cards
        now = cards(dice) if dice.random() < 0.6 else ()
        census.change(nodes.get(name, ()), now)
        nodes[name] = now
        assert census.cards == known(nodes.values()), SEED
        assert (census.cards is before) == (census.cards == before), SEED


def test_cards_of_which_nobody_knows_the_memory_are_left_out() -> None:
    """As a part of one cannot be reckoned; healthy or not, a card is there."""
    told = Device(uuid="a", vendor="nvidia", model="T4", memory_mib=15360, healthy=False)
    untold = Device(uuid="b", vendor="nvidia", model="T4", memory_mib=1)
    assert known([(told, untold), (told,)]) == (Card("nvidia", "T4", 15360, 2),)
