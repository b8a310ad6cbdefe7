"""Expressions in CEL about a card and its node: read, type-checked, and made ready to compute.

By cel-expr-python, Google's own implementation (docs/decisions/0031-cel.md). It is imported when
there is an expression.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from berth import closest
from berth.errors import UsageError
from berth.placement.quantities import FUNCTIONS, Kind, readable

if TYPE_CHECKING:
    from cel_expr_python import cel

VARIABLES = {
    "device.uuid": "string",
    "device.vendor": "string",
    "device.model": "string",
    "device.mode": "string",
    "device.numa": "integer",
    "device.memory.total": "quantity",
    "device.memory.free": "quantity",
    "device.cores.total": "integer",
    "device.cores.free": "integer",
    "device.slots.total": "integer",
    "device.slots.free": "integer",
    "device.holders": "integer",
    "node.name": "string",
    "node.labels": "labels",
}
"""What an expression may ask for. Cores are percent of a card, -1 is a NUMA node not known."""
STANDARD = ("contains", "endsWith", "matches", "size", "startsWith", "exists", "all", "has")
"""Functions of CEL itself that are commonly meant: for suggestions alone."""
_PLACE = re.compile(r"<input>:(\d+):(\d+): (.*)")
_LITERAL = re.compile(r"""\bquantity\(\s*(['"])([^'"]*)\1\s*\)""")
_UNKNOWN = re.compile(r"undeclared reference to '([^']*)'")


class Program(msgspec.Struct, frozen=True):
    """An expression that has passed the checks."""

    names: tuple[str, ...]
    """The variables that it may ask for, of those that there are."""
    passes: Callable[[Mapping[str, object]], bool]
    """Compute it from their values; whatever cannot be computed does not pass."""


@lru_cache(maxsize=256)
def program(expression: str) -> Program:
    """Read an expression. Raises UsageError, with the place of what is wrong and what is meant."""
    for literal in _LITERAL.finditer(expression):
        if not readable(literal[2]):
            place = f"column {literal.start() + 1}"
            raise UsageError(f'{place}: "{literal[2]}" is no quantity; write one such as "10Gi"')
    checking, computing = _environments()
    try:
        kind = checking.compile(expression).return_type()
        ready = computing.compile(expression)
    except RuntimeError as error:
        raise UsageError(_plainly(str(error))) from None
    if kind.name() != "BOOL":
        raise UsageError(f"gives {kind.name().lower()}; write a condition, which is true or false")

    def passes(values: Mapping[str, object]) -> bool:
        try:
            return ready.eval(data=values).value() is True
        except RuntimeError:
            return False

    return Program(tuple(name for name in VARIABLES if _asks(expression, name)), passes)


def _asks(expression: str, name: str) -> bool:
    """Whether an expression may ask for a variable: also where its words stand in a text."""
    return re.search(r"\b" + r"\s*\.\s*".join(name.split(".")) + r"\b", expression) is not None


@lru_cache(maxsize=1)
def _environments() -> "tuple[cel.Env, cel.Env]":
    """Return one to check types in, where a quantity is a type, and one to compute in."""
    from cel_expr_python import cel  # noqa: PLC0415  14 MB that few need

    return (
        _environment(cel, cel.Type.AbstractType("kubernetes.Quantity")),
        _environment(cel, cel.Type.STRING),
    )


def _environment(cel: Any, quantity: Any) -> "cel.Env":
    kinds = Kind(
        quantity=quantity,
        string=cel.Type.STRING,
        boolean=cel.Type.BOOL,
        integer=cel.Type.INT,
        double=cel.Type.DOUBLE,
    )
    types = msgspec.structs.asdict(kinds)
    types["labels"] = cel.Type.Map(cel.Type.STRING, cel.Type.STRING)
    overloads = dict[str, list[Any]]()
    for one in FUNCTIONS:
        overload = cel.Overload(
            f"{one.name}_{'_'.join(one.takes)}",
            return_type=types[one.gives],
            parameters=[types[kind] for kind in one.takes],
            is_member=one.member,
            impl=one.does,
        )
        overloads.setdefault(one.name, []).append(overload)
    return cel.NewEnv(
        variables={name: types[kind] for name, kind in VARIABLES.items()},
        functions=[cel.FunctionDecl(name, each) for name, each in overloads.items()],
    )


def _plainly(error: str) -> str:
    """Return the first of CEL's complaints, with what may have been meant."""
    found = _PLACE.search(error)
    if found is None:
        return " ".join(error.split())
    line, column, what = found.groups()
    place = f"column {column}" if line == "1" else f"line {line}, column {column}"
    unknown = _UNKNOWN.search(what)
    if unknown is None:
        return f"{place}: {what}"
    known = {*VARIABLES, *STANDARD, *(one.name for one in FUNCTIONS)}
    meant = closest.hint(unknown[1], known) or f"; known are {', '.join(sorted(VARIABLES))}"
    return f"{place}: there is no {unknown[1]}{meant}"
