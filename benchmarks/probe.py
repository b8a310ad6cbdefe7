"""One plain request to a webhook, and whether its answer is the work that is to be measured."""

import http.client
import json
import ssl

from benchmarks.failure import BenchmarkError

PATH = "/mutate?timeout=10s"
HEADERS = {
    "User-Agent": "kube-apiserver-admission",
    "Accept": "application/json, */*",
    "Content-Type": "application/json",
    "Accept-Encoding": "gzip",
}
"""What kube-apiserver sends besides Host and Content-Length."""


def post(port: int, body: bytes, context: ssl.SSLContext) -> tuple[int, bytes]:
    """Return the status and body of the answer to one review on a new connection.

    Raises OSError or http.client.HTTPException when there is no whole answer within 30 s.
    """
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)
    try:
        connection.request("POST", PATH, body, HEADERS)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def check(
    port: int, body: bytes, context: ssl.SSLContext, *, constant: bool, patches: bool
) -> None:
    """Raise BenchmarkError unless the server allows the Pod.

    Unless its answers are constant, it must answer this very review, and with a patch where
    `patches` says so.
    """
    try:
        status, answer = post(port, body, context)
    except (OSError, http.client.HTTPException) as error:
        raise BenchmarkError(f"no answer to a single request: {error}") from error
    wanted = "200, allowed"
    try:
        response = json.loads(answer)["response"]
        right = status == 200 and response["allowed"] is True
        if not constant:
            wanted += ", with the uid of the review" + (" and a patch" if patches else "")
            right = right and response["uid"] == json.loads(body)["request"]["uid"]
            right = right and (not patches or bool(response["patch"]))
    except (ValueError, KeyError, TypeError):
        right = False
    if not right:
        text = answer[:300].decode(errors="replace")
        raise BenchmarkError(f"the answer must be {wanted}, and was {status}: {text}")
