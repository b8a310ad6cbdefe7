"""Which namespace has which conversion, as the API server selects it and as the server decides."""

import json
from base64 import b64decode
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from click.testing import CliRunner

from berth import names
from berth.admission import (
    backstop,
    configuration,
    guard,
    live,
    mutate,
    registration,
    route,
    selector,
    wire,
)
from berth.cli import main, policy
from berth.errors import UsageError
from berth.model.decision import Verdict
from berth.settings import Registration, Settings
from tests import pods, webhook
from tests.dialects.converting import GPU, NUMBER, POOL_COUNT

TEXT = """
conversions:
- {name: batch, namespaces: [team-a], writes: volcano, queue: shared}
- {name: pool, reads: [hami], writes: pool}
"""
EVERY = TEXT + "- {name: rest, namespaces: ['*'], writes: plain}\n"
NAMESPACES = ("team-a", "team-b", "kube-system", "volcano-system", "berth-system")
LABELS: list[dict[str, str]] = [
    {},
    {names.CONVERSION: "batch"},
    {names.CONVERSION: "pool"},
    {names.CONVERSION: "unknown"},
    {names.WEBHOOK_OPT_OUT: "ignore"},
]


def generation(text: str = TEXT) -> live.Generation:
    """Return the settings as shipped, but for the conversions."""
    settings = msgspec.convert(yaml.safe_load(text), Settings)
    rules, _ = configuration.rules(settings, None)
    return live.Generation(number=1, settings=settings, rules=rules)


def ask(path: str, pod: pods.Pod, text: str = TEXT, namespace: str = "default") -> dict[str, Any]:
    """Return the response to a review that comes to `path`."""
    asked = webhook.review(pod, namespace=namespace)
    read = wire.decode(json.dumps(asked).encode())
    decision = route.decide(read, generation(text), path)
    response: dict[str, Any] = json.loads(wire.answer(read, decision, 1))["response"]
    return response


@pytest.mark.parametrize("text", [TEXT, EVERY], ids=["some", "every"])
def test_each_namespace_is_asked_about_once(text: str) -> None:
    """By the entry of its own conversion: the label's, else the list's, else the root's."""
    found = generation(text)
    for name, own in product(NAMESPACES, LABELS):
        labels = {**own, "kubernetes.io/metadata.name": name}
        label = own.get(names.CONVERSION, "")
        zone = label if label in ("batch", "pool") else {"team-a": "batch"}.get(name, "")
        out = name in ("kube-system", "berth-system") or names.WEBHOOK_OPT_OUT in own
        out = out or (name == "volcano-system" and (bool(zone) or text == EVERY))
        for whole, path in ((registration, "/mutate"), (guard, "/validate")):
            wanted = [] if out else [f"{path}/{zone}" if zone else path]
            made: Any = whole.configuration(found.rules, Registration(), b"")
            paths = [
                entry["clientConfig"]["service"]["path"]
                for entry in made["webhooks"]
                if selector.matches(entry["namespaceSelector"], labels)
                and entry["name"].partition(".")[0] in ("gpu", "validate")
            ]
            assert paths == wanted, (name, own)
        policies: list[Any] = backstop.objects(found.rules, Registration())
        held = [
            one["metadata"]["name"]
            for one in policies
            if one["kind"] == "ValidatingAdmissionPolicy"
            and selector.matches(one["spec"]["matchConstraints"]["namespaceSelector"], labels)
        ]
        assert len(held) == (not out)


@pytest.mark.parametrize("whole", [registration, guard])
def test_entries_have_names_of_their_own(whole: Any) -> None:
    """Kubernetes wants them unique and qualified; all opt out by both labels."""
    made: Any = whole.configuration(generation(EVERY).rules, Registration(), b"")
    found = [entry["name"] for entry in made["webhooks"]]
    assert len(found) == len(set(found))
    assert all(name.count(".") >= 2 for name in found)
    for entry in made["webhooks"]:
        if entry["name"] != names.WEBHOOK_ALLOCATIONS:
            out = {one["key"]: one["values"] for one in entry["objectSelector"]["matchExpressions"]}
            assert out == {names.WEBHOOK_OPT_OUT: ["ignore"], names.INJECT: ["false"]}


