"""In which namespaces decisions are told and not enforced, as the API server selects them.

Kubernetes can select those that lack one label, and not those that lack two at once: so it is one.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from berth import names
from berth.admission.selector import narrowed, requirement
from berth.model.raw import JsonObject, child
from berth.model.wildcard import EVERY

_OPPOSITE = {"In": "NotIn", "Exists": "DoesNotExist"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """Namespaces that are in audit: by name, or by a label."""

    names: frozenset[str] = frozenset()
    """With "*" all are."""
    label: tuple[str, str] | None = None
    """Its key and value."""

    def holds(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether a namespace with these labels is in audit."""
        by_label = self.label is not None and labels.get(self.label[0]) == self.label[1]
        return self.names_one(namespace) or by_label

    def names_one(self, namespace: str) -> bool:
        """Whether a namespace is in audit by its name, whatever labels it has."""
        return namespace in self.names or EVERY in self.names


def enforced(selects: JsonObject, audited: Audited) -> JsonObject:
    """Return a namespaceSelector without the namespaces in audit."""
    return narrowed(selects, *map(_negated, _alternatives(audited)))


def entries(webhooks: Iterable[JsonObject], audited: Audited, base: str) -> Iterator[JsonObject]:
    """Yield the entries of a webhook configuration for both kinds of namespaces.

    One in audit is answered under a path of its own, and suffers nothing from our outage. `base`
    is the URL before all paths, empty where a Service leads to us.
    """
    webhooks = [*webhooks]
    for entry in webhooks:
        yield {**entry, "namespaceSelector": enforced(child(entry, "namespaceSelector"), audited)}
    earlier: list[JsonObject] = []
    for number, alternative in enumerate(_alternatives(audited)):
        for entry in webhooks:
            # Who is in audit twice over is asked once.
            selects = narrowed(
                child(entry, "namespaceSelector"), *map(_negated, earlier), alternative
            )
            yield {
                **entry,
                "name": f"audit-{number + 1}.{entry['name']}",
                "clientConfig": _client(entry, base),
                "failurePolicy": "Ignore",
                "namespaceSelector": selects,
            }
        earlier.append(alternative)


def _alternatives(audited: Audited) -> Iterator[JsonObject]:
    """Yield requirements, one of which a namespace in audit meets."""
    if EVERY in audited.names:  # the API server itself sees to that label
        yield {"key": names.NAMESPACE_NAME_LABEL, "operator": "Exists"}
    elif audited.names:
        yield requirement(names.NAMESPACE_NAME_LABEL, "In", sorted(audited.names))
    if audited.label:
        key, value = audited.label
        yield requirement(key, "In", [value])


def _negated(requirement: JsonObject) -> JsonObject:
    return {**requirement, "operator": _OPPOSITE[str(requirement["operator"])]}


def _client(entry: JsonObject, base: str) -> JsonObject:
    client = entry["clientConfig"]
    assert isinstance(client, dict)  # noqa: S101  registration.entry made it
    service = client.get("service")
    if isinstance(service, dict):
        return {**client, "service": {**service, "path": f"{names.AUDIT_PATH}{service['path']}"}}
    path = str(client["url"]).removeprefix(base)
    return {**client, "url": f"{base}{names.AUDIT_PATH}{path}"}
