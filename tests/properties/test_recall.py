"""What is recalled for reviews alike: nobody can tell that it was not worked out anew."""

import random
import re

import click
import orjson
import pytest

from berth import layered, names
from berth.admission import alike, configuration, mutate, recall, told, wire
from berth.admission.live import Generation
from berth.admission.recall import KEPT, Answered, Recall
from berth.errors import BadReview
from berth.model import decided
from berth.model.decided import Decided
from berth.model.decision import Verdict
from tests import asked
from tests.pods import container, gpu_pod, pod
from tests.properties import laws

GPU = {"nvidia.com/gpu": "1"}
PODS = 150
FLAGS = (
    (),
    ("policy.privileged=deny", "language=zh"),
    ("scheduler.name=", "audit.namespaces=default"),
)


def generation(*flags: str, number: int = 1) -> Generation:
    """Return the settings with `flags`, read once more."""
    settings = layered.settings(None, flags)
    return Generation(
        number=number, settings=settings, rules=configuration.rules(settings, None)[0]
    )


def recalled(
    memory: Recall, body: bytes, current: Generation, path: str = "/mutate"
) -> Answered | None:
    """Return what is recalled for the review in a body, if anything is."""
    parted = alike.asked(body)
    assert parted is not None
    like = memory.of(parted, path, current)
    return like.of(parted) if like else None


def _uid(dice: random.Random) -> str:
    return "-".join(f"{dice.getrandbits(n * 4):0{n}x}" for n in (8, 4, 4, 4, 12))


def own(dice: random.Random, *, named: bool) -> dict[str, str]:
    """Return what is each Pod's own, by dice."""
    letters = "".join(dice.choices("bcdfghjklmnpqrstvwxz2456789", k=5))
    return {
        "uid": _uid(dice),
        "born": _uid(dice) if named and dice.random() < 0.5 else "",
        "name": f"web-{dice.randrange(10 ** dice.randint(1, 9))}" if named else "",
        "volume": f"kube-api-access-{letters}",
        "time": f"2026-{dice.randint(10, 12)}-{dice.randint(10, 28)}T10:11:{dice.randint(10, 59)}Z",
    }


@pytest.mark.parametrize(
    ("flags", "path"),
    [*((flags, "/mutate") for flags in FLAGS), ((), "/validate"), ((), "/audit/mutate")],
)
def test_a_recalled_answer_is_the_one_that_would_be_worked_out(
    flags: tuple[str, ...], path: str
) -> None:
    """Answer, log line and verdict, for random Pods, right and wrong, of every namespace kind."""
    seed = random.randrange(2**32)
    click.echo(f"seed {seed}")
    dice, current, memory, found = random.Random(seed), generation(*flags), Recall(), 0
    for _ in range(PODS):
        named, made = dice.random() < 0.5, laws.random_pod(dice)
        for _ in range(3):
            try:
                body = asked.body(made, **own(dice, named=named))
            except (AttributeError, KeyError, TypeError):  # spoilt beyond what a server sends
                break
            try:
                fresh = recall.decided(body, current, path)
            except BadReview:
                continue
            known = recalled(memory, body, current, path)
            if known is not None:
                found += 1
                assert orjson.loads(known.answer) == orjson.loads(fresh.answer)
                assert known.line == told.line(fresh.review, fresh.decision)
                assert known.review.shown_name == fresh.review.shown_name
                assert known.decision.verdict is fresh.decision.verdict
                assert known.decision.problems == fresh.decision.problems
    assert found > PODS


def test_only_a_pods_own_makes_no_difference() -> None:
    """Any other byte of a review that is another makes it unlike: nothing is recalled."""
    seed = random.randrange(2**32)
    click.echo(f"seed {seed}")
    dice, made = random.Random(seed), gpu_pod(GPU)
    body = asked.body(made, name="web-1", born=asked.UID)
    parted = alike.asked(body)
    assert parted is not None
    mine = re.compile(
        rb'"uid":"[^"]*"|"name":"web-1"|kube-api-access-\w{5}|"(time|creationTimestamp)":"[^"]*"'
    ).finditer(body)
    places = {place for each in mine for place in range(each.start(), each.end())}
    others = [place for place in range(len(body)) if place not in places]
    for place in dice.sample(others, 300):
        changed = bytearray(body)
        changed[place] ^= 1
        again = alike.asked(bytes(changed))
        assert again is None or again.rest != parted.rest, body[place - 20 : place + 20]


