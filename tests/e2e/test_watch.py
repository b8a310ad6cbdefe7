"""The watch cache on a real API server that restarts, forgets, stalls, and turns us away."""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from berth.cluster import connection
from berth.cluster.projections import Pod, ResourceQuota
from berth.cluster.reflector import Pace
from berth.cluster.watch import Resource, Source, Watch
from tests.cluster import build, filler, kubeconfig, private
from tests.cluster.private import Private
from tests.e2e.link import Link

pytestmark = pytest.mark.cluster

SECONDS = 30
SOON = Pace(first=0.1, most=0.5)
SPACE = "/api/v1/namespaces/default"
PODS = Resource(
    name="pods",
    kind=Pod,
    path="/api/v1/pods",
    indexes={"node": lambda pod: [pod.spec.node_name]},
)
QUOTAS = Resource(name="resourcequotas", kind=ResourceQuota, path="/api/v1/resourcequotas")


class Heard:
    """What a listener was told, by name, in order."""

    def __init__(self, watch: Watch[Pod]) -> None:
        """Listen."""
        self.added: list[str] = []
        self.deleted: list[str] = []
        watch.store.listen(self)

    def __call__(self, old: Pod | None, new: Pod | None) -> None:
        """Take one change."""
        if old is None and new is not None:
            self.added.append(new.metadata.name)
        if new is None and old is not None:
            self.deleted.append(old.metadata.name)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Private]:
    """Give an API server of this module's own."""
    programs = build.programs(say=print)
    folder = tmp_path_factory.mktemp("watch") / "plane"
    with private.running(folder, programs=programs) as started:
        started.up()
        yield started


@pytest.fixture(autouse=True)
def emptied(server: Private) -> None:
    """Begin each test without Pods."""
    assert server.plane.ask("DELETE", f"{SPACE}/pods?gracePeriodSeconds=0") is not None


@asynccontextmanager
async def watching(
    kubeconfig: Path, pace: Pace = SOON, *, synced: bool = True
) -> AsyncIterator[Watch[Pod]]:
    """Run a watch on Pods for the length of a `with`."""
    source = Source(
        connect=lambda: connection.connect(kubeconfig),
        random=random.Random(1).random,
        clock=time.monotonic,
    )
    watch = Watch(PODS, source, pace)
    task = asyncio.create_task(watch.run())
    try:
        if synced:
            await asyncio.wait_for(watch.synced(), SECONDS)
        yield watch
    finally:
        task.cancel()
        await asyncio.wait([task])


@asynccontextmanager
async def linked(
    server: Private, tmp_path: Path, pace: Pace = SOON
) -> AsyncIterator[tuple[Link, Watch[Pod]]]:
    """Run a watch whose way to the API server is a link; it is open, and has seen pod-99 come."""
    async with Link.to(int(server.plane.url.rpartition(":")[2])) as link:
        kubeconfig = server.kubeconfig(tmp_path / "k", server=f"https://127.0.0.1:{link.port}")
        async with watching(kubeconfig, pace) as watch:
            await filler.create(server.plane, "default", range(99, 100))
            await until(lambda: watch.store.get("default", "pod-99") is not None, watch)
            yield link, watch


async def until(true: Callable[[], bool], watch: Watch[Pod]) -> None:
    """Wait until it is so."""
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline, watch.status()
        await asyncio.sleep(0.01)


def names(*numbers: int) -> list[str]:
    """Name Pods of the filler."""
    return [f"pod-{number}" for number in numbers]


def recount(server: Private) -> dict[str, str]:
    """Ask the API server itself for uid and version of every Pod."""
    found = json.loads(server.plane.ask("GET", "/api/v1/pods") or b"{}")
    return {each["metadata"]["uid"]: each["metadata"]["resourceVersion"] for each in found["items"]}


def counted(watch: Watch[Pod]) -> dict[str, str]:
    """Give the same of the store."""
    return {each.metadata.uid: each.metadata.resource_version for each in watch.store}


def test_what_happens_is_seen_and_found_by_index(server: Private) -> None:
    """A Pod is created, labelled and deleted; each is told once, with the fields that we keep."""

    async def run() -> None:
        async with watching(server.plane.kubeconfig) as watch:
            heard = Heard(watch)
            await filler.create(server.plane, "default", range(3))
            await until(lambda: len(watch.store) == 3, watch)
            (pod,) = watch.store.by("node", "node-2")
            assert pod.metadata.name == "pod-2"
            assert pod.spec.containers[1].resources.limits["nvidia.com/gpu"] == "1"
            assert watch.store.get("default", "pod-2") == pod
            await filler.delete(server.plane, "default", range(1, 3))
            await until(lambda: len(watch.store) == 1, watch)
            assert not watch.store.by("node", "node-2")
            assert sorted(heard.added) == names(0, 1, 2)
            assert sorted(heard.deleted) == names(1, 2)
            assert watch.status().errors == 0
            assert counted(watch) == recount(server)

    asyncio.run(run())


def test_a_short_outage_is_resumed_and_no_deletion_missed(server: Private, tmp_path: Path) -> None:
    """The way is cut for a while: the watch goes on from where it was, without a new list."""

    async def run() -> None:
        await filler.create(server.plane, "default", range(20))
        async with linked(server, tmp_path) as (link, watch):
            heard = Heard(watch)
            await link.cut()
            await filler.delete(server.plane, "default", range(5))
            await until(lambda: watch.status().errors > 3, watch)
            assert "no answer from the API server" in watch.status().why
            await link.join()
            await until(lambda: len(watch.store) == 16, watch)
            assert sorted(heard.deleted) == names(*range(5))
            assert watch.status().lists == 1
            assert watch.status().why == ""
            assert counted(watch) == recount(server)

    asyncio.run(run())


