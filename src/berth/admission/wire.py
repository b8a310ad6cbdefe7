"""AdmissionReview in and out (admission.k8s.io/v1, and v1beta1 answered in kind)."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable
from http import HTTPStatus
from textwrap import wrap

import msgspec
import orjson

from berth.admission.review import AdmissionReview, Kind, Resource, Review, UserInfo
from berth.errors import BadReview
from berth.model.decision import Decision, Verdict
from berth.model.raw import Json, JsonObject, dotted
from berth.model.said import Said
from berth.words.catalogue import CATALOGUES, Language

LONGEST_WARNING = 120  # the API conventions ask for at most 120 characters
MOST_WARNINGS = 16
_GOES_ON = "… "
MOST_PROBLEMS = 32  # what a person reads; a Pod of 3 MiB could have fifty thousand
MOST_AUDITED = 2000  # characters: an audit event is a line of a file, or a call of its own
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""kube-apiserver drops a warning with one of these, and a terminal obeys them in a refusal."""


def decode(body: bytes) -> Review:
    """Read a request body. Raises BadReview, whose text never repeats the body."""
    try:
        review = msgspec.convert(_load(body), AdmissionReview)
    except msgspec.ValidationError as error:
        _, below, place = str(error).rpartition("`$.")
        where = place.rstrip("`") if below else "what stands at its top"
        raise BadReview(f"not an AdmissionReview: {where} is wrong or missing") from None
    request = review.request
    if not request.uid:
        raise BadReview("not an AdmissionReview: request.uid is empty")
    kind, resource = request.kind or Kind(), request.resource or Resource()
    return Review(
        api_version=review.api_version,
        uid=request.uid,
        operation=request.operation or "",
        kind=kind.kind or "",
        group=kind.group or "",
        resource=resource.resource or "",
        sub_resource=request.sub_resource or "",
        namespace=request.namespace or "",
        name=request.name or "",
        dry_run=request.dry_run is True,
        user=(request.user_info or UserInfo()).username or "",
        object=request.object,
        old_object=request.old_object,
    )


def _load(body: bytes) -> Json:
    """Parse strictly: orjson refuses NaN, bad UTF-8, lone surrogates and deep nesting.

    It takes the last of duplicate keys, so a body that is not byte for byte what Go's encoder
    makes of the result (as kube-apiserver's always is) is read again by a parser that sees them.
    """
    try:
        document: Json = orjson.loads(body)
        written, sent = orjson.dumps(document), body.rstrip()
        if written != sent and _as_go_writes(written) != sent:
            json.loads(body, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError, orjson.JSONEncodeError):  # dumps nests less than loads
        raise BadReview("the body is not valid JSON") from None
    return document


def _as_go_writes(text: bytes) -> bytes:
    for char, escape in ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026")):
        text = text.replace(char, escape)
    return text


def _without_duplicates(pairs: Iterable[tuple[str, Json]]) -> None:
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError("duplicate keys")


def answer(review: Review, decision: Decision, generation: int, language: Language = "en") -> bytes:
    """Answer with what was decided; a patch only where there is one.

    `language` is for the Pod's author. What the audit log keeps is English, for all readers alike.
    """
    response: JsonObject = {"uid": review.uid, "allowed": True}
    # What stays as it is needs no word; and a second pass must not gainsay the first one's.
    if decision.verdict is not Verdict.UNCHANGED and (
        review.creates_pod or decision.verdict in (Verdict.REFUSED, Verdict.AUDITED)
    ):
        response["auditAnnotations"] = _audit(decision, generation)
    if decision.verdict is Verdict.REFUSED:
        response |= {"allowed": False, "status": _status(review, decision, language)}
    elif decision.operations:
        response["patchType"] = "JSONPatch"
        response["patch"] = b64encode(orjson.dumps(decision.operations)).decode()
    if decision.warnings:
        response["warnings"] = warnings(decision, language)
    return _encode(review, response)


def _audit(decision: Decision, generation: int) -> JsonObject:
    """Return what the API server's audit log keeps, each key after the webhook's name."""
    audit: JsonObject = {"decision": decision.verdict, "generation": str(generation)}
    if decision.would:
        audit["would"] = decision.would.verdict
    if reasons := (decision.would or decision).first_reasons:
        audit["reasons"] = "; ".join(reasons)[:MOST_AUDITED]
    return audit


def _status(review: Review, decision: Decision, language: Language) -> JsonObject:
    """422 for what is wrong in itself, 403 for what only this cluster's rules forbid.

    The causes are what kubectl lists for an Invalid object, a line each.
    """
    by_rule = all(problem.reason.is_policy for problem in decision.problems)
    shown = decision.problems[:MOST_PROBLEMS]
    more = len(decision.problems) - len(shown)
    status = HTTPStatus.FORBIDDEN if by_rule else HTTPStatus.UNPROCESSABLE_ENTITY
    causes: list[Json] = [
        {
            "reason": "FieldValueInvalid",
            "field": dotted(problem.path),
            "message": _printable(problem.clause.text(language)),
        }
        for problem in shown
    ]
    sentences = [_printable(problem.text(language)) for problem in shown]
    if more:
        sentences.append(Said("part.and-more", {"count": more}).text(language))
    return {
        "code": status.value,
        "reason": "Forbidden" if by_rule else "Invalid",
        "message": CATALOGUES[language].stop.join(sentences),
        "details": {"kind": "Pod", "name": review.name, "causes": causes},
    }


def warnings(decision: Decision, language: Language) -> list[Json]:
    """Return the warnings of a decision as kube-apiserver passes them on."""
    return [*clean(line for said in decision.warnings for line in _lines(said, language))]


def _lines(said: Said, language: Language) -> Iterable[str]:
    """Return one line, but of a refusal that is let through all of it: it ends in what to do."""
    text = said.text(language)
    if said.code != "audit.problem" or len(text) <= LONGEST_WARNING:
        return [text]
    first, *more = wrap(text, LONGEST_WARNING - len(_GOES_ON))
    return [first, *(f"{_GOES_ON}{line}" for line in more)]


def clean(warnings: Iterable[str]) -> Iterable[str]:
    """Make warnings that kube-apiserver passes on: one line each, short, no two alike."""
    lines: dict[str, None] = {}
    for warning in warnings:
        line = " ".join(_printable(warning).split())
        lines[line if len(line) <= LONGEST_WARNING else line[: LONGEST_WARNING - 1] + "…"] = None
        if len(lines) == MOST_WARNINGS:
            break
    return [*lines]


def _printable(text: str) -> str:
    return text if text.isprintable() else _CONTROL.sub(" ", text)


def _encode(review: Review, response: JsonObject) -> bytes:
    return orjson.dumps(
        {"apiVersion": review.api_version, "kind": "AdmissionReview", "response": response}
    )
