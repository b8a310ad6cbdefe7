"""The one error of the benchmarks."""


class BenchmarkError(Exception):
    """A server failed, or answered something that must not be measured; the text says which."""
