"""The settings in three layers, of which the later wins; the only reader of the environment.

The settings file (YAML, keys in camelCase), environment variables (BERTH_SERVER_PORT sets
server.port), flags (--set server.port=9443).
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, cast, get_origin

import msgspec

from berth import closest, configfile
from berth.errors import UsageError
from berth.model.raw import Json, JsonObject
from berth.settings import Settings

Keys: TypeAlias = tuple[str, ...]
_PREFIX = "BERTH_"
# What kubelet sets in every container of a namespace with a Service that is called berth….
_SERVICE_LINK = re.compile(
    r"BERTH_(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_\d+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR))"
)
_SERVICE_ADDRESS = re.compile(r"BERTH_(.*_)?PORT(_\d+_(TCP|UDP|SCTP))?")  # tcp://10.96.0.7:443


def settings(
    file: Path | None, flags: Sequence[str] = (), named: Mapping[str, str] | None = None
) -> Settings:
    """Read the settings from `file`, the environment and `flags` ("server.port=9443").

    `named` are such by the flag that a command has for one: {"--port": "server.port=9443"}. Raises
    UsageError with every unknown key and its path, or the first value of a wrong type.
    """
    # What is wrong in the file is said even where a later layer hides it.
    tree = {} if file is None else configfile.checked(file, Settings)
    kinds = dict(knobs(Settings))
    environment = _environment(os.environ)  # noqa: TID251  this is the place
    for keys, text, source in (*environment, *_flags(flags), *_named(named or {})):
        _place(tree, keys, _typed(text, kinds[keys], source))
    return msgspec.convert(tree, Settings)


def knobs(struct: type[msgspec.Struct], above: Keys = ()) -> Iterator[tuple[Keys, object]]:
    """Yield the path and type of each setting that one piece of text can set."""
    for field in msgspec.structs.fields(struct):
        keys = (*above, field.encode_name)
        inner = configfile.struct_of(field.type)
        if inner is not None and get_origin(field.type) is None:
            yield from knobs(inner, keys)
        elif inner is None:
            yield keys, field.type


def variable(keys: Keys) -> str:
    """Name the environment variable of a setting: server.certFile is BERTH_SERVER_CERT_FILE."""
    words = (re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key) for key in keys)
    return _PREFIX + "_".join(words).upper()


def _environment(environ: Mapping[str, str]) -> Iterator[tuple[Keys, str, str]]:
    known = {variable(keys): keys for keys, _ in knobs(Settings)}
    for name, text in environ.items():
        if not name.startswith(_PREFIX):
            continue
        if _SERVICE_ADDRESS.fullmatch(name) and "://" in text:
            continue  # BERTH_SERVER_PORT=tcp://…, of a Service that is called berth-server
        if name in known:
            yield known[name], text, name
        elif not _SERVICE_LINK.fullmatch(name):
            bare = [one.removeprefix(_PREFIX) for one in known]  # all begin alike
            meant = closest.near(name.removeprefix(_PREFIX), bare)
            suggestion = f"; did you mean {_PREFIX}{meant}?" if meant else ""
            raise UsageError(f"environment: {name} sets no setting{suggestion}")


def _flags(flags: Sequence[str]) -> Iterator[tuple[Keys, str, str]]:
    known = {".".join(keys): keys for keys, _ in knobs(Settings)}
    for flag in flags:
        name, sign, text = flag.partition("=")
        if not sign:
            raise UsageError(f"--set {flag}: write it as key=value, such as server.port=9443")
        if name not in known:
            raise UsageError(f"--set {flag}: {name} {_no_setting(name, known)}")
        yield known[name], text, f"--set {name}"


def _no_setting(name: str, known: Iterable[str]) -> str:
    within = next((one for one in known if one.startswith(f"{name}.")), None)
    if within:
        return f"is a group of settings; set one, such as {within}"
    return f"is not a setting{closest.hint(name, known)}"


def _named(flags: Mapping[str, str]) -> Iterator[tuple[Keys, str, str]]:
    for typed, setting in flags.items():
        name, _, text = setting.partition("=")
        yield tuple(name.split(".")), text, typed


def _typed(text: str, kind: object, source: str) -> Json:
    plain: str | list[str] = text
    if get_origin(kind) is tuple:
        plain = text.split(",") if text else []
    try:
        return cast("Json", msgspec.to_builtins(msgspec.convert(plain, kind, strict=False)))
    except msgspec.ValidationError as error:
        raise UsageError(f"{source}: {configfile.said_plainly(error, kind)}") from None


def _place(tree: JsonObject, keys: Keys, value: Json) -> None:
    for key in keys[:-1]:
        below = tree.get(key)
        if not isinstance(below, dict):
            below = tree[key] = {}
        tree = below
    tree[keys[-1]] = value
