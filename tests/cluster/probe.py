"""Questions to the servers of a control plane, over TLS with the administrator's certificate."""

import http.client
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from tests.cluster import pki

_ANSWER_SECONDS = 10
_ASK_EVERY_SECONDS = 0.02


def trust(certificates: Path) -> ssl.SSLContext:
    """Return a context that trusts the authority in `certificates` and shows who asks."""
    authority = pki.pair(certificates, "authority").certificate
    admin = pki.pair(certificates, "admin")
    context = ssl.create_default_context(cafile=str(authority))
    context.load_cert_chain(str(admin.certificate), str(admin.key))
    return context


def ask(
    url: str, *, context: ssl.SSLContext, method: str = "GET", body: str | None = None
) -> bytes | None:
    """Return the body of a 2xx answer, or None for any other answer and for none at all."""
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    connection = http.client.HTTPSConnection(parts.netloc, timeout=_ANSWER_SECONDS, context=context)
    try:
        connection.request(method, path, body=body, headers={"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return content if answer.status // 100 == 2 else None


def answers_within(
    seconds: float, url: str, *, context: ssl.SSLContext, meanwhile: Callable[[], None]
) -> bool:
    """Ask until `url` answers 2xx, and say whether it did; call `meanwhile` after each refusal."""
    deadline = time.monotonic() + seconds
    while ask(url, context=context) is None:
        meanwhile()
        if time.monotonic() > deadline:
            return False
        time.sleep(_ASK_EVERY_SECONDS)
    return True
