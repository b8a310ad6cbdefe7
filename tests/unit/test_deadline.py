"""`?timeout=` is a duration as Go writes it."""

import subprocess
import sys

import pytest

from berth.admission.deadline import budget


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        ("timeout=5s", 5),
        ("timeout=1m30s", 90),
        ("timeout=500ms", 0.5),
        ("timeout=1.5s", 1.5),
        ("timeout=10us", 1e-5),
        ("timeout=10%C2%B5s", 1e-5),
        ("a=b&timeout=2s", 2),
        ("timeout=1s&timeout=2s", 2),
    ],
)
def test_a_duration_of_go_is_understood(query: str, seconds: float) -> None:
    """A twentieth of it is left for the answer's way back."""
    assert budget(query) == pytest.approx(seconds * 0.95)


@pytest.mark.parametrize(
    "query",
    ["", "timeout=", "timeout=5", "timeout=-1s", "timeout=soon", "x", "timeout=\u0665s"],
)
def test_what_is_no_duration_limits_nothing(query: str) -> None:
    """A caller that names no time is answered whenever that is."""
    assert budget(query) is None


@pytest.mark.parametrize("text", ["1" * 8000, "1." * 4000, "1s" * 4000, "." * 8000])
def test_a_long_query_takes_no_time(text: str) -> None:
    """A request's head has room for 8,000 digits, over which a process once hung for hours."""
    code = f"from berth.admission.deadline import budget; print(budget('timeout={text}'))"
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, text=True, timeout=60) == "None\n"
