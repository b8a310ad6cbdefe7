"""The patch, held against an independent JSON Patch library on random documents and edits."""

import copy
from typing import Any

import jsonpatch
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from berth.admission import patch
from berth.errors import PatchError
from berth.model import rfc6902
from berth.model.edit import Append, Drop, Edit, Put
from berth.model.raw import Json, Path
from berth.model.said import Said

KEYS = st.sampled_from(["a", "b/c", "d~e", "~1", "", "0", "-", "ü"])
WHY = Said("why.original")
LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=2)
TREES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(KEYS, TREES, max_size=4)
PATHS = st.lists(KEYS | st.integers(0, 3), min_size=1, max_size=4).map(tuple)
EDITS = st.one_of(
    st.builds(Put, PATHS, TREES, st.just("")),
    st.builds(Append, PATHS, TREES, st.just("")),
    st.builds(Drop, PATHS, st.just("")),
)


def _recorded(document: dict[str, Any], edits: list[Edit]) -> tuple[list[Any], dict[str, Any]]:
    """Record the edits that fit the document; those that do not are none of this law's."""
    fitting: list[Edit] = []
    for edit in edits:
        try:
            patch.record(document, [*fitting, edit])
        except PatchError:
            continue
        fitting.append(edit)
    return patch.record(document, fitting)


@settings(max_examples=1500, print_blob=True)
@given(DOCUMENTS, st.lists(EDITS, max_size=6))
def test_an_independent_library_comes_to_the_same_document(
    document: dict[str, Any], edits: list[Edit]
) -> None:
    """Our operations, applied by jsonpatch to the original, give the document that we promise."""
    before = copy.deepcopy(document)
    operations, result = _recorded(document, edits)
    assert document == before
    assert jsonpatch.apply_patch(copy.deepcopy(document), operations) == result


@settings(max_examples=600, print_blob=True)
@given(DOCUMENTS, PATHS, TREES)
@example({"a": True}, ("a",), 1)
def test_what_is_put_is_there_afterwards(document: dict[str, Any], path: Path, value: Json) -> None:
    """After a Put the value stands at its path, and putting it again gives no operation."""
    edit = Put(path, value, WHY)
    try:
        _, result = patch.record(document, [edit])
    except PatchError:
        return
    node: Any = result
    for key in path:
        node = node[key]
    assert node == value
    assert type(node) is type(value)
    assert patch.record(result, [edit]) == ([], result)


@settings(max_examples=600, print_blob=True)
@given(
    DOCUMENTS,
    st.sampled_from(["add", "replace", "remove"]),
    st.lists(KEYS | st.integers(0, 3).map(str), min_size=1, max_size=3),
    TREES,
)
def test_applying_an_operation_fails_where_the_library_fails(
    document: dict[str, Any], op: str, keys: list[str], value: Any
) -> None:
    """RFC 6902 has an operation fail: so do we, and else the outcome is the library's."""
    operation = {"op": op, "path": rfc6902.pointer(tuple(keys)), "value": value}
    try:
        expected = jsonpatch.apply_patch(copy.deepcopy(document), [operation])
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError):
        with pytest.raises(PatchError):
            rfc6902.apply(document, operation)
    else:
        assert rfc6902.apply(document, operation) == expected


def test_parents_are_made_once() -> None:
    """Two entries of a list that lacks: one `add` of the list, then one `add` to its end."""
    edits = [Append(("spec", "env"), name, WHY) for name in ("a", "b")]
    operations, result = patch.record({"spec": {}}, edits)
    assert operations == [
        {"op": "add", "path": "/spec/env", "value": ["a"]},
        {"op": "add", "path": "/spec/env/-", "value": "b"},
    ]
    assert result == {"spec": {"env": ["a", "b"]}}


def test_what_was_dropped_is_not_written_into_any_more() -> None:
    """Its place is as if nothing had stood there: an `add` to the end of it would not apply."""
    document: dict[str, Json] = {"a": {"b": {"c": 1}}}
    edits: list[Edit] = [
        Put(("a", "b", "c"), 2, WHY),
        Drop(("a", "b"), WHY),
        Append(("a", "b"), 3, WHY),
    ]
    operations, result = patch.record(document, edits)
    assert result == {"a": {"b": [3]}}
    assert jsonpatch.apply_patch(document, operations) == result


def test_keys_are_escaped_tilde_first() -> None:
    """`~` becomes `~0` before `/` becomes `~1` (RFC 6901)."""
    assert rfc6902.pointer(("a", "x~1/y")) == "/a/x~01~1y"
