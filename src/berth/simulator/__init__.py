"""What if: the real decisions over a trace, in virtual time."""
