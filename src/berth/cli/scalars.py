"""Plain scalars of YAML as kubectl reads them, which goes its own way between YAML 1.1 and 1.2.

After resolve.go of sigs.k8s.io/yaml/goyaml.v2: PyYAML makes 750 of 12:30 and text of 1e-3, and it
fails on =, which the CustomResourceDefinitions of Prometheus have as a choice.
"""

import re
from math import isfinite

import yaml

_TRUE = frozenset({"y", "yes", "true", "on"})
_BOOL = "y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON|n|N|no|No|NO|false|False|FALSE|off|Off|OFF"
_NULL = "~|null|Null|NULL|"
_NO_NUMBER = r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
_MAYBE_NUMBER = rf"[-+]?\.?[0-9][0-9A-Za-z_.+-]*|{_NO_NUMBER}"
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0|[1-9][0-9]*)")
_OCTAL = re.compile(r"[-+]?0[0-7]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WHOLE = 2**53  # up to here JSON says a float as a whole number
_NO_TEXT = re.compile(f"{_BOOL}|{_NULL}|<<|{_NO_NUMBER}", re.ASCII)


def is_text(plain: str) -> bool:
    """Whether kubectl takes this for text where no quotes are around it."""
    return not _NO_TEXT.fullmatch(plain) and isinstance(_number(plain), str)


def _number(text: str) -> int | float | str:
    """Return the number that a text is, or the text. Raises ValueError for thousands of digits."""
    plain = text.replace("_", "")
    if not plain.isascii():
        return text
    if _OCTAL.fullmatch(plain):
        return int(plain, 8)
    if _INTEGER.fullmatch(plain):
        return int(plain, 0)
    value = float(plain) if _FLOAT.fullmatch(plain) else float("inf")
    if not isfinite(value):
        return text
    return int(value) if value.is_integer() and abs(value) < _WHOLE else value


class Loader(yaml.CSafeLoader):
    """Knows no dates either: 2026-01-01 stays text."""


def _as_number(loader: Loader, node: yaml.ScalarNode) -> int | float | str:
    text = str(loader.construct_scalar(node))
    if re.fullmatch(_NO_NUMBER, text):
        raise ValueError(f"{text} is a number that JSON cannot hold")
    return _number(text)


def _as_truth(loader: Loader, node: yaml.ScalarNode) -> bool:
    return str(loader.construct_scalar(node)).lower() in _TRUE


def _as_text(loader: Loader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


Loader.yaml_implicit_resolvers = {}
for _tag, _form, _first in (
    ("bool", _BOOL, "yYtToOnNfF"),
    ("null", _NULL, ["~", "n", "N", ""]),
    ("int", _MAYBE_NUMBER, "-+.0123456789"),
    ("merge", "<<", "<"),
):
    _whole = re.compile(f"^(?:{_form})$", re.ASCII)
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _whole, list(_first))
Loader.add_constructor("tag:yaml.org,2002:bool", _as_truth)
Loader.add_constructor("tag:yaml.org,2002:int", _as_number)
Loader.add_constructor("tag:yaml.org,2002:merge", _as_text)  # as a value; as a key it merges
