"""How the cluster wants Pods read and written: by which words, and for which scheduler."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from berth import names
from berth.dialects.conversion import Conversion
from berth.model.card import Card
from berth.model.pod import Container
from berth.model.vendor import Vendor


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """A variable that takes a family's devices from containers that ask for none of them."""

    variable: str
    value: str
    domains: tuple[str, ...]
    resources: frozenset[str]
    """Of all vendors that share the variable: one chip's user is no stranger to the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the cluster wants Pods read and written."""

    vendors: tuple[Vendor, ...]
    """The accelerators, in HAMi's words."""
    scheduler_name: str
    """The scheduler of the written dialect; "" leaves the Pod's own."""
    writes: str = "hami"
    """The dialect in which Pods are written."""
    conversion: Conversion | None = None
    """What is translated; None: HAMi's words are read and written."""
    words: tuple[Vendor, ...] = ()
    """The accelerators in the words of every dialect that is read; none: HAMi's alone."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """Resources of dialects that are known and not read, each with its dialect: what stands beside
    words that are read would go unread."""
    remove_device_env: bool = True
    remove_limit_env: bool = False
    injected_env: frozenset[tuple[str, str]] = frozenset()
    """Names and values that the cluster itself injects: they are nobody's way out of a share."""
    unknowing: "Options | None" = None
    """The same while no card is known, where some are: an earlier pass is judged by no card."""
    owners: Mapping[str, Vendor] = field(init=False)
    """Each resource name beside whose it is: a container is read without asking every vendor."""
    hidden: tuple[Hidden, ...] = field(init=False)
    choosing: frozenset[str] = field(init=False)
    """Annotations by which a Pod chooses among devices."""

    def __post_init__(self) -> None:
        """Derive what every request would otherwise work out again."""
        if not self.words:
            object.__setattr__(self, "words", self.vendors)
        owners = {name: vendor for vendor in self.words for name in vendor.resources}
        object.__setattr__(self, "owners", owners)
        object.__setattr__(self, "hidden", tuple(_hidden(self.words)))
        choosing = {key for vendor in self.words for key in vendor.annotations}
        object.__setattr__(self, "choosing", frozenset(choosing | {*names.STEERING}))

    __hash__ = object.__hash__  # one generation of the settings: what is remembered is its own

    @property
    def stack(self) -> str:
        """The stack whose cards alone a Pod can get that is written so; "" where that is open.

        HAMi's words without its scheduler are told to whoever hands cards out there.
        """
        if self.writes == "hami" and not self.scheduler_name:
            return ""
        return self.writes if self.writes in (*names.STACKS, names.PLAIN_STACK) else ""

    def reading(self, words: tuple[Vendor, ...]) -> "Options":
        """Return the same for Pods in these words alone."""
        return self if words == self.words else replace(self, words=words)

    def knowing(self, cards: tuple[Card, ...]) -> "Options":
        """Return the same in a cluster that has these cards.

        Where the written stack hands none out yet, they are those that it will.
        """
        plain = self.unknowing or self
        cards = tuple(card for card in cards if card.of(self.stack)) or cards
        if plain.conversion is None or not cards:
            return plain
        return replace(plain, conversion=replace(plain.conversion, cards=cards), unknowing=plain)

    def foreign(self, container: Container, names: AbstractSet[str]) -> frozenset[str]:
        """Return which of `names` stand in the container with a value that is not the cluster's."""
        return frozenset(
            name
            for name in names & container.env_names
            if any(
                (name, container.value(place)) not in self.injected_env
                for place in container.places(name)
            )
        )


def _hidden(vendors: Sequence[Vendor]) -> Iterator[Hidden]:
    for vendor in {one.visible_env: one for one in vendors if one.hide_from_others}.values():
        alike = [one for one in vendors if one.visible_env == vendor.visible_env]
        yield Hidden(
            variable=vendor.visible_env,
            value=vendor.hidden_value,
            domains=tuple(dict.fromkeys(one.domain for one in alike)),
            resources=frozenset(name for one in alike for name in one.resources),
        )
