"""The operator's port: metrics, probes, the live configuration and the fleet, in plain HTTP.

Served from threads of its own, so that it answers while the event loop is busy.
"""

import contextlib
import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer

from berth.errors import UsageError
from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness
from berth.settings import Metrics as Wanted

LOG = logging.getLogger("berth.operator")
Page: TypeAlias = Callable[[], bytes]
_QUIET_SECONDS = 5.0
_MOST_CALLERS = 32
"""At once: Prometheus and kubelet are two, and each caller is a thread."""


@contextlib.contextmanager
def serving(
    wanted: Wanted, metrics: Metrics, readiness: Readiness, shown: Mapping[str, Page]
) -> Iterator[int]:
    """Serve for the length of a `with`; gives the port. Raises UsageError.

    `shown` are further pages by path; each gives JSON, and is called in a thread of its own.
    """
    answer = _application(metrics, readiness, shown)
    try:
        server = make_server(wanted.host, wanted.port, answer, _Server, _Silent)
    except (OSError, UnicodeError) as error:  # UnicodeError: a host such as a..b
        where = f"{wanted.host}:{wanted.port}"
        why = error.strerror if isinstance(error, OSError) else "that is no name of a host"
        raise UsageError(
            f"cannot listen on {where}: {why}; set metrics.host or metrics.port"
        ) from None
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _application(
    metrics: Metrics, readiness: Readiness, shown: Mapping[str, Page]
) -> WSGIApplication:
    figures = make_wsgi_app(metrics.registry)

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path == "/metrics":
            body: Iterable[bytes] = figures(environ, start)
            return body
        status, kind, text = "404 Not Found", "text/plain", b"no such path"
        if path == "/healthz":
            status, text = "200 OK", b"ok"
        elif path == "/readyz":
            status = "200 OK" if readiness.ready else "503 Service Unavailable"
            text = readiness.text().encode()
        elif path in shown:
            status, kind, text = "200 OK", "application/json", shown[path]()
        start(status, [("Content-Type", kind), ("Content-Length", str(len(text)))])
        return [text]

    return answer


class _Server(ThreadingWSGIServer):
    request_queue_size = 128  # of 5, who comes in a crowd waits for the kernel to try again

    def __init__(self, address: tuple[str, int], *about: Any) -> None:
        host, port = address
        if not host and socket.has_dualstack_ipv6():
            host = "::"  # all addresses, as for the webhook's own port
        found = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        self.address_family = found[0][0]  # else IPv4, and "::" is no address
        super().__init__((host, port), *about)
        self._places = threading.Lock()
        self._callers: dict[socket.socket, None] = {}
        """Who is let in, in the order of their coming."""

    def verify_request(self, request: Any, *_: object) -> bool:
        """Let a caller in; of too many, the one that came first is cut.

        Were the last one turned away, a few that ask nothing, or a byte now and then, would keep
        kubelet out, which would end a process that is well.
        """
        with self._places:
            if len(self._callers) >= _MOST_CALLERS:
                first = next(iter(self._callers))
                del self._callers[first]
                with contextlib.suppress(OSError):
                    first.shutdown(socket.SHUT_RDWR)  # its thread finds that it has gone away
            self._callers[request] = None
        return True

    def process_request_thread(self, request: Any, *about: Any) -> None:
        """Answer one caller, and give its place back."""
        try:
            super().process_request_thread(request, *about)
        finally:
            with self._places:
                self._callers.pop(request, None)

    def handle_error(self, *_: object) -> None:
        """Write no stack for a caller that goes away, or is cut."""
        error = sys.exception()
        if not isinstance(error, OSError):
            LOG.error("operator.fault", exc_info=error)


class _Silent(WSGIRequestHandler):
    timeout = _QUIET_SECONDS  # else each connection that asks nothing holds a thread for ever

    def log_message(self, *_: object) -> None:
        """Write nothing: each scrape would be a line."""
