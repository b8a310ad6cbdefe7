"""What a Pod depends on without its author: RuntimeClasses, DeviceClasses, LimitRanges.

What is lacking, or there besides, is a warning: a class can come or go at any time.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from berth.cluster.store import NAMESPACE
from berth.dialects.ranges import Ranges
from berth.model.decision import Decision, Verdict
from berth.model.edit import Put
from berth.model.raw import Path
from berth.model.said import Said

if TYPE_CHECKING:
    from berth.cluster.projections import DeviceClass, LimitRange, RuntimeClass
    from berth.cluster.store import Store

_RUNTIME_CLASS: Path = ("spec", "runtimeClassName")
MAPPED = "mapped"
"""The index of DeviceClasses by the extended resource that each maps to claims (KEP-5004)."""


class Classes:
    """Those that are known; a store is set once its first list was read, and None before."""

    def __init__(self) -> None:
        """Know nothing, and say nothing."""
        self.runtimes: Store[RuntimeClass] | None = None
        self.devices: Store[DeviceClass] | None = None
        self.ranges: Store[LimitRange] | None = None

    def ranged(self, namespace: str) -> Ranges | None:
        """Return what the LimitRanges of a namespace are for, None where none is known."""
        if not self.ranges:
            return None
        each = [
            (one.metadata.name, some)
            for one in self.ranges.by(NAMESPACE, namespace)
            for some in one.spec.limits
        ]
        most = {name: by for by, some in each for name in some.max}
        least = {name: by for by, some in each for name in {**some.min, **some.ratio}}
        return Ranges(most, least) if each else None

    def warnings(self, decision: Decision) -> Iterator[Said]:
        """Yield what the author of a Pod that passes should hear of the classes of the cluster."""
        if decision.verdict in (Verdict.PATCHED, Verdict.UNCHANGED):
            yield from self._lacking(decision)
            yield from self._mapped(decision)

    def _lacking(self, decision: Decision) -> Iterator[Said]:
        """Yield a RuntimeClass that we set and that is not there: the API server refuses the Pod.

        It says that there is none, and not who wrote its name into the Pod.
        """
        for edit in decision.edits if self.runtimes is not None else ():
            if isinstance(edit, Put) and edit.path == _RUNTIME_CLASS:
                name = str(edit.value)
                if self.runtimes is not None and self.runtimes.get("", name) is None:
                    yield Said("no-class", {"path": edit.path, "name": name})

    def _mapped(self, decision: Decision) -> Iterator[Said]:
        """Yield what the default scheduler would make a claim of, for a device of another stack."""
        if not self.devices or decision.demand is None:
            return
        told = set[str]()
        for wanted in decision.demand.containers:
            for name in wanted.container.limits if wanted.share else ():
                for one in [*self.devices.by(MAPPED, name)][:1]:
                    if name not in told:
                        told.add(name)
                        path = (*wanted.container.path, "resources", "limits", name)
                        yield Said("mapped", {"path": path, "class": one.metadata.name})
