"""Peer `floor`: the least an aiohttp webhook can do. Fixed: kept unchanged so that runs compare.

It reads the body and answers a constant AdmissionReview, on uvloop and over TLS.
"""

import argparse
import asyncio
import signal
import ssl

import uvloop
from aiohttp import web

_ANSWER = (
    b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",'
    b'"response":{"uid":"7f1c2a52-4b0e-4f2d-9a63-0d1f5e8c9b37","allowed":true}}'
)


async def mutate(request: web.Request) -> web.Response:
    """Read the whole body and answer the constant review."""
    await request.read()
    return web.Response(body=_ANSWER, content_type="application/json")


async def serve(port: int, certificate: str, key: str) -> None:
    """Serve POST /mutate on the loopback port until SIGTERM or SIGINT."""
    app = web.Application(client_max_size=8 * 1024**2)
    app.router.add_post("/mutate", mutate)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=120)
    await runner.setup()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    try:
        await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()
        await stop.wait()
    finally:
        await runner.cleanup()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description="The constant webhook.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--cert-file", required=True)
    parser.add_argument("--key-file", required=True)
    options = parser.parse_args()
    uvloop.run(serve(options.port, options.cert_file, options.key_file))


if __name__ == "__main__":
    main()
