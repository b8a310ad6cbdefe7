"""`scripts/bench admission`: a mutating webhook side by side with its peers, over real HTTPS."""

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
from pathlib import Path

from benchmarks.failure import BenchmarkError
from benchmarks.report import BAR_CONNECTIONS, report
from benchmarks.rounds import Plan, measure_all
from benchmarks.servers import SERVERS


def main(arguments: list[str]) -> int:
    """Measure and print; return 0, or 1 when a server failed, or 130 when interrupted."""
    options = _parser().parse_args(arguments)
    _stop_on_signals()
    plan = _plan(tuple(options.server or SERVERS), quick=options.quick)
    try:
        with tempfile.TemporaryDirectory(prefix="berth-bench-") as folder:
            results = measure_all(plan, Path(folder))
    except BenchmarkError as error:
        print(f"The benchmark stopped. {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted; every server has been stopped.", file=sys.stderr)
        return 130
    if options.json:
        print(json.dumps(results.as_json()))
    else:
        machine = f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} CPUs"
        print(f"{machine}; {plan.rounds} round(s)\n\n{report(results)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("scripts/bench admission", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print only JSON on stdout")
    parser.add_argument("--quick", action="store_true", help="25 connections, one round")
    parser.add_argument(
        "--server", action="append", choices=SERVERS, help="only this one; may be repeated"
    )
    return parser


def _plan(servers: tuple[str, ...], *, quick: bool) -> Plan:
    if quick:
        return Plan(servers, rounds=1, turns=((BAR_CONNECTIONS, 10),))
    return Plan(servers)


def _stop_on_signals() -> None:
    """Make SIGTERM and SIGHUP do as Ctrl-C does: the servers are stopped on the way out.

    They pass on as SIGINT, which the event loop knows to turn into an orderly end.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job has it ignored
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
