"""GETs to the API server that give bytes, with lightkube's ways to prove who asks."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeAlias

import httpx2
from lightkube.config import client_adapter
from lightkube.core.exceptions import ConfigError

from berth.cluster import cause, kube, wire
from berth.errors import ReadFailed, UsageError

Query: TypeAlias = Mapping[str, str]

_CONNECT_SECONDS = 10
_OPEN_SECONDS = 30  # the API server may let a request queue for a quarter of a minute
# What httpx raises, and what lightkube does where a token file or an exec plugin gives nothing.
_FAILURES = (
    *(httpx2.HTTPError, httpx2.InvalidURL, ConfigError, UsageError),
    *(OSError, ValueError, KeyError, AssertionError),
)


class Connection:
    """The way to one API server."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        """Ask through `client`, which keeps its connections open."""
        self._client = client

    async def get(self, path: str, query: Query, seconds: float) -> bytes:
        """Return the body of a 2xx answer, whole within `seconds`. Raises ReadFailed."""
        with _told():
            async with asyncio.timeout(seconds), self._answer(path, query, seconds) as answer:
                return await answer.aread()

    @asynccontextmanager
    async def lines(
        self, path: str, query: Query, quiet: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a 2xx answer and give its lines as they come. Raises ReadFailed.

        They end where the server ends them, or where nothing comes for `quiet` seconds.
        """
        async with self._answer(path, query, quiet) as answer:
            yield _lines(answer)

    @asynccontextmanager
    async def _answer(
        self, path: str, query: Query, seconds: float
    ) -> AsyncIterator[httpx2.Response]:
        timeout = httpx2.Timeout(_CONNECT_SECONDS, read=seconds)
        request = self._client.build_request("GET", path, params=query, timeout=timeout)
        with _told():
            async with asyncio.timeout(_OPEN_SECONDS):
                answer = await self._client.send(request, stream=True)
        try:
            if not answer.is_success:
                with _told():
                    body = await answer.aread()
                raise wire.refusal(answer.status_code, body, _retry_after(answer))
            yield answer
        finally:
            await answer.aclose()


@asynccontextmanager
async def connect(kubeconfig: Path | None) -> AsyncIterator[Connection]:
    """Give a connection to the cluster that `kube.configuration` finds, its files read anew.

    Raises ReadFailed where it finds none that can be used.
    """
    with _told():
        config = kube.configuration(kubeconfig)
        client = client_adapter.AsyncClient(config, client_adapter.ConnectionParams())
    async with client:
        yield Connection(client)


async def _lines(answer: httpx2.Response) -> AsyncIterator[bytes]:
    chunks = answer.aiter_bytes()
    unfinished = b""
    while True:
        with _told():
            try:
                chunk = await anext(chunks, b"")
            except httpx2.ReadTimeout:
                return
        if not chunk:
            return
        *lines, unfinished = (unfinished + chunk).split(b"\n")
        for line in lines:
            yield line


def _retry_after(answer: httpx2.Response) -> float:
    text = answer.headers.get("retry-after", "")
    return float(text) if text.isdecimal() else 0  # the API server never writes a date


@contextmanager
def _told() -> Iterator[None]:
    """Turn what goes wrong below into a ReadFailed."""
    try:
        yield
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise ReadFailed("no answer from the API server: it took too long") from error
    except _FAILURES as error:
        raise ReadFailed(f"no answer from the API server: {cause.said(error)}") from error
