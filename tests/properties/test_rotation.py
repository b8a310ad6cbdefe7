"""The law of certificates: whatever is shown is trusted, in every interleaving of two replicas.

Reading, deciding, writing, looking at the registration and applying it are steps of their own, so
anything may happen between any two: the other replica's steps, a restart, months of sleep. The API
server hears of a new caBundle late.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hypothesis import settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from berth.certs import rotation
from berth.certs.rotation import Authority, Leaf, Make, Sign, Stage, Step, Store, Stored, Wait

START = datetime(2026, 1, 1, tzinfo=UTC)
TERMS = rotation.Terms(
    leaf=timedelta(days=7), settle=timedelta(seconds=60), check=timedelta(seconds=30)
)
YEAR = timedelta(days=365)
LAG = timedelta(seconds=50)  # until the API server has heard
AHEAD = timedelta(seconds=30)  # of the second replica's clock
replica = strategies.integers(0, 1)


@dataclass
class Replica:
    """What one process knows: what it read, decided and saw, some of it out of date."""

    ahead: timedelta
    leaf: Leaf | None = None
    since: dict[str, datetime] = field(default_factory=dict)
    held: tuple[Stored | None, int] | None = None
    decided: tuple[Step, tuple[Stored | None, int], datetime] | None = None
    looked: int | None = None
    vouching: frozenset[str] | None = None


class Rotation(RuleBasedStateMachine):
    """A store, a registration, and two replicas that read and write both."""

    def __init__(self) -> None:
        """Begin with nothing stored and nothing registered."""
        super().__init__()
        self.now = START
        self.stored: tuple[Stored | None, int] = (None, 0)
        self.registered: tuple[frozenset[str], int] = (frozenset(), 0)
        self.unheard: list[tuple[datetime, frozenset[str]]] = []
        self.heard: frozenset[str] = frozenset()
        self.replicas = (Replica(timedelta(0)), Replica(AHEAD))
        self.made = 0

    def authority(self, now: datetime) -> Authority:
        """Make a CA."""
        self.made += 1
        name = f"ca-{self.made}"
        return Authority(name, f"key of {name}", now, now + YEAR, now)

    def write(self, stored: Stored, version: int) -> bool:
        """Write where the version is still the one that was read."""
        if self.stored[1] != version:
            return False
        self.stored = (stored, version + 1)
        return True

    @rule(which=replica)
    def read(self, which: int) -> None:
        """Read the store."""
        self.replicas[which].held = self.stored

    @rule(which=replica)
    def decide(self, which: int) -> None:
        """Decide on what was read."""
        one = self.replicas[which]
        if one.held is not None:
            now = self.now + one.ahead
            step = rotation.decide(one.held[0], one.leaf, one.since, now, TERMS)
            one.decided, one.held = (step, one.held, now), None

    @rule(which=replica)
    def act(self, which: int) -> None:
        """Do what was decided."""
        one = self.replicas[which]
        if one.decided is None:
            return
        (step, (stored, version), now), one.decided = one.decided, None
        match step:
            case Make():
                self.write(rotation.remade(self.authority(now), None), version)
            case Stage():
                assert stored is not None
                self.write(rotation.staged(stored, self.authority(now)), version)
            case Store(wanted, _):
                self.write(wanted, version)
            case Sign(ends, promise):
                if promise == stored or self.write(promise, version):
                    assert promise.current.key
                    one.leaf = Leaf(promise.current.certificate, now, ends)
            case Wait():
                pass

    @rule(which=replica)
    def look(self, which: int) -> None:
        """Look at the registration."""
        one = self.replicas[which]
        trusted, one.looked = self.registered
        one.since = {ca: one.since.get(ca, self.now + one.ahead) for ca in trusted}
        one.vouching = None

    @rule(which=replica)
    def gather(self, which: int) -> None:
        """Read, after the look, what the registration shall trust."""
        one = self.replicas[which]
        if one.looked is not None and self.stored[0] is not None:
            one.vouching = frozenset(ca.certificate for ca in self.stored[0].trusted)

    @rule(which=replica)
    def apply(self, which: int) -> None:
        """Write the registration where it is still the one looked at."""
        one = self.replicas[which]
        if one.vouching is None:
            return
        if one.looked == self.registered[1]:
            if one.vouching != self.registered[0]:
                self.registered = (one.vouching, self.registered[1] + 1)
                self.unheard.append((self.now, one.vouching))
            one.since = {ca: one.since.get(ca, self.now + one.ahead) for ca in one.vouching}
        one.looked = one.vouching = None

    @rule(which=replica)
    def restart(self, which: int) -> None:
        """End a process and start it again: all that it knew is gone."""
        before = self.replicas
        fresh = Replica(before[which].ahead)
        self.replicas = (fresh, before[1]) if which == 0 else (before[0], fresh)

    @rule()
    def rotate(self) -> None:
        """Rotate by hand."""
        stored, version = self.stored
        if stored is not None and stored.next is None:
            self.write(rotation.staged(stored, self.authority(self.now)), version)

    @rule()
    def hear_now(self) -> None:
        """Have the API server hear of the next change at once."""
        if self.unheard:
            self.heard = self.unheard.pop(0)[1]

    @rule(seconds=strategies.sampled_from([1, 31, 61, 3 * 86400, 6 * 86400, 250 * 86400]))
    def sleep(self, seconds: int) -> None:
        """Let time pass, with nobody awake."""
        self.pass_time(timedelta(seconds=seconds))

    def pass_time(self, time: timedelta) -> None:
        """Let time pass; what was changed long enough ago has been heard of."""
        self.now += time
        while self.unheard and self.unheard[0][0] + LAG <= self.now:
            self.heard = self.unheard.pop(0)[1]

    @rule(which=replica)
    def turn(self, which: int) -> None:
        """Do all steps in a row, as mostly happens."""
        for step in (self.look, self.gather, self.apply, self.read, self.decide, self.act):
            step(which)

    @initialize(running=strategies.booleans())
    def start(self, running: bool) -> None:  # noqa: FBT001  Hypothesis calls it
        """Begin with two replicas that are set up, or with nothing."""
        for which in (0, 1) if running else ():
            for _ in range(3):
                self.turn(which)
        self.pass_time(timedelta(minutes=5) if running else timedelta(0))

    @rule(which=replica)
    def rotate_alone(self, which: int) -> None:
        """Rotate by hand, and have one replica see it through while the other does nothing."""
        self.rotate()
        for _ in range(5):
            self.turn(which)
            self.pass_time(timedelta(seconds=31))

    @rule(which=replica)
    def apply_late(self, which: int) -> None:
        """Have one replica look at the registration, and write it after the other has rotated."""
        self.look(which)
        self.gather(which)
        self.rotate_alone(1 - which)
        self.apply(which)

    @precondition(lambda self: self.stored[0] is not None)
    @rule()
    def comes_to_rest(self) -> None:
        """Whatever happened, some minutes later both show a good leaf that is trusted."""
        for _ in range(12):
            for which in (0, 1):
                for _ in range(3):
                    self.turn(which)
            self.what_is_shown_is_trusted()
            self.pass_time(timedelta(seconds=31))
        stored = self.stored[0]
        assert stored is not None
        for one in self.replicas:
            assert one.leaf is not None
            assert one.leaf.ends > self.now + TERMS.leaf / 4
            assert one.leaf.issuer == stored.current.certificate
        assert self.heard == {ca.certificate for ca in stored.trusted}

    @invariant()
    def what_is_shown_is_trusted(self) -> None:
        """Hold what has not ended against what the API server believes."""
        for one in self.replicas:
            if one.leaf and one.leaf.ends > self.now and self.heard:
                assert one.leaf.issuer in self.heard, (one.leaf, self.heard)


TestRotation = Rotation.TestCase
TestRotation.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
