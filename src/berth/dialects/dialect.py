"""What a dialect is: a name, and how Pods are read and written in it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeAlias

import msgspec

from berth.dialects.options import Options
from berth.model.decided import Decided
from berth.model.demand import ContainerDemand, Demand
from berth.model.edit import Change
from berth.model.pod import Pod
from berth.model.problem import Problem
from berth.model.records import NO_RECORDS
from berth.model.said import Said
from berth.model.vendor import Selectors, Vendor

Write: TypeAlias = Callable[[Demand, Decided | None, Pod, Options], list[Change]]
"""Return what makes a Pod say its demand in the dialect, and warnings about what that replaces.

Where a placement has chosen devices, they are named in the words of the dialect's stack.
"""


class Beyond(msgspec.Struct, frozen=True):
    """What no card of the cluster can give today: a refusal or a warning, as the settings say."""

    problem: Problem
    warning: Said


class Reading(msgspec.Struct, frozen=True):
    """The demand of a Pod, all that is wrong with it, and what its author should know."""

    demand: Demand
    problems: tuple[Problem, ...]
    warnings: tuple[Said, ...]
    beyond: tuple[Beyond, ...] = ()
    """Right in itself, but no node of now has it: others may come."""


class Read(Protocol):
    """Read each container's share; a privileged one may count as asking for nothing."""

    def __call__(self, pod: Pod, options: Options, *, skip_privileged: bool) -> Reading:
        """Return the demand of `pod`."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """One way in which GPUs are asked for."""

    name: str
    read: Read
    write: Write | None
    """None: it is only ever read."""


def worded(vendor: Vendor, name: str) -> Vendor:
    """Return the same cards for a dialect to name them, without what is HAMi's own of them."""
    return replace(
        vendor,
        dialect=name,
        memory_percent="",
        priority="",
        memory_factor=1,
        whole_is_named=False,
        default_memory=0,
        default_cores=0,
        settle=None,
        core_policy="default",
        profiles=(),
        records=NO_RECORDS,
        allocations=(),
        counts_as=vendor,
        selectors=Selectors(),
    )


def only(name: str, read: Read) -> Read:
    """Return what reads Pods in the words of one dialect alone."""

    def one(pod: Pod, options: Options, *, skip_privileged: bool) -> Reading:
        words = tuple(word for word in options.words if word.dialect == name)
        if not words:
            nothing = tuple(ContainerDemand(container, None) for container in pod.containers)
            return Reading(Demand(nothing), (), ())
        return read(pod, options.reading(words), skip_privileged=skip_privileged)

    return one
