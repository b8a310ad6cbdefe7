"""Who may call: each fact alone, and together."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from berth import layered, settings
from berth.admission import callers, configuration, live
from berth.admission.callers import Certificate
from berth.admission.live import Sources
from berth.errors import UsageError

CA = {"clientCaFile": "ca.crt"}
APISERVER = "kube-apiserver-admission"


def shown(common: str, *others: tuple[str, str]) -> Certificate:
    """Return a certificate as ssl shows it."""
    organisation = (("organizationName", "named-too"),)
    return {"subject": (organisation, (("commonName", common),)), "subjectAltName": others}


def why(
    wanted: dict[str, Any],
    address: str = "127.0.0.1",
    certificate: Certificate | None = None,
    agent: str = "curl/8",
) -> str:
    """Return the setting that keeps a caller out, or nothing."""
    found = configuration.callers(msgspec.convert(wanted, settings.Callers))
    assert found is not None
    said = callers.why_stranger(found, address, certificate, agent) or ""
    return said.partition("callers.")[2].rstrip(")")


FOUR, SIX = {"sources": ["10.1.0.0/16", "192.0.2.7"]}, {"sources": ["fd00:1::/32", "fe80::/10"]}
SOURCES: dict[str, tuple[dict[str, Any], str, bool]] = {
    "first of a range": (FOUR, "10.1.0.0", True),
    "last of a range": (FOUR, "10.1.255.255", True),
    "before a range": (FOUR, "10.0.255.255", False),
    "after a range": (FOUR, "10.2.0.0", False),
    "one address": (FOUR, "192.0.2.7", True),
    "beside one address": (FOUR, "192.0.2.8", False),
    "IPv4 through an IPv6 listener": (FOUR, "::ffff:10.1.2.3", True),
    "a stranger through an IPv6 listener": (FOUR, "::ffff:10.2.2.3", False),
    "IPv4-compatible is not IPv4": (FOUR, "::10.1.2.3", False),
    "IPv6 where IPv4 may": (FOUR, "fd00:1::1", False),
    "IPv6 of a range": (SIX, "fd00:1:ffff::1", True),
    "IPv6 of another": (SIX, "fd00:2::1", False),
    "IPv6 of a link": (SIX, "fe80::1%eth0", True),
    "IPv4 where IPv6 may": (SIX, "10.1.2.3", False),
    "all of IPv6 is not IPv4": ({"sources": ["::/0"]}, "::ffff:10.1.2.3", False),
    "all of IPv4": ({"sources": ["0.0.0.0/0"]}, "::ffff:10.1.2.3", True),
    "no address": ({"sources": ["::/0", "0.0.0.0/0"]}, "", False),
}


@pytest.mark.parametrize(("wanted", "address", "may"), SOURCES.values(), ids=SOURCES.keys())
def test_the_address(wanted: dict[str, Any], address: str, *, may: bool) -> None:
    """IPv4 and IPv6 are two worlds, but for IPv4 written as IPv6."""
    assert why(wanted, address) == ("" if may else "sources")


NAMED = {**CA, "clientNames": ["apiserver", "spiffe://cluster/apiserver"]}
CERTIFICATES: dict[str, tuple[dict[str, Any], Certificate | None, str]] = {
    "any of the authority": (CA, shown("x"), ""),
    "none": (CA, None, "clientCaFile"),
    "none where a name is asked for": (NAMED, None, "clientCaFile"),
    "common name": (NAMED, shown("apiserver"), ""),
    "DNS name": (NAMED, shown("x", ("DNS", "y"), ("DNS", "apiserver")), ""),
    "URI": (NAMED, shown("x", ("URI", "spiffe://cluster/apiserver")), ""),
    "no subject": (NAMED, {"subjectAltName": (("DNS", "apiserver"),)}, ""),
    "another name": (NAMED, shown("x", ("DNS", "y")), "clientNames"),
    "longer name": (NAMED, shown("apiserver.example"), "clientNames"),
    "other case": (NAMED, shown("APIserver"), "clientNames"),
    "a mail address": (NAMED, shown("x", ("email", "apiserver")), "clientNames"),
    "an organisation": ({**CA, "clientNames": ["named-too"]}, shown("x"), "clientNames"),
    "a certificate that says nothing": (NAMED, {"subject": ()}, "clientNames"),
}


@pytest.mark.parametrize(
    ("wanted", "certificate", "out"), CERTIFICATES.values(), ids=CERTIFICATES.keys()
)
def test_the_certificate(wanted: dict[str, Any], certificate: Certificate | None, out: str) -> None:
    """The handshake proves the authority; here its names are looked at, letter by letter."""
    assert why(wanted, certificate=certificate) == out


@pytest.mark.parametrize(
    ("agent", "may"),
    [(APISERVER, True), (f"{APISERVER}/v1", True), ("kube-apiserver", False), ("", False)],
)
def test_the_user_agent(agent: str, *, may: bool) -> None:
    """Its beginning counts."""
    assert why({"userAgents": ["x", APISERVER]}, agent=agent) == ("" if may else "userAgents")


def test_all_that_is_asked_for_must_hold() -> None:
    """One of three is not enough, nor are two."""
    wanted = {**NAMED, "sources": ["10.0.0.0/8"], "userAgents": [APISERVER]}
    known = ("10.1.2.3", shown("apiserver"), APISERVER)
    assert why(wanted, *known) == ""
    assert why(wanted, "11.1.2.3", *known[1:]) == "sources"
    assert why(wanted, known[0], None, known[2]) == "clientCaFile"
    assert why(wanted, known[0], shown("x"), known[2]) == "clientNames"
    assert why(wanted, *known[:2], "curl/8") == "userAgents"


def test_by_default_everyone_may() -> None:
    """There is nothing to ask then, not even a check that always passes."""
    assert configuration.callers(layered.settings(None).callers) is None


UNUSABLE = {
    "callers.clientNames=a": "callers.clientNames: names are read in certificates that",
    "callers.sources=10.0.0.0/33": "callers.sources[0]: 10.0.0.0/33 is no range of addresses",
    "callers.sources=::/0,10.0.0": "callers.sources[1]: 10.0.0 is no range of addresses",
    "callers.sources=010.0.0.0/8": "callers.sources[0]: 010.0.0.0/8 is no range of addresses",
    "callers.sources=10.1.0.0/8": "10.1.0.0/8 says more than its prefix; write 10.0.0.0/8",
    "callers.sources=fd00::1/8": "fd00::1/8 says more than its prefix; write fd00::/8",
    "callers.sources=::ffff:10.0.0.0/104": "holds IPv4 addresses; write 10.0.0.0/8",
    "callers.sources=::ffff:10.0.0.1": "holds IPv4 addresses; write 10.0.0.1/32",
}


@pytest.mark.parametrize(("flag", "said"), UNUSABLE.items(), ids=UNUSABLE.keys())
def test_what_would_keep_out_whom_it_should_not(flag: str, said: str) -> None:
    """A range or a name that nobody can meet is said at the start."""
    with pytest.raises(UsageError) as error:
        configuration.callers(layered.settings(None, [flag]).callers)
    assert said in str(error.value)


OUTSIDE = {
    "callers.sources=all": "expected a range of addresses such as 10.0.0.0/8 or fd00::/8",
    "callers.sources=10.0.0.0/8,": "expected a range of addresses",
    "callers.userAgents=a,": "expected a text that is not empty",
    "callers.clientNames=,": "expected a text that is not empty",
}


@pytest.mark.parametrize(("flag", "said"), OUTSIDE.items(), ids=OUTSIDE.keys())
def test_what_is_no_range_or_no_text_is_said_at_once(flag: str, said: str, tmp_path: Path) -> None:
    """With its place in the list; an empty beginning would fit every User-Agent."""
    name, _, value = flag.partition("=")
    at = value.split(",").index("") if "," in value else 0
    with pytest.raises(UsageError) as error:
        layered.settings(None, [flag])
    assert str(error.value).startswith(f"--set {name}: [{at}]: {said}")
    file = tmp_path / "settings.yaml"
    file.write_text(f"callers: {{{name.partition('.')[2]}: {value.split(',')}}}")
    with pytest.raises(UsageError) as error:
        layered.settings(file)
    assert str(error.value).startswith(f"{file}: {name}[{at}]: {said}")


def test_a_change_is_proved_at_once_and_asking_for_certificates_needs_a_new_process() -> None:
    """The context that asks was made at the start; the rest is taken as all settings are."""
    with pytest.raises(UsageError, match="clientNames"):
        live.read(Sources(flags=("callers.clientNames=a",)), 2)
    started = layered.settings(None)
    for changed, restart in (
        (["callers.userAgents=a", "callers.sources=10.0.0.0/8"], []),
        (["callers.clientCaFile=x"], ["callers.clientCaFile"]),
    ):
        assert list(live.needs_restart(started, layered.settings(None, changed))) == restart
