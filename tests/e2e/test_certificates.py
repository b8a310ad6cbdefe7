"""Certificates of our own on a real API server: agreed on, rotated, held against the caBundle."""

import asyncio
import itertools
import json
import ssl
import subprocess
import sys
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from berth import clock
from berth.certs import authority, bundle, own
from berth.certs.rotation import Stored
from berth.certs.store import SecretStore
from tests import pods, webhook
from tests.cluster.controlplane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.e2e.api import Api
from tests.e2e.relay import relay
from tests.volume import Volume
from tests.webhook import Webhook
from tests.wire import raw

CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/berth"
SECRET = "berth-webhook-ca"
JSON_PATCH = "application/json-patch+json"
REST = 0.02  # seconds between two creations: without, they would take all of both processors
QUICK = (
    *("--set", "certificates.store=secret", "--set", "certificates.checkSeconds=0.5"),
    *("--set", "certificates.settleSeconds=2", "--set", "certificates.leafDays=0.00015"),
)


def _gpu() -> dict[str, Any]:
    pod = pods.gpu_pod({"nvidia.com/gpu": "1"})
    pod["metadata"] = {"generateName": "gpu-"}
    return pod


def trusted(api: Api) -> set[str]:
    """Return the CAs of the registered caBundle."""
    status, found = api.ask("GET", CONFIGURATION)
    if status != 200 or not found.get("webhooks"):
        return set()
    return set(bundle.split(b64decode(found["webhooks"][0]["clientConfig"].get("caBundle", ""))))


def kept(api: Api, namespace: str) -> dict[str, Any]:
    """Return what the Secret holds."""
    status, found = api.ask("GET", f"/api/v1/namespaces/{namespace}/secrets/{SECRET}")
    assert status == 200, found
    state: dict[str, Any] = json.loads(b64decode(found["data"]["authorities.json"]))
    vouching = set(bundle.split(b64decode(found["data"]["ca.crt"])))
    all_of_it = [state["current"], *filter(None, [state["next"]]), *state["retired"]]
    assert vouching == {one["certificate"] for one in all_of_it}
    return state


@contextmanager
def replicas(
    plane: ControlPlane, folder: Path, namespace: str, count: int, *arguments: str
) -> Iterator[list[Webhook]]:
    """Run replicas behind one address, all started at once, and take the registration out again."""
    known = ("--kubeconfig", str(plane.kubeconfig))
    ports: list[int] = []
    turns = itertools.count()
    with ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        port = stack.enter_context(relay(lambda: ports[next(turns) % len(ports)]))
        flags = (
            *("--register", *known, "--url", f"https://127.0.0.1:{port}"),
            *("--set", f"registration.namespace={namespace}", *QUICK, *arguments),
        )

        def start(number: int) -> Webhook:
            place = folder / str(number)
            place.mkdir()
            return stack.enter_context(webhook.running(place, *flags, own_ca=True))

        stack.callback(_unregister, *known)
        started = list(pool.map(start, range(count)))
        ports.extend(one.port for one in started)
        yield started


def _unregister(*known: str) -> None:
    command = [sys.executable, "-m", "berth", "unregister", *known]
    subprocess.run(command, check=True, capture_output=True)


def ready(server: Webhook) -> str:
    """Return what /readyz says, on the operator's port."""
    return server.operator("/readyz").body.decode()


def is_ready(server: Webhook) -> bool:
    """Whether /readyz is green."""
    return server.operator("/readyz").status == 200


@dataclass
class Creations:
    """GPU Pods that are created all the while, as a dry run.

    As the API server keeps its connections, each replica is also greeted anew, trusting what was
    registered a moment before.
    """

    api: Api
    namespace: str
    servers: list[Webhook]
    stop: threading.Event = field(default_factory=threading.Event)
    made: int = 0
    failures: list[object] = field(default_factory=list)

    def run(self) -> None:
        """Create until told to stop."""
        while not self.stop.wait(REST):
            known = "".join(trusted(self.api))
            status, answer = self.api.create(_gpu(), self.namespace, dry_run=True)
            if status != 201 or answer["spec"]["schedulerName"] != "hami-scheduler":
                self.failures.append((clock.now(), status, answer.get("message")))
            try:
                for server in self.servers:
                    _greeted(server, known)
            except OSError as error:
                self.failures.append((clock.now(), error))
            self.made += 1


