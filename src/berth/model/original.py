"""The annotation of original requests, read again: what was asked for before Berth changed it."""

from collections.abc import Mapping

import orjson

from berth import names
from berth.model.raw import Json, JsonObject


def read(text: Json) -> JsonObject:
    """Return what the annotation of original requests holds; nothing where it is none of ours."""
    if not isinstance(text, str):
        return {}
    try:
        found: Json = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    ours = isinstance(found, dict) and found.get("v") == names.ORIGINAL_VERSION
    return found if isinstance(found, dict) and ours else {}


def containers(text: Json) -> Mapping[str, Json]:
    """Return what it holds for each container."""
    found = read(text).get("containers")
    return found if isinstance(found, dict) else {}
