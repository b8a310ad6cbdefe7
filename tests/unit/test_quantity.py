"""Quantities against a second, simpler reading of Kubernetes' grammar, in decimals."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berth.model import quantity
from berth.model.raw import Json

EXPONENTS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}

signs = st.sampled_from(["", "+", "-"])
numbers = st.one_of(
    st.integers(0, 10**18).map(str),
    st.tuples(st.integers(0, 10**9), st.text("0123456789", min_size=1, max_size=9)).map(
        lambda parts: f"{parts[0]}.{parts[1]}"
    ),
)
suffixes = st.one_of(
    st.sampled_from([*EXPONENTS, *BINARY]),
    st.tuples(st.sampled_from("eE"), signs, st.integers(0, 99)).map(
        lambda parts: f"{parts[0]}{parts[1]}{parts[2]}"
    ),
)


def by_decimals(sign: str, number: str, suffix: str) -> Decimal:
    """Return the value of a well-formed quantity."""
    with localcontext(prec=400):
        value = Decimal(sign + number)
        if suffix in BINARY:
            return value * Decimal(1024) ** BINARY[suffix]
        exponent = EXPONENTS[suffix] if suffix in EXPONENTS else int(suffix[1:])
        return value.scaleb(exponent)


@given(signs, numbers, suffixes)
def test_a_quantity_has_its_exact_value(sign: str, number: str, suffix: str) -> None:
    """No rounding and no bound, whatever the suffix."""
    assert quantity.parse(sign + number + suffix) == Fraction(by_decimals(sign, number, suffix))


@given(signs, numbers, suffixes)
def test_a_whole_value_is_an_int(sign: str, number: str, suffix: str) -> None:
    """So that a Fraction always means "not whole"."""
    value = quantity.parse(sign + number + suffix)
    assert isinstance(value, int) is (Fraction(value).denominator == 1)


@given(st.integers(-(10**60), 10**60))
def test_a_number_reads_as_its_text(number: int) -> None:
    """A client may write 1 for "1"."""
    assert quantity.parse(number) == quantity.parse(str(number)) == number


@given(st.text(max_size=12))
def test_any_text_has_a_value_or_is_refused(text: str) -> None:
    """Nothing else is raised, and a value means that the text begins with a number."""
    try:
        quantity.parse(text)
    except quantity.NotAQuantity:
        return
    assert text.lstrip(" ")[:1] in set("+-.0123456789")


READ: dict[str, tuple[Json, int | Fraction]] = {
    "thousands": ("1k", 1000),
    "an exponent": ("1e3", 1000),
    "a capital exponent": ("1E3", 1000),
    "exa is no exponent": ("1E", 10**18),
    "kibi": ("1Ki", 1024),
    "thousandths that make one": ("1000m", 1),
    "a plus": ("+1", 1),
    "spaces around it": ("  1 ", 1),
    "a whole fraction": ("1.0", 1),
    "nothing after the point": ("1.", 1),
    "nothing before the point": (".5", Fraction(1, 2)),
    "leading zeros are decimal": ("010", 10),
    "a fraction of a GiB": ("1.5Gi", 1610612736),
    "nothing": ("0", 0),
    "minus nothing": ("-0", 0),
    "too small for Kubernetes": ("1e-30", Fraction(1, 10**30)),
    "too large for 64 bits": ("9223372036854775808", 2**63),
    "too large for most": ("1e999", 10**999),
    "64 digits": ("1" * 64, int("1" * 64)),
    "a JSON number": (1, 1),
    "a JSON fraction": (0.5, Fraction(1, 2)),
    "a whole JSON fraction": (1.0, 1),
    "a large JSON number": (1e22, 10**22),
}


@pytest.mark.parametrize(("raw", "value"), READ.values(), ids=READ.keys())
def test_read(raw: Json, value: int | Fraction) -> None:
    """Spellings that Kubernetes takes."""
    assert quantity.parse(raw) == value


REFUSED: dict[str, Json] = {
    "no text": "",
    "spaces alone": "  ",
    "a newline after": "1\n",
    "a space within": "1 Gi",
    "full-width digits": "\uff11",
    "Arabic digits": "\u0661",
    "superscript digits": "²",
    "65 digits": "1" * 65,
    "a letter alone": "k",
    "a sign alone": "-",
    "a point alone": ".",
    "two points": "1.2.3",
    "two signs": "--1",
    "two suffixes": "1kk",
    "a kilo in capitals": "1K",
    "a byte": "4GB",
    "a kibi in small letters": "1ki",
    "an exponent without a number": "1e",
    "an exponent with a fraction": "1e1.5",
    "an exponent of four digits": "1e1000",
    "an exponent and a suffix": "1e3k",
    "a percentage": "50%",
    "hexadecimal": "0x10",
    "an underscore": "1_000",
    "infinity": "inf",
    "not a number": "NaN",
    "a truth": True,
    "nothing at all": None,
    "a list": ["1"],
    "an object": {"value": "1"},
    "infinity as a number": float("inf"),
    "not a number as a number": float("nan"),
}


@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED.keys())
def test_refused(raw: Json) -> None:
    """Spellings that Kubernetes does not take, and numbers too long to be honest."""
    with pytest.raises(quantity.NotAQuantity):
        quantity.parse(raw)
