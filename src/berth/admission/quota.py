"""What a namespace may hold of its devices: HAMi's meaning of a ResourceQuota (its contract, 1.3).

An entry `limits.<resource>` of a memory or cores resource bounds what all Pods of the namespace
hold together, each share times its number of devices. An amount means there what it means in a
container: so many units, after the administrator's factor. Entries `requests.<resource>` are
Kubernetes' own business.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import msgspec

from berth import names
from berth.model import quantity
from berth.model.demand import Demand
from berth.model.problem import Problem
from berth.model.raw import Path
from berth.model.said import Facts, Said
from berth.model.vendor import Vendor

Uses: TypeAlias = Mapping[str, int]
"""By resource name: MiB of memory, and the vendor's own units of cores."""


class Asked(msgspec.Struct, frozen=True):
    """What a Pod holds, as far as it is known; only what is not 0."""

    amounts: Uses = {}
    unsized: frozenset[str] = frozenset()
    """The memory resources of which it holds more than `amounts` says."""


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """The strictest entry for one resource in one namespace."""

    resource: str
    """By HAMi's name, whichever dialect's stands in the entry."""
    most: int
    """As in Uses."""
    key: str
    """The entry as it stands."""
    unit: str
    """What the numbers are in, for people: MiB, or nothing."""
    quota: str
    """Name of the ResourceQuota."""


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """What a decision has to know of the quotas of a Pod's namespace, as they stand now."""

    namespace: str
    limits: tuple[Limit, ...]
    used: Uses
    """Held by other Pods, those that are on their way included."""
    deny_unsized: bool = False
    """Whether a share whose memory nobody knows yet is refused, or passes as if it had none."""


def limits(
    quotas: Iterable[tuple[str, Mapping[str, str]]], owners: Mapping[str, Vendor]
) -> tuple[Limit, ...]:
    """Return what quotas, each its name and `spec.hard`, forbid together."""
    found: dict[str, Limit] = {}
    for quota, hard in sorted(quotas):
        for key, amount in hard.items():
            limit = _limit(quota, key, amount, owners)
            if limit is None:
                continue
            other = found.get(limit.resource)
            if other is None or limit.most < other.most:
                found[limit.resource] = limit
    return tuple(found[resource] for resource in sorted(found))


def _limit(quota: str, key: str, amount: str, owners: Mapping[str, Vendor]) -> Limit | None:
    prefix, _, resource = key.partition(".")
    vendor = owners.get(resource)
    if vendor is None or not _is_ours(prefix, vendor, resource):
        return None
    most, unit = math.floor(quantity.parse(amount)), ""
    counted = _counted(vendor)
    if resource == vendor.memory:
        most, unit, resource = vendor.mib(most), "MiB", counted.memory
    else:
        resource = counted.cores if resource == vendor.cores else counted.count
    return Limit(resource=resource, most=most, unit=unit, quota=quota, key=key)


def _is_ours(prefix: str, vendor: Vendor, resource: str) -> bool:
    """Whether an entry is ours to keep.

    Those of `requests.` are Kubernetes' own, until a conversion takes the names out of Pods.
    """
    amounts = {vendor.memory, vendor.cores} - {""}
    if f"{prefix}." == names.QUOTA_LIMITS:
        return resource in amounts
    kept = amounts | {vendor.count}
    return f"{prefix}." == names.QUOTA_REQUESTS and vendor.counts_cards and resource in kept


def _counted(vendor: Vendor) -> Vendor:
    """Return the words in which an accelerator is counted, whichever it is asked for in."""
    return vendor.counts_as or vendor


def asked(demand: Demand) -> Asked:
    """Return what a Pod holds at its highest."""
    if not demand.any:
        return Asked()
    totals, amounts, unsized = demand.totals(), dict[str, int](), set[str]()
    for vendor in {share.vendor.name: share.vendor for share in demand.shares}.values():
        total = totals[vendor.name]
        counted = _counted(vendor)
        amounts |= {counted.memory: total.memory_mib, counted.cores: total.cores}
        if counted.counts_cards:
            amounts[counted.count] = total.count
        if counted.memory and not total.sized:
            unsized.add(counted.memory)
    held = {resource: amount for resource, amount in amounts.items() if resource and amount}
    return Asked(amounts=held, unsized=frozenset(unsized))


