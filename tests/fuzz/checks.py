"""What must hold of every answer to whatever body, and of every line of the log."""

import json
import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

import jsonpatch
import jsonpointer
import orjson

from tests.fuzz.case import MOST, Case
from tests.fuzz.values import SECRET

JUDGED = 256 * 1024
"""Larger bodies are not parsed a second time, as that would take longer than the answer."""
PLANTED = "admission.fault"
SHOWN = ("uid", "namespace", "pod", "owner", "operation", "asked", "reasons", "warnings")
"""What of a log line names the Pod, its containers and the fields that are wrong, as it must."""
LONGEST_LINE = 64 * 1024
_POLICY = (403, 422)


def strict(body: bytes) -> Any:
    """Parse a body as the JSON that all parsers read alike. Raises ValueError or RecursionError.

    Python's own parser, told to refuse what it takes beyond the standard: an independent judge.
    """
    document = json.loads(body.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate keys")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def wrong(case: Case, status: int, answer: bytes, *, applied: bool) -> str | None:
    """Return what is wrong with an answer, or None; with `applied`, its patch is tried too."""
    if status >= 500:
        return f"HTTP {status}"
    if status != 200:
        return "the error repeats what was sent" if SECRET.encode() in answer else None
    if len(case.body) > MOST:
        return "200 to a body over 8 MiB"
    if len(case.body) > JUDGED:
        asked = orjson.loads(case.body)
    else:
        try:
            asked = strict(case.body)
        except (ValueError, RecursionError) as error:
            return f"200 to a body that is not strict JSON: {error}"
    return _review(asked, answer, applied=applied)


def _review(asked: Any, answer: bytes, *, applied: bool) -> str | None:
    try:
        review = orjson.loads(answer)
        response = review["response"]
        found = (review["apiVersion"], review["kind"], response["uid"], type(response["allowed"]))
    except (ValueError, LookupError, TypeError):
        return "the answer is no AdmissionReview"
    if found != (asked["apiVersion"], "AdmissionReview", asked["request"]["uid"], bool):
        return f"the answer is to another question: {found}"
    return _verdict(response) or (_patch(asked, response) if applied else None)


def _verdict(response: Mapping[str, Any]) -> str | None:
    if ("patch" in response) != (response.get("patchType") == "JSONPatch"):
        return "only one of patch and patchType"
    if response["allowed"] == ("status" in response):
        return "a status and an allowance, or neither"
    if not response["allowed"] and response["status"]["code"] not in _POLICY:
        return f"refused with {response['status']['code']}"
    warnings = response.get("warnings", [])
    if len(warnings) > 16 or any(
        len(text) > 120 or re.search(r"[\n\r\x00]", text) for text in warnings
    ):
        return "warnings that kube-apiserver drops"
    return None


def _patch(asked: Any, response: Mapping[str, Any]) -> str | None:
    if "patch" not in response:
        return None
    if asked["request"].get("operation") != "CREATE":
        return "a patch to what is no CREATE"
    try:
        operations = orjson.loads(b64decode(response["patch"], validate=True))
        jsonpatch.apply_patch(asked["request"]["object"], operations, in_place=True)
    except (ValueError, jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
        return f"the patch does not apply: {error}"
    return None


def logged(line: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a log line, or None: faults, stacks, secrets, whole Pods."""
    if line["event"] in (PLANTED, "stderr") or "error" in line:
        return f"logged: {json.dumps(line)[-1500:]}"
    text = json.dumps(line, ensure_ascii=False)
    if len(text) > LONGEST_LINE:
        return f"a log line of {len(text)} characters: {text[:300]}"
    if SECRET in text and SECRET in hidden(line):
        return f"a secret in the log: {text}"
    return None


def hidden(line: Mapping[str, Any]) -> str:
    """Return what of a log line must hold nothing that a user wrote."""
    patch = [
        operation
        for operation in line.get("patch", ())
        if not operation["path"].endswith(
            "original-request"
        )  # names the containers, as `asked` does
    ]
    return json.dumps({key: line[key] for key in line if key not in SHOWN} | {"patch": patch})
