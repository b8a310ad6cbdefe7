"""The page on differences names what exists, and what exists names it rightly."""

import re
from pathlib import Path

import msgspec

from berth import layered, settings
from berth.vendors import SECTIONS
from tests.hami import test_nvidia

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/differences.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|") and not line.startswith("|---")
]
FIVE = [row for row in ROWS if row[1:2] == ["HAMi, or common"] or len(row) == 5]


def test_every_difference_says_what_why_and_how_to_change_it() -> None:
    """No cell of a row is empty, and no two rows share a name."""
    assert all(all(row) for row in FIVE)
    named = [row[0] for row in FIVE if row[0] != "What"]
    assert len(named) == len(set(named))


def test_the_tests_name_rows_that_exist() -> None:
    """A comment that says differences, "x" leads somewhere."""
    named = {row[0] for row in FIVE}
    folder = Path(test_nvidia.__file__).parent
    files = [*folder.glob("*.py"), *(folder.parent / "vendors").glob("*.py")]
    text = "\n".join(file.read_text() for file in files)
    mentioned = set(re.findall(r'differences,\s*"([^"]+)"', text))
    assert mentioned
    assert mentioned <= named


def test_the_settings_and_keys_named_exist() -> None:
    """A reader may copy them."""
    knobs = {".".join(keys) for keys, _ in layered.knobs(settings.Settings)}
    defaults = msgspec.to_builtins([section.default for section in SECTIONS])
    keys = set(re.findall(r"'([A-Za-z]+)':", str(defaults)))
    named = {name for row in FIVE for name in re.findall(r"`([a-z]+\.?[A-Za-z]+)`", row[-1])}
    values = {"auto", "skip", "deny", "warn", "allow", "remove", "keep"}
    assert named - knobs - keys <= values


def test_all_weaknesses_are_answered() -> None:
    """Each of the 41, once and in order."""
    numbered = [row[0] for row in ROWS if len(row) == 3 and row[0].isdigit()]
    assert numbered[:41] == [str(number) for number in range(1, 42)]


REPORTS = (ROOT / "docs/reference/bug-reports.md").read_text()


def _reports(file: Path) -> set[str]:
    """Return the numbers in the names of tests, of those on bugs, and in docstrings."""
    text = file.read_text()
    in_bugs = file.parent.name == "bugs"
    names = re.findall(r"^def test_((?:r\d+_)+)", text, re.MULTILINE) if in_bugs else []
    return {*re.findall(r"\d+", " ".join(names)), *re.findall(r"[Bb]ug report (\d+)", text)}


def test_each_bug_report_has_a_row_with_its_tests() -> None:
    """And the other way round: a row that names tests names all that carry its number."""
    tests = ROOT / "tests"
    files = {str(one.relative_to(tests)): _reports(one) for one in tests.rglob("test_*.py")}
    rows = dict(re.findall(r"^\| (\d+) (\|.*)$", REPORTS, re.MULTILINE))
    assert set().union(*files.values()) <= rows.keys()
    for number, row in rows.items():
        carrying = {file for file, numbers in files.items() if number in numbers}
        assert carrying == set(re.findall(r"`([\w/]+\.py)`", row)), number
