"""Which namespaces which rules are for, in the form in which the API server selects them.

A namespace belongs to the conversion that its label names, else to the one that lists it, else to
the rules at the root. The server learns of it by the path at which it is asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from berth import names
from berth.admission.rules import Rules
from berth.model.raw import Json, JsonObject
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
    known: list[Json] = [*sorted(rules.zones)]
    unlabelled: list[Json] = [_expression(names.CONVERSION, "NotIn", known)] if known else []
    root = _selector(rules, registered, (*sorted(rules.listed),))
    yield Zone("", rules, _with(root, *unlabelled))
    for name, inner in sorted(rules.zones.items()):
        selector = _selector(inner, registered)
        yield Zone(name, inner, _with(selector, _expression(names.CONVERSION, "In", [name])))
        listed: list[Json] = [*sorted(one for one, zone in rules.listed.items() if zone == name)]
        if listed:
            those = _expression(names.NAMESPACE_NAME_LABEL, "In", listed)
            yield Zone(f"{name}.listed", inner, _with(selector, those, *unlabelled))


def anywhere(rules: Rules, registered: Registration) -> JsonObject:
    """Return the namespaceSelector outside of which no Pod is sent to us, whichever the zone."""
    return _selector(rules, registered)


def unexcluded(rules: Rules, *more: str) -> JsonObject:
    """Return the expression that leaves out what the settings exclude, and `more`."""
    left_out: list[Json] = [*sorted({*rules.excluded_namespaces, *more})]
    return {"key": names.NAMESPACE_NAME_LABEL, "operator": "NotIn", "values": left_out}


def _selector(rules: Rules, registered: Registration, without: tuple[str, ...] = ()) -> JsonObject:
    expressions: list[Json] = [
        unexcluded(rules, *without),
        _expression(names.WEBHOOK_OPT_OUT, "NotIn", [names.WEBHOOK_OPT_OUT_VALUE]),
    ]
    if registered.only_labelled_namespaces:
        expressions.append(_expression(names.INJECT_LABEL, "In", [names.INJECT_LABEL_VALUE]))
    return {"matchExpressions": expressions}


def _expression(key: str, operator: str, values: list[Json]) -> JsonObject:
    return {"key": key, "operator": operator, "values": values}


def _with(selector: JsonObject, *more: Json) -> JsonObject:
    expressions = selector["matchExpressions"]
    return {"matchExpressions": [*(expressions if isinstance(expressions, list) else ()), *more]}
