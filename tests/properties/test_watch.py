"""The watch against every order of writes, pages, events, cuts and forgotten history."""

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from berth.cluster.projections import Object
from berth.cluster.reflector import Pace, Reflector
from berth.cluster.store import Store
from berth.cluster.wire import Decoder
from berth.errors import ReadFailed
from tests.properties.api_server import ApiServer, Key

PACE = Pace(page=2)
KEYS = st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["1", "2", "3"]))
COLOURS = st.sampled_from(["red", "blue", None])
LOST = st.sampled_from([0, 403, 429, 500, 504])


def colour(each: Object) -> list[str]:
    """Index objects by their label."""
    return [each.metadata.labels["colour"]]


class Watching(RuleBasedStateMachine):
    """A server that is written to, and a store that is kept true to it."""

    def __init__(self) -> None:
        """Start with nothing on either side."""
        super().__init__()
        self.server = ApiServer()
        self.store = Store[Object]({"colour": colour})
        self.reflector = Reflector(self.store, PACE, lambda: 0.5)
        self.decoder = Decoder(Object)
        self.told: dict[str, Object] = {}
        self.ends: Counter[str] = Counter()
        self.store.listen(self.hear)

    def hear(self, old: Object | None, new: Object | None) -> None:
        """Keep a ledger of what the store tells, as quota does; each call must fit it."""
        if old is not None:
            assert self.told.pop(old.metadata.uid) == old
        if new is None:
            assert old is not None
            self.ends[old.metadata.uid] += 1
        else:
            assert old is None or old.metadata.uid == new.metadata.uid
            assert new.metadata.uid not in self.ends
            assert new.metadata.uid not in self.told
            self.told[new.metadata.uid] = new

    @rule(key=KEYS, value=COLOURS)
    def write(self, key: Key, value: str | None) -> None:
        """Create, change or delete."""
        self.server.write(key, value)

    @rule(key=KEYS)
    def make_again(self, key: Key) -> None:
        """Delete, and create under the same name."""
        self.server.write(key, None)
        self.server.write(key, "red")

    @rule()
    def compact(self) -> None:
        """History is forgotten, as by etcd's compaction."""
        self.server.compact()

    @rule(most=st.integers(0, 4), lasted=st.sampled_from([0.0, 75.0]))
    def answer(self, most: int, lasted: float) -> None:
        """One GET is answered; of a watch, only the first `most` lines come."""
        ask = self.reflector.ask()
        query = dict(ask.query)
        try:
            if ask.watch:
                for line in self.server.lines(int(query["resourceVersion"]))[:most]:
                    self.reflector.event(self.decoder.event(line))
                wait = self.reflector.ended(lasted)
            else:
                self.reflector.page(self.decoder.page(self.server.page(query)))
                wait = 0.0
        except ReadFailed as error:
            wait = self.reflector.failed(error)
        assert 0 <= wait <= PACE.most

    @rule(status=LOST, retry_after=st.sampled_from([0.0, 100.0]))
    def lose(self, status: int, retry_after: float) -> None:
        """One GET gets no answer, or none that helps."""
        wait = self.reflector.failed(ReadFailed("lost", status, retry_after))
        assert retry_after <= wait <= max(PACE.most, retry_after)

    @rule()
    def catch_up(self) -> None:
        """With the server answering and nobody writing, a few GETs make both sides equal."""
        for _ in range(8):
            self.answer(most=1000, lasted=75)
        assert self.shown() == self.server.now
        assert set(self.told) == {each["metadata"]["uid"] for each in self.server.now.values()}

    def shown(self) -> dict[Key, object]:
        """Return the store as the server writes it."""
        return {
            each.key: {
                "metadata": {
                    "namespace": each.metadata.namespace,
                    "name": each.metadata.name,
                    "uid": each.metadata.uid,
                    "labels": each.metadata.labels,
                    "resourceVersion": each.metadata.resource_version,
                }
            }
            for each in self.store
        }

    @invariant()
    def the_store_is_what_the_server_had_at_its_version(self) -> None:
        """Between any two steps: neither older, nor newer, nor a mix."""
        ask = self.reflector.ask()
        if ask.watch:
            assert self.shown() == self.server.states[int(ask.query["resourceVersion"])]

    @invariant()
    def whoever_listens_knows_what_the_store_has(self) -> None:
        """Nothing is missed and nothing ends twice."""
        assert self.told == {each.metadata.uid: each for each in self.store}
        assert set(self.ends.values()) <= {1}

    @invariant()
    def the_index_finds_the_same_objects(self) -> None:
        """By each value exactly those that have it."""
        for value in ("red", "blue"):
            found = {each.key for each in self.store.by("colour", value)}
            assert found == {each.key for each in self.store if colour(each) == [value]}


Watching.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestWatching = Watching.TestCase
