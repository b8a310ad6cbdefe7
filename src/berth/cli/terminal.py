"""What somebody else wrote, such as a name in a manifest, as it may stand on a terminal."""

import io
import os
import re
import sys

import click

_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Controls, of which ESC begins a command to the terminal, and what turns the direction of text."""


def escaped(text: str) -> str:
    r"""Return one line of text with such characters as Python and YAML write them: `\x1b`."""
    return _UNSHOWN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def colour() -> bool | None:
    """Return False where colours are not wanted (no-color.org), else None: as the output is."""
    environ = os.environ  # noqa: TID251  what every program hears of a terminal is no setting
    return False if environ.get("NO_COLOR") or environ.get("TERM") == "dumb" else None


def without_gaps() -> None:
    r"""Have stdout write what its encoding lacks as `\u2192`, as stderr does by itself."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def warn(sentence: str) -> None:
    """Print a sentence on stderr, beside what was asked for."""
    click.echo(f"berth: {escaped(sentence)}", err=True)
