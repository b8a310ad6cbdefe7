"""`berth manifests`: what it prints runs as what was asked for."""

import os
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from berth import layered, names
from berth.cli import documents
from berth.cli import printed as printed_yaml
from berth.settings import Settings


def printed(*flags: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command with these flags and environment variables."""
    command = [sys.executable, "-m", "berth", "manifests", *flags]
    environment = {**os.environ, **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def objects(*flags: str, **variables: str) -> dict[str, Any]:
    """Return what is printed, by kind."""
    done = printed(*flags, **variables)
    assert done.returncode == 0, done.stderr
    return {one["kind"]: one for one in yaml.safe_load_all(done.stdout)}


def container(found: dict[str, Any]) -> Any:
    """Return the one container."""
    return found["Deployment"]["spec"]["template"]["spec"]["containers"][0]


def inside(found: dict[str, Any], folder: Path) -> Settings:
    """Return the settings that the container loads."""
    assert "--config=/etc/berth/settings.yaml" in container(found)["command"]
    assert not [word for word in container(found)["command"] if "--set" in word]
    file = folder / "settings.yaml"
    file.write_text(found["ConfigMap"]["data"]["settings.yaml"])
    return layered.settings(file)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Give the flags of a settings file and of a device-config."""
    mine, devices = tmp_path / "mine.yaml", tmp_path / "devices.yaml"
    mine.write_text(
        "log: {level: debug}\nserver: {port: 1000, certFile: /here/a, keyFile: /here/b}\n"
        "injections: [{name: a, volumes: [{name: v, hostPath: {path: /a}}]}]"
    )
    devices.write_text("nvidia: {defaultCores: 7}")
    return f"--config={mine}", f"--device-config={devices}"


def test_every_layer_reaches_the_container(files: tuple[str, str], tmp_path: Path) -> None:
    """The file, variables and flags give one ConfigMap; paths of here stay here."""
    flags = (*files, "--set", "registration.namespace=elsewhere")
    variables = {
        "BERTH_SERVER_PORT": "9443",
        "BERTH_REGISTRATION_NAME": "mine",
        "BERTH_SCHEDULER_NAME": "ours",
    }
    found = objects(*flags, **variables)
    assert inside(found, tmp_path) == msgspec.convert(
        {
            "log": {"level": "debug"},
            "server": {
                "port": 9443,
            },
            "certificates": {"store": "secret"},
            "registration": {"name": "mine", "namespace": "elsewhere"},
            "scheduler": {"name": "ours"},
            "injections": [{"name": "a", "volumes": [{"name": "v", "hostPath": {"path": "/a"}}]}],
        },
        Settings,
    )
    assert container(found)["ports"][0]["containerPort"] == 9443
    assert found["MutatingWebhookConfiguration"]["metadata"]["name"] == "mine"
    assert found["ClusterRole"]["rules"][1]["resourceNames"] == ["mine"]
    assert "--device-config=/etc/berth/device-config.yaml" in container(found)["command"]
    assert found["ConfigMap"]["data"]["device-config.yaml"] == "nvidia: {defaultCores: 7}"


def test_an_upgrade_leaves_the_configurations_to_the_replicas() -> None:
    """An entry that is new would come without a caBundle, and refuse all Pods that it matches."""
    whole, upgrade = objects("--backstop"), objects("--backstop", "--upgrade")
    kept = {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
    assert whole.keys() - upgrade.keys() == kept
    assert upgrade == {kind: one for kind, one in whole.items() if kind not in kept}


def test_what_is_not_watched_may_not_be_read() -> None:
    """The account has no right that it does not use."""

    def reads(*flags: str) -> list[Any]:
        rules = objects(*flags)["ClusterRole"]["rules"]
        return [rule for rule in rules if rule["apiGroups"] == [""]]

    def watched(*names: str) -> list[Any]:
        return [{"apiGroups": [""], "resources": [*names], "verbs": ["list", "watch"]}]

    assert reads() == watched("nodes", "pods", "resourcequotas")
    without = ("--set", "quota.enforce=never")
    assert reads(*without) == watched("nodes", "pods")
    assert reads("--set", "placement.enforce=never") == watched("pods", "resourcequotas")
    assert reads(*without, "--set", "placement.enforce=never") == []
    on = [f"--set=classes.{one}=true" for one in ("runtime", "device", "limitRange")]
    rules = objects(*on)["ClusterRole"]["rules"]
    assert watched("limitranges", "nodes", "pods", "resourcequotas")[0] in rules
    for group, name in (("node.k8s.io", "runtimeclasses"), ("resource.k8s.io", "deviceclasses")):
        right = {"apiGroups": [group], "resources": [name], "verbs": ["list", "watch"]}
        assert (right in rules, right in objects()["ClusterRole"]["rules"]) == (True, False)


def test_without_a_word_the_container_has_its_settings_too(tmp_path: Path) -> None:
    """What runs is what was printed, whatever a later image has as its defaults."""
    found = objects()
    loaded = inside(found, tmp_path)
    assert loaded.registration == Settings().registration
    mounts = {mount["name"]: mount["mountPath"] for mount in container(found)["volumeMounts"]}
    assert mounts == {"settings": "/etc/berth"}


def test_without_a_certificate_none_is_printed_and_the_replicas_share_one() -> None:
    """No key in a manifest; rights for the one Secret, but for its creation, in one namespace."""
    found = objects("--set=certificates.secret=mine")
    assert "Secret" not in found
    assert [(rule["verbs"], rule.get("resourceNames")) for rule in found["Role"]["rules"]] == [
        (["create"], None),
        (["get", "patch"], ["mine"]),
    ]
    assert found["RoleBinding"]["metadata"]["namespace"] == "berth-system"
    for entry in found["MutatingWebhookConfiguration"]["webhooks"]:
        assert "caBundle" not in entry["clientConfig"]


def test_a_secret_of_cert_managers_needs_nothing_else(tmp_path: Path) -> None:
    """It holds ca.crt, and is mounted, so that a new one is seen; no Secret is read by the API."""
    found = objects("--tls-secret=issued")
    server = inside(found, tmp_path).server
    assert (server.cert_file, server.key_file, server.ca_file) == (
        "/etc/berth-tls/tls.crt",
        "/etc/berth-tls/tls.key",
        "/etc/berth-tls/ca.crt",
    )
    volumes = found["Deployment"]["spec"]["template"]["spec"]["volumes"]
    assert {"name": "tls", "secret": {"secretName": "issued"}} in volumes
    assert "Role" not in found


def test_the_settings_are_printed_as_lines() -> None:
    """People read them there, and change them."""
    assert "  settings.yaml: |\n    server:\n      host: 0.0.0.0\n" in printed().stdout


def test_an_authority_of_ones_own_is_mounted_with_the_settings(tmp_path: Path) -> None:
    """A Secret of type kubernetes.io/tls need not hold ca.crt."""
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("-----BEGIN CERTIFICATE-----\n")
    found = objects("--tls-secret=mine", f"--ca-file={bundle}")
    assert "Secret" not in found
    assert inside(found, tmp_path).server.ca_file == "/etc/berth/ca.crt"
    assert found["ConfigMap"]["data"]["ca.crt"] == bundle.read_text()
    webhooks = found["MutatingWebhookConfiguration"]["webhooks"]
    assert b64decode(webhooks[0]["clientConfig"]["caBundle"]) == bundle.read_bytes()


def test_the_authority_of_callers_is_mounted_too(tmp_path: Path) -> None:
    """The Pods read the bundle where the setting, as mounted, says that it is."""
    bundle = tmp_path / "mine.pem"
    bundle.write_text("-----BEGIN CERTIFICATE-----\n")
    flags = (f"--set=callers.clientCaFile={bundle}", "--set=callers.clientNames=a,b")
    found = objects(*flags)
    callers = inside(found, tmp_path).callers
    assert (callers.client_ca_file, callers.client_names) == (
        "/etc/berth/client-ca.crt",
        ("a", "b"),
    )
    assert found["ConfigMap"]["data"]["client-ca.crt"] == bundle.read_text()


def test_a_replica_has_time_to_leave() -> None:
    """Kubelet kills it later than it needs for serving on and for what is under way."""
    flags = ("--set=server.stopSeconds=30", "--set=server.drainSeconds=20.5")
    spec = objects(*flags)["Deployment"]["spec"]["template"]["spec"]
    assert spec["terminationGracePeriodSeconds"] > 50.5


def test_the_operators_port_is_named_where_there_is_one() -> None:
    """Prometheus finds it by that name, and so does the probe that a busy loop must not fail."""
    shown = container(objects())
    assert {"name": "metrics", "containerPort": 9464} in shown["ports"]
    assert shown["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "metrics"}
    hidden = container(objects("--set=metrics.enabled=false"))
    assert [port["name"] for port in hidden["ports"]] == ["https"]
    assert hidden["livenessProbe"]["httpGet"]["port"] == "https"


def checksum(*flags: str) -> str:
    """Return the annotation of the Pods."""
    metadata = objects(*flags)["Deployment"]["spec"]["template"]["metadata"]
    return str(metadata["annotations"][names.CONFIG_CHECKSUM])


def test_what_changes_the_pods_files_changes_the_pods(tmp_path: Path) -> None:
    """Else an apply would leave Pods running that have read what was before."""
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("-----BEGIN CERTIFICATE-----\n")
    own = ("--tls-secret=mine", f"--ca-file={bundle}")
    first = checksum(*own)
    assert checksum(*own) == first
    assert checksum(*own, "--set=log.level=debug") != first
    bundle.write_text("-----BEGIN CERTIFICATE-----\nother\n")
    assert checksum(*own) != first
    assert checksum() == checksum()


NOTHING = {
    "no such bundle": (("--tls-secret=a", "--ca-file=/none/ca.crt"), "/none/ca.crt: cannot be"),
    "no secret for the bundle": (("--ca-file=/none/ca.crt",), "vouches for --tls-secret"),
    "no bundle of callers": (("--set=callers.clientCaFile=/none/a",), "/none/a: cannot be read"),
    "names without a bundle": (("--set=callers.clientNames=a",), "callers.clientNames: "),
    "no port": (("--set=server.port=0",), "server.port: 0 is no port"),
}


@pytest.mark.parametrize(("flags", "said"), NOTHING.values(), ids=NOTHING.keys())
def test_what_cannot_be_printed_is_one_sentence(flags: tuple[str, ...], said: str) -> None:
    """On stderr, with exit code 2, and nothing to apply."""
    done = printed(*flags)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("berth: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_bundle_that_is_no_text_is_one_sentence(tmp_path: Path) -> None:
    """A DER file, say: the API server wants PEM."""
    bundle = tmp_path / "ca.der"
    bundle.write_bytes(b"\x30\x82\xff")
    done = printed("--tls-secret=a", f"--ca-file={bundle}")
    assert done.returncode == 2
    assert "is not text in UTF-8" in done.stderr


TAKEN_FOR_MORE = [
    ".inf",
    "y",
    "N",
    "on",
    "1e3",
    "0o17",
    "089",
    "12:30",
    "=",
    "<<",
    "~",
    "",
    "1_0",
    ".5",
]


def test_text_stays_text_on_its_way_through_kubectl() -> None:
    """Labels of an injection's selector, say: kubectl reads some that YAML's own rules leave."""
    labels: dict[str, Any] = {f"l{n}": text for n, text in enumerate(TAKEN_FOR_MORE)}
    labels |= {"plain": "10.0.0.1", "y": "a key", "ship": "\U0001f6a2"}
    shown = printed_yaml.objects([labels])
    assert documents.parsed("here", shown) == [labels]
    assert b"10.0.0.1\n" in shown, "quoted without need"
