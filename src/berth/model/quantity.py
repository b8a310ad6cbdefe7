"""Kubernetes quantities ("1500m", "16Gi", "1e3") as exact numbers.

The grammar is that of apimachinery's resource.Quantity:
<sign><digits, at most one point><suffix>, where the suffix is binary (Ki … Ei),
decimal (n u m k M G T P E) or an exponent (e3, E-2). Spaces around it count for nothing.
"""

import re
from fractions import Fraction

from berth.model.raw import Json

_FORM = re.compile(
    r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?P<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,3})?",
    re.ASCII,
)
MIB = 2**20
LONGEST = 64  # no honest quantity is longer, and huge integers are slow to read
_SCALE = {
    suffix: Fraction(1024) ** power
    for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)
} | {
    suffix: Fraction(10) ** power
    for suffix, power in zip("numkMGTPE", (-9, -6, -3, 3, 6, 9, 12, 15, 18), strict=True)
}


class NotAQuantity(ValueError):  # noqa: N818  reads as what it says
    """The text or number is outside the grammar."""


def parse(raw: Json) -> int | Fraction:
    """Return the exact value of a quantity, an int where it is whole.

    `raw` is text, or a JSON number as clients may write it. Raises NotAQuantity.
    """
    if isinstance(raw, str):
        text = raw.strip(" ")
    elif isinstance(raw, (int, float)) and not isinstance(raw, bool):
        text = repr(raw)
    else:
        raise NotAQuantity
    if len(text) > LONGEST:
        raise NotAQuantity
    if text.isascii() and text.isdigit():
        return int(text)
    form = _FORM.fullmatch(text)
    if form is None:
        raise NotAQuantity
    value = Fraction(form["number"].rstrip(".")) * _scale(form["suffix"])
    return value.numerator if value.denominator == 1 else value


def _scale(suffix: str | None) -> Fraction:
    if suffix is None:
        return Fraction(1)
    if suffix in _SCALE:
        return _SCALE[suffix]
    return Fraction(10) ** int(suffix[1:])
