"""What is counted once a request: plain numbers, which only a scrape makes samples of.

prometheus-client takes a lock for each number that moves, four for an observation. These move in
the event loop alone, and the thread of a scrape only reads them.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from berth import clock


class Counts(Collector):
    """A counter by the values of its labels."""

    def __init__(self, name: str, text: str, labels: Sequence[str]) -> None:
        """Count nothing yet; `text` says what is counted."""
        self._about = name, text, labels
        self._counted: dict[tuple[str, ...], list[float]] = {}
        """A number, and since when there is one."""

    def add(self, *values: str) -> None:
        """Count one more."""
        try:
            self._counted[values][0] += 1
        except KeyError:
            self._counted[values] = [1, clock.timestamp()]

    def describe(self) -> Iterator[CounterMetricFamily]:
        """Yield its name and text."""
        name, text, labels = self._about
        yield CounterMetricFamily(name, text, labels=labels)

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Yield what was counted until now."""
        for family in self.describe():
            for values, (number, since) in list(self._counted.items()):
                family.add_metric(values, number, since)
            yield family


class Times(Collector):
    """A histogram of seconds."""

    def __init__(self, name: str, text: str, bounds: Sequence[float]) -> None:
        """Observe nothing yet; a time as long as one of `bounds` falls below it."""
        self._about, self._bounds = (name, text), bounds
        self._since = clock.timestamp()
        self._within = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Observe one more."""
        self._within[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def describe(self) -> Iterator[HistogramMetricFamily]:
        """Yield its name and text."""
        yield HistogramMetricFamily(*self._about)

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """Yield what was observed until now."""
        buckets: list[tuple[str, float]] = []
        total = 0
        for bound, number in zip((*self._bounds, "+Inf"), self._within, strict=True):
            total += number
            buckets.append((str(bound), total))
        for family in self.describe():
            family.add_metric([], buckets, self._sum)
            family.add_sample(f"{family.name}_created", {}, self._since)
            yield family
