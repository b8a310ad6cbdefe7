"""`python -m tests.fuzz.faulty FAULT FOLDER`: a server with a fault, to see the fuzzer see it.

It answers HTTPS with tls.crt and tls.key of FOLDER, and prints its port.
"""

import http.server
import json
import ssl
import sys
from base64 import b64encode
from pathlib import Path
from threading import Event
from typing import Any

FAULT, FOLDER = sys.argv[1], Path(sys.argv[2])
LEAK: list[bytes] = []


def patched(operations: Any) -> dict[str, str]:
    """Return the fields of a response with a patch."""
    return {"patchType": "JSONPatch", "patch": b64encode(json.dumps(operations).encode()).decode()}


RESPONSES: dict[str, dict[str, Any]] = {
    "another uid": {"uid": "another"},
    "no verdict": {"allowed": None},
    "patch that does not apply": patched([{"op": "remove", "path": "/nothing"}]),
    "patch without a type": {"patch": "W10="},
    "refusal without a status": {"allowed": False},
    "refusal with code 500": {"allowed": False, "status": {"code": 500}},
    "long warning": {"warnings": ["x" * 121]},
}
STATUSES = {"500": 500, "503": 503, "echo": 400}


class Faulty(http.server.BaseHTTPRequestHandler):
    """Answers each review, but for the fault."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer one review."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if FAULT == "silence":
            Event().wait()
        if FAULT == "hanging up":
            self.close_connection = True
            return
        if FAULT == "leak":
            LEAK.append(bytes([1]) * 2**23)
        if FAULT in STATUSES:
            self.reply(STATUSES[FAULT], body)
            return
        if FAULT == "html":
            self.reply(200, b"<html>")
            return
        asked = json.loads(body)
        response = {"uid": asked["request"]["uid"], "allowed": True} | RESPONSES.get(FAULT, {})
        answer = {"apiVersion": asked["apiVersion"], "kind": "AdmissionReview"}
        self.reply(200, json.dumps(answer | {"response": response}).encode())

    def reply(self, status: int, body: bytes) -> None:
        """Send an answer."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  http.server's name
        """Say nothing."""


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Faulty)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(FOLDER / "tls.crt", FOLDER / "tls.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