@contextmanager
def created(plane: ControlPlane, namespace: str, servers: list[Webhook]) -> Iterator[Creations]:
    """Create all the while, and fail where one creation does."""
    creations = Creations(Api(plane), namespace, servers)
    thread = threading.Thread(target=creations.run)
    thread.start()
    try:
        yield creations
        assert raw.eventually(lambda: creations.made > 20, 60)
    finally:
        creations.stop.set()
        thread.join(60)
        creations.api.connection.close()
    assert creations.failures == []


def test_l11_of_two_that_make_the_ca_at_once_one_wins(
    control_plane: ControlPlane, namespace: str
) -> None:
    """The API server takes one Secret; who came second, or read what is no more, is told so."""
    stores = [SecretStore(control_plane.kubeconfig, namespace, SECRET) for _ in range(2)]
    wanted = [Stored(own.make(clock.now(), timedelta(days=1))) for _ in range(3)]

    async def race() -> None:
        nothing = [await store.read() for store in stores]
        assert [(held.stored, held.version) for held in nothing] == [(None, "")] * 2
        writes = [
            store.write(state, held)
            for store, state, held in zip(stores, wanted[:2], nothing, strict=True)
        ]
        took = await asyncio.gather(*writes)
        assert sorted(took) == [False, True]
        held = await stores[0].read()
        assert held.stored == wanted[took.index(True)]
        assert await stores[1].write(wanted[2], held)
        assert not await stores[0].write(wanted[1], held)

    asyncio.run(race())


def test_l5_l11_a_new_ca_takes_over_and_no_creation_fails(
    api: Api, control_plane: ControlPlane, namespace: str, space: str, tmp_path: Path
) -> None:
    """Two replicas, started at once, agree on a CA, and on the next: old, both, new.

    Bug report 44, for the CA.
    """
    with replicas(control_plane, tmp_path, namespace, 2) as servers:
        assert raw.eventually(lambda: all(is_ready(one) for one in servers), 30)
        assert raw.eventually(lambda: any(one.logged("certificates.made") for one in servers))
        assert sum(len(one.logged("certificates.made")) for one in servers) == 1
        old = kept(api, namespace)["current"]["certificate"]
        assert trusted(api) == {old}
        assert raw.eventually(lambda: api.create(_gpu(), space, dry_run=True)[0] == 201, 30)
        steps = [{old}]
        with created(control_plane, space, servers):
            assert "the next CA is there" in _rotate(control_plane, namespace)

            def over() -> bool:
                found = trusted(api)
                if found != steps[-1]:
                    steps.append(found)
                return old not in found

            assert raw.eventually(over, 120)
            (new,) = steps[-1]
            assert steps == [{old}, {old, new}, {new}]
            for server in servers:
                _greeted(server, new)
        assert kept(api, namespace)["current"]["certificate"] == new
        assert all(is_ready(one) for one in servers)


