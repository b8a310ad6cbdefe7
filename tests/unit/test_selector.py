"""Label selectors mean here what they mean to an API server."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berth.admission import selector

LABELS = {"team": "vision", "tier": ""}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    """Return a selector of one expression."""
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


MATCH = {
    "nothing asked": ({}, True),
    "an equal label": ({"matchLabels": {"team": "vision"}}, True),
    "another value": ({"matchLabels": {"team": "speech"}}, False),
    "no such label": ({"matchLabels": {"owner": "me"}}, False),
    "an empty value is a value": ({"matchLabels": {"tier": ""}}, True),
    "no label has no empty value": ({"matchLabels": {"owner": ""}}, False),
    "one of two labels": ({"matchLabels": {"team": "vision", "owner": "me"}}, False),
    "In": (expression("team", "In", "speech", "vision"), True),
    "In others": (expression("team", "In", "speech"), False),
    "In, without the label": (expression("owner", "In", "me"), False),
    "NotIn": (expression("team", "NotIn", "speech"), True),
    "NotIn its own": (expression("team", "NotIn", "speech", "vision"), False),
    "NotIn, without the label": (expression("owner", "NotIn", "me"), True),
    "Exists": (expression("tier", "Exists"), True),
    "Exists, without the label": (expression("owner", "Exists"), False),
    "DoesNotExist": (expression("owner", "DoesNotExist"), True),
    "DoesNotExist, with the label": (expression("tier", "DoesNotExist"), False),
    "an operator of tomorrow": (expression("team", "Like", "vis"), False),
    "labels and expressions, one of which fails": (
        {"matchLabels": {"team": "vision"}} | expression("tier", "DoesNotExist"),
        False,
    ),
}


@pytest.mark.parametrize(("wanted", "matches"), MATCH.values(), ids=MATCH.keys())
def test_matches(wanted: dict[str, Any], *, matches: bool) -> None:
    """All that is asked must hold."""
    assert selector.matches(wanted, LABELS) is matches


words = st.sampled_from(["a", "b", "c"])


@given(st.dictionaries(words, words), words, st.lists(words))
def test_opposite_operators_never_agree(
    labels: dict[str, str], key: str, values: list[str]
) -> None:
    """In and NotIn, Exists and DoesNotExist divide all sets of labels."""
    for one, other in (("In", "NotIn"), ("Exists", "DoesNotExist")):
        first = selector.matches(expression(key, one, *values), labels)
        assert first is not selector.matches(expression(key, other, *values), labels)
