"""Manifests are read as kubectl reads them, and every fault names its file."""

from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from berth.cli import documents
from berth.errors import UsageError


def written(folder: Path, text: str, name: str = "a.yaml") -> str:
    """Return the name of a file with this text."""
    (folder / name).write_text(text)
    return str(folder / name)


def contents(*names: str) -> list[Any]:
    """Return what is read, without the sources."""
    return [document for _, document in documents.read(names)]


def test_every_document_is_read_in_order(tmp_path: Path) -> None:
    """Empty documents and comments are none."""
    name = written(tmp_path, "# first\n---\na: 1\n---\n---\nb: 2\n...\n")
    assert list(documents.read([name])) == [(name, {"a": 1}), (name, {"b": 2})]


def test_json_is_read_as_well(tmp_path: Path) -> None:
    """JSON is YAML."""
    assert contents(written(tmp_path, '{"a": [1, "x", null]}', "a.json")) == [{"a": [1, "x", None]}]


def test_json_of_any_writer_is_read(tmp_path: Path) -> None:
    """Python escapes what lies beyond 16 bits in two halves, and jq prints object after object."""
    text = '{"a": "\\ud83d\\ude00", "b": "c\\/d"}\n{"a": 1}\n'
    assert contents(written(tmp_path, text)) == [{"a": "\U0001f600", "b": "c/d"}, {"a": 1}]
    assert contents(written(tmp_path, "{a: 1}\n---\n{a: 2}\n")) == [{"a": 1}, {"a": 2}]
    assert contents(written(tmp_path, '{"a": 1}\n---\na: 2\n')) == [{"a": 1}, {"a": 2}]


def test_half_a_character_is_read_as_kubernetes_reads_it(tmp_path: Path) -> None:
    """JSON can escape it, nothing can write it: explain and convert ended in a traceback."""
    text = '{"\\ud800": "a\\udc00b"}'
    assert contents(written(tmp_path, text, "a.json")) == [{"\ufffd": "a\ufffdb"}]


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    """Folders below it too, and nothing that is no manifest."""
    (tmp_path / "deep").mkdir()
    written(tmp_path / "deep", "a: 3", "c.json")
    written(tmp_path, "a: 2", "b.yml")
    written(tmp_path, "a: 1", "a.yaml")
    written(tmp_path, "no: manifest: at all", "README.md")
    assert contents(str(tmp_path)) == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_a_dash_is_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the output of other commands can be explained."""
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"a: 1")))
    assert list(documents.read(["-"])) == [("-", {"a": 1})]


def test_closed_stdin_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has no sys.stdin then."""
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UsageError, match="-: stdin is closed"):
        contents("-")


LISTS = {
    "a List": ("kind: List\nitems: [{kind: Pod}, {kind: Job}]", [{"kind": "Pod"}, {"kind": "Job"}]),
    "a List in a List": ("kind: List\nitems: [{kind: List, items: [{a: 1}]}]", [{"a": 1}]),
    "an empty List": ("kind: List\nitems: []", []),
    "a PodList names its items": (
        "apiVersion: v1\nkind: PodList\nitems: [{a: 1}]",
        [{"apiVersion": "v1", "kind": "Pod", "a": 1}],
    ),
    "no list of objects": ("kind: AllowList\nitems: [a]", [{"kind": "AllowList", "items": ["a"]}]),
    "no items": ("kind: AllowList", [{"kind": "AllowList"}]),
    "no kind of list": ("kind: Shop\nitems: [{a: 1}]", [{"kind": "Shop", "items": [{"a": 1}]}]),
}


@pytest.mark.parametrize(("text", "found"), LISTS.values(), ids=LISTS.keys())
def test_a_list_is_its_items(text: str, found: list[Any], tmp_path: Path) -> None:
    """`kubectl get -o yaml` prints several objects as one."""
    assert contents(written(tmp_path, text)) == found


