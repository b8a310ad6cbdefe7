"""`berth policy`: what it prints is the configured one, and in the webhook's own scope."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run berth."""
    command = [sys.executable, "-m", "berth", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def objects(*words: str) -> dict[str, Any]:
    """Return what is printed, by kind and in order."""
    done = run(*words)
    assert done.returncode == 0, done.stderr
    return {one["kind"]: one for one in yaml.safe_load_all(done.stdout)}


def test_it_prints_a_policy_that_refuses_and_its_binding() -> None:
    """Both fail closed: an expression that fails refuses too, with 403."""
    found = objects("policy")
    assert list(found) == [POLICY, BINDING]
    assert found[POLICY]["spec"]["failurePolicy"] == "Fail"
    assert {one["reason"] for one in found[POLICY]["spec"]["validations"]} == {"Forbidden"}
    assert found[BINDING]["spec"] == {
        "policyName": found[POLICY]["metadata"]["name"],
        "validationActions": ["Deny"],
    }


def test_its_scope_is_the_webhooks() -> None:
    """Selectors, rules and conditions are those of the registration, and Windows is out."""
    flags = ("--set", "registration.onlyLabelledNamespaces=true", "--set", "scheduler.force=false")
    found = objects("manifests", "--backstop", *flags)
    (webhook,) = found["MutatingWebhookConfiguration"]["webhooks"]
    spec = found[POLICY]["spec"]
    constraints = spec["matchConstraints"]
    assert constraints["resourceRules"] == webhook["rules"]
    for selector in ("namespaceSelector", "objectSelector", "matchPolicy"):
        assert constraints[selector] == webhook[selector]
    *shared, windows = spec["matchConditions"]
    assert shared == webhook["matchConditions"]
    assert windows["name"] == "no-windows"


def test_the_manifests_have_it_last_and_only_where_asked_for() -> None:
    """Before its webhook is registered, it would refuse what nobody could rewrite."""
    assert [*objects("manifests", "--backstop")][-2:] == [POLICY, BINDING]
    assert POLICY not in objects("manifests")
    assert objects("manifests", "--backstop")[POLICY] == objects("policy")[POLICY]


def test_it_judges_by_every_layer_of_the_configuration(tmp_path: Path) -> None:
    """A settings file, a device-config and flags."""
    mine, devices = tmp_path / "mine.yaml", tmp_path / "devices.yaml"
    mine.write_text("registration: {name: mine}")
    devices.write_text("nvidia: {resourceCountName: example.com/card}")
    flags = (f"--config={mine}", f"--device-config={devices}", "--set=scheduler.name=ours")
    found = objects("policy", *flags)
    assert found[POLICY]["metadata"]["name"] == "mine-backstop"
    expressions = yaml.safe_dump(found[POLICY]["spec"])
    assert "example.com/card" in expressions
    assert '"nvidia.com/gpu"' not in expressions
    assert '"ours"' in expressions


def test_a_mistake_is_one_sentence() -> None:
    """On stderr, with exit code 2, and nothing to apply."""
    done = run("policy", "--set=policy.privileged=perhaps")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("berth: --set policy.privileged: ")
    assert done.stderr.count("\n") == 1
