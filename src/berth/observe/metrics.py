"""What Prometheus sees: every metric of the webhook, by name."""

import platform
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from berth import __version__
from berth.observe.tally import Counts, Times

_LATENCIES = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01),
    *(0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0),
)
_LAGS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_OPERATIONS = frozenset({"CREATE", "UPDATE", "DELETE", "CONNECT"})
T = TypeVar("T", Counter, Gauge)


class Shown(NamedTuple):
    """What a page says of a metric."""

    kind: str
    name: str
    text: str
    labels: Sequence[str] = ()
    bounds: Sequence[float] = ()


class Metrics:
    """All metrics of a process, in a registry of their own. Label values are closed lists."""

    def __init__(self) -> None:
        """Register everything; what has no label is 0 from the start."""
        self.registry = CollectorRegistry()
        self._all: list[Shown] = []
        counter, gauge = self._counter, self._gauge
        self._requests = self._counts(
            "hami_webhook_requests",
            "Calls answered, by result. Decided: patched, unchanged, ignored, refused, audited. "
            "Without a decision: unreadable (4xx), stranger (403), overload (503), late (504), "
            "fault (500).",
            "operation",
            "resource",
            "result",
        )
        self.duration = self._times(
            "hami_webhook_request_duration_seconds",
            "Seconds from the head of a request to its answer, for reviews that were decided.",
            _LATENCIES,
        )
        self.connections = gauge("hami_webhook_active_connections", "TLS connections open now.")
        self.refusals = self._counts(
            "berth_refusals",
            "Refusals of Pods, by code; a Pod with several mistakes counts for each.",
            "code",
        )
        self.patches = self._counts(
            "berth_patches",
            "Pods that were changed, by the dialect in which they asked.",
            "dialect",
        )
        self.recalled = counter(
            "berth_recalled",
            "Reviews that were answered as one before, from which they differ only in the review's "
            "uid, the Pod's name, the name of its token volume, and times in managedFields.",
        )
        self.by_others = counter(
            "berth_written_by_others",
            "Pods that /validate let pass as a replica with other settings wrote them. It grows "
            "while the replicas have different settings, and rests again when they do not.",
        )
        self.audited = self._counts(
            "berth_audited",
            "Decisions in namespaces in audit mode: patched, or the code of each refusal.",
            "outcome",
        )
        self.in_flight = gauge("berth_requests_in_flight", "Reviews that are in progress.")
        self.bytes_held = gauge(
            "berth_body_bytes_held",
            "Bytes of the bodies of reviews in progress, as far as they have arrived.",
        )
        self.rejected = _children(
            counter(
                "berth_requests_rejected",
                "Calls answered with 503, by reason: too many requests or bytes at once, or quotas "
                "or cards that are not known yet.",
                "reason",
            )
        )
        self.generation = gauge(
            "berth_configuration_generation", "Number of the configuration in use, counted from 1."
        )
        self.reloads = _children(
            counter(
                "berth_configuration_reloads", "Attempts to load a new configuration.", "result"
            )
        )
        self.expiry = _children(
            gauge(
                "berth_certificate_expiry_timestamp_seconds",
                "When the certificate in use, or its authority, expires; seconds since 1970.",
                "certificate",
            )
        )
        self.certificates = _children(
            counter("berth_certificate_reloads", "Attempts to load a new certificate.", "result")
        )
        self.registrations = _children(
            counter("berth_registrations", "Attempts to write the registration.", "result")
        )
        self.strangers = counter(
            "berth_callers_refused", "Calls refused by the settings `callers`."
        )
        self.staleness = _children(
            gauge(
                "berth_watch_staleness_seconds",
                "Seconds since the API server last confirmed a watch; infinite before the first "
                "list, and up to 60 if nothing happens in the cluster.",
                "resource",
            )
        )
        self.watched = _children(
            gauge("berth_watch_objects", "Objects that a watch has in memory.", "resource")
        )
        self.watch_errors = _children(
            counter("berth_watch_errors", "Lists and watches that failed.", "resource")
        )
        self.ready = gauge("berth_ready", "1 if /readyz answers 200, else 0.")
        self.lag = self._histogram(
            "berth_event_loop_lag_seconds",
            "How many seconds late the event loop was, measured twice a second.",
            _LAGS,
        )
        self._begin()

    def _begin(self) -> None:
        """Say what runs, and what was not counted yet."""
        info = self._gauge(
            "berth_build_info", "Always 1; the labels say which version runs.", "version", "python"
        )
        info.labels(__version__, platform.python_version()).set(1)
        self._fleet()
        for result in ("ok", "failed"):
            self.reloads(result)
            self.certificates(result)
            self.registrations(result)

    def _fleet(self) -> None:
        self.claims = self._gauge(
            "berth_quota_claims", "Admitted Pods that Berth has not seen in the cluster yet."
        )
        self.reservations = self._gauge(
            "berth_reservations", "Pods not bound yet for which devices are kept, of all replicas."
        )
        self.overlaps = self._gauge(
            "berth_reservations_overlapping",
            "Pods that other replicas placed on devices already promised, since the start.",
        )

    def count(self, operation: str, resource: str, result: str) -> None:
        """Count one request; what a stranger may have made up becomes `other`."""
        known = operation if operation in _OPERATIONS or not operation else "other"
        self._requests.add(known, "pods" if resource in ("pods", "") else "other", result)

    def with_process(self) -> "Metrics":
        """Add the process's own figures: CPU, memory, files, collections."""
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        return self

    def all(self) -> Sequence[Shown]:
        """Return what there is of our own, in the order of its making."""
        return self._all

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        self._all.append(Shown("counter", name, text, labels))
        return Counter(name, text, labels, registry=self.registry)

    def _counts(self, name: str, text: str, *labels: str) -> Counts:
        self._all.append(Shown("counter", name, text, labels))
        made = Counts(name, text, labels)
        self.registry.register(made)
        return made

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        self._all.append(Shown("gauge", name, text, labels))
        return Gauge(name, text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, bounds: Sequence[float]) -> Histogram:
        self._all.append(Shown("histogram", name, text, bounds=bounds))
        return Histogram(name, text, buckets=bounds, registry=self.registry)

    def _times(self, name: str, text: str, bounds: Sequence[float]) -> Times:
        self._all.append(Shown("histogram", name, text, bounds=bounds))
        made = Times(name, text, bounds)
        self.registry.register(made)
        return made


def _children(metric: T) -> Callable[[str], T]:
    """Return what finds a child by its label and keeps it: four times as quick as asking anew."""
    return cache(metric.labels)
