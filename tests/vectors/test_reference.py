"""The table of vectors in the documentation is complete, and names tests that there are."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
TABLE = TESTS.parent / "docs/reference/admission-vectors.md"
COUNTS = {"W": 22, "O": 15, "M": 10, "R": 22, "C": 13, "K": 15, "I": 11, "L": 15}


def test_every_vector_has_a_test() -> None:
    """Each number stands once, in order, and its last cell names a test."""
    rows = re.findall(r"^\| ([A-Z]\d+) \|.*\| (.+) \|$", TABLE.read_text(), re.MULTILINE)
    wanted = [f"{section}{n}" for section, count in COUNTS.items() for n in range(1, count + 1)]
    assert [number for number, _ in rows] == wanted
    assert not [number for number, cell in rows if "`test_" not in cell]


def test_every_test_in_the_table_exists() -> None:
    """A test that is renamed is renamed in the table too, and one with a number stands there."""
    named = set(re.findall(r"`(test_\w+)`", TABLE.read_text()))
    folders = (TESTS / name for name in ("wire", "vectors", "fuzz", "e2e"))
    source = "".join(file.read_text() for folder in folders for file in folder.glob("test_*.py"))
    assert named == set(re.findall(r"^def (test_[womrckil]\d+_\w+)", source, re.MULTILINE))
