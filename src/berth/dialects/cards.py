"""What the cards of the cluster can give, as far as they are known, of what a share asks for."""

from collections.abc import Iterable, Iterator, Mapping

from berth import names
from berth.dialects.conversion import Conversion
from berth.dialects.dialect import Beyond
from berth.model.card import Card
from berth.model.demand import Share
from berth.model.pod import Container
from berth.model.problem import Problem
from berth.model.raw import Json, Path
from berth.model.said import Facts, Said
from berth.model.vendor import Vendor

_SHOWN, _KNOWN = 40, 200
"""Characters of the models that a Pod names, and of those that there are."""


def possible(share: Share, cards: Iterable[Card]) -> list[int]:
    """Return the memory sizes of the cards that the Pod may get, each once, ascending."""
    return sorted({card.memory_mib for card in _eligible(share, cards)})


def _eligible(share: Share, cards: Iterable[Card]) -> list[Card]:
    wished = share.wishes
    found = []
    for card in cards:
        model = card.model.lower()
        if card.vendor != share.vendor.name or any(part in model for part in wished.not_models):
            continue
        if not wished.models or any(part in model for part in wished.models):
            found.append(card)
    return found


def unknown(of: Container, share: Share, cards: Iterable[Card]) -> Problem:
    """Refuse percent of nobody knows what (Volcano from 1.13 on would never schedule it)."""
    sizes = possible(share, cards)
    about: Facts = {"percent": share.memory_percent or 0, "key": names.GPU_MODEL}
    path = _place(of, share.vendor)
    if not sizes:
        return Problem("unknown-size.none", path, about)
    listed = ", ".join(map(str, sizes))
    return Problem("unknown-size.several", path, {**about, "sizes": listed})


def beyond(
    of: Container, share: Share, annotations: Mapping[str, Json], by: Conversion
) -> Iterator[Beyond]:
    """Yield what no card, or no node, of this cluster has; nothing where none is known."""
    mine = [card for card in by.cards if card.vendor == share.vendor.name]
    cards = _eligible(share, mine)
    if not cards:
        if mine and share.wishes.models:
            yield _no_model(share, annotations, mine)
        return
    path, asked = _place(of, share.vendor), share.memory_mib or 0
    most = max(card.memory_mib for card in cards)
    if asked > most:
        sizes = ", ".join(map(str, possible(share, cards)))
        about: Facts = {"mib": asked, "sizes": sizes, "most": most}
        told = Said("beyond.memory", {"path": path, "mib": asked, "most": most})
        yield Beyond(Problem("no-such-card.memory", path, about), told)
    largest = max(card.most for card in cards)
    if largest and share.count > largest:
        if share.vendor.count:
            path = (*of.path, "resources", "limits", share.vendor.count)
        about = {"count": share.count, "largest": largest}
        told = Said("beyond.count", {"path": path, "count": share.count, "largest": largest})
        yield Beyond(Problem("no-such-card.count", path, about), told)


def _no_model(share: Share, annotations: Mapping[str, Json], cards: Iterable[Card]) -> Beyond:
    models, known = ",".join(share.wishes.models), ", ".join(sorted({one.model for one in cards}))
    theirs = share.vendor.selectors.models
    path = ("metadata", "annotations", theirs if theirs in annotations else names.GPU_MODEL)
    about: Facts = {"models": models[:_SHOWN], "known": known[:_KNOWN]}
    return Beyond(
        Problem("no-such-card.model", path, about),
        Said("beyond.model", {"path": path, "models": models[:_SHOWN]}),
    )


def _place(of: Container, vendor: Vendor) -> Path:
    if vendor.selectors.asking:
        return ("metadata", "annotations", vendor.selectors.asking[0])
    names_there = (vendor.memory, vendor.memory_percent, vendor.count)
    there = (one for one in names_there if one and one in of.limits)
    return (*of.path, "resources", "limits", next(there, vendor.count))
