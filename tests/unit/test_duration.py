"""Lengths of time as people write them."""

import pytest

from berth.model.duration import NotADuration, parse


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("1.5m", 90), ("1h30m", 5400), ("2d", 172_800), ("250ms", 0.25)],
)
def test_a_length_of_time_is_seconds(text: str, seconds: float) -> None:
    """A bare number counts as seconds."""
    assert parse(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5 m", "m5", "-5s", "5x", "1h30", "1e3s", "٣s"])
def test_what_is_none_is_a_sentence(text: str) -> None:
    """It says what to write."""
    with pytest.raises(NotADuration, match="is no length of time; write"):
        parse(text)