def test_without_conversions_nothing_is_another() -> None:
    """The configurations have one entry for Pods, at the paths that they always had."""
    rules, _ = configuration.rules(Settings(), None)
    made: Any = registration.configuration(rules, Registration(), b"")
    assert [entry["name"] for entry in made["webhooks"]] == [names.WEBHOOK]
    assert rules.zones == {}
    assert rules.reading is rules


@pytest.mark.parametrize(
    ("path", "namespace", "resource"),
    [
        ("/mutate", "default", GPU),
        ("/mutate", "team-a", NUMBER),
        ("/mutate/batch", "default", NUMBER),
        ("/mutate/pool", "team-a", POOL_COUNT),
    ],
)
def test_the_path_says_which_conversion(path: str, namespace: str, resource: str) -> None:
    """Of names the server knows itself; a label it learns of by the path alone."""
    response = ask(path, pods.gpu_pod({GPU: "1"}), namespace=namespace)
    patch = json.loads(b64decode(response["patch"]))
    escaped = resource.replace("/", "~1")
    assert any(one["path"].endswith(("limits/" + escaped, "gpucores")) for one in patch)


@pytest.mark.parametrize("namespace", ["default", "team-a"])
def test_a_conversion_that_this_replica_has_not_is_none(namespace: str) -> None:
    """Another replica's settings are newer or older for some seconds: no Pod pays for that.

    The namespace is what it is here, and the Pod is written so: the other lets it pass.
    """
    asked = pods.gpu_pod({GPU: "1"})
    response = ask("/mutate/unheard", asked, namespace=namespace)
    assert response["patch"] == ask("/mutate", asked, namespace=namespace)["patch"]
    written = mutate.decide(asked, namespace, generation().rules.within(namespace)).pod
    for path in ("/validate/unheard", "/validate/batch", "/validate/pool"):
        assert ask(path, written, namespace=namespace)["allowed"] is True
    assert ask("/validate/unheard", asked, namespace=namespace)["allowed"] is False


def test_validate_judges_by_the_same_rules() -> None:
    """What was translated passes, and what was not is refused."""
    found = generation()
    asked = pods.gpu_pod({GPU: "1"})
    written = mutate.decide(asked, "x", found.rules.within("x", "batch")).pod
    assert ask("/validate/batch", written)["allowed"] is True
    assert ask("/validate/pool", written)["allowed"] is True, "of another scheduler"
    refused = ask("/validate/batch", asked)
    assert refused["allowed"] is False
    assert "volcano" in refused["status"]["message"]


def test_of_records_nothing_else_is_judged() -> None:
    """The entry for records of allocations reaches every namespace, of whichever conversion."""
    assert ask("/allocations", pods.gpu_pod({GPU: "1"}))["allowed"] is True
    for key in ("hami.io/vgpu-node", "volcano.sh/vgpu-ids-new"):
        forged = pods.gpu_pod({"cpu": "1"})
        forged["metadata"]["annotations"] = {key: "n1"}
        assert ask("/allocations", forged)["allowed"] is False


@pytest.mark.parametrize("label", [names.INJECT, names.WEBHOOK_OPT_OUT])
def test_a_pod_opts_out_by_label(label: str) -> None:
    """Of everything: it is stored as it came."""
    asked = pods.gpu_pod({GPU: "1"})
    asked["metadata"]["labels"] = {label: "false" if label == names.INJECT else "ignore"}
    for by in (generation().rules, generation().rules.within("x", "batch")):
        decision = mutate.decide(asked, "x", by)
        assert (decision.verdict, decision.warnings) == (Verdict.IGNORED, ())


def test_injections_reach_pods_of_every_dialect() -> None:
    """They are told by accelerator, whichever its words."""
    text = EVERY + "injections: [{name: lib, env: [{name: A, value: b}]}]\n"
    for limits in ({GPU: "1"}, {NUMBER: "1"}, {"hami.io/vgpu-memory": "1Gi"}):
        asked = pods.gpu_pod(limits, schedulerName="volcano" if NUMBER in limits else "")
        assert "patch" in ask("/inject/lib", asked, text)


