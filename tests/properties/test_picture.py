"""The document of a fleet: what is written is read again, and what is wrong is said."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berth.errors import UsageError
from berth.model import picture, recording
from berth.model.charge import Charge, Claim, Source
from berth.model.device import Device, Profile
from berth.model.node import Node, Taint
from berth.model.picture import Picture

PAGE = Path(__file__).parents[2] / "docs/reference/snapshot.md"
TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
WHOLE = st.integers(0, 2**52)
SMALL = st.integers(0, 255)
OTHER = st.dictionaries(TEXT, WHOLE, max_size=2)


def some(each: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    """Return a few of something."""
    return st.lists(each, max_size=2).map(tuple)


CLAIMS = st.builds(
    Claim,
    container=TEXT,
    uuid=TEXT,
    memory_mib=st.none() | WHOLE,
    cores=st.none() | SMALL,
    profile=TEXT,
    slices=SMALL,
)
CHARGES = st.builds(
    Charge,
    namespace=TEXT,
    name=TEXT,
    uid=TEXT,
    node=TEXT,
    cpu_milli=WHOLE,
    memory_mib=WHOLE,
    other=OTHER,
    claims=some(CLAIMS),
    source=st.sampled_from(Source),
    init=some(TEXT),
    sidecars=some(st.tuples(TEXT, some(TEXT))),
)
PROFILES = st.builds(Profile, TEXT, WHOLE, SMALL, st.integers(1, 4), some(st.integers(0, 4)))
DEVICES = st.builds(
    Device,
    uuid=TEXT,
    vendor=TEXT,
    model=TEXT,
    memory_mib=WHOLE,
    cores=SMALL,
    slots=SMALL,
    numa=st.integers(-1, 7),
    healthy=st.booleans(),
    mode=TEXT,
    profiles=some(PROFILES),
    links=some(SMALL),
)
NODES = st.builds(
    Node,
    name=TEXT,
    cpu_milli=WHOLE,
    memory_mib=WHOLE,
    pods=SMALL,
    other=OTHER,
    labels=st.dictionaries(TEXT, TEXT, max_size=2),
    taints=some(st.builds(Taint, TEXT, TEXT, TEXT)),
    ready=st.booleans(),
    devices=some(DEVICES),
    rank=st.none() | WHOLE,
)
PICTURES = st.builds(
    Picture,
    generation=WHOLE,
    nodes=st.lists(NODES, max_size=2, unique_by=lambda node: node.name).map(tuple),
    pods=some(CHARGES),
    problems=some(TEXT),
)


@given(PICTURES)
def test_reading_what_was_written_gives_the_same(one: Picture) -> None:
    """Whatever stands in it."""
    assert picture.read(picture.write(one)) == one


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"{", "truncated"),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, "recursion"),
        (b'{"version": "1"}', "$.version"),
        (b'{"version": 1, "nodes": [{"name": "n1"}]}', "$.nodes[0]"),
    ],
)
def test_what_is_no_snapshot_is_refused_with_the_place(text: bytes, what: str) -> None:
    """In a sentence, as a file that a person gave."""
    with pytest.raises(UsageError, match="this is no snapshot of a fleet: ") as caught:
        picture.read(text)
    assert what in str(caught.value)


def test_a_recording_that_is_nested_without_end_is_refused_with_the_line() -> None:
    """As a snapshot is."""
    deep = b'{"type": "end", "a":' * 5000 + b"1" + b"}" * 5000
    with pytest.raises(UsageError, match="line 1 is none of a recording: .*recursion"):
        list(recording.read(deep + b"\n"))


@pytest.mark.parametrize(
    ("read", "text", "command"),
    [
        (picture.read, b'{"version": 2, "generation": {}}', "snapshot"),
        (lambda text: list(recording.read(text)), b'{"type": "begin", "version": 2}\n', "record"),
    ],
)
def test_a_document_of_another_version_says_which(
    read: Callable[[bytes], object], text: bytes, command: str
) -> None:
    """Whatever else is otherwise in it, and what to do."""
    with pytest.raises(UsageError) as caught:
        read(text)
    assert str(caught.value) == (
        "its format has version 2, and this Berth reads version 1; "
        f"read it with the Berth that wrote it, or write it anew with `berth {command}`"
    )


@pytest.mark.parametrize("kind", [Picture, Node, Taint, Device, Profile, Charge, Claim])
def test_every_key_is_documented(kind: type[msgspec.Struct]) -> None:
    """In docs/reference/snapshot.md, by the name that it has in the document."""
    page = PAGE.read_text()
    keys = [field.encode_name for field in msgspec.structs.fields(kind)]
    assert [key for key in keys if f"`{key}`" not in page] == []