def test_what_is_left_out_is_put_back() -> None:
    """The shared part is a review itself, and differs from the one that came in these places."""
    body = asked.body(gpu_pod(GPU), name="web-1")
    parted = alike.asked(body)
    assert parted is not None
    assert (parted.uid.decode(), parted.name) == (asked.UID, b"web-1")
    shared, whole = orjson.loads(parted.rest)["request"], orjson.loads(body)["request"]
    own_volume = whole["object"]["spec"]["volumes"][0]["name"]
    assert shared["uid"] == shared["name"] == shared["object"]["metadata"]["name"] == "~own~"
    shared["uid"], shared["name"] = whole["uid"], whole["name"]
    shared["object"]["metadata"]["name"] = "web-1"
    (managed,) = shared["object"]["metadata"]["managedFields"]
    managed["time"] = whole["object"]["metadata"]["managedFields"][0]["time"]
    for each in (
        shared["object"]["spec"]["volumes"][0],
        shared["object"]["spec"]["containers"][0]["volumeMounts"][0],
    ):
        assert each["name"] == "~own~"
        each["name"] = own_volume
    assert shared == whole


TIME = "2026-11-30T14:14:20Z"
LIKENESSES = {
    "a container named as the token volume": gpu_pod(GPU),
    "a variable that is the token volume": pod(
        container(env=[{"name": "A", "value": asked.VOLUME}])
    ),
    "a variable named time": pod(container(env=[{"name": "time", "value": TIME}])),
    "an annotation named time": pod(
        container(), metadata={"annotations": {"time": TIME, "zone": "a"}}
    ),
}
LIKENESSES["a container named as the token volume"]["spec"]["containers"][0]["name"] = asked.VOLUME


@pytest.mark.parametrize("what", LIKENESSES)
def test_what_only_looks_like_a_pods_own_makes_a_difference(what: str) -> None:
    """It stays in what reviews have to share."""
    body = asked.body(LIKENESSES[what], time="2026-01-01T00:00:00Z")
    parted = alike.asked(body)
    assert parted is not None
    for text in (asked.VOLUME.encode(), TIME.encode()):
        own_places = 2 if text == asked.VOLUME.encode() else 0  # the volume, and its mount
        assert parted.rest.count(text) == body.count(text) - own_places


def test_an_answer_that_says_the_mark_is_not_kept() -> None:
    """Nobody could tell whose it is; here, of a container that bears it as its name."""
    current, memory = generation(), Recall()
    for name, kept in (("main", True), (alike.OWN.decode(), False)):
        body = asked.body(pod(container(name, GPU)))
        fresh = recall.decided(body, current, "/mutate")
        assert name in str(fresh.decision.operations)
        assert name not in fresh.answer.decode()  # a patch is base64
        assert recalled(memory, body, current) is None
        assert (recalled(memory, body, current) is not None) == kept


def test_the_first_is_worked_out_and_the_second_is_kept() -> None:
    """What comes once costs a note, whatever comes between."""
    current, memory = generation(), Recall()
    assert recalled(memory, asked.body(gpu_pod(GPU)), current) is None
    assert recalled(memory, asked.body(pod(container("other"))), current) is None
    for _ in range(3):
        known = recalled(memory, asked.body(gpu_pod(GPU)), current)
        assert known is not None
        assert known.decision.verdict is Verdict.PATCHED


