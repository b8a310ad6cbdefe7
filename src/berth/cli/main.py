"""The command `berth`: each sub-command is a module that is imported when it is called."""

import errno
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from berth import __version__
from berth.cli import terminal
from berth.cli.terminal import warn
from berth.errors import UsageError

COMMANDS = {
    "certificates": "Show or replace the CA that Berth keeps.",
    "completion": "Print the completion script for a shell.",
    "convert": "Rewrite manifests for a sharing stack, comments and order kept.",
    "demo": "Show what Berth does, without a cluster.",
    "diff": "Say which Pods another configuration would change or refuse, and how.",
    "explain": "Say what would happen to the Pods in some files, and why.",
    "manifests": "Print what to apply to run Berth in a cluster.",
    "policy": "Print a policy that refuses Pods which the webhook did not rewrite.",
    "record": "Record what happens in a cluster, for berth simulate.",
    "simulate": "Place the Pods of a trace by a policy, in virtual time.",
    "snapshot": "Write the fleet of a cluster to a file, or verify a ledger of it.",
    "unregister": "Remove Berth's webhook configurations from a cluster.",
    "webhook": "Serve admission for a cluster.",
}

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class _Commands(click.Group):
    """Finds a sub-command by its name, so that `berth --help` imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == "webhook":
            # Its imports take a second. Process 1 of a container, which it is, hears of no signal
            # that it has no handler for: kubelet would wait for all of the grace period.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
            # Asks to read anew what is read in a moment anyway, and once more when it listens.
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:  # click knows none that could be meant
            raise click.exceptions.NoSuchCommand(
                error.command_name, possibilities=COMMANDS, ctx=ctx
            ) from None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"berth.cli.{cmd_name}").command
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002  click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        terminal.without_gaps()
        with _one_sentence():  # `berth --help` is written here
            return super().make_context(*args, color=terminal.colour(), **more)

    def invoke(self, ctx: click.Context) -> object:
        with _one_sentence():
            return super().invoke(ctx)


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Tell of what users can mend by a sentence, and exit with 2."""
    try:
        yield
    except UsageError as error:
        raise _OneSentence(str(error)) from None
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        # What is not written yet would be tried again, and told again, at the very end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        why = f"the output cannot be written: {error.strerror}; make room where it goes"
        raise _OneSentence(why) from None


class _OneSentence(click.ClickException):
    exit_code = 2

    def show(self, file: object = None) -> None:  # noqa: ARG002  click's signature
        warn(self.message)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="berth")
def main() -> None:
    """GPU admission for Kubernetes: understand what Pods ask of a card, and make it so."""
