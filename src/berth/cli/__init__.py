"""One file per command, each putting its program together."""
