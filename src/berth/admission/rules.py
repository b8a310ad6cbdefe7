"""What admission has to know of the cluster's wishes: the settings, resolved once at the start."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from berth import names
from berth.admission.audited import Audited
from berth.admission.placements import Placements
from berth.dialects import volcano
from berth.dialects.options import Options
from berth.model.card import Card
from berth.model.raw import JsonObject
from berth.model.terms import NO_TERMS, Terms
from berth.model.vendor import Vendor


class EnvHandling(Enum):
    """What is done about variables that a container should leave to the node."""

    REMOVE = "remove"
    DENY = "deny"
    KEEP = "keep"


class Privileged(Enum):
    """What a privileged container means for the Pod that it stands in."""

    SKIP = "skip"
    DENY = "deny"
    ALLOW = "allow"


class Undone(Enum):
    """What becomes of a Pod that is no longer, or never was, as we write it."""

    DENY = "deny"
    WARN = "warn"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvEntry:
    """A variable to inject; with `joined_by`, ours goes before the user's value."""

    name: str
    value: str
    joined_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """What containers with a device get besides, where the node side does not do it."""

    name: str
    vendor: str
    namespace_selector: JsonObject = field(default_factory=dict)
    env: tuple[EnvEntry, ...] = ()
    volumes: tuple[JsonObject, ...] = ()
    mounts: tuple[JsonObject, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """One generation of the configuration, as admission reads it."""

    options: Options
    force_default_scheduler: bool = True
    privileged: Privileged = Privileged.SKIP
    device_env: EnvHandling = EnvHandling.REMOVE
    limit_env: EnvHandling = EnvHandling.DENY
    undone: Undone = Undone.DENY
    guards_allocations: bool = True
    allocators: tuple[str, ...] = ()
    """Users who may record allocations; "prefix*" is of users who may on Pods that exist."""
    excluded_namespaces: frozenset[str] = frozenset()
    audited: Audited = field(default_factory=Audited)
    injections: Mapping[str, Injection] = field(default_factory=dict)
    taken_schedulers: frozenset[str] = frozenset()
    """Schedulers, beside the default one and that of the dialect, whose Pods are ours."""
    zones: "Mapping[str, Rules]" = field(default_factory=dict)
    """The rules of the namespaces of each conversion, by its name; none have zones of their own."""
    listed: Mapping[str, str] = field(default_factory=dict)
    """Namespaces by name, beside the conversion that lists them."""
    anywhere: "Rules | None" = None
    """How Pods are read of which nobody knows the zone; None: as by these rules."""
    deny_unsized: bool = False
    """Whether a share whose memory nobody knows yet is refused where its memory is limited."""
    placements: Placements = field(default_factory=Placements)
    terms: Terms = NO_TERMS
    """What is asked of cards beside what a Pod asks for."""
    known: frozenset[str] = field(init=False)
    """All resource names that are our business."""
    told_by: frozenset[str] = field(init=False)
    """Annotations that make a Pod our business: those that ask, and misplaced resource names."""
    injected_paths: frozenset[str] = field(init=False)
    """Host paths that the cluster itself mounts into containers with a device."""
    steering: frozenset[str] = field(init=False)
    """Annotations that are our business: what steers placement, and misplaced resource names."""
    words: Mapping[str, frozenset[str]] = field(init=False)
    """The same by domain: of nvidia.com, gpumem, use-gputype and so on."""
    allocations: frozenset[str] = field(init=False)
    """Annotations that record an allocation, and are not everyone's to write."""
    kept: frozenset[str] = field(init=False)
    """Annotations that are not everyone's to change later: those, and our own decision."""
    schedulers: frozenset[str] = field(init=False)
    """Whose Pods are ours; "" is of a Pod that names none."""
    sees_others: bool = field(init=False)
    """Whether Pods that name no device are changed too."""

    def __post_init__(self) -> None:
        """Derive what every request would otherwise work out again."""
        words = self.options.words
        resources = {name for vendor in words for name in vendor.resources}
        object.__setattr__(self, "known", frozenset(resources))
        asking = {key for vendor in words for key in vendor.selectors.asking}
        asking |= set(names.SIZE_ANNOTATIONS) if self.options.conversion else set()
        object.__setattr__(self, "told_by", frozenset(resources | asking))
        steering = {key for vendor in words for key in vendor.annotations}
        steering |= resources | set(names.STEERING)
        steering |= set(names.SIZE_ANNOTATIONS) if self.options.conversion else set()
        object.__setattr__(self, "steering", frozenset(steering))
        pairs = [key.partition("/")[::2] for key in sorted(steering)]
        found = {
            domain: frozenset(word for other, word in pairs if other == domain)
            for domain, _ in pairs
        }
        object.__setattr__(self, "words", found)
        allocations = {key for vendor in words for key in vendor.allocations}
        allocations |= {key for vendor in words for key in vendor.records.allocated}  # as counted
        allocations |= set(names.HAMI_ALLOCATIONS)
        guarded = allocations if self.guards_allocations else set[str]()
        object.__setattr__(self, "allocations", frozenset(guarded))
        kept = guarded | {names.DECISION} if guarded else guarded
        object.__setattr__(self, "kept", frozenset(kept))
        paths = {
            str(path)
            for injection in self.injections.values()
            for path in (
                *(_host_path(volume) for volume in injection.volumes),
                *(mount.get("mountPath") for mount in injection.mounts),
            )
        }
        object.__setattr__(self, "injected_paths", frozenset(paths))
        schedulers = {"", self.options.scheduler_name} | self.taken_schedulers
        schedulers |= {names.DEFAULT_SCHEDULER} if self.force_default_scheduler else set()
        object.__setattr__(self, "schedulers", frozenset(schedulers))
        hides = any(vendor.hide_from_others for vendor in self.vendors)
        object.__setattr__(self, "sees_others", hides or self.whole_pods)

    @property
    def whole_pods(self) -> bool:
        """Whether Pods without a device get the stack's scheduler too."""
        return bool(self.options.conversion and self.options.conversion.whole_pods)

    @property
    def queues(self) -> bool:
        """Whether some Pods go to Volcano's scheduler, which takes their queue from themselves."""
        every = (self, *self.zones.values())
        return any(one.options.writes == volcano.NAME for one in every)

    @property
    def reading(self) -> "Rules":
        """The rules by which a Pod is read that is stored, in whichever namespace."""
        return self.anywhere or self

    def within(self, namespace: str, zone: str | None = None) -> "Rules":
        """Return the rules of a namespace, or of the conversion that its label names."""
        if not self.zones:
            return self
        name = zone if zone in self.zones else self.listed.get(namespace)
        return self.zones[name] if name else self

    def knowing(self, cards: tuple[Card, ...]) -> "Rules":
        """Return the same rules in a cluster that has these cards; nothing else is another."""
        options = self.options.knowing(cards)
        if options is self.options and not self.zones:
            return self
        zones = {name: zone.knowing(cards) for name, zone in self.zones.items()}
        return replace(self, options=options, zones=zones)

    def without_queue(self) -> "Rules":
        """Return the same for Pods that get a queue from their controller."""
        by = self.options.conversion
        options = self.options
        if by and by.queue:
            options = replace(options, conversion=replace(by, queue=""))
        zones = {name: zone.without_queue() for name, zone in self.zones.items()}
        return replace(self, options=options, zones=zones)

    @property
    def vendors(self) -> tuple[Vendor, ...]:
        """The accelerators as the device-config names them."""
        return self.options.vendors


def _host_path(volume: JsonObject) -> str | None:
    host = volume.get("hostPath")
    path = host.get("path") if isinstance(host, dict) else None
    return path if isinstance(path, str) else None
