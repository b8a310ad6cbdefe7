"""How Pods are placed, namespace by namespace: the settings, resolved."""

from dataclasses import dataclass, field, replace

from berth.model import wildcard
from berth.model.placed import Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How the Pods of a namespace are placed."""

    policy: str = "scarcity"
    """By name; a Pod may choose another."""
    delivery: Delivery = Delivery.OFF
    auto: bool = False
    """Whether nobody chose that: it is what suits the scheduler."""
    visible: bool = False
    """Whether pinned devices are named in the variable by which the runtime chooses, too."""
    among: int = 1
    """Of how many of the best nodes one is pinned."""
    refuses_full: bool = False
    """Whether a Pod for which no node has room now is refused."""
    classes: frozenset[str] = frozenset()
    """Of which PriorityClass it is then refused; none: of any."""
    refuses_never: bool = False
    """Whether a Pod that no node can ever run is refused."""

    def refuses(self, priority_class: str) -> bool:
        """Whether a Pod of this PriorityClass is refused where nothing has room now."""
        return self.refuses_full and (not self.classes or priority_class in self.classes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Special:
    """A manner of its own for some namespaces."""

    namespaces: tuple[str, ...]
    """Names; "team-*" is all that begin so."""
    manner: Manner


@dataclass(frozen=True, slots=True, kw_only=True)
class Placements:
    """The manner of every namespace."""

    usual: Manner = field(default_factory=Manner)
    special: tuple[Special, ...] = ()

    def suited(self, delivery: Delivery) -> "Placements":
        """Return the same for another scheduler: with this delivery where nobody chose one."""

        def of(manner: Manner) -> Manner:
            return replace(manner, delivery=delivery) if manner.auto else manner

        special = tuple(replace(one, manner=of(one.manner)) for one in self.special)
        return Placements(usual=of(self.usual), special=special)

    def of(self, namespace: str) -> Manner:
        """Return how a namespace's Pods are placed: the first that is meant for it."""
        for one in self.special:
            if wildcard.matches(namespace, one.namespaces):
                return one.manner
        return self.usual
