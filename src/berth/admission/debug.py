"""Ephemeral containers: they ask for no device, and shall not see one by a variable."""

from collections.abc import Iterator

from berth.admission import project, scope
from berth.admission.rules import EnvHandling, Privileged, Rules
from berth.dialects import reading
from berth.dialects.completion import hides
from berth.model.pod import Container, Pod
from berth.model.problem import Problem
from berth.model.raw import JsonObject
from berth.model.vendor import Vendor


def problems(new: JsonObject, old: JsonObject, namespace: str, rules: Rules) -> Iterator[Problem]:
    """Yield what an ephemeral container that `new` has and `old` has not takes to itself.

    Raises BadReview where one has not the shape of a container. "Remove" is "deny" here, as an
    update is never patched.
    """
    if scope.ignored(new, namespace, rules) is not None:
        return
    known = {container.name for container in project.ephemeral(old)}
    added = [one for one in project.ephemeral(new) if one.name not in known]
    if not added:
        return
    pod = project.pod(new)
    asked = _asked(pod, rules)
    vendors = [one for one in rules.vendors if one in asked or one.hide_from_others]
    for container in added:
        if asked and container.privileged and rules.privileged is Privileged.DENY:
            path = (*container.path, "securityContext", "privileged")
            yield Problem("privileged.ephemeral", path, {"container": container.name})
        yield from _variables(container, vendors, rules)


def _asked(pod: Pod, rules: Rules) -> list[Vendor]:
    skipped = rules.privileged is Privileged.SKIP
    found = reading.read(pod, rules.options, skip_privileged=skipped)
    return [vendor for wanted in found.demand.containers for vendor in wanted.asks]


def _variables(container: Container, vendors: list[Vendor], rules: Rules) -> Iterator[Problem]:
    found: set[str] = set()
    for vendor in vendors:
        if rules.limit_env is not EnvHandling.KEEP:
            found |= rules.options.foreign(container, vendor.limit_env)
        if rules.device_env is not EnvHandling.KEEP and not hides(container, vendor):
            found |= rules.options.foreign(container, {vendor.visible_env} - {""})
    for name in sorted(found):
        yield Problem("device-env.ephemeral", (*container.path, "env"), {"name": name})
