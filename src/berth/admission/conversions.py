"""The conversions of the settings, resolved into the rules of their namespaces."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import msgspec

from berth import closest, names
from berth.admission.rules import Rules
from berth.dialects import kai, plain, pool, volcano, wanted_size
from berth.dialects.conversion import (
    BYTES,
    Conversion,
    Defaults,
    Presets,
    Size,
    parameters,
)
from berth.dialects.options import Options
from berth.errors import UsageError
from berth.model import quantity
from berth.model.loss import Handling, Loss
from berth.model.placed import Delivery
from berth.model.vendor import Vendor
from berth.settings import Conversion as Wanted
from berth.settings import Models, Oversubscription, Settings

EVERY = "*"
_NVIDIA = "nvidia"
_EVERY: Final = ("hami", "volcano", "pool", "plain", "kai")


def resolve(settings: Settings, base: Rules) -> tuple[Rules, tuple[str, ...]]:
    """Return `base` with the conversions of the settings, and warnings. Raises UsageError."""
    if not settings.conversions:
        return base, ()
    words = _words(settings, base)
    zones, listed, warnings = dict[str, Rules](), dict[str, str](), list[str]()
    for index, wanted in enumerate(settings.conversions):
        where = f"conversions[{index}]"
        if wanted.name in zones:
            raise UsageError(f"{where}.name: {wanted.name} stands twice; give each its own name")
        zones[wanted.name] = _zone(wanted, where, base, settings, words)
        warnings += _capped(wanted, where)
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
    if dialect == "hami" and all(one.name != _NVIDIA for one in base.options.vendors):
        return base
    mine = (one for one in settings.conversions if one.writes == dialect)
    wanted = next(mine, Wanted(name=dialect, reads=_EVERY))
    stacks = settings.stacks
    schedulers = (settings.scheduler.name, stacks.volcano.scheduler, *wanted.take_schedulers)
    taken = tuple(one for one in schedulers if one)
    # A namespace's share of the cards is no manifest's: dividing is left to the webhook.
    wanted = msgspec.structs.replace(
        wanted,
        reads=_EVERY,
        writes=dialect,
        take_schedulers=taken,
        oversubscription=Oversubscription(),
    )
    return _zone(wanted, "conversions", base, settings, _words(settings, base))


def _words(settings: Settings, base: Rules) -> dict[str, Vendor]:
    """Return NVIDIA's cards in the words of each dialect."""
    nvidia = next((one for one in base.options.vendors if one.name == _NVIDIA), None)
    if nvidia is None:
        what = "NVIDIA's cards are not managed (policy.unmanagedVendors), and no others are known"
        raise UsageError(f"conversions: {what} in other dialects; take them out")
    nvidia = replace(nvidia, counts_cards=True)
    of, pools, cards = settings.stacks.volcano, settings.stacks.pool, settings.stacks.plain
    found = {
        "hami": nvidia,
        volcano.NAME: volcano.words(
            nvidia, (of.count, of.memory, of.memory_percent, of.cores), of.block_mib
        ),
        pool.NAME: pool.words(nvidia, (pools.count, pools.memory, pools.cores)),
        plain.NAME: plain.words(nvidia, cards.count),
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


def _zone(
    wanted: Wanted, where: str, base: Rules, settings: Settings, words: Mapping[str, Vendor]
) -> Rules:
    reads = tuple(dict.fromkeys((*wanted.reads, wanted.writes)))
    targets = {_NVIDIA: words[wanted.writes]}
    if wanted.writes == volcano.NAME:
        minor = settings.stacks.volcano.minor
        targets = {_NVIDIA: volcano.target(words[volcano.NAME], minor)}
    conversion = Conversion(
        name=wanted.name,
        reads=reads,
        targets=targets,
        losses=_losses(wanted, where),
        default_memory=_size(wanted.memory, f"{where}.memory"),
        presets=_presets(wanted.models, f"{where}.models"),
        memory_share=min(wanted.oversubscription.memory, wanted.oversubscription.most),
        core_share=min(wanted.oversubscription.cores, wanted.oversubscription.most),
        whole_pods=wanted.scheduler == "all",
        queue=wanted.queue,
        defaults=_defaults(wanted, f"{where}.defaults"),
        volcano_minor=settings.stacks.volcano.minor,
        visible_devices=settings.stacks.pool.visible_devices,
    )
    options = replace(
        base.options,
        scheduler_name=_scheduler(wanted, settings),
        writes=wanted.writes,
        conversion=conversion,
        words=_read_words(reads, words, base.options),
    )
    options = replace(options, unread=_unread(words, options))
    taken = {*wanted.take_schedulers, *([names.KAI_SCHEDULER] if kai.NAME in reads else [])}
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
    others = tuple(one for one in options.vendors if one.name != _NVIDIA)
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


def _scheduler(wanted: Wanted, settings: Settings) -> str:
    return {
        "hami": settings.scheduler.name,
        volcano.NAME: settings.stacks.volcano.scheduler,
        pool.NAME: settings.stacks.pool.scheduler,
        plain.NAME: settings.stacks.plain.scheduler,
    }[wanted.writes]


def _losses(wanted: Wanted, where: str) -> dict[Loss, Handling]:
    known = {loss.value: loss for loss in Loss}
    found = dict.fromkeys(Loss, Handling(wanted.loss))
    # Volcano would hold the node's resources for it and give it no card: never by default.
    found[Loss.INIT_CONTAINER] = Handling.REFUSE
    for name, handling in wanted.losses.items():
        if name not in known:
            raise UsageError(f"{where}.losses: {name} is no loss{closest.hint(name, known)}")
        found[known[name]] = Handling(handling)
    return found


def _size(text: str, where: str) -> Size | None:
    if not text:
        return None
    size = wanted_size.parse(text)
    if size is None:
        raise UsageError(f"{where}: {text} is no size of memory; write 16Gi or 40%")
    return size


def _presets(wanted: Models, where: str) -> Presets:
    factors = {
        "inference": wanted.inference,
        "fine-tune": wanted.fine_tune,
        "train": wanted.train,
    }
    table: dict[tuple[str, str, str], int] = {}
    for key, text in wanted.table.items():
        model, _, rest = key.lower().partition("/")
        use, _, precision = rest.partition("/")
        size = wanted_size.parse(text)
        if use not in factors or precision not in BYTES or not _is_model(model):
            raise UsageError(f"{where}.table: {key} is not as 7b/inference/bf16")
        if size is None or size.mib is None:
            raise UsageError(f"{where}.table: {text} of {key} is no size of memory; write 20Gi")
        table[model, use, precision] = size.mib
    return Presets(table=table, factors=factors, overhead_mib=wanted.overhead_mib)


def _is_model(text: str) -> bool:
    try:
        return parameters(text) > 0
    except ValueError:
        return False


def _defaults(wanted: Wanted, where: str) -> Defaults:
    given = wanted.defaults
    found = Defaults(
        cpu_request=given.cpu_request,
        cpu_limit=given.cpu_limit,
        memory_request=given.memory_request,
        memory_limit=given.memory_limit,
    )
    for request, limit, name in (
        (found.cpu_request, found.cpu_limit, "cpu"),
        (found.memory_request, found.memory_limit, "memory"),
    ):
        least, most = (
            _amount(request, f"{where}.{name}Request"),
            _amount(limit, f"{where}.{name}Limit"),
        )
        if least is not None and most is not None and least > most:
            raise UsageError(f"{where}.{name}Request: {request} is more than its limit, {limit}")
    return found


def _amount(text: str, where: str) -> float | None:
    if not text:
        return None
    try:
        return float(quantity.parse(text))
    except (quantity.NotAQuantity, OverflowError):
        raise UsageError(f"{where}: {text} is no quantity such as 500m or 16Gi") from None


def _capped(wanted: Wanted, where: str) -> Iterator[str]:
    most = wanted.oversubscription.most
    for name, factor in (
        ("memory", wanted.oversubscription.memory),
        ("cores", wanted.oversubscription.cores),
    ):
        if factor > most:
            yield f"{where}.oversubscription.{name}: {factor:g} counts as {most:g}, its most"
