"""What a device's user needs in its container where the node side does not see to it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from berth.admission.rules import EnvEntry, Injection
from berth.model import quantity
from berth.model.demand import Demand
from berth.model.edit import Append, Change, Put
from berth.model.pod import Container, Pod
from berth.model.problem import Problem
from berth.model.raw import Json, JsonObject, Path
from berth.model.said import Said


def changes(pod: Pod, demand: Demand, injection: Injection) -> Iterator[Change]:
    """Yield the edits of one injection for containers with a device of its vendor."""
    why = Said("why.injection", {"injection": injection.name})
    users = _users(demand, injection)
    if not users:
        return
    for container in users:
        for entry in injection.env:
            yield from _env(container, entry, why)
        mounts = (*container.path, "volumeMounts")
        yield from _missing(injection.mounts, container.mounts, "mountPath", (mounts, why))
    yield from _missing(injection.volumes, pod.volumes, "name", (("spec", "volumes"), why))
    yield from _annotations(pod.annotations, injection.annotations, why)
    for toleration in injection.tolerations:
        if not any(_tolerates(present, toleration) for present in pod.tolerations):
            yield Append(("spec", "tolerations"), dict(toleration), why)


def problems(pod: Pod, demand: Demand, injection: Injection) -> Iterator[Problem]:
    """Yield what stands where ours should: another volume of its name, or a mount at its path."""
    users = _users(demand, injection)
    places: list[tuple[Path, str, Sequence[JsonObject], Sequence[JsonObject]]] = []
    if users:
        places.append((("spec", "volumes"), "name", injection.volumes, pod.volumes))
    for container in users:
        path = (*container.path, "volumeMounts")
        places.append((path, "mountPath", injection.mounts, container.mounts))
    for path, key, wanted, there in places:
        for entry in wanted:
            twins = [present for present in there if _place(present, key) == _place(entry, key)]
            if twins and not any(_within(entry, twin) for twin in twins):
                facts = {"entry": str(entry.get(key)), "injection": injection.name, "key": key}
                yield Problem("clash", path, facts)


def _users(demand: Demand, injection: Injection) -> list[Container]:
    return [
        wanted.container
        for wanted in demand.containers
        if wanted.share
        and injection.vendor in (wanted.share.vendor.name, wanted.share.vendor.family)
    ]


def _env(container: Container, entry: EnvEntry, why: Said) -> Iterator[Change]:
    path = (*container.path, "env")
    places = container.places(entry.name)
    if not places:
        yield Append(path, {"name": entry.name, "value": entry.value}, why)
        return
    theirs = container.value(places[-1])
    if theirs == entry.value:
        return
    if theirs is None or not entry.joined_by:
        yield Said("kept.variable", {"path": path, "name": entry.name, "why": why})
    elif not _joined_in(entry, theirs):
        joined = entry.joined_by.join(part for part in (entry.value, theirs) if part)
        yield Put((*path, places[-1]), {"name": entry.name, "value": joined}, why)


def _joined_in(entry: EnvEntry, theirs: str) -> bool:
    """Whether our value, which may have several parts itself, stands in the joined value."""
    between = entry.joined_by
    return f"{between}{entry.value}{between}" in f"{between}{theirs}{between}"


def _missing(
    wanted: Iterable[JsonObject], there: Iterable[JsonObject], key: str, place: tuple[Path, Said]
) -> Iterator[Change]:
    """Append what lacks; an entry of the same `key` is ours, or `problems` has refused the Pod."""
    path, why = place
    for entry in wanted:
        if not any(_place(present, key) == _place(entry, key) for present in there):
            yield Append(path, dict(entry), why)


def _place(entry: JsonObject, key: str) -> Json:
    """Return by what an entry is told from others: /lib/ is mounted where /lib is."""
    found = entry.get(key)
    return found.rstrip("/") if key == "mountPath" and isinstance(found, str) else found


def _within(ours: Json, theirs: Json) -> bool:
    """Whether `theirs` says all that `ours` does.

    kube-apiserver adds defaults, such as `type`, and writes quantities its own way: 1024Mi as 1Gi.
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return all(key in theirs and _within(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_within, ours, theirs))
    if ours == theirs:
        return True
    try:
        return quantity.parse(ours) == quantity.parse(theirs)
    except quantity.NotAQuantity:
        return False


def _annotations(
    there: Mapping[str, Json], wanted: Mapping[str, str], why: Said
) -> Iterator[Change]:
    for key, value in wanted.items():
        path = ("metadata", "annotations", key)
        if key not in there:
            yield Put(path, value, why)
        elif there[key] != value:
            yield Said("kept.annotation", {"path": path, "why": why})


def _tolerates(present: JsonObject, wanted: JsonObject) -> bool:
    """Whether `present` tolerates what `wanted` does: `Exists` without a key tolerates all."""
    effect = present.get("effect")
    if effect and effect != wanted.get("effect"):
        return False
    if present.get("operator") == "Exists":
        return not present.get("key") or present.get("key") == wanted.get("key")
    same = ("key", "operator", "value")
    return all((present.get(name) or "") == (wanted.get(name) or "") for name in same)
