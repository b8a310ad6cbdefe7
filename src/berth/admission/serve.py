"""The webhook's HTTP server: aiohttp.web, and nothing of the decision."""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TypeAlias

from aiohttp import web

from berth import names
from berth.admission import mutate, wire
from berth.admission.rules import Rules
from berth.errors import BadReview, UsageError
from berth.model.decision import Decision, Verdict
from berth.settings import Server

MOST_BODY_BYTES = 8 * 2**20
"""kube-apiserver takes objects of 3 MiB, sends two of them on UPDATE, and JSON may be larger."""
LOG = logging.getLogger("berth.admission")


@dataclass(slots=True)
class State:
    """What the probes ask, and what is under way."""

    ready: bool = False
    unready: dict[str, str] = field(default_factory=dict)
    """What stands in the way of being ready, and why: others put it in and take it out."""
    most_in_flight: int = 1000
    body_seconds: float = 10
    in_flight: int = 0
    quiet: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once nothing is under way any more, after `ready` has ended."""

    def done(self) -> None:
        """Count one request less."""
        self.in_flight -= 1
        if not self.ready and not self.in_flight:
            self.quiet.set()

    async def drained(self, seconds: float) -> None:
        """End `ready`, and return when nothing is under way any more, or after `seconds`.

        Meanwhile the server goes on listening and answering.
        """
        self.ready = False
        if self.in_flight:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.quiet.wait(), seconds)


_LAST_SECONDS = 1.0

Journal: TypeAlias = Callable[[str, Mapping[str, object]], None]
"""Takes the name and the fields of what happened: one call for each review."""


def application(rules: Rules, state: State, journal: Journal) -> web.Application:
    """Build the application; `state` turns ready when the server listens."""
    app = web.Application(client_max_size=MOST_BODY_BYTES + 1)

    # A partial rather than a function of its own: one coroutine less for every request.
    mutate_pod = partial(_answer, rules=rules, state=state, journal=journal)

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def readyz(_: web.Request) -> web.Response:
        why = state.unready if state.ready else {"server": "starting or draining"}
        if not why:
            return web.Response(text="ok")
        said = "; ".join(f"{what}: {reason}" for what, reason in why.items())
        return web.Response(status=503, text=f"not ready: {said}")

    app.router.add_post(names.MUTATE_PATH, mutate_pod)
    app.router.add_post(names.HAMI_PATH, mutate_pod)
    app.router.add_post(names.INJECT_PATH + "/{injection}", mutate_pod)
    app.router.add_get("/healthz", healthz, allow_head=True)
    app.router.add_get("/readyz", readyz, allow_head=True)
    return app


async def _answer(
    request: web.Request, *, rules: Rules, state: State, journal: Journal
) -> web.Response:
    if state.in_flight >= state.most_in_flight:
        # kube-apiserver asks again after a second, within its own deadline; the body stays unread.
        return web.Response(status=503, text="busy; ask again", headers={"Retry-After": "1"})
    started = perf_counter()
    state.in_flight += 1
    try:
        _check_head(request)
        body = await _body(request, state.body_seconds)
        review = wire.decode(body)
        decision, answer = _decide(review, rules, request.match_info.get("injection"))
    except BadReview as error:
        return _unreadable(error)
    except Exception:
        LOG.exception("admission.fault")
        return web.Response(status=500, text="internal error; the webhook's log has the details")
    finally:
        state.done()
    journal("admission.reviewed", _line(review, decision, perf_counter() - started))
    response = web.Response(body=answer, content_type="application/json")
    if not state.ready:  # draining: the caller's next request shall go to another replica
        response.force_close()
    return response


def _check_head(request: web.Request) -> None:
    """Refuse by its headers what need not be read."""
    # What kube-apiserver sends, and then what others may: with a charset, in capitals.
    kind = request.headers.get("Content-Type")
    if kind != "application/json" and request.content_type != "application/json":
        raise BadReview("Content-Type is not application/json", 415)
    if request.headers.get("Content-Encoding", "identity") != "identity":
        raise BadReview("Content-Encoding is not supported", 415)
    if (request.content_length or 0) > MOST_BODY_BYTES:
        raise _too_large()


async def _body(request: web.Request, seconds: float) -> bytes:
    # What came whole with its head, as most do, needs no timer.
    limit = None if request.content.is_eof() else seconds
    try:
        async with asyncio.timeout(limit):
            body = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise _too_large() from None
    except TimeoutError:
        raise BadReview("the body did not come in time", 408) from None
    except ConnectionError:
        raise BadReview("the caller went away before the end of the body") from None
    if len(body) > MOST_BODY_BYTES:  # aiohttp's limit is a byte more or less, by its release
        raise _too_large()
    return body


def _too_large() -> BadReview:
    return BadReview("the body is larger than 8 MiB", 413)


def _unreadable(error: BadReview) -> web.Response:
    LOG.warning("admission.unreadable", extra={"status": error.status, "why": str(error)})
    response = web.Response(status=error.status, text=str(error))
    if error.status in (408, 413):
        response.force_close()
    return response


def _decide(
    review: wire.Review, rules: Rules, injection: str | None
) -> tuple[Decision | None, bytes]:
    """Answer one review; None is "not what we register for", which passes."""
    if not review.creates_pod or review.object is None:
        return None, wire.allow(review)
    if injection is None:
        decision = mutate.decide(review.object, review.namespace, rules)
    elif injection in rules.injections:
        wanted = rules.injections[injection]
        decision = mutate.decide_injection(review.object, review.namespace, rules, wanted)
    else:
        raise BadReview("no such injection", 404)
    return decision, wire.answer(review, decision)


def _line(review: wire.Review, decision: Decision | None, seconds: float) -> Mapping[str, object]:
    return {
        "uid": review.uid,
        "namespace": review.namespace,
        "pod": review.shown_name,
        "operation": review.operation,
        "dry_run": review.dry_run,
        "decision": decision.verdict.value if decision else Verdict.IGNORED.value,
        "codes": [problem.reason.value for problem in decision.problems] if decision else [],
        "ms": round(seconds * 1000, 3),
    }


async def listen(
    server: Server, app: web.Application, context: ssl.SSLContext
) -> tuple[web.AppRunner, int]:
    """Start serving; return the runner, to clean up, and the port. Raises UsageError."""
    runner = web.AppRunner(
        app,
        access_log=None,
        auto_decompress=False,  # a compressed body is refused, so never unpacked
        keepalive_timeout=server.idle_seconds,
        shutdown_timeout=_LAST_SECONDS,  # what was under way had its time in State.drained
    )
    await runner.setup()
    site = web.TCPSite(runner, server.host, server.port, ssl_context=context, backlog=1024)
    try:
        await site.start()
    except OSError as error:
        await runner.cleanup()
        where = f"{server.host}:{server.port}"
        raise UsageError(f"cannot listen on {where}: {error.strerror}; set server.port") from None
    return runner, int(runner.addresses[0][1])
