"""Kubernetes' quantity functions for CEL, on a stand-in that CEL can carry.

CEL's library knows no values but its own, so while it computes a quantity is text: its whole
number of nano, exact as in Kubernetes, which knows nothing smaller. While it checks types, a
quantity is a type of its own, so nobody can take one for a text. The functions are those of
Kubernetes' CEL library `quantity`.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from berth.model.quantity import NotAQuantity, parse

NANO = 10**9


class Kind(msgspec.Struct, frozen=True):
    """The types that CEL computes with, where a quantity is one of them."""

    quantity: Any
    string: Any
    boolean: Any
    integer: Any
    double: Any


class Function(msgspec.Struct, frozen=True):
    """One overload: what it takes and gives, as fields of `Kind`, and what it does."""

    name: str
    takes: tuple[str, ...]
    gives: str
    does: Callable[..., Any]
    member: bool = True


def text_of(amount: int) -> str:
    """Return the stand-in for a whole amount."""
    return str(amount * NANO)


def _read(text: str) -> str:
    return str(-int(-parse(text) * NANO // 1))  # up, as Kubernetes does


def readable(text: str) -> bool:
    """Whether a text is a quantity."""
    try:
        parse(text)
    except NotAQuantity:
        return False
    return True


def _compared(one: str, other: str) -> int:
    return (int(one) > int(other)) - (int(one) < int(other))


def _integer(one: str) -> int:
    whole, rest = divmod(int(one), NANO)
    if rest or not -(2**63) <= whole < 2**63:
        raise ValueError("cannot be an integer")
    return whole


def _is_integer(one: str) -> bool:
    whole, rest = divmod(int(one), NANO)
    return not rest and -(2**63) <= whole < 2**63


TWO = ("quantity", "quantity")
WITH_INTEGER = ("quantity", "integer")
FUNCTIONS = (
    Function("quantity", ("string",), "quantity", _read, member=False),
    Function("isQuantity", ("string",), "boolean", readable, member=False),
    Function("isGreaterThan", TWO, "boolean", lambda one, other: int(one) > int(other)),
    Function("isLessThan", TWO, "boolean", lambda one, other: int(one) < int(other)),
    Function("compareTo", TWO, "integer", _compared),
    Function("sign", ("quantity",), "integer", lambda one: _compared(one, "0")),
    Function("isInteger", ("quantity",), "boolean", _is_integer),
    Function("asInteger", ("quantity",), "integer", _integer),
    Function("asApproximateFloat", ("quantity",), "double", lambda one: int(one) / NANO),
    Function("add", TWO, "quantity", lambda one, other: str(int(one) + int(other))),
    Function("add", WITH_INTEGER, "quantity", lambda one, more: str(int(one) + more * NANO)),
    Function("sub", TWO, "quantity", lambda one, other: str(int(one) - int(other))),
    Function("sub", WITH_INTEGER, "quantity", lambda one, less: str(int(one) - less * NANO)),
)