def _rotate(plane: ControlPlane, namespace: str) -> str:
    command = [
        *(sys.executable, "-m", "berth", "certificates", "rotate", *QUICK),
        *("--kubeconfig", str(plane.kubeconfig)),
        *("--set", f"registration.namespace={namespace}"),
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _greeted(server: Webhook, trusted: str) -> None:
    """Shake hands with a replica, trusting what is in this bundle alone."""
    trust = ssl.create_default_context(cadata=trusted)
    with trust.wrap_socket(raw.dial(server), server_hostname="127.0.0.1") as connection:
        assert connection.version() == "TLSv1.3"


def test_a_secret_that_was_deleted_is_made_again_and_no_creation_fails(
    api: Api, control_plane: ControlPlane, namespace: str, space: str, tmp_path: Path
) -> None:
    """A replica that runs remembers the CA: its leaves are believed until they end."""
    with replicas(control_plane, tmp_path, namespace, 1) as (server,):
        assert raw.eventually(lambda: is_ready(server), 30)
        assert raw.eventually(lambda: api.create(_gpu(), space, dry_run=True)[0] == 201, 30)
        old = trusted(api)
        path = f"/api/v1/namespaces/{namespace}/secrets/{SECRET}"
        with created(control_plane, space, [server]):
            assert api.ask("DELETE", path)[0] == 200
            assert raw.eventually(lambda: len(trusted(api)) == 2, 30)
            assert raw.eventually(lambda: not old & trusted(api), 120)


@pytest.fixture
def account(api: Api, kubectl: Kubectl, namespace: str, tmp_path: Path) -> Iterator[Path]:
    """Give the kubeconfig of the account that `berth manifests` makes, with its rights."""
    command = [sys.executable, "-m", "berth", "manifests"]
    flag = f"--set=registration.namespace={namespace}"
    printed = subprocess.run([*command, flag], check=True, capture_output=True, text=True).stdout
    access = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    objects = [one for one in yaml.safe_load_all(printed) if one["kind"] in access]
    assert [one["kind"] for one in objects] == list(access)
    file = tmp_path / "access.yaml"
    file.write_text(yaml.safe_dump_all(objects))
    kubectl("apply", "-f", str(file))
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/berth-webhook/token"
    status, answer = api.ask("POST", path, {"spec": {"expirationSeconds": 3600}})
    assert status == 201, answer
    config = yaml.safe_load(kubectl.plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": answer["status"]["token"]}
    rewritten = tmp_path / "account.kubeconfig"
    rewritten.write_text(yaml.safe_dump(config))
    yield rewritten
    kubectl("delete", "-f", str(file))


def test_l8_a_foreign_ca_bundle_is_not_ready_and_is_put_right(
    api: Api, control_plane: ControlPlane, namespace: str, account: Path, tmp_path: Path
) -> None:
    """With the rights of `berth manifests`; while they do not suffice, /readyz says why."""
    role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/berth-webhook"
    flags = ("--kubeconfig", str(account))
    with replicas(control_plane, tmp_path, namespace, 1, *flags) as (server,):
        assert raw.eventually(lambda: is_ready(server), 30), server.log
        # On its first start, before it has registered, there was nobody to distrust it.
        assert not server.logged("registration.distrusts")
        ours = trusted(api)
        verbs = {"op": "replace", "path": "/rules/1/verbs", "value": ["get"]}
        assert api.ask("PATCH", role, [verbs], JSON_PATCH)[0] == 200
        foreign = authority.issue(("127.0.0.1",), clock.now()).authority
        path = "/webhooks/0/clientConfig/caBundle"
        stolen = {"op": "replace", "path": path, "value": b64encode(foreign).decode()}

        def stands() -> bool:
            """Steal it again, as the right to undo it is gone only soon; say whether it is told."""
            if trusted(api) != set(bundle.split(foreign)):
                assert api.ask("PATCH", CONFIGURATION, [stolen], JSON_PATCH)[0] == 200
            return "registration: its caBundle does not vouch for us" in ready(server)

        assert raw.eventually(stands, 30), (ready(server), server.log)
        assert server.logged("registration.distrusts")
        assert server.operator("/healthz").status == 200
        verbs["value"] = ["get", "patch"]
        assert api.ask("PATCH", role, [verbs], JSON_PATCH)[0] == 200
        assert raw.eventually(lambda: is_ready(server), 30)
        assert trusted(api) == ours


def test_l5_a_ca_that_others_replace_is_trusted_before_its_leaf_is_shown(
    api: Api, control_plane: ControlPlane, namespace: str, space: str, tmp_path: Path
) -> None:
    """As when cert-manager makes a new CA: leaf and CA come at once, and no creation fails."""
    volume = Volume(tmp_path / "tls")
    first = volume.publish(volume.pair())
    with replicas(control_plane, tmp_path, namespace, 1, *volume.flags()) as (server,):
        assert raw.eventually(lambda: is_ready(server), 30), server.log
        assert raw.eventually(lambda: api.create(_gpu(), space, dry_run=True)[0] == 201, 30)
        old = set(bundle.split(first.authority))
        assert trusted(api) == old
        with created(control_plane, space, [server]):
            volume.replace_authority()
            new = volume.publish(volume.pair()).authority.decode()
            assert raw.eventually(lambda: trusted(api) == {*old, new}, 30)
            assert raw.eventually(lambda: len(server.logged("certificates.shown")) == 2, 30)
        _greeted(server, new)
        assert is_ready(server)
        assert trusted(api) == {*old, new}  # another replica may need the old one


def test_l9_without_the_api_server_it_serves_on_and_is_ready(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    """Its connections are cut and new ones refused; the leaf in use is good for a while."""
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    port = int(control_plane.url.rsplit(":", 1)[1])
    with ExitStack() as network:
        through = network.enter_context(relay(lambda: port))
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{through}"
        file = tmp_path / "through.kubeconfig"
        file.write_text(yaml.safe_dump(config))
        flags = ("--kubeconfig", str(file), "--set", "certificates.leafDays=1")
        with replicas(control_plane, tmp_path, namespace, 1, *flags) as (server,):
            assert raw.eventually(lambda: is_ready(server), 30), server.log
            network.close()
            assert raw.eventually(lambda: bool(server.logged("certificates.failed")), 30)
            assert raw.eventually(lambda: bool(server.logged("registration.failed")), 30)
            assert is_ready(server)
            assert server.operator("/readyz").body == b"ok"
            state = server.figure("berth_certificate_reloads_total", result="failed")
            assert state > 0