WRONG = {
    "conversions: [{name: a}, {name: a}]": "conversions[1].name: a stands twice",
    "conversions: [{name: a, losses: {memroy: warn}}]": "memroy is no loss, did you mean memory?",
    "conversions: [{name: a, memory: 16}]": "memory",
    "conversions: [{name: a, memory: 16G}]": "conversions[0].memory: 16G is no size",
    "conversions: [{name: a, namespaces: [x]}, {name: b, namespaces: [x]}]": "listed by a already",
    "conversions: [{name: a, models: {table: {7b: 16Gi}}}]": "7b is not as 7b/inference/bf16",
    "conversions: [{name: a, defaults: {cpuRequest: much}}]": "cpuRequest: much is no quantity",
    "conversions: [{name: a, defaults: {cpuRequest: '4', cpuLimit: '2'}}]": "more than its limit",
    "{conversions: [{name: a}], stacks: {volcano: {count: nvidia.com/gpu}}}": "of hami too",
    "{conversions: [{name: a}], policy: {unmanagedVendors: [nvidia]}}": "are not managed",
}


@pytest.mark.parametrize(("text", "said"), WRONG.items())
def test_a_mistake_in_the_settings_is_a_sentence(text: str, said: str, tmp_path: Path) -> None:
    """With the place where it stands."""
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"\S") as error:
        live.read(live.Sources(config=file))
    assert said in str(error.value) or said.replace(", did", "; did") in str(error.value)


def test_policy_show_prints_the_order(tmp_path: Path) -> None:
    """What is looked at first stands first; and what holds in one namespace can be asked for."""
    file = tmp_path / "settings.yaml"
    file.write_text(f"{EVERY}audit: {{namespaces: [team-a], namespaceLabel: mode=audit}}\n")
    shown = CliRunner().invoke(policy.command, ["show", "--config", str(file)]).output
    order = ["berth.dev/inject=false", names.CONVERSION, "lists team-a", "lists every other"]
    places = [shown.index(text) for text in order]
    assert places == sorted(places)
    one = CliRunner().invoke(policy.command, ["show", "--config", str(file), "-n", "team-a"])
    assert "team-a: conversion batch" in one.output
    assert "writes volcano" in one.output
    assert "inference x 1.2, fine-tune x 1.8, train x 9.6; and 1024 MiB on each card" in one.output
    assert "on trial" in one.output
    assert shown.index("On trial") < shown.index("called team-a") < shown.index("mode=audit")
    other = CliRunner().invoke(policy.command, ["show", "--config", str(file), "-n", "team-b"])
    assert "trial" not in other.output
    plain = CliRunner().invoke(policy.command, ["show"]).output
    assert "reads hami; writes hami" in plain
    mistaken = CliRunner().invoke(main.main, ["policy", "show", "--conversion", "batch"])
    assert mistaken.exit_code == 2
    assert "name that with --namespace" in mistaken.output


def test_a_system_namespace_is_listed_in_vain() -> None:
    """Nothing is translated there; who lists it hears so."""
    wanted = {"conversions": [{"name": "a", "namespaces": ["kube-public"]}]}
    rules, (warning,) = configuration.rules(msgspec.convert(wanted, Settings), None)
    assert warning.startswith("conversions[0].namespaces: kube-public")
    asked = pods.gpu_pod({GPU: "1"})
    assert mutate.decide(asked, "kube-public", rules).verdict is Verdict.IGNORED


def test_the_example_of_the_guide_is_a_setting() -> None:
    """It is read as it stands there."""
    guide = Path(__file__).parents[2] / "docs/how-to/translate-requests.md"
    text = guide.read_text().partition("```yaml\n")[2].partition("```")[0]
    assert [*generation(text).rules.zones] == ["volcano"]


@pytest.mark.parametrize("key", names.SIZE_ANNOTATIONS)
def test_what_only_a_conversion_reads_is_said_to_be_that(key: str) -> None:
    """By a warning where none holds, and on the page of annotations."""
    asked = pods.gpu_pod({GPU: "1"})
    asked["metadata"]["annotations"] = {key: "7b" if key == names.MODEL else "40%"}
    told = ask("/mutate", asked)["warnings"]
    assert any(f"[{key}] has no effect: no conversion holds here" in one for one in told)
    told = ask("/mutate/batch", asked).get("warnings", [])
    assert not any("no conversion holds" in one for one in told)
    page = Path(__file__).parents[2] / "docs/reference/annotations.md"
    (row,) = [one for one in page.read_text().splitlines() if one.startswith(f"| `{key}` |")]
    assert row.endswith(" Only a conversion reads it. |")
