"""A relay of TCP connections, for a Service with several replicas or a network that fails."""

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def relay(chosen: Callable[[], int]) -> Iterator[int]:
    """Lead each new connection to the port of 127.0.0.1 that `chosen` gives; gives its own port."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(("127.0.0.1", chosen())) as there:
                back = threading.Thread(target=_pump, args=(there, self.request))
                back.start()
                _pump(self.request, there)
                back.join()

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 100

        def handle_error(self, *_: object) -> None:
            """Say nothing: the caller sees its connection end."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Pass on what comes until the end, and the end too."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            end.close()
