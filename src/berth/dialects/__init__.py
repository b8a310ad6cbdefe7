"""How GPUs are asked for: one file per dialect, each with `read` and `write`."""
