"""Kubernetes objects as YAML, for kubectl and for people who read it."""

import yaml

from berth.cli import scalars
from berth.model.raw import JsonObject


class Plain(yaml.SafeDumper):
    """Writes a value out each time that it stands somewhere: people read this."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002  yaml's signature
        """Say so to the dumper."""
        return True


def _lines(dumper: Plain, text: str) -> yaml.ScalarNode:
    """Write a file within a file as its own lines, and quote what kubectl would take for more."""
    style = "|" if "\n" in text else None if scalars.is_text(text) else "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


Plain.add_representer(str, _lines)


def objects(wanted: list[JsonObject]) -> bytes:
    """Return one document for each object, in UTF-8 as kubectl reads it."""
    text: bytes = yaml.dump_all(
        wanted,
        Dumper=Plain,
        sort_keys=False,
        explicit_start=True,
        allow_unicode=True,
        encoding="utf-8",
    )
    return text
