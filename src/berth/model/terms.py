"""What the settings ask of cards beside what a Pod asks for, and what Pods belong together."""

from collections.abc import Mapping
from functools import partial

import msgspec
from msgspec.structs import replace

from berth import names
from berth.model import wildcard
from berth.model.raw import Json
from berth.model.request import CardTest, PodRequest
from berth.model.vendor import Vendor


class Scoped(msgspec.Struct, frozen=True):
    """A test of cards, and the namespaces whose Pods it is for."""

    test: CardTest
    namespaces: tuple[str, ...] = ()
    """Names; "team-*" is all that begin so. None is all."""

    def holds(self, namespace: str) -> bool:
        """Whether it is for this namespace."""
        return not self.namespaces or wildcard.matches(namespace, self.namespaces)


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The settings, resolved."""

    workload_key: str = names.WORKLOAD_CLASS
    """The label, or else the annotation, that names a Pod's class of workload."""
    apart: tuple[tuple[str, str], ...] = ()
    """Pairs of classes that must not share a card."""
    tests: tuple[Scoped, ...] = ()
    rack: str = names.RACK_LABEL
    """The node label that names the rack."""
    words: tuple[Vendor, ...] = ()
    """The accelerators in the words of every dialect that is read; none: of HAMi's alone."""

    @property
    def counting(self) -> "Terms":
        """What of it decides how Pods are counted that stand already: not which cards pass."""
        return replace(self, tests=(), rack=names.RACK_LABEL)

    def workload(self, labels: Mapping[str, Json], annotations: Mapping[str, Json]) -> str:
        """Return a Pod's class; empty for one that no pair names, as it goes with all."""
        if not self.apart:
            return ""
        named = labels.get(self.workload_key) or annotations.get(self.workload_key)
        if isinstance(named, str) and any(named in pair for pair in self.apart):
            return named
        return ""

    def beside_not(self, workload: str) -> tuple[str, ...]:
        """Return the classes that must not be on a card with this one."""
        pairs = (pair for pair in self.apart if workload in pair)
        return tuple(sorted({one if other == workload else other for one, other in pairs}))

    def applied(
        self,
        wanted: PodRequest,
        namespace: str,
        labels: Mapping[str, Json],
        annotations: Mapping[str, Json],
    ) -> PodRequest:
        """Return a Pod's request with its class, its group, and what its cards must pass."""
        workload = self.workload(labels, annotations)
        beside_not = self.beside_not(workload) if workload else ()
        where = tuple(one.test for one in self.tests if one.holds(namespace))
        if beside_not or where:
            wanted = wanted.each(partial(replace, beside_not=beside_not, where=where))
        return replace(
            wanted,
            workload=workload,
            group=group(namespace, labels),
            rack=self.rack,
        )


NO_TERMS = Terms()


def group(namespace: str, labels: Mapping[str, Json]) -> str:
    """Return the Job or the like whose Pods should be near each other, "" where there is none.

    By the labels that controllers put on their Pods, the widest first.
    """
    for key in names.GROUP_LABELS if labels else ():
        named = labels.get(key)
        if isinstance(named, str) and named:
            return f"{namespace}/{key}={named}"
    return ""
