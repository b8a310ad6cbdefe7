"""What holds for every answer, whatever the Pod: each vector asserts these beside its own value."""

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonpatch

from berth.admission import configuration, mutate, wire
from berth.admission.rules import Rules
from berth.model.decision import Decision, Verdict
from berth.model.raw import JsonObject
from berth.settings import Settings
from tests.pods import Pod
from tests.webhook import review

Decide = Callable[[JsonObject, str], Decision]

FUTURE = "futureField"
"""A field that no Kubernetes of today knows; `sown` puts it wherever a Pod may grow one."""
_ALLOWED = re.compile(
    r"/metadata/annotations(/[^/]+)?"
    r"|/spec/(schedulerName|runtimeClassName)"
    r"|/spec/(volumes|tolerations)(/-)?"
    r"|/spec/(initContainers|containers)/\d+/"
    r"(resources/(limits|requests)(/[^/]+)?|env(/-|/\d+)?|volumeMounts(/-)?)"
)
_WHOLE = re.compile(r".*/(annotations|limits|requests|env|volumeMounts|volumes|tolerations)")


def rules(device_config: Path | None = None, **settings: Any) -> Rules:
    """Return the rules of a cluster with these settings, all others as shipped."""
    return configuration.rules(Settings(**settings), device_config)[0]


SHIPPED = rules()


def deciding(rules: Rules) -> Decide:
    """Return what /mutate does under `rules`."""
    return lambda raw, namespace: mutate.decide(raw, namespace, rules)


def injecting(rules: Rules, name: str) -> Decide:
    """Return what /inject/`name` does under `rules`."""
    injection = rules.injections[name]
    return lambda raw, namespace: mutate.decide_injection(raw, namespace, rules, injection)


BY_DEFAULT = deciding(SHIPPED)


@dataclass(frozen=True)
class Outcome:
    """The wire's answer beside the decision that it carries."""

    response: dict[str, Any]
    decision: Decision

    @property
    def pod(self) -> dict[str, Any]:
        """The Pod as the decision leaves it."""
        return self.decision.pod

    @property
    def operations(self) -> list[dict[str, Any]]:
        """The JSON Patch as it was sent."""
        return decoded(self.response)

    @property
    def message(self) -> str:
        """What the user of kubectl reads where the Pod is refused."""
        return str(self.response["status"]["message"])