PLAIN = {
    "a date is text": ("a: 2026-01-01", {"a": "2026-01-01"}),
    "a time is text": ("a: 2026-01-01T10:00:00Z", {"a": "2026-01-01T10:00:00Z"}),
    "a day that is none is text": ("a: 2026-13-45", {"a": "2026-13-45"}),
    "a number as key is text": ("1: a", {"1": "a"}),
    "a truth as key is text": ("{true: a, no: b}", {"true": "a", "false": "b"}),
    "keys below are text too": ("a: [{1: {2: b}}]", {"a": [{"1": {"2": "b"}}]}),
    "an alias is what it stands for": ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
    "a quantity with a unit is text": ("a: 16Gi", {"a": "16Gi"}),
    "an exponent without a point": ("a: 1e3\nb: 1E-3", {"a": 1000, "b": 0.001}),
    "a time of day is text": ("a: 12:30\nb: 1:2:3.5", {"a": "12:30", "b": "1:2:3.5"}),
    "octal, of either kind": ("a: 0o17\nb: 017\nc: -017", {"a": 15, "b": 15, "c": -15}),
    "no octal": ("a: 089\nb: 0x\nc: 0b2", {"a": 89, "b": "0x", "c": "0b2"}),
    "hexadecimal and binary": ("a: 0X1f\nb: 0b1_1", {"a": 31, "b": 3}),
    "a fraction": ("a: -.5\nb: 1.5\nc: 1.0", {"a": -0.5, "b": 1.5, "c": 1}),
    "truths in one letter": ("a: y\nb: N\nc: tRUE", {"a": True, "b": False, "c": "tRUE"}),
    "a sign of equality is text": ("a: =", {"a": "="}),
    "a sign of merging is text": ("a: <<", {"a": "<<"}),
    "a merge": ("x: &x {b: 1}\na: {<<: *x, c: 2}", {"x": {"b": 1}, "a": {"b": 1, "c": 2}}),
    "what no float can hold": ("a: 1e400", {"a": "1e400"}),
    "what JSON has no word for": ('{"a": NaN}', {"a": "NaN"}),
    "an address is text": ("a: 10.0.0.1\nb: 1-2", {"a": "10.0.0.1", "b": "1-2"}),
    "64 bits": ("a: 18446744073709551615", {"a": 2**64 - 1}),
    "more than 64 bits": ("a: 18446744073709551616", {"a": 2.0**64}),
}


@pytest.mark.parametrize(("text", "document"), PLAIN.values(), ids=PLAIN.keys())
def test_yaml_becomes_what_json_can_say(text: str, document: Any, tmp_path: Path) -> None:
    """As on the way to an API server."""
    (found,) = contents(written(tmp_path, text))
    assert found == document
    assert [type(value) for value in found.values()] == [type(value) for value in document.values()]


# As in every text on YAML bombs: ten lines, of which each says the one before nine times.
BOMB = "a0: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 11)
)
FAULTS = {
    "no YAML": ("a: [1\nb: }", "is not valid YAML: line 2, column 2: did not find expected ','"),
    "a template": (
        "{{- if .Values.gpu }}\nkind: Pod\n{{- end }}",
        "parsing a flow node; if this is a template, render it first (helm template … | …)",
    ),
    "a program": ("\x7fELF\x01", "control characters are not allowed (byte 0); write it as text"),
    "no UTF-8": ("a: \x80", "is not valid YAML"),
    "NUL": ("a: \0", "is not valid YAML"),
    "no number of JSON's": ("a: -.inf", "-.inf is a number that JSON cannot hold"),
    "a list": ("- a", "holds a list, not a manifest"),
    "text": ("just text", "holds only 'just text', not a manifest"),
    "bytes": ("a: !!binary aGk=", "a bytes is nothing that Kubernetes reads"),
    "a loop of aliases": ("a: &x {b: *x}", "an alias (*name) stands within what it names"),
    "a bomb of aliases": (BOMB, "its aliases (*name) unfold to "),
    "a huge number": (f"a: 0x{'f' * 5000}", "is not valid YAML"),
    "a long number": (f"a: {'9' * 5000}", "is not valid YAML"),
}


@pytest.mark.parametrize(("text", "said"), FAULTS.values(), ids=FAULTS.keys())
def test_what_is_no_manifest(text: str, said: str, tmp_path: Path) -> None:
    """One sentence that begins with the file's name."""
    name = str(tmp_path / "a.yaml")
    Path(name).write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError) as error:
        contents(name)
    assert str(error.value).startswith(f"{name}: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert "sys." not in str(error.value)
    assert "byte string" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """The name and the reason."""
    with pytest.raises(UsageError, match=r"none\.yaml: cannot be read: No such file"):
        contents(str(tmp_path / "none.yaml"))


def test_what_hidden_folders_hold_is_not_read(tmp_path: Path) -> None:
    """`-f .` means the manifests of a checkout, not those of its .venv and its .git."""
    written(tmp_path, "a: 1")
    written(tmp_path, "a: 2", ".hidden.yaml")
    for folder in (".venv/lib", "sub/.git", ".venv/.cache"):
        (tmp_path / folder).mkdir(parents=True)
        written(tmp_path / folder, "[no, manifest]")
    assert contents(str(tmp_path)) == [{"a": 2}, {"a": 1}]
    assert contents(written(tmp_path / ".venv/lib", "a: 3")) == [{"a": 3}], "where it is named"
    assert contents(f"{tmp_path}/.venv/lib") == [{"a": 3}], "and there"


def test_a_folder_without_a_manifest(tmp_path: Path) -> None:
    """A wrong folder must not pass as "nothing to refuse"."""
    with pytest.raises(UsageError, match=r"holds no \.yaml, \.yml, \.json file"):
        contents(str(tmp_path))
