"""The sharing stacks of the settings: NVIDIA's cards in the words of each, and their schedulers."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from berth.dialects import kai, plain, pool, volcano
from berth.errors import UsageError
from berth.model.vendor import Vendor
from berth.settings import Settings, Stacks

NVIDIA = "nvidia"


def words(stacks: Stacks, vendors: Iterable[Vendor]) -> dict[str, Vendor]:
    """Return NVIDIA's cards in the words of each dialect. Raises UsageError."""
    nvidia = next((one for one in vendors if one.name == NVIDIA), None)
    if nvidia is None:
        what = "NVIDIA's cards are not managed (policy.unmanagedVendors), and no others are known"
        raise UsageError(f"conversions: {what} in other dialects; take them out")
    nvidia = replace(nvidia, counts_cards=True)
    of, pools = stacks.volcano, stacks.pool
    found = {
        "hami": nvidia,
        volcano.NAME: volcano.words(
            nvidia, (of.count, of.memory, of.memory_percent, of.cores), of.block_mib
        ),
        pool.NAME: pool.words(nvidia, (pools.count, pools.memory, pools.cores)),
        plain.NAME: plain.words(nvidia, stacks.plain.count),
        kai.NAME: kai.words(nvidia),
    }
    _distinct(found)
    return found


def _distinct(words: Mapping[str, Vendor]) -> None:
    """Refuse one name for two things; whole cards are called so in HAMi's words too."""
    owners: dict[str, str] = {}
    for dialect, vendor in words.items():
        for name in vendor.resources:
            if name in owners and not (dialect == plain.NAME and name == words["hami"].count):
                raise UsageError(f"stacks.{dialect}: {name} names a resource of {owners[name]} too")
            owners.setdefault(name, dialect)


def scheduler(settings: Settings, dialect: str) -> str:
    """Return the scheduler of the stack that has this dialect; "" leaves each Pod its own."""
    return {
        "hami": settings.scheduler.name,
        volcano.NAME: settings.stacks.volcano.scheduler,
        pool.NAME: settings.stacks.pool.scheduler,
        plain.NAME: settings.stacks.plain.scheduler,
    }[dialect]
