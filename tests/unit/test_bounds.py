"""Settings out of bounds are refused at the start, in a sentence that names them and the bound."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from berth import clock, layered
from berth.admission import configuration
from berth.certs import authority, choice, identity
from berth.errors import UsageError
from berth.settings import Certificates, Registration, Settings

OUTSIDE = {
    "server.port": (["-1", "65536"], "a whole number from 0 to 65535"),
    "server.idleSeconds": (["0", "0.05", "nan", "inf"], "a number from 0.1 to 86400"),
    "server.drainSeconds": (["-1", "nan", "inf", "-inf"], "a number from 0 to 86400"),
    "server.bodySeconds": (["0", "nan"], "a number from 0.1 to 86400"),
    "server.stopSeconds": (["-1", "inf"], "a number from 0 to 86400"),
    "server.headerSeconds": (["0", "nan"], "a number from 0.1 to 86400"),
    "server.handshakeSeconds": (["0", "nan"], "a number from 0.1 to 86400"),
    "server.hangSeconds": (["-1", "nan"], "a number from 0 to 86400"),
    "server.mostBytesHeld": (["0", "8388607", "1099511627777"], "a whole number of bytes"),
    "metrics.port": (["-1", "65536"], "a whole number from 0 to 65535"),
    "reload.everySeconds": (["0", "inf"], "a number from 0.1 to 86400"),
    "server.mostInFlight": (["0", "1000001"], "a whole number from 1 to 1000000"),
    "log.flushSeconds": (["-1", "nan", "inf"], "a number from 0 to 86400"),
    "registration.servicePort": (["0", "65536"], "a whole number from 1 to 65535"),
    "registration.timeoutSeconds": (["0", "31"], "a whole number from 1 to 30"),
    "registration.refreshSeconds": (["0", "-1", "nan", "inf"], "a number from 0.1 to 86400"),
    "certificates.secret": (["", "a/b"], "a name of up to 63"),
    "certificates.leafDays": (["0", "0.00001", "3651", "nan"], "a number from 0.0001 to 3650"),
    "certificates.authorityDays": (["0", "3651", "inf"], "a number from 0.0001 to 3650"),
    "certificates.settleSeconds": (["-1", "nan"], "a number from 0 to 86400"),
    "certificates.checkSeconds": (["0", "0.05", "nan"], "a number from 0.1 to 86400"),
    "audit.namespaceLabel": (
        ["audit", "=audit", "a/=b", "/a=b", "a=b=c", "a b=c", "a=-"],
        "a label such as berth.dev/mode=audit",
    ),
    "registration.url": (
        [
            *("http://a", "https://", "https:///a", "a.example", "https://[::1", "https://a b"),
            *(
                "https://a:65536",
                "https://a:99999",
                "https://a:0",
                "https://a/b?c",
                "https://a/b#c",
            ),
        ],
        "an address such as https://host:port",
    ),
    "registration.name": (["", "A", "a.b", "-a", "a-", "a\n", "a" * 64], "a name of up to 63"),
    "registration.namespace": (["", "Berth", "a_b"], "a name of up to 63"),
    "registration.service": (["", "a/b", "h\xf6st"], "a name of up to 63"),
}
NUMBERS = ("a number", "a whole number", "a whole number of bytes")
CASES = [(name, value, said) for name, (values, said) in OUTSIDE.items() for value in values]


@pytest.mark.parametrize(("name", "value", "said"), CASES, ids=str)
def test_a_value_out_of_bounds_is_refused(name: str, value: str, said: str, tmp_path: Path) -> None:
    """As a flag, and in the file where YAML can write it."""
    with pytest.raises(UsageError) as error:
        layered.settings(None, [f"{name}={value}"])
    assert str(error.value).startswith(f"--set {name}: expected {said}")
    group, _, key = name.partition(".")
    file = tmp_path / "settings.yaml"
    number = said.partition(" from ")[0] in NUMBERS
    as_yaml = value.replace("nan", ".nan").replace("inf", ".inf") if number else repr(value)
    file.write_text(f"{group}: {{{key}: {as_yaml}}}")
    with pytest.raises(UsageError) as error:
        layered.settings(file)
    assert str(error.value).startswith(f"{file}: {name}: expected {said}")


INSIDE = [
    *("server.port=0", "server.port=65535", "server.idleSeconds=0.1", "server.drainSeconds=0"),
    *("log.flushSeconds=0", "registration.servicePort=1", "registration.timeoutSeconds=30"),
    *("registration.timeoutSeconds=1", "server.mostInFlight=1", "server.bodySeconds=0.1"),
    *("registration.url=", "registration.url=https://127.0.0.1:8443"),
    *("registration.url=https://a:65535", "registration.url=https://a:1"),
    *("registration.url=https://[::1]:8443/a", "registration.url=https://a-b.example"),
    *("server.mostBytesHeld=8388608", "server.stopSeconds=0", "server.hangSeconds=0"),
    *("registration.name=a", "registration.refreshSeconds=0.2"),
    *("certificates.leafDays=0.0001", "certificates.authorityDays=3650"),
    *("certificates.settleSeconds=0", "certificates.checkSeconds=0.1"),
]


@pytest.mark.parametrize("flag", INSIDE)
def test_the_bounds_themselves_are_taken(flag: str) -> None:
    """The ends belong to what is allowed, and are what holds then."""
    name, _, text = flag.partition("=")
    group, _, key = name.partition(".")
    found = msgspec.to_builtins(layered.settings(None, [flag]))[group][key]
    assert found == type(found)(text)


def test_the_defaults_are_within_bounds() -> None:
    """A struct's defaults are not checked when it is made."""
    assert msgspec.convert(msgspec.to_builtins(Settings()), Settings) == Settings()


