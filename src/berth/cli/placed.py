"""Where a Pod could go, in words for people; as JSON for scripts in `placed_rows`."""

from collections.abc import Iterator, Sequence

from berth.cli.where import Now, Where
from berth.model.charge import Claim, Source
from berth.model.request import DeviceRequest, Shape
from berth.model.said import Fact, Facts, Said
from berth.placement.learned import Learned
from berth.placement.scarcity import FIRST
from berth.words.catalogue import CATALOGUES, Language

SHOWN = 5
"""Of candidates, and of what was learned."""
_SOURCES = {
    Source.RECORDED: "part.recorded",
    Source.DECIDED: "part.decided",
    Source.GUESSED: "part.guessed",
}


def said(found: Where, language: Language) -> Iterator[str]:
    """Yield lines: a few whatever the size of the fleet, as nodes are told of by classes."""
    if found.now is not None:
        for one in _standing(found.now, found.models, language):
            yield one.text(language)
    yield Said("place.policy", {"policy": found.policy, "by": found.chosen_by}).text(language)
    counts = {"fitting": found.fitting, "nodes": found.nodes}
    yield Said("place.fitting", counts).text(language)
    for line in _candidates(found, language):
        yield f"  {line.text(language)}"
    if found.without:
        others = sum(one.nodes for one in found.without)
        yield Said("place.others", {"count": others}).text(language)
        yield from (f"  {one.said.text(language)}" for one in found.without)
    if not found.fitting:
        yield _outlook(found).text(language)


def _candidates(found: Where, language: Language) -> Iterator[Said]:
    for place, one in enumerate(found.candidates[:SHOWN], 1):
        held = _held(one.devices, found.models, language)
        facts: Facts = {"place": place, "node": one.node, "held": held}
        if one.score is None:
            yield Said("place.unscored", facts)
        else:
            yield Said("place.candidate", {**facts, "score": f"{one.score:g}"})
    if found.fitting > SHOWN:
        more = found.fitting - min(SHOWN, len(found.candidates))
        yield Said("place.more", {"count": more})


def _standing(now: Now, models: dict[str, str], language: Language) -> Iterator[Said]:
    if now.held is None:
        yield Said("place.no-node", {"phase": now.phase})
    else:
        held = _held(now.held.claims, models, language)
        facts: Facts = {"phase": now.phase, "node": now.held.node, "held": held}
        if now.held.claims and now.held.source in _SOURCES:
            source = Said(_SOURCES[now.held.source])
            yield Said("place.node-known", {**facts, "source": source})
        else:
            yield Said("place.node", facts)
    if now.decided is not None and now.decided.policy:
        reason = {"reason": now.decided.reason}
        if now.decided.node:
            yield Said("place.decided-node", {"node": now.decided.node, **reason})
        else:
            yield Said("place.decided", reason)


def _outlook(found: Where) -> Said:
    later = sum(one.nodes for one in found.without if one.waiting_helps)
    return Said("place.waiting-helps", {"nodes": later}) if later else Said("place.waiting-is-vain")


def _held(claims: Sequence[Claim], models: dict[str, str], language: Language) -> Fact:
    if not claims:
        return Said("part.no-card")
    marks = CATALOGUES[language]
    by_container: dict[str, list[str]] = {}
    for one in claims:
        name = one.container or Said("part.some-container").text(language)
        by_container.setdefault(name, []).append(_claim(one, models, language))
    each = (f"{name} {marks.comma.join(cards)}" for name, cards in by_container.items())
    return marks.semicolon.join(each)


def _claim(claim: Claim, models: dict[str, str], language: Language) -> str:
    parts = [models.get(claim.uuid) or "", claim.profile]
    if claim.memory_mib is None:
        parts.append(Said("part.held-all-memory").text(language))
    else:
        parts.append(f"{claim.memory_mib} MiB")
    if claim.cores is None:
        parts.append(Said("part.held-all-cores").text(language))
    elif claim.cores:
        parts.append(Said("part.held-cores", {"cores": claim.cores}).text(language))
    return f"{claim.uuid} ({CATALOGUES[language].comma.join(filter(None, parts))})"


def taught(found: Learned, language: Language) -> Iterator[str]:
    """Yield lines on what the default policy has learned."""
    if found.arrivals < FIRST:
        facts: Facts = {"count": found.arrivals, "first": FIRST}
        yield Said("learned.little", facts).text(language)
        return
    pace = f"{found.departures_per_arrival:.2f}"
    yield Said("learned.pace", {"count": found.arrivals, "pace": pace}).text(language)
    yield from (f"  {one.text(language)}" for one in _lessons(found, language))


def _lessons(found: Learned, language: Language) -> Iterator[Said]:
    marks = CATALOGUES[language]
    heavy = [(of, weight) for of, weight in found.weights if weight > 0][:SHOWN]
    if heavy:
        shapes = (f"{shape(of).text(language)} {weight:.3g}" for of, weight in heavy)
        yield Said("learned.weights", {"shapes": marks.semicolon.join(shapes)})
    groups = [
        Said("part.group", {"size": size, "price": f"{price:.2f}"}).text(language)
        for size, price in found.groups.items()
        if price
    ]
    if groups:
        yield Said("learned.groups", {"costs": marks.comma.join(groups)})
    kinds = [f"{kind.model} {price:.2f}" for kind, price in found.kinds.items() if price >= 0.01]
    if kinds:
        yield Said("learned.kinds", {"costs": marks.comma.join(kinds)})


def shape(of: Shape) -> Said:
    """Say what Pods of a shape ask for."""
    if of.request is None:
        return Said("part.shape-cpu", {"cpu": of.cpu_milli})
    return Said("part.shape", {"wants": _wants(of.request), "cpu": of.cpu_milli})


def _wants(request: DeviceRequest) -> Said:
    cards: Facts = {"count": request.count, "vendor": request.vendor}
    if request.whole:
        return Said("part.wants-alone", cards)
    if request.memory_mib is not None:
        return Said("part.wants-memory", {**cards, "mib": request.memory_mib})
    return Said("part.wants-percent", {**cards, "percent": request.memory_percent or 100})
