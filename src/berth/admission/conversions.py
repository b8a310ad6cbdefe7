"""The conversions of the settings, resolved into the rules of their namespaces."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import msgspec

from berth import names
from berth.admission import conversion, stacks
from berth.admission.rules import Rules
from berth.admission.stacks import NVIDIA
from berth.dialects import kai, plain
from berth.dialects.options import Options
from berth.errors import UsageError
from berth.model.placed import Delivery
from berth.model.vendor import Vendor
from berth.model.wildcard import EVERY
from berth.settings import Conversion as Wanted
from berth.settings import Oversubscription, Settings

_DIALECTS: Final = ("hami", "volcano", "pool", "plain", "kai")


def resolve(settings: Settings, base: Rules) -> tuple[Rules, tuple[str, ...]]:
    """Return `base` with the conversions of the settings, and warnings. Raises UsageError."""
    if not settings.conversions:
        return base, ()
    words = stacks.words(settings.stacks, base.options.vendors)
    zones, listed, warnings = dict[str, Rules](), dict[str, str](), list[str]()
    for index, wanted in enumerate(settings.conversions):
        where = f"conversions[{index}]"
        if wanted.name in zones:
            raise UsageError(f"{where}.name: {wanted.name} stands twice; give each its own name")
        zones[wanted.name] = _zone(wanted, where, base, settings, words)
        warnings += conversion.capped(wanted, where)
        for namespace in wanted.namespaces:
            if namespace in listed:
                other = listed[namespace]
                raise UsageError(f"{where}.namespaces: {namespace} is listed by {other} already")
            listed[namespace] = wanted.name
            if namespace in names.SYSTEM_NAMESPACES:
                what = "is a system's, where nothing is translated"
                warnings.append(f"{where}.namespaces: {namespace} {what}")
    union = _union(base, words, zones)
    terms = msgspec.structs.replace(base.terms, words=union.options.words)
    base, union = replace(base, terms=terms), replace(union, terms=terms)
    zones = {name: replace(one, anywhere=union, terms=terms) for name, one in zones.items()}
    usual = zones[listed.pop(EVERY)] if EVERY in listed else base
    return replace(usual, zones=zones, listed=listed, anywhere=union), tuple(warnings)


def into(settings: Settings, base: Rules, dialect: str) -> Rules:
    """Return rules that write a dialect whatever a Pod is written in. Raises UsageError.

    As the first conversion of the settings that writes it has them, if there is one.
    """
    if dialect == "hami" and all(one.name != NVIDIA for one in base.options.vendors):
        return base
    mine = (one for one in settings.conversions if one.writes == dialect)
    wanted = next(mine, Wanted(name=dialect, reads=_DIALECTS))
    schedulers = (
        settings.scheduler.name,
        settings.stacks.volcano.scheduler,
        *wanted.take_schedulers,
    )
    taken = tuple(one for one in schedulers if one)
    # A namespace's share of the cards is no manifest's: dividing is left to the webhook.
    wanted = msgspec.structs.replace(
        wanted,
        reads=_DIALECTS,
        writes=dialect,
        take_schedulers=taken,
        oversubscription=Oversubscription(),
    )
    return _zone(
        wanted, "conversions", base, settings, stacks.words(settings.stacks, base.options.vendors)
    )


def _zone(
    wanted: Wanted, where: str, base: Rules, settings: Settings, words: Mapping[str, Vendor]
) -> Rules:
    made = conversion.resolved(wanted, where, settings.stacks, words)
    options = replace(
        base.options,
        scheduler_name=stacks.scheduler(settings, wanted.writes),
        writes=wanted.writes,
        conversion=made,
        words=_read_words(made.reads, words, base.options),
    )
    options = replace(options, unread=_unread(words, options))
    taken = {*wanted.take_schedulers, *([names.KAI_SCHEDULER] if kai.NAME in made.reads else [])}
    placements = base.placements
    if wanted.writes != "hami":
        placements = placements.suited(Delivery.PREFER)
    return replace(
        base,
        options=options,
        placements=placements,
        taken_schedulers=frozenset(taken),
        excluded_namespaces=base.excluded_namespaces | {*names.SYSTEM_NAMESPACES},
    )


def _read_words(
    reads: tuple[str, ...], words: Mapping[str, Vendor], options: Options
) -> tuple[Vendor, ...]:
    """Return the words to read; HAMi's hold those of whole cards, and all other accelerators.

    Where whole cards are read by HAMi's name for them and HAMi is not, a container that names a
    share of one beside is to be refused: what it means would go unread.
    """
    others = tuple(one for one in options.vendors if one.name != NVIDIA)
    mine = words["hami"].count
    named = [
        dialect
        for dialect in reads
        if not ("hami" in reads and dialect == plain.NAME and words[dialect].count == mine)
    ]
    found = [words[dialect] for dialect in named]
    if "hami" in reads:
        found += others
    elif plain.NAME in reads and words[plain.NAME].count == mine:
        found.append(replace(words["hami"], count="", default_count=0))
    return tuple(found)


def _unread(words: Mapping[str, Vendor], options: Options) -> dict[str, str]:
    """Return the names of dialects that a namespace does not read."""
    return {
        name: dialect
        for dialect, vendor in words.items()
        for name in vendor.resources
        if name not in options.owners
    }


def _union(base: Rules, words: Mapping[str, Vendor], zones: Mapping[str, Rules]) -> Rules:
    """Return the rules by which a Pod is read that may be of any of these namespaces."""
    reads = ["hami"]
    for zone in zones.values():
        reads += zone.options.conversion.reads if zone.options.conversion else ()
    options = base.options
    read = replace(options, words=_read_words(tuple(dict.fromkeys(reads)), words, options))
    schedulers = {one.options.scheduler_name for one in zones.values()}
    taken = schedulers.union(*(zone.taken_schedulers for zone in zones.values()))
    return replace(base, options=read, taken_schedulers=frozenset(taken))