def test_another_path_namespace_user_or_generation_recalls_nothing() -> None:
    """Each may decide otherwise."""
    current, memory = generation(), Recall()
    body = asked.body(gpu_pod(GPU))
    for _ in range(2):
        recalled(memory, body, current)
    assert recalled(memory, body, current) is not None
    assert recalled(memory, body, current, "/webhook") is None
    assert recalled(memory, asked.body(gpu_pod(GPU), namespace="other"), current) is None
    assert recalled(memory, asked.body(gpu_pod(GPU), dryRun=True), current) is None
    other = {"username": "system:serviceaccount:kube-system:job-controller"}
    assert recalled(memory, asked.body(gpu_pod(GPU), userInfo=other), current) is None
    refusing = generation("policy.privileged=deny", number=2)
    assert recalled(memory, body, refusing) is None
    assert recalled(memory, body, refusing) is not None


def test_a_refusal_that_names_its_pod_is_never_recalled_and_a_controllers_is() -> None:
    """A ReplicaSet tries again for hours; its Pods have no name yet."""
    current, memory = generation(), Recall()
    wrong = gpu_pod({"nvidia.com/gpu": "1", "nvidia.com/gpumem": "-5"})
    for number in range(3):
        known = recalled(memory, asked.body(wrong, name=f"web-{number}"), current)
        assert known is None
    answers = [recalled(memory, asked.body(wrong), current) for _ in range(3)]
    assert answers[-1] is not None
    assert answers[-1].decision.verdict is Verdict.REFUSED
    assert not orjson.loads(answers[-1].answer)["response"]["allowed"]


def test_a_pod_that_asks_for_a_device_does_not_stand_alone() -> None:
    """Where quotas or cards are known, it is decided by them each time."""
    current, memory = generation(), Recall()
    stands = {}
    promised = {"annotations": {names.DECISION: decided.write(Decided(id="0123456789abcdef"))}}
    for what, made in (
        ("gpu", gpu_pod(GPU)),
        ("complete", mutate.decide(gpu_pod(GPU), "default", current.rules).pod),
        ("promised", pod(container(), metadata=promised)),
        ("none", pod(container())),
    ):
        parted = alike.asked(asked.body(made))
        assert parted is not None
        memory.of(parted, "/mutate", current)
        like = memory.of(parted, "/mutate", current)
        assert like is not None
        stands[what] = like.stands_alone
    assert stands == {"gpu": False, "complete": False, "promised": False, "none": True}


def test_what_is_not_as_the_api_server_writes_it_is_like_no_other() -> None:
    """Keys in another order, another kind, a subresource, or more bytes than are kept."""
    usual = asked.body(gpu_pod(GPU))
    assert alike.asked(usual) is not None
    assert alike.asked(b" " + usual) is None
    assert alike.asked(usual.replace(b'"kind":"Pod"}', b'"kind":"Binding"}', 1)) is None
    assert alike.asked(usual.replace(asked.UID.encode(), b"some-other-uid", 1)) is None
    sub = b'"resource":"pods"},"subResource":"resize"'
    assert alike.asked(usual.replace(b'"resource":"pods"}', sub, 1)) is None
    large = gpu_pod(GPU)
    large["metadata"]["annotations"] = {"example.com/notes": "x" * alike.MOST_BYTES}
    assert alike.asked(asked.body(large)) is None


def test_what_is_kept_is_bounded() -> None:
    """A cluster of Pods all different leaves no more than a note of each, and few answers."""
    current, memory = generation(), Recall()
    first = alike.asked(asked.body(gpu_pod(GPU)))
    assert first is not None
    before = [memory.of(first, "/mutate", current) for _ in range(3)]
    assert before[0] is None
    assert before[1] is before[2]
    for number in range(KEPT):
        other = asked.body(pod(container(f"c-{number}")))
        assert [recalled(memory, other, current) is None for _ in range(2)] == [True, False]
    after = memory.of(first, "/mutate", current)
    assert after is not None
    assert after is not before[1]


def test_a_body_that_cannot_be_read_is_as_wrong_the_second_time() -> None:
    """A duplicate key is an error however often it comes."""
    current, memory = generation(), Recall()
    twice = asked.body(gpu_pod(GPU)).replace(b'"status":{}', b'"status":{},"status":{}', 1)
    assert recalled(memory, twice, current) is None
    for _ in range(2):
        with pytest.raises(BadReview):
            recalled(memory, twice, current)
    with pytest.raises(BadReview):
        wire.decode(twice)