def decoded(response: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the patch of a response; patch and patchType come both or neither."""
    assert ("patch" in response) == ("patchType" in response)
    if "patch" not in response:
        return []
    assert response["patchType"] == "JSONPatch"
    operations: list[dict[str, Any]] = json.loads(b64decode(response["patch"], validate=True))
    return operations


def ask(pod: Pod, decide: Decide = BY_DEFAULT, **request: Any) -> Outcome:
    """Ask from bytes to bytes, as the server does, without the server. Raises BadReview."""
    asked = review(pod, **request)
    before = deepcopy(pod)
    read = wire.decode(json.dumps(asked).encode())
    assert read.object is not None
    decision = decide(read.object, read.namespace)
    assert read.object == before, "the decision changed the Pod that it was given"
    answer = json.loads(wire.answer(read, decision, 1))
    assert _echoes(asked, answer)
    return Outcome(answer["response"], decision)


def patched(pod: Pod, decide: Decide = BY_DEFAULT, **request: Any) -> Outcome:
    """Assert that `pod`, sown with unknown fields, is patched by the laws; return what came."""
    asked = sown(pod)
    outcome = ask(asked, decide, **request)
    assert outcome.decision.verdict is Verdict.PATCHED
    holds(asked, outcome.response, outcome.decision)
    again = ask(outcome.pod, decide, **request)
    assert again.response["allowed"] is True
    assert not decoded(again.response), "a second run patches again"
    return outcome


def untouched(pod: Pod, decide: Decide = BY_DEFAULT, **request: Any) -> Outcome:
    """Assert that `pod` passes as it is; return what came."""
    outcome = ask(pod, decide, **request)
    assert outcome.response.keys() <= {"uid", "allowed", "warnings", "auditAnnotations"}
    assert outcome.response["allowed"] is True
    assert outcome.pod == pod
    return outcome


def refused(pod: Pod, code: int, decide: Decide = BY_DEFAULT, **request: Any) -> str:
    """Assert that `pod` is refused with `code`; return the message, which is one line."""
    outcome = ask(pod, decide, **request)
    assert outcome.response["allowed"] is False
    assert not decoded(outcome.response), "a refusal carries no patch"
    assert outcome.response["status"]["code"] == code
    assert outcome.response["status"]["reason"] == {403: "Forbidden", 422: "Invalid"}[code]
    assert outcome.message.isprintable()
    assert not outcome.message.lower().startswith("warning")
    return outcome.message


def holds(pod: Pod, response: dict[str, Any], decision: Decision) -> None:
    """Assert the laws of a PATCH: it applies, gives the decision's Pod, and touches only ours."""
    assert response["allowed"] is True
    operations = decoded(response)
    assert operations
    for operation in operations:
        path = operation["path"]
        assert _ALLOWED.fullmatch(path), f"{path} is none of our business"
        if _WHOLE.fullmatch(path):
            assert _at(pod, path) is None, f"{path} is replaced as a whole"
    result = jsonpatch.apply_patch(_copied(pod), operations)
    assert result == decision.pod
    assert list(_future(result)) == list(_future(pod)), "an unknown field is lost"
    for container in _containers(defaulted(result)):
        limits, requests = _devices(container, "limits"), _devices(container, "requests")
        assert limits == requests, "kube-apiserver wants equal limits and requests of devices"


def sown(pod: Pod) -> Pod:
    """Return a copy with an unknown field in every place where Kubernetes may come to have one."""
    copy = _copied(pod)
    places = [copy, copy["metadata"], copy["spec"], *_containers(copy)]
    places += [one["resources"] for one in _containers(copy) if one.get("resources") is not None]
    for place in places:
        place[FUTURE] = {"kept": ["as", "it", None, {"came": 1.5}]}
    return copy


def defaulted(pod: Pod) -> Pod:
    """Return a copy in which each limit without a request has one, as kube-apiserver makes it."""
    copy = _copied(pod)
    for container in _containers(copy):
        resources = container.get("resources") or {}
        if resources.get("limits"):
            resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}
    return copy


def _copied(pod: Pod) -> Pod:
    copy: Pod = json.loads(json.dumps(pod))  # unlike deepcopy, no two places share a list
    return copy


def _echoes(asked: dict[str, Any], answer: dict[str, Any]) -> bool:
    return (
        answer.keys() == {"apiVersion", "kind", "response"}
        and answer["apiVersion"] == asked["apiVersion"]
        and answer["kind"] == "AdmissionReview"
        and answer["response"]["uid"] == asked["request"]["uid"]
    )


def _containers(pod: Pod) -> list[dict[str, Any]]:
    kinds = ("initContainers", "containers", "ephemeralContainers")
    return [one for kind in kinds for one in pod["spec"].get(kind) or []]


def _devices(container: Pod, kind: str) -> dict[str, Any]:
    amounts = (container.get("resources") or {}).get(kind) or {}
    return {name: str(amount) for name, amount in amounts.items() if "/" in name}


def _at(document: Any, pointer: str) -> Any:
    for key in pointer[1:].split("/"):
        if document is None:
            return None
        document = document[int(key)] if isinstance(document, list) else document.get(key)
    return document


def _future(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(node, dict):
        if FUTURE in node:
            yield (*path, json.dumps(node[FUTURE]))
        for key, value in node.items():
            yield from _future(value, (*path, key))
    elif isinstance(node, list):
        for index, entry in enumerate(node):
            yield from _future(entry, (*path, index))
