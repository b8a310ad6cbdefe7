"""The annotations by which a Pod says how much of a card it wants, or which model it runs."""

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from berth import names
from berth.dialects.conversion import BYTES, Conversion, Size, parameters
from berth.dialects.unfit import MOST_MIB
from berth.model import quantity
from berth.model.demand import Share
from berth.model.pod import Container
from berth.model.problem import Problem
from berth.model.quantity import MIB
from berth.model.raw import Json
from berth.model.said import Facts, Said

_PERCENT = re.compile(r"([1-9]\d?|100)%", re.ASCII)
_SHOWN = 40
_MOST_PARTS = 1000
"""More than any Pod has containers: a million of them would be read for a minute."""
_PRECISION = "bf16"
_USE = "inference"


class Asked(msgspec.Struct, frozen=True):
    """What the annotations of a Pod come to."""

    by: Conversion
    every: Size | None = None
    each: Mapping[str, Size] = {}
    """By container."""
    model: tuple[str, str, str] | None = None
    """Size, use and precision."""
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Said, ...] = ()
    silent: bool = False
    """Whether they say nothing at all."""

    def size(self, of: Container, share: Share) -> Size | None:
        """Return the memory of each card of a container that names none; None is all of it."""
        size = self.each.get(of.name, self.every)
        if size is None and self.model is not None:
            return Size(mib=self.by.presets.mib(*self.model, share.count))
        return size or self.by.default_memory

    def strangers(self, containers: Iterable[str]) -> Iterator[Problem]:
        """Yield the containers of the annotation that the Pod has not."""
        for name in sorted(self.each.keys() - {*containers}):
            about = {"container": name[:_SHOWN]}
            yield _problem(names.GPU_MEMORY, "annotation.no-container", about)

    def unused(self, containers: Iterable[str]) -> Iterator[Said]:
        """Yield which of these containers, as they want no device, the annotation names in vain."""
        for name in sorted(self.each.keys() & {*containers}):
            path = ("metadata", "annotations", names.GPU_MEMORY)
            yield Said("no-effect.container", {"path": path, "container": name[:_SHOWN]})


def read(annotations: Mapping[str, Json], by: Conversion) -> Asked:
    """Read them strictly: a wrong one is a Problem, never the whole card."""
    if annotations.keys().isdisjoint(names.SIZE_ANNOTATIONS):
        return Asked(by, silent=True)
    problems: list[Problem] = []
    every, each = None, dict[str, Size]()
    for name, text in _parts(annotations.get(names.GPU_MEMORY), problems):
        size = parse(text)
        if size is None:
            about = {"shown": text[:_SHOWN]}
            problems.append(_problem(names.GPU_MEMORY, "annotation.size", about))
        elif name:
            each[name] = size
        else:
            every = size
    if names.GPU_MODEL in annotations and not models(annotations):
        shown = {"shown": repr(annotations[names.GPU_MODEL])[:_SHOWN]}
        problems.append(_problem(names.GPU_MODEL, "annotation.list", shown))
    model = _model(annotations, by, problems)
    return Asked(by, every, each, model, tuple(problems), tuple(_idle(annotations)))


def parse(text: str) -> Size | None:
    """Read 16Gi, 512Mi or 40%; None is no size."""
    text = text.strip()
    if found := _PERCENT.fullmatch(text):
        return Size(percent=int(found[1]))
    try:
        value = quantity.parse(text)
    except quantity.NotAQuantity:
        return None
    if not isinstance(value, int) or value % MIB or not 0 < value // MIB <= MOST_MIB:
        return None
    return Size(mib=value // MIB)


def _parts(text: Json, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    """Yield container and size, "" for every container."""
    if text is None:
        return
    if not isinstance(text, str) or not text.strip() or text.count(",") >= _MOST_PARTS:
        shown = {"shown": str(text)[:_SHOWN]}
        problems.append(_problem(names.GPU_MEMORY, "annotation.size", shown))
        return
    seen = set[str]()
    for part in text.split(","):
        name, sign, size = part.rpartition("=")
        name = name.strip()
        if name in seen or (sign and not name):
            about = {"shown": part[:_SHOWN]}
            problems.append(_problem(names.GPU_MEMORY, "annotation.size-twice", about))
        seen.add(name)
        yield name, size


def _model(
    annotations: Mapping[str, Json], by: Conversion, problems: list[Problem]
) -> tuple[str, str, str] | None:
    model = annotations.get(names.MODEL)
    use = annotations.get(names.MODEL_USE, _USE)
    precision = annotations.get(names.MODEL_PRECISION, _PRECISION)
    known = len(problems)
    for key, value, choices in (
        (names.MODEL_USE, use, by.presets.factors),
        (names.MODEL_PRECISION, precision, BYTES),
    ):
        if str(value) not in choices:
            about = {"shown": str(value)[:_SHOWN], "known": ", ".join(choices)}
            problems.append(_problem(key, "annotation.choice", about))
    if model is None:
        return None
    try:
        text = str(model).strip().lower()
        parameters(text)
    except ValueError:
        shown = {"shown": str(model)[:_SHOWN]}
        problems.append(_problem(names.MODEL, "annotation.model", shown))
    return (text, str(use), str(precision)) if len(problems) == known else None


def _idle(annotations: Mapping[str, Json]) -> Iterator[Said]:
    """Yield what is said of a model whose size is not."""
    for key in (names.MODEL_USE, names.MODEL_PRECISION):
        if key in annotations and names.MODEL not in annotations:
            path = ("metadata", "annotations", key)
            yield Said("no-effect.alone", {"path": path, "name": names.MODEL})


def models(annotations: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the parts of model names that our own annotation lists."""
    text = annotations.get(names.GPU_MODEL)
    if not isinstance(text, str):
        return ()
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _problem(key: str, code: str, facts: Facts) -> Problem:
    return Problem(code, ("metadata", "annotations", key), facts)
