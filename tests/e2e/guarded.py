"""The printed backstop, in force in one namespace of a test."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from berth import layered, names
from berth.admission import configuration, mutate
from berth.admission.rules import Rules
from berth.model.decision import Verdict
from berth.model.reason import Reason
from tests.cluster.namespaces import own
from tests.e2e import conftest
from tests.e2e.api import Api

Object = dict[str, Any]

GROUP = "/apis/admissionregistration.k8s.io/v1"
KINDS = {
    "ValidatingAdmissionPolicy": f"{GROUP}/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": f"{GROUP}/validatingadmissionpolicybindings",
}
SAID = "the GPU webhook did not rewrite this Pod: container "
_RECORD = ("metadata", "annotations", names.ORIGINAL_REQUEST)
_SECONDS = 60  # one or two where nothing else goes on


@dataclass(frozen=True)
class Configured:
    """One configuration of Berth, as files and flags and as the Rules that they make."""

    arguments: tuple[str, ...]
    rules: Rules


def configured(folder: Path, *flags: str, injections: Any = (), **nvidia: Any) -> Configured:
    """Write a settings file and a device-config."""
    mine, devices = folder / "settings.yaml", folder / "device-config.yaml"
    mine.write_text(json.dumps({"injections": injections}))
    devices.write_text(json.dumps({"nvidia": nvidia}))
    arguments = ["--config", str(mine), "--device-config", str(devices)]
    for flag in flags:
        arguments += ["--set", flag]
    rules, _ = configuration.rules(layered.settings(mine, flags), devices)
    return Configured(tuple(arguments), rules)


def printed(*arguments: str, name: str = "tested") -> list[Object]:
    """Return what `berth policy` prints for the namespaces that are labelled, under a name.

    So it reaches no namespace of another test.
    """
    ours = ("registration.onlyLabelledNamespaces=true", f"registration.name={name}")
    command = [sys.executable, "-m", "berth", "policy", *arguments]
    for flag in ours:
        command += ["--set", flag]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return list(yaml.safe_load_all(done.stdout))


@contextmanager
def stored(api: Api, *objects: Object) -> Iterator[None]:
    """Create objects, and delete them in the end."""
    created = []
    try:
        for one in objects:
            status, answer = api.ask("POST", KINDS[one["kind"]], one)
            assert status == 201, answer
            created.append(f"{KINDS[one['kind']]}/{one['metadata']['name']}")
        yield
    finally:
        for path in created:
            assert api.ask("DELETE", path)[0] == 200


@contextmanager
def in_force(api: Api, objects: list[Object], bad: Object) -> Iterator[str]:
    """Give a namespace in which the policy is in force: in which the Pod `bad` is refused."""
    with own(api.plane) as namespace:
        conftest.label(api, namespace, {names.INJECT_LABEL: names.INJECT_LABEL_VALUE})
        with stored(api, *objects):
            eventually(lambda: api.create(bad, namespace, dry_run=True)[0] == 403)
            yield namespace
        eventually(lambda: api.create(bad, namespace, dry_run=True)[0] == 201)


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until it holds: the API server learns of objects by watches."""
    deadline = time.monotonic() + _SECONDS
    while not holds():
        assert time.monotonic() < deadline, "the API server does not follow"
        time.sleep(0.05)


def type_warnings(api: Api, policy: Object) -> list[Object]:
    """Return what the controllers warn of once they have looked at a policy."""
    path = f"{KINDS['ValidatingAdmissionPolicy']}/{policy['metadata']['name']}"
    found: Object = {}

    def looked_at() -> bool:
        found.update(api.ask("GET", path)[1])
        generation = found["metadata"]["generation"]
        return bool(found.get("status", {}).get("observedGeneration") == generation)

    eventually(looked_at)
    warnings: list[Object] = found["status"].get("typeChecking", {}).get("expressionWarnings", [])
    return warnings


def all_checked(policy: Object, name: str) -> Object:
    """Return a policy of the same variables, each of which the controllers have to look at.

    Of a policy, they check the validations alone: a variable that is of no type, they take as any.
    For each validation they look at every variable anew, so all looks are in one.
    """
    spec = policy["spec"]
    looks = [f"dyn(variables.{one['name']})" for one in spec["variables"]]
    looks += [f"dyn({one['expression']})" for one in spec["variables"]]
    return {
        **policy,
        "metadata": {"name": name},
        "spec": {
            **spec,
            "matchConditions": [],
            "validations": [{"expression": f"[{', '.join(looks)}] != []"}],
        },
    }


def expected(pod: Object, namespace: str, rules: Rules) -> bool | None:
    """Say whether the backstop must let a Pod pass that no webhook has seen; None is its choice.

    `pod` is as the API server has completed it.
    """
    decision = mutate.decide(pod, namespace, rules)
    if decision.verdict is Verdict.REFUSED:
        judged = {Reason.NODE_NAME, Reason.PRIVILEGED, Reason.DEVICE_ENV}
        return False if {one.reason for one in decision.problems} <= judged else None
    if decision.verdict is not Verdict.PATCHED:
        return True
    needed = [edit for edit in decision.edits if edit.path != _RECORD]
    return not (decision.demand is not None and decision.demand.any and needed)
