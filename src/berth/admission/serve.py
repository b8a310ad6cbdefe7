"""The webhook's HTTP server: aiohttp.web, and nothing of the decision."""

import asyncio
import logging
import ssl
from dataclasses import dataclass
from time import perf_counter

from aiohttp import web

from berth import names
from berth.admission import mutate, wire
from berth.admission.rules import Rules
from berth.errors import BadReview
from berth.model.decision import Decision, Verdict

MOST_BODY_BYTES = 8 * 2**20
"""kube-apiserver takes objects of 3 MiB, sends two of them on UPDATE, and JSON may be larger."""
LOG = logging.getLogger("berth.admission")


@dataclass(slots=True)
class State:
    """What the probes ask."""

    ready: bool = False


_RULES = web.AppKey("rules", Rules)
_STATE = web.AppKey("state", State)


def application(rules: Rules, state: State) -> web.Application:
    """Build the application; `state` turns ready when the server listens."""
    app = web.Application(client_max_size=MOST_BODY_BYTES + 1)
    app[_RULES] = rules
    app[_STATE] = state
    app.router.add_post(names.MUTATE_PATH, _mutate)
    app.router.add_post(names.HAMI_PATH, _mutate)
    app.router.add_post(names.INJECT_PATH + "/{injection}", _mutate)
    app.router.add_get("/healthz", _healthz, allow_head=True)
    app.router.add_get("/readyz", _readyz, allow_head=True)
    return app


async def _healthz(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def _readyz(request: web.Request) -> web.Response:
    if request.app[_STATE].ready:
        return web.Response(text="ok")
    return web.Response(status=503, text="not ready: starting or draining")


async def _mutate(request: web.Request) -> web.Response:
    started = perf_counter()
    try:
        body = await _body(request)
        review = wire.decode(body)
        decision, answer = _decide(review, request)
    except BadReview as error:
        LOG.warning("admission.unreadable", extra={"status": error.status, "why": str(error)})
        response = web.Response(status=error.status, text=str(error))
        if error.status == 413:
            response.force_close()
        return response
    except (asyncio.CancelledError, web.HTTPException):
        raise
    except Exception:
        LOG.exception("admission.fault")
        return web.Response(status=500, text="internal error; the webhook's log has the details")
    _log(review, decision, (perf_counter() - started) * 1000)
    return web.Response(
        body=answer,
        content_type="application/json",
        headers=None if request.app[_STATE].ready else {"Connection": "close"},
    )


async def _body(request: web.Request) -> bytes:
    if request.content_type != "application/json":
        raise BadReview("Content-Type is not application/json", 415)
    if request.headers.get("Content-Encoding", "identity") != "identity":
        raise BadReview("Content-Encoding is not supported", 415)
    if (request.content_length or 0) > MOST_BODY_BYTES:
        raise BadReview("the body is larger than 8 MiB", 413)
    try:
        body = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise BadReview("the body is larger than 8 MiB", 413) from None
    except ConnectionError:
        raise BadReview("the caller went away before the end of the body") from None
    if len(body) > MOST_BODY_BYTES:  # aiohttp's own limit is a byte more or less, by its release
        raise BadReview("the body is larger than 8 MiB", 413)
    return body


def _decide(review: wire.Review, request: web.Request) -> tuple[Decision | None, bytes]:
    """Answer one review; None is "not what we register for", which passes."""
    rules = request.app[_RULES]
    if not review.creates_pod or review.object is None:
        return None, wire.allow(review)
    name = request.match_info.get("injection")
    if name is None:
        decision = mutate.decide(review.object, review.namespace, rules)
    elif name in rules.injections:
        injection = rules.injections[name]
        decision = mutate.decide_injection(review.object, review.namespace, rules, injection)
    else:
        raise BadReview("no such injection", 404)
    return decision, wire.answer(review, decision)


def _log(review: wire.Review, decision: Decision | None, milliseconds: float) -> None:
    LOG.info(
        "admission.reviewed",
        extra={
            "uid": review.uid,
            "namespace": review.namespace,
            "pod": review.shown_name,
            "operation": review.operation,
            "dry_run": review.dry_run,
            "decision": decision.verdict.value if decision else Verdict.IGNORED.value,
            "codes": [problem.reason.value for problem in decision.problems] if decision else [],
            "ms": round(milliseconds, 3),
        },
    )


def tls_context(cert_file: str, key_file: str) -> ssl.SSLContext:
    """Return the server's context: TLS 1.2 at least, HTTP/1.1 only. Raises OSError, SSLError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(cert_file, key_file)
    return context
