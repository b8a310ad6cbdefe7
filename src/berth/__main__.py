"""`python -m berth` is the command `berth`."""

from berth.cli.main import main

main(prog_name="berth")
