"""The version that a document carries, as it may be read by another Berth than wrote it."""

import msgspec


class _Said(msgspec.Struct):
    version: int


def another(text: bytes, ours: int, command: str) -> str:
    """Say that JSON is of another version than `ours`, which `command` writes; "" where it is not.

    It is asked where reading failed, as another version may differ in anything else too.
    """
    try:
        found = msgspec.json.decode(text, type=_Said).version
    except (msgspec.MsgspecError, RecursionError):
        return ""
    if found == ours:
        return ""
    what = f"its format has version {found}, and this Berth reads version {ours}"
    return f"{what}; read it with the Berth that wrote it, or write it anew with `berth {command}`"