def counts(asks: Asked, allowance: Allowance) -> bool:
    """Whether a limit speaks of what the Pod wants, so that it has to be counted."""
    return any(
        limit.resource in asks.amounts or limit.resource in asks.unsized
        for limit in allowance.limits
    )


def warnings(asks: Asked, allowance: Allowance) -> Iterator[Said]:
    """Yield what a quota cannot count, as nobody knows how large the card will be."""
    for limit in allowance.limits:
        if limit.resource in asks.unsized:
            yield Said("unsized", {"resource": limit.resource, "quota": limit.quota})


def problems(demand: Demand, asks: Asked, allowance: Allowance) -> Iterator[Problem]:
    """Yield each limit that the Pod would go beyond."""
    for limit in allowance.limits:
        amount, unclear = asks.amounts.get(limit.resource, 0), limit.resource in asks.unsized
        used = allowance.used.get(limit.resource, 0)
        # No card is without memory: what is not known is more than nothing.
        beyond = used + amount + unclear > limit.most
        if (amount or unclear) and (beyond or (unclear and allowance.deny_unsized)):
            numbers = _Numbers(amount, unclear, limit.unit)
            room = _room(demand, limit, limit.most - used)
            named, count = unclear and room > amount, _slices(demand, limit)
            code = "quota.room" if room > 0 else "quota.full"
            if named:
                code = "quota.slices" if count else "quota.unsized"
            facts: Facts = {
                "namespace": allowance.namespace,
                "used": numbers.of(used),
                "wish": numbers.wish,
                "quota": limit.quota,
                "most": numbers.of(limit.most),
                "entry": limit.key,
                "room": numbers.of(room),
                "resource": limit.resource,
                "count": count,
            }
            yield Problem(code, _place(demand, limit), facts)


def _room(demand: Demand, limit: Limit, room: int) -> int:
    """Return how much a Pod with one share could ask for: of a card that is cut, a size of those.

    Anything between two sizes would be rounded up, and refused again.
    """
    shares = [one for one in demand.shares if _counted(one.vendor).memory == limit.resource]
    sizes = [given for _, given in shares[0].vendor.slices] if len(shares) == 1 else []
    if not sizes or shares[0].count > 1 or shares[0].taken_mib not in sizes:
        return room
    return max((size for size in sizes if size <= room), default=0)


def _slices(demand: Demand, limit: Limit) -> str:
    """Return the resource by which slices of unknown size are asked for; "" if none is."""
    for share in demand.shares:
        if share.slices and limit.resource in _counted(share.vendor).resources:
            return share.vendor.count  # beside which a size has no effect
    return ""


class _Numbers(msgspec.Struct, frozen=True):
    """The numbers of a refusal, in words."""

    asked: int
    unclear: bool
    unit: str

    def of(self, amount: int) -> str:
        return f"{amount} {self.unit}".rstrip()

    @property
    def wish(self) -> Said:
        if not self.unclear:
            return Said("part.more", {"amount": self.of(self.asked)})
        if self.asked:
            return Said("part.at-least", {"amount": self.of(self.asked)})
        return Said("part.unsized")


def _place(demand: Demand, limit: Limit) -> Path:
    """Return where the first container asks for it."""
    for wanted in demand.containers:
        if wanted.share and limit.resource in _counted(wanted.share.vendor).resources:
            vendor, counted = wanted.share.vendor, _counted(wanted.share.vendor)
            same = {counted.memory: vendor.memory, counted.cores: vendor.cores}
            resource = same.get(limit.resource, vendor.count)
            resource = resource if resource in wanted.container.limits else vendor.count
            return (*wanted.container.path, "resources", "limits", resource)
    return ("spec",)
