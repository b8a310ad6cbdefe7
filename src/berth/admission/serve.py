"""What is answered over HTTP: paths, limits and statuses, and nothing of the decision."""

import asyncio
from dataclasses import dataclass, field
from time import perf_counter

from aiohttp import hdrs, web

from berth.admission import alike, bodies, deadline, door, ready, recall, route, told, wire
from berth.admission.bodies import OutOfRoomError, OutOfTimeError
from berth.admission.callers import Callers
from berth.admission.journal import Journal
from berth.admission.live import Generation, Live
from berth.admission.load import Load
from berth.admission.recall import Answered, Recall
from berth.admission.review import Review
from berth.admission.standings import Standings
from berth.errors import BadReview
from berth.observe.readiness import Readiness

_LARGE_BODY_BYTES = 2**20
"""Up to this, which etcd stores no Pod beyond by far, a body is parsed within some 30 ms."""
_FAULT = "internal error; the webhook's log has the details"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """Answers each request; what it needs to know of the process is its fields."""

    live: Live
    load: Load
    readiness: Readiness
    journal: Journal
    standings: Standings | None = None
    """Knows how the cluster stands; None where none is known."""
    recall: Recall = field(default_factory=Recall)

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        path, _, query = request.raw_path.partition("?")
        if route.is_reviewed(path):
            if request.method != "POST":
                return _only("POST")
            known = self.live.current.callers
            closed = self._closed(request, known) if known else None
            response = await self._review(request, path, query) if closed is None else closed
        elif path in ("/healthz", "/readyz"):
            if request.method not in ("GET", "HEAD"):
                return _only("GET, HEAD")
            well = path == "/healthz" or self.readiness.ready
            text = "ok" if path == "/healthz" else self.readiness.text()
            response = web.Response(status=200 if well else 503, text=text)
        else:
            response = web.Response(status=404, text="no such path")
        if self.load.ending:  # the caller's next request shall go to another replica
            response.force_close()
        return response

    def _closed(self, request: web.BaseRequest, known: Callers) -> web.Response | None:
        """Answer a stranger, whose body stays unread, or return None for a known caller."""
        agent = request.headers.get(hdrs.USER_AGENT, "")
        why = door.why_closed(known, request.transport, agent, self.journal)
        if why is None:
            return None
        response = web.Response(status=403, text=f"Berth does not answer this caller: {why}")
        response.force_close()
        return response

    async def _review(self, request: web.BaseRequest, path: str, query: str) -> web.StreamResponse:
        limits, started, size = self.live.current.settings.server, perf_counter(), 0
        announced = min(request.content_length or 0, bodies.MOST_BYTES)
        full = self.load.full(announced, limits) or self._unknown()
        if full:
            return self._busy(full)
        self.load.begin()
        try:
            budget = deadline.budget(query)
            body = await bodies.read(request, self.load, limits, budget)
            size = len(body)
            if self.load.slow:  # let all that came meanwhile be counted, or it waits without end
                await asyncio.sleep(0)
            ends = None if budget is None else started + budget
            done, generation = await self._answered(body, path, ends)
        except BadReview as error:
            return self._unreadable(error)
        except OutOfTimeError:
            return self._late(perf_counter() - started)
        except OutOfRoomError:
            return self._busy("bytes")
        except Exception as error:  # noqa: BLE001  whatever it is, it costs this request alone
            self.journal.fault(error)
            return web.Response(status=500, text=_FAULT)
        finally:
            seconds = perf_counter() - started
            self.load.end(size, seconds)
        span = told.span(request.headers.get("traceparent"), done.review.uid)
        about = {"generation": generation.number, "path": route.known(path, generation), **span}
        self.journal.reviewed(done, about, seconds)
        return ready.json(request, done.answer)

    async def _answered(
        self, body: bytes, path: str, ends: float | None
    ) -> tuple[Answered, Generation]:
        """Decide about a review, or answer it as one that is like it.

        Raises BadReview, and OutOfTimeError where the caller's time is over.
        """
        _hurry(ends)
        generation = self.live.current
        asked = alike.asked(body)
        like = self.recall.of(asked, path, generation) if asked else None
        if asked and like and (self.standings is None or like.stands_alone):
            self.journal.metrics.recalled.inc()
            return like.of(asked), generation
        if len(body) <= _LARGE_BODY_BYTES:
            return self._decided(wire.decode(body), path, ends)
        async with self.load.turn:
            # Beside the event loop, which answers probes and other callers meanwhile.
            review = await asyncio.to_thread(wire.decode, body)
            return self._decided(review, path, ends)

    def _decided(
        self, review: Review, path: str, ends: float | None
    ) -> tuple[Answered, Generation]:
        """Decide about a review. Raises OutOfTimeError where the caller's time is over.

        By what is in use now, whatever was when the request began: rules that came after newer ones
        would have quotas and the fleet counted anew, twice.
        """
        _hurry(ends)
        generation = self.live.current
        decision = route.decide(review, generation, path, self.standings)
        return recall.answered(review, decision, generation), generation

    def _unknown(self) -> str:
        """Say what has to be known before anything may pass, and is not yet."""
        return self.standings.missing if self.standings else ""

    def _busy(self, why: str) -> web.Response:
        """Send a caller away; kube-apiserver asks again after a second, within its deadline."""
        self.journal.overload(why)
        return web.Response(status=503, text="busy; ask again", headers={"Retry-After": "1"})

    def _unreadable(self, error: BadReview) -> web.Response:
        self.journal.unreadable(error)
        response = web.Response(status=error.status, text=str(error))
        if error.status in (408, 413):
            response.force_close()
        return response

    def _late(self, seconds: float) -> web.Response:
        self.journal.late(seconds)
        response = web.Response(status=504, text="too late for the caller's timeout")
        response.force_close()
        return response


def _hurry(ends: float | None) -> None:
    if ends is not None and perf_counter() > ends:
        raise OutOfTimeError


def _only(methods: str) -> web.Response:
    return web.Response(status=405, text=f"only {methods}", headers={"Allow": methods})
