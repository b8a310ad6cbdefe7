"""Which namespaces which rules are for, in the form in which the API server selects them.

A namespace belongs to the conversion that its label names, else to the one that lists it, else to
the rules at the root. The server learns of it by the path at which it is asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from berth import names
from berth.admission.rules import Rules
from berth.admission.selector import narrowed, requirement
from berth.model.raw import JsonObject
from berth.settings import Registration


@dataclass(frozen=True, slots=True)
class Zone:
    """Namespaces of one kind."""

    name: str
    """"" is the root; else such as "volcano", or "volcano.listed" of those that are listed."""
    rules: Rules
    selector: JsonObject
    """Their namespaceSelector."""

    def entry(self, name: str) -> str:
        """Name the entry of a webhook configuration: gpu.berth.dev, or gpu.volcano.berth.dev."""
        kind, _, domain = name.partition(".")
        return f"{kind}.{self.name}.{domain}" if self.name else name

    def path(self, path: str) -> str:
        """Return where the server is asked about their Pods: /mutate, or /mutate/volcano."""
        zone = self.name.partition(".")[0]
        return f"{path}/{zone}" if zone else path


def find(rules: Rules, registered: Registration) -> Iterator[Zone]:
    """Yield all zones, the root first; no namespace is in two."""
    known = sorted(rules.zones)
    unlabelled = [requirement(names.CONVERSION, "NotIn", known)] if known else []
    root = _selector(rules, registered, (*sorted(rules.listed),))
    yield Zone("", rules, narrowed(root, *unlabelled))
    for name, inner in sorted(rules.zones.items()):
        selector = _selector(inner, registered)
        yield Zone(name, inner, narrowed(selector, requirement(names.CONVERSION, "In", [name])))
        listed = sorted(one for one, zone in rules.listed.items() if zone == name)
        if listed:
            those = requirement(names.NAMESPACE_NAME_LABEL, "In", listed)
            yield Zone(f"{name}.listed", inner, narrowed(selector, those, *unlabelled))


def anywhere(rules: Rules, registered: Registration) -> JsonObject:
    """Return the namespaceSelector outside of which no Pod is sent to us, whichever the zone."""
    return _selector(rules, registered)


def unexcluded(rules: Rules, *more: str) -> JsonObject:
    """Return the expression that leaves out what the settings exclude, and `more`."""
    left_out = sorted({*rules.excluded_namespaces, *more})
    return requirement(names.NAMESPACE_NAME_LABEL, "NotIn", left_out)


def _selector(rules: Rules, registered: Registration, without: tuple[str, ...] = ()) -> JsonObject:
    asked = [
        unexcluded(rules, *without),
        requirement(names.WEBHOOK_OPT_OUT, "NotIn", [names.WEBHOOK_OPT_OUT_VALUE]),
    ]
    if registered.only_labelled_namespaces:
        asked.append(requirement(names.INJECT_LABEL, "In", [names.INJECT_LABEL_VALUE]))
    return narrowed({}, *asked)
