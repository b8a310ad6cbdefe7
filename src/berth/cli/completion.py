"""`berth completion`: the shell's own script, as click makes it."""

import click
from click.shell_completion import get_completion_class

from berth.cli import main


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(*, shell: str) -> None:
    """Print the completion script for a shell.

    For bash: eval "$(berth completion bash)" in ~/.bashrc.

    For zsh: eval "$(berth completion zsh)" in ~/.zshrc, after compinit.

    For fish: berth completion fish > ~/.config/fish/completions/berth.fish
    """
    make = get_completion_class(shell)
    if make is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(make(main.main, {}, "berth", "_BERTH_COMPLETE").source())
