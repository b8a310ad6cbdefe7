"""The kinds of cards of a fleet, kept up node by node."""

import random
import sys

import msgspec

from berth.admission import configuration
from berth.cluster.census import Census
from berth.model.card import Card, known
from berth.model.device import Device
from berth.settings import Settings

SEED = random.SystemRandom().getrandbits(32)


def cards(dice: random.Random) -> tuple[Device, ...]:
    """Return the devices of some node, one kind or a mixture."""
    kinds = [("nvidia", "T4", 15360), ("nvidia", "A100", 40960), ("amd", "MI300X", 196608)]
    return tuple(
        Device(
            uuid=f"{at}",
            vendor=vendor,
            model=model,
            memory_mib=memory,
            healthy=at != 1,
            stack=dice.choice(("", "hami")),
        )
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


def test_a_request_is_held_against_cards_of_the_stack_that_it_is_written_for() -> None:
    """As those of others it cannot get; where there are none of it yet, against all."""
    hami, plain, untold = (
        Card("nvidia", "T4", memory, 1, stack)
        for memory, stack in ((15360, "hami"), (3840, "plain"), (16384, ""))
    )
    tree = {"conversions": [{"name": "v", "namespaces": ["v"], "writes": "plain"}]}
    rules, _ = configuration.rules(msgspec.convert(tree, Settings), None)
    for cards, those in (((hami, plain, untold), (plain, untold)), ((hami,), (hami,))):
        conversion = rules.within("v").knowing(cards).options.conversion
        assert conversion is not None
        assert conversion.cards == those
