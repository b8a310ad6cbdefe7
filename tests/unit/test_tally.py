"""What is counted without prometheus-client is shown as if it had counted it."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from berth.observe.metrics import Metrics
from berth.observe.tally import Counts, Times

WORDS = st.sampled_from(["CREATE", "", "other", 'a "b"\n'])
BOUNDS = (0.0001, 0.00025, 0.5, 1.0, 2.5)
TIMES = st.sampled_from(BOUNDS) | st.floats(0, 10)


def shown(registry: CollectorRegistry) -> str:
    """Return a scrape without the moments at which its series began."""
    return re.sub(r"(_created\S*) .*", r"\1", generate_latest(registry).decode())


@settings(max_examples=30, deadline=None, print_blob=True)
@given(counted=st.lists(st.tuples(WORDS, WORDS), max_size=9), times=st.lists(TIMES, max_size=9))
def test_a_scrape_shows_what_prometheus_client_would(
    counted: list[tuple[str, str]], times: list[float]
) -> None:
    """Byte for byte: names, labels, escapes, order, buckets and sums."""
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    counts, took = Counts("c", "Of two.", ("a", "b")), Times("t_seconds", "Long.", BOUNDS)
    ours.register(counts)
    ours.register(took)
    counter = Counter("c", "Of two.", ("a", "b"), registry=theirs)
    histogram = Histogram("t_seconds", "Long.", buckets=BOUNDS, registry=theirs)
    for labels in counted:
        counts.add(*labels)
        counter.labels(*labels).inc()
    for seconds in times:
        took.add(seconds)
        histogram.observe(seconds)
    assert shown(ours) == shown(theirs)


def test_every_metric_is_on_the_page_of_metrics() -> None:
    """By the name, kind and text that a scrape shows."""
    metrics = Metrics()
    families = {(one.type, one.name, one.documentation) for one in metrics.registry.collect()}
    assert {(one.kind, one.name, one.text) for one in metrics.all()} == families