def test_an_api_server_that_restarts_costs_no_deletion(server: Private, tmp_path: Path) -> None:
    """It comes back without the events that we have not seen: the new list tells what is gone."""

    async def run() -> None:
        await filler.create(server.plane, "default", range(20))
        async with linked(server, tmp_path) as (link, watch):
            heard = Heard(watch)
            await link.cut()
            await filler.delete(server.plane, "default", range(5))
            await filler.create(server.plane, "default", range(4, 5))  # the name, not the Pod
            server.down()
            await link.join()
            await until(lambda: watch.status().errors > 3, watch)
            server.up()
            await until(lambda: watch.status().lists == 2, watch)
            assert sorted(heard.deleted) == names(*range(5))
            assert heard.added[21:] == names(4)
            await filler.delete(server.plane, "default", range(5, 7))
            await until(lambda: len(heard.deleted) == 7, watch)
            assert counted(watch) == recount(server)

    asyncio.run(run())


def test_history_that_etcd_has_compacted_is_made_good_by_a_list(
    server: Private, tmp_path: Path
) -> None:
    """410 from etcd itself, as no watch cache stands before it: the deletions are told, once."""
    server.down()
    server.up("--watch-cache=false", "--etcd-compaction-interval=1s")

    async def run() -> None:
        await filler.create(server.plane, "default", range(20))
        async with linked(server, tmp_path) as (link, watch):
            heard = Heard(watch)
            last = max(int(version) for version in counted(watch).values())
            await link.cut()
            await filler.delete(server.plane, "default", range(5))
            asked = f"/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion={last}"
            deadline = time.monotonic() + SECONDS
            while b'"code":410' not in (server.plane.ask("GET", asked) or b""):
                assert time.monotonic() < deadline
            await link.join()
            await until(lambda: watch.status().lists == 2, watch)
            assert sorted(heard.deleted) == names(*range(5))
            assert counted(watch) == recount(server)

    try:
        asyncio.run(run())
    finally:
        server.down()
        server.up()


def test_a_stalled_connection_is_cut_and_resumed(server: Private, tmp_path: Path) -> None:
    """Nothing comes, and nobody says that the connection is dead: that is found out."""

    async def run() -> None:
        await filler.create(server.plane, "default", range(20))
        pace = Pace(first=0.1, most=0.5, quiet=2)
        async with linked(server, tmp_path, pace) as (link, watch):
            heard = Heard(watch)
            before = link.taken
            link.stall()
            await filler.delete(server.plane, "default", range(5))
            await until(lambda: watch.status().staleness_seconds > 1, watch)
            assert not heard.deleted
            await until(lambda: len(heard.deleted) == 5, watch)
            assert link.taken > before
            assert watch.status().staleness_seconds < pace.quiet
            assert watch.status().lists == 1
            assert watch.status().errors == 0
            assert counted(watch) == recount(server)

    asyncio.run(run())


def test_missing_rights_are_said_plainly_and_asked_for_again(
    server: Private, tmp_path: Path
) -> None:
    """Once an administrator grants them, the watch begins; nobody need restart us."""

    async def run() -> None:
        user = server.kubeconfig(tmp_path / "k", server=server.plane.url, user="etcd-client")
        async with watching(user, synced=False) as watch:
            await until(lambda: watch.status().errors > 2, watch)
            status = watch.status()
            assert 'pods is forbidden: User "kube-apiserver" cannot list resource' in status.why
            assert not status.synced
            assert status.staleness_seconds == float("inf")
            grant(server, {"kind": "User", "name": "kube-apiserver"})
            await asyncio.wait_for(watch.synced(), SECONDS)
            assert watch.status().why == ""

    asyncio.run(run())


def test_a_token_that_is_no_longer_good_is_read_anew(server: Private, tmp_path: Path) -> None:
    """401: the kubeconfig is read again, and with it whatever proves who we are."""

    async def run() -> None:
        file = tmp_path / "k"
        file.write_text(kubeconfig.with_token(server.plane.url, server.plane.authority, "expired"))
        async with watching(file, synced=False) as watch:
            await until(lambda: watch.status().errors > 2, watch)
            assert watch.status().why == "HTTP 401: Unauthorized"
            name = {"metadata": {"name": "watcher"}}
            server.plane.ask("POST", f"{SPACE}/serviceaccounts", json.dumps(name))
            account = {"kind": "ServiceAccount", "name": "watcher", "namespace": "default"}
            grant(server, account)
            path = f"{SPACE}/serviceaccounts/watcher/token"
            made = json.loads(server.plane.ask("POST", path, json.dumps({"spec": {}})) or b"{}")
            file.write_text(
                kubeconfig.with_token(
                    server.plane.url, server.plane.authority, made["status"]["token"]
                )
            )
            await asyncio.wait_for(watch.synced(), SECONDS)

    asyncio.run(run())


def test_many_pods_in_pages(server: Private) -> None:
    """300 Pods come in four pages, and go; a recount agrees; 5,000: `scripts/bench watch`."""

    async def run() -> None:
        await filler.create(server.plane, "default", range(300))
        async with watching(server.plane.kubeconfig, Pace(page=80)) as watch:
            assert counted(watch) == recount(server)
            heard = Heard(watch)
            await filler.delete(server.plane, "default", range(150))
            await until(lambda: len(watch.store) == 150, watch)
            assert sorted(heard.deleted) == sorted(names(*range(150)))
            assert counted(watch) == recount(server)

    asyncio.run(run())


def grant(server: Private, subject: dict[str, str]) -> None:
    """Let someone do everything: without controllers, the lesser roles are empty."""
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"reader-{subject['name']}"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cluster-admin",
        },
        "subjects": [subject],
    }
    path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    assert server.plane.ask("POST", path, json.dumps(binding)) is not None
