"""Settings: which layer wins, and what is said about a setting that is none."""

import contextlib
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

import pytest

from berth import layered, settings
from berth.errors import UsageError


def written(folder: Path, text: str) -> Path:
    """Return a settings file with this text."""
    file = folder / "settings.yaml"
    file.write_text(text)
    return file


def test_without_a_word_the_defaults_hold() -> None:
    """They are those of the structs, and an empty file is no word."""
    assert layered.settings(None) == settings.Settings()


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    """A file may hold comments alone."""
    assert layered.settings(written(tmp_path, "# nothing\n")) == settings.Settings()


LAYERS: dict[str, tuple[dict[str, str], int]] = {
    "defaults": ({}, 8443),
    "the file over the defaults": ({"file": "1001"}, 1001),
    "the environment over the file": ({"file": "1001", "env": "1002"}, 1002),
    "flags over the environment": ({"file": "1001", "env": "1002", "flag": "1003"}, 1003),
    "flags over the file": ({"file": "1001", "flag": "1003"}, 1003),
    "flags over the environment alone": ({"env": "1002", "flag": "1003"}, 1003),
}


@pytest.mark.parametrize(("layers", "port"), LAYERS.values(), ids=LAYERS.keys())
def test_the_later_layer_wins(
    layers: dict[str, str], port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File, then environment, then flags; what a layer leaves out shows the one below."""
    text = f"server: {{host: 10.0.0.1, port: {layers.get('file', 8443)}}}"
    if "env" in layers:
        monkeypatch.setenv("BERTH_SERVER_PORT", layers["env"])
    flags = [f"server.port={layers['flag']}"] if "flag" in layers else []
    loaded = layered.settings(written(tmp_path, text), flags)
    assert loaded.server.port == port
    assert loaded.server.host == "10.0.0.1"


def test_the_last_of_two_flags_wins() -> None:
    """As with every command."""
    assert layered.settings(None, ["log.level=debug", "log.level=error"]).log.level == "error"


TYPED = {
    "text": ("scheduler.name=mine", "scheduler", "name", "mine"),
    "empty text": ("scheduler.name=", "scheduler", "name", ""),
    "text with a sign": ("server.caFile=a=b", "server", "ca_file", "a=b"),
    "a truth": ("scheduler.force=false", "scheduler", "force", False),
    "a fraction": ("server.drainSeconds=2.5", "server", "drain_seconds", 2.5),
    "a list": (
        "policy.excludedNamespaces=a,b",
        "policy",
        "excluded_namespaces",
        ("a", "b"),
    ),
    "an empty list": ("policy.excludedNamespaces=", "policy", "excluded_namespaces", ()),
}


@pytest.mark.parametrize(("flag", "group", "name", "value"), TYPED.values(), ids=TYPED.keys())
def test_text_becomes_what_the_setting_holds(
    flag: str, group: str, name: str, value: object
) -> None:
    """Flags and variables are text; lists are separated by commas."""
    assert getattr(getattr(layered.settings(None, [flag]), group), name) == value


KNOBS = dict(layered.knobs(settings.Settings))


def changing(keys: tuple[str, ...]) -> str:
    """Return a flag that gives a setting another value than its default."""
    kind = KNOBS[keys]
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    special = {
        "url": "https://other",
        "sources": "10.0.0.0/8",
        "namespaceLabel": "a=b",
        "apart": "a:b",
    }
    choices: tuple[str, ...] = (special.get(keys[-1], "other"),)
    if kind in (int, float):
        choices = ("7", "9", "9000000")
    elif kind is bool:
        choices = ("true", "false")
    elif get_origin(kind) is Literal:
        choices = get_args(kind)
    flags = (f"{'.'.join(keys)}={choice}" for choice in choices)
    return next(flag for flag in flags if _changes(flag))


def _changes(flag: str) -> bool:
    with contextlib.suppress(UsageError):  # out of bounds
        return layered.settings(None, [flag]) != settings.Settings()
    return False


@pytest.mark.parametrize("keys", KNOBS, ids=".".join)
def test_every_setting_has_a_variable_and_a_flag(
    keys: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both change it alike."""
    flag = changing(keys)
    by_flag = layered.settings(None, [flag])
    monkeypatch.setenv(layered.variable(keys), flag.partition("=")[2])
    assert layered.settings(None) == by_flag


def test_a_variable_is_named_after_its_setting() -> None:
    """Groups and words are joined by underscores."""
    assert layered.variable(("server", "certFile")) == "BERTH_SERVER_CERT_FILE"


def test_the_page_says_of_every_setting_what_it_is() -> None:
    """No row without a text, also of groups that take their settings from another."""
    page = Path(__file__).parents[2] / "docs/reference/settings.md"
    rows = [line for line in page.read_text().splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert {name for name, *_ in cells} >= {f"`{keys[-1]}`" for keys in KNOBS}
    assert all(map(all, cells))


UNKNOWN = {
    "at the top": ("servr: {port: 1}", "servr is not a setting; did you mean server?"),
    "in a group": (
        "server: {prot: 1}",
        "server.prot is not a setting; did you mean port?",
    ),
    "in snake case": (
        "server: {cert_file: a}",
        "server.cert_file is not a setting; did you mean certFile?",
    ),
    "in a list": (
        "injections: [{name: a}, {name: b, volumeMount: []}]",
        "injections[1].volumeMount is not a setting; did you mean volumeMounts?",
    ),
    "in a list of a list": (
        "injections: [{name: a, env: [{name: A, value: b}, {nmae: B, value: c}]}]",
        "injections[0].env[1].nmae is not a setting; did you mean name?",
    ),
    "in two places": (
        "{log: {levle: info}, polcy: {}}",
        "log.levle is not a setting; did you mean level?; polcy is not a setting; did you mean",
    ),
    "far from all": (
        "scheduler: {zzz: 1}",
        "scheduler.zzz is not a setting; known are force, name",
    ),
    "a number": ("1: 2", "1 is not a setting"),
}


@pytest.mark.parametrize(("text", "said"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_a_key_of_the_file_that_is_no_setting(text: str, said: str, tmp_path: Path) -> None:
    """The file, the path of the key and the nearest setting are named, for all keys at once."""
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as error:
        layered.settings(file)
    assert str(error.value).startswith(f"{file}: {said}")


WRONG = {
    "text for a number": ("server: {port: high}", "server.port: expected a whole number from 0 to"),
    "quotes round a number": (
        'server: {port: "8443"}',
        "server.port: expected a whole number from 0 to 65535, got text",
    ),
    "a number for text": ("language: 7", "language: expected text, got a whole number"),
    "another choice": (
        "policy: {privileged: maybe}",
        "policy.privileged: 'maybe' is none of skip, deny, allow",
    ),
    "a misspelt choice": (
        "policy: {privileged: deni}",
        "policy.privileged: 'deni' is none of skip, deny, allow; did you mean deny?",
    ),
    "nothing for a group": ("server:", "server: expected a mapping of keys to values, got nothing"),
    "a list for a group": (
        "server: [1]",
        "server: expected a mapping of keys to values, got a list",
    ),
    "in a list": (
        "injections: [{name: 1}]",
        "injections[0].name: expected a name of up to 63",
    ),
    "lacking": ("injections: [{env: []}]", "injections[0]: name is missing; write it"),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG.keys())
def test_a_value_of_a_wrong_type(text: str, said: str, tmp_path: Path) -> None:
    """The file, the path, what is wanted and what is there are named."""
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as error:
        layered.settings(file)
    assert str(error.value).startswith(f"{file}: {said}")


def test_a_flag_hides_nothing_wrong_in_the_file(tmp_path: Path) -> None:
    """What is there for a group would else be dropped for the group of the flag."""
    with pytest.raises(
        UsageError, match="server: expected a mapping of keys to values, got a whole"
    ):
        layered.settings(written(tmp_path, "server: 5"), ["server.port=1"])


FILES = {
    "a group twice": (
        "policy: {privileged: deny}\nlog: {}\npolicy: {deviceEnv: keep}",
        r"policy stands twice in one mapping \(line 3\)",
    ),
    "a key twice": ("server: {port: 1, host: a, port: 2}", "port stands twice"),
    "a key twice in a list": ("injections: [{name: a, name: b}]", "name stands twice"),
    "no YAML": ("server: {", "is not valid YAML"),
    "a day that is none": ("log: {level: 2026-13-45}", "is not valid YAML"),
    "a list": ("- server", "the top level must be a mapping"),
    "bytes": (
        "injections: [{volumes: [!!binary aGk=]}]",
        "says what JSON, and so Kubernetes, cannot",
    ),
    "a tag": (
        "injections: [{env: [{name: A, value: !x y}]}]",
        "line 1, column 38: could not determine a constructor for a tag; quote a text that beg",
    ),
    "65 bits": (
        "injections: [{tolerations: [{a: 18446744073709551616}]}]",
        "64-bit range; write it",
    ),
    "a bomb": (
        "".join(f"a{n}: &a{n} [{f'*a{n - 1},' * 9 if n else 'x'}]\n" for n in range(11)),
        "unfold to ",
    ),
    "itself": ("injections: [{volumes: [&a {b: *a}]}]", "and nothing within itself"),
}


@pytest.mark.parametrize(("text", "said"), FILES.values(), ids=FILES.keys())
def test_a_file_that_cannot_be_read(text: str, said: str, tmp_path: Path) -> None:
    """One sentence that names the file."""
    file = written(tmp_path, text)
    with pytest.raises(UsageError, match=said):
        layered.settings(file)


def test_a_secret_that_yaml_takes_for_a_tag_is_not_repeated(tmp_path: Path) -> None:
    """The sentence goes to the log, and to /readyz, which everyone may ask."""
    text = "injections: [{name: a, env: [{name: TOKEN, value: !planted-secret}]}]"
    with pytest.raises(UsageError) as error:
        layered.settings(written(tmp_path, text))
    assert "planted-secret" not in str(error.value)


def test_a_piece_of_a_manifest_is_read_as_kubernetes_reads_it(tmp_path: Path) -> None:
    """Its keys are text, and so is a day: else each Pod that it is put into would be a fault."""
    text = "injections: [{name: a, namespaceSelector: {matchLabels: {1: 2026-01-01}}}]"
    (injection,) = layered.settings(written(tmp_path, text)).injections
    assert injection.namespace_selector == {"matchLabels": {"1": "2026-01-01"}}


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """One sentence that names the file."""
    with pytest.raises(UsageError, match=r"none\.yaml: cannot be read: No such file"):
        layered.settings(tmp_path / "none.yaml")


FLAGS = {
    "no value": ("server.port", "--set server.port: write it as key=value"),
    "no setting": ("server.prt=1", "server.prt is not a setting; did you mean server.port?"),
    "a group": ("server=1", "server is a group of settings; set one, such as server.host"),
    "no group": ("serv=1", "serv is not a setting"),
    "a wrong type": ("server.port=high", "--set server.port: expected a whole number from 0"),
    "another choice": ("log.format=xml", "--set log.format: 'xml' is none of auto, json, text"),
}


@pytest.mark.parametrize(("flag", "said"), FLAGS.values(), ids=FLAGS.keys())
def test_a_flag_that_sets_nothing(flag: str, said: str) -> None:
    """The flag is named as it was given."""
    with pytest.raises(UsageError) as error:
        layered.settings(None, [flag])
    assert said in str(error.value)


def test_a_variable_that_sets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt variable is not silently without effect."""
    monkeypatch.setenv("BERTH_LOG_LEVLE", "debug")
    with pytest.raises(UsageError, match="did you mean BERTH_LOG_LEVEL"):
        layered.settings(None)


def test_a_variable_that_is_like_none_has_no_suggestion(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prefix, which all have, makes no two names near."""
    monkeypatch.setenv("BERTH_FOO", "1")
    with pytest.raises(UsageError, match=r"BERTH_FOO sets no setting$"):
        layered.settings(None)


MISSPELT = {
    "a group": ("BERTH_SERVR_PORT", "1", "BERTH_SERVER_PORT"),
    "an address": ("BERTH_REGISTRATION_ULR", "https://a", "BERTH_REGISTRATION_URL"),
    "a word": ("BERTH_SERVER_PORT_", "1", "BERTH_SERVER_PORT"),
}


@pytest.mark.parametrize(("name", "value", "near"), MISSPELT.values(), ids=MISSPELT.keys())
def test_a_misspelt_variable_is_not_taken_for_a_services(
    name: str, value: str, near: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kubelet's own hold an address, or end as no setting does."""
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=rf"did you mean {near}\?"):
        layered.settings(None)


def test_a_merged_mapping_may_say_a_key_again(tmp_path: Path) -> None:
    """YAML's `<<` gives defaults, which a key beside it overrides."""
    text = "injections: [&a {name: a, vendor: nvidia}, {<<: *a, name: b}, {<<: *a, name: c}]"
    loaded = layered.settings(written(tmp_path, text))
    assert [injection.name for injection in loaded.injections] == ["a", "b", "c"]


@pytest.mark.parametrize("service", ["BERTH", "BERTH_WEBHOOK", "BERTH_SERVER"])
def test_the_variables_of_a_service_are_not_ours(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kubelet tells every container of the Services in its namespace, berth-server too."""
    for suffix, value in {
        "SERVICE_HOST": "10.96.0.7",
        "SERVICE_PORT": "443",
        "SERVICE_PORT_HTTPS": "443",
        "PORT": "tcp://10.96.0.7:443",
        "PORT_443_TCP": "tcp://10.96.0.7:443",
        "PORT_443_TCP_PROTO": "tcp",
        "PORT_443_TCP_PORT": "443",
        "PORT_443_TCP_ADDR": "10.96.0.7",
    }.items():
        monkeypatch.setenv(f"{service}_{suffix}", value)
    assert layered.settings(None) == settings.Settings()
