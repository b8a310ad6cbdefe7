"""Which cards a Pod chooses, said in another dialect's annotations."""

from collections.abc import Iterable, Iterator, Mapping

from berth import names
from berth.dialects import wanted_size
from berth.dialects.conversion import Conversion
from berth.dialects.losses import lose
from berth.model.demand import NO_WISHES, Share, Wishes
from berth.model.edit import Change, Put
from berth.model.loss import Loss
from berth.model.pod import Pod
from berth.model.said import Facts, Said
from berth.model.vendor import Selectors, Vendor


def chosen(shares: tuple[Share, ...], pod: Pod, by: Conversion) -> list[Change]:
    """Return the annotations that choose cards; they are the Pod's, and so every share's.

    Each dialect has its own, and a Pod may speak several: once for each.
    """
    if not pod.annotations:
        return []
    return once(
        change
        for share in each_spoken(shares)
        if share.vendor.name in by.targets
        for change in wishes(pod, share, by.targets[share.vendor.name], by)
    )


def each_spoken(shares: tuple[Share, ...]) -> Iterable[Share]:
    """Return one share of each accelerator and dialect, whose annotations they all have."""
    found: dict[tuple[str, str], Share] = {}
    for share in shares:
        found.setdefault((share.vendor.name, share.vendor.dialect), share)
    return found.values()


def once(changes: Iterable[Change]) -> list[Change]:
    """Return changes without those that two dialects have alike."""
    found: list[Change] = []
    for one in changes:
        if one not in found:
            found.append(one)
    return found


def wishes(pod: Pod, share: Share, words: Vendor, by: Conversion) -> Iterator[Change]:
    """Yield the annotations that choose cards, in the words of another dialect."""
    if share.wishes == NO_WISHES and names.GPU_MODEL not in pod.annotations:
        return
    mine, theirs, wished = words.selectors, share.vendor.selectors, share.wishes
    for loss, key, origins, text in _chosen(wished, mine, theirs):
        if not key:
            origin = next((one for one in origins if one in pod.annotations), names.GPU_MODEL)
            path = ("metadata", "annotations", origin)
            yield from lose(by, loss, path, Said("part.lost-choice", {"dialect": words.dialect}))
        elif key not in pod.annotations:
            said = wanted_size.models(pod.annotations) if key == mine.models else ()
            value = ",".join(said) or text
            why = Said("why.choice", {"dialect": words.dialect})
            yield Put(("metadata", "annotations", key), value, why)
    ours = wanted_size.models(pod.annotations)
    if theirs.models in pod.annotations and ours and {*map(str.lower, ours)} != {*wished.models}:
        named: Facts = {
            "path": ("metadata", "annotations", names.GPU_MODEL),
            "name": theirs.models,
        }
        yield Said("no-effect.model", named)
    if share.vendor.dialect == "hami" and words.dialect != "hami":
        yield from _lost_policies(wished, words, by)


def _lost_policies(wished: Wishes, words: Vendor, by: Conversion) -> Iterator[Change]:
    for key, there in policies(wished).items():
        if there:
            what = Said("part.lost-policy", {"dialect": words.dialect})
            yield from lose(by, Loss.POLICY, ("metadata", "annotations", key), what)


_Chosen = tuple[Loss, str, tuple[str, ...], str]


def _chosen(wished: Wishes, mine: Selectors, theirs: Selectors) -> Iterator[_Chosen]:
    """Yield each choice that is made: its loss, the key that says it, those that did, the text."""
    uuids = ",".join(sorted(wished.uuids)) if wished.uuids is not None else ""
    not_uuids = ",".join(sorted(wished.not_uuids))
    for loss, keys, origins, text in (
        (Loss.MODELS, (mine.models,), (theirs.models,), ",".join(wished.models)),
        (Loss.MODELS, (mine.not_models,), (theirs.not_models,), ",".join(wished.not_models)),
        (Loss.NUMA, (mine.numa,), (theirs.numa,), "true" if wished.numa else ""),
        (Loss.MODE, (mine.mode,), (theirs.mode,), wished.mode),
        (Loss.DEVICES, mine.uuids, theirs.uuids, uuids),
        (Loss.DEVICES, mine.not_uuids, theirs.not_uuids, not_uuids),
    ):
        if text:
            yield loss, keys[0] if keys else "", origins, text


def policies(wished: Wishes) -> Mapping[str, object]:
    """Return what HAMi alone compares by, under the annotations that say so."""
    return {
        names.NODE_POLICY: wished.node_policy,
        names.DEVICE_POLICY: wished.device_policy,
        names.WEIGHTS: wished.weights,
    }
