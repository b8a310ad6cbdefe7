"""The annotations by which a Pod says how much of a card it wants, or which model it runs."""

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from berth import names
from berth.dialects.conversion import BYTES, Conversion, Size, parameters
from berth.model import quantity
from berth.model.decision import Problem, Reason
from berth.model.demand import Share
from berth.model.pod import Container
from berth.model.raw import Json
from berth.model.vendor import MIB

MOST_MIB = 2**20 - 1
_PERCENT = re.compile(r"([1-9]\d?|100)%", re.ASCII)
_SHOWN = 40
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
    warnings: tuple[str, ...] = ()

    def size(self, of: Container, share: Share) -> Size | None:
        """Return the memory of each card of a container that names none; None is all of it."""
        size = self.each.get(of.name, self.every)
        if size is None and self.model is not None:
            return Size(mib=self.by.presets.mib(*self.model, share.count))
        return size or self.by.default_memory

    def strangers(self, containers: Iterable[str]) -> Iterator[Problem]:
        """Yield the containers of the annotation that the Pod has not."""
        for name in sorted(self.each.keys() - {*containers}):
            what = f"the Pod has no container {name[:_SHOWN]}"
            yield _problem(names.GPU_MEMORY, what, "write the name of one that it has")


def read(annotations: Mapping[str, Json], by: Conversion) -> Asked:
    """Read them strictly: a wrong one is a Problem, never the whole card."""
    if annotations.keys().isdisjoint(names.SIZE_ANNOTATIONS):
        return Asked(by)
    problems: list[Problem] = []
    every, each = None, dict[str, Size]()
    for name, text in _parts(annotations.get(names.GPU_MEMORY), problems):
        size = parse(text)
        if size is None:
            problems.append(_problem(names.GPU_MEMORY, f"{text[:_SHOWN]!r} is no size", _SIZES))
        elif name:
            each[name] = size
        else:
            every = size
    return Asked(by, every, each, _model(annotations, by, problems), tuple(problems))


_SIZES = "write 16Gi, 40% or, by container, main=16Gi,side=40%"


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
    if not isinstance(text, str) or not text.strip():
        problems.append(_problem(names.GPU_MEMORY, "it says no size", _SIZES))
        return
    seen = set[str]()
    for part in text.split(","):
        name, sign, size = part.rpartition("=")
        name = name.strip()
        if name in seen or (sign and not name):
            problems.append(
                _problem(names.GPU_MEMORY, f"{part[:_SHOWN]!r} is one too many", _SIZES)
            )
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
        if value not in choices:
            what = f"{str(value)[:_SHOWN]!r} is none of them"
            problems.append(_problem(key, what, f"write one of {', '.join(choices)}"))
    if model is None:
        return None
    try:
        text = str(model).strip().lower()
        parameters(text)
    except ValueError:
        what = f"{str(model)[:_SHOWN]!r} is no number of parameters"
        problems.append(_problem(names.MODEL, what, "write 7b, 1.5b or 350m"))
    return (text, str(use), str(precision)) if len(problems) == known else None


def models(annotations: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the parts of model names that our own annotation lists."""
    text = annotations.get(names.GPU_MODEL)
    if not isinstance(text, str):
        return ()
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _problem(key: str, what: str, fix: str) -> Problem:
    return Problem(Reason.ANNOTATION, ("metadata", "annotations", key), what, fix)
