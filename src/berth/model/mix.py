"""What has been asked for so far: how often each shape of demand comes, and how many leave.

It is learned from arrivals alone, forgets by halves, and is bounded: after a restart it is
learned again.
"""

from collections import Counter

from berth.model.request import Shape

MEMORY = 16_384
"""Arrivals after which all counts are halved, so the old mix fades by half in as many."""
SHAPES = 1_024
"""Different shapes that are kept; the rarest are forgotten first."""
CHURN_OVER = 1_000
"""Arrivals over which the average of departures per arrival is taken."""


class Mix:
    """Counts of shapes, with a number that grows by one with each arrival."""

    def __init__(self) -> None:
        """Know nothing."""
        self.counts: Counter[Shape] = Counter()
        self.arrivals = 0
        """All arrivals so far."""
        self.churn = 0.0
        """Departures per arrival lately, 0 where nothing leaves and 1 where all do."""
        self._weight = 0
        self._left = 0

    def arrived(self, shape: Shape) -> None:
        """Count a Pod that asks for a place, whether it gets one or not."""
        self.counts[shape] += 1
        self.arrivals += 1
        self._weight += 1
        self.churn += (self._left - self.churn) / CHURN_OVER
        self._left = 0
        if self._weight > MEMORY:
            self._halve()
        if len(self.counts) > SHAPES:
            self.counts = Counter(dict(self.counts.most_common(SHAPES // 2)))
            self._weight = self.counts.total()

    def departed(self) -> None:
        """Count a Pod that has left."""
        self._left += 1

    def _halve(self) -> None:
        kept = {shape: count // 2 for shape, count in self.counts.items() if count > 1}
        self.counts = Counter(kept)
        self._weight = self.counts.total()