INJECTIONS: dict[str, tuple[list[Any], str]] = {
    "a name with an end of dash": ([{"name": "a-"}], "injections[0].name: expected a name"),
    "a name of other letters": ([{"name": "\xe4"}], "injections[0].name: expected a name"),
    "a volume without a name": (
        [{"name": "a", "volumes": [{"emptyDir": {}}]}],
        "injections[0].volumes[0]: name must be there",
    ),
    "a mount without a name": (
        [{"name": "a", "volumeMounts": [{"mountPath": "/a"}]}],
        "injections[0].volumeMounts[0]: name must be there",
    ),
    "a mount without a path": (
        [{"name": "a"}, {"name": "b", "volumeMounts": [{"name": "v"}]}],
        "injections[1].volumeMounts[0]: mountPath must be there",
    ),
    "a variable without a name": (
        [{"name": "a", "env": [{"name": "", "value": "1"}]}],
        "injections[0].env[0].name: expected a text that is not empty",
    ),
    "a volume twice": (
        [{"name": "a", "volumes": [{"name": "v", "emptyDir": {}}] * 2}],
        "injections[0].volumes[1]: v stands twice",
    ),
    "a mount twice": (
        [{"name": "a", "volumeMounts": [{"name": "v", "mountPath": p} for p in ("/a", "/a/")]}],
        "injections[0].volumeMounts[1]: /a stands twice",
    ),
    "a mount of all twice": (
        [{"name": "a", "volumeMounts": [{"name": "v", "mountPath": "/"}] * 2}],
        "injections[0].volumeMounts[1]: / stands twice",
    ),
    "a variable twice": (
        [{"name": "a", "env": [{"name": "A", "value": v} for v in ("1", "2")]}],
        "injections[0].env[1]: A stands twice",
    ),
    "two volumes of a name": (
        [
            {"name": "a", "volumes": [{"name": "v", "hostPath": {"path": "/a"}}]},
            {"name": "b", "volumes": [{"name": "v", "hostPath": {"path": "/b"}}]},
        ],
        "injections[1].volumes[0]: v is another volume than injections[0].volumes[0]",
    ),
}


@pytest.mark.parametrize(("written", "said"), INJECTIONS.values(), ids=INJECTIONS.keys())
def test_an_injection_that_no_pod_could_take(written: list[Any], said: str, tmp_path: Path) -> None:
    """It is refused at the start, not with the first Pod."""
    file = tmp_path / "settings.yaml"
    file.write_bytes(msgspec.json.encode({"injections": written}))
    with pytest.raises(UsageError) as error:
        configuration.rules(layered.settings(file), None)
    assert said in str(error.value)


def test_two_injections_may_share_a_volume(tmp_path: Path) -> None:
    """The same volume is there once."""
    volume = {"name": "v", "hostPath": {"path": "/a"}}
    both = [{"name": name, "volumes": [volume]} for name in ("a", "b")]
    file = tmp_path / "settings.yaml"
    file.write_bytes(msgspec.json.encode({"injections": both}))
    assert list(configuration.rules(layered.settings(file), None)[0].injections) == ["a", "b"]


@pytest.mark.parametrize("url", ["https://[::1", "https://[:::::]"])
def test_an_address_that_is_none_makes_no_certificate(url: str) -> None:
    """Brackets that hold no IPv6 address are a sentence, not a traceback."""
    with pytest.raises(UsageError, match=r"registration\.url: .* is not an address"):
        identity.names(Settings(registration=Registration(url=url)))


def test_a_name_that_no_certificate_can_hold() -> None:
    """Certificates hold ASCII."""
    with pytest.raises(UsageError, match=r"'h\xf6st' cannot stand in a certificate"):
        authority.issue(("h\xf6st",), clock.now())


def test_a_ca_that_ends_before_the_next_is_trusted_is_refused() -> None:
    """A third of its life is what the next one has to settle in."""
    with pytest.raises(UsageError, match=r"certificates\.authorityDays: 0.004 is too short"):
        choice.terms(Certificates(authority_days=0.004))
    assert choice.terms(Certificates(authority_days=0.005)).settle == timedelta(seconds=60)
