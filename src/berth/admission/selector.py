"""Label selectors: how they are put together, and evaluated where no API server does it."""

from collections.abc import Iterable, Mapping

from berth.model.raw import Json, JsonObject


def requirement(key: str, operator: str, values: Iterable[str]) -> JsonObject:
    """Return what a selector may ask of one label."""
    return {"key": key, "operator": operator, "values": [*values]}


def requirements(selector: JsonObject) -> list[Json]:
    """Return what a selector asks of labels, beside those that it lists."""
    found = selector.get("matchExpressions")
    return found if isinstance(found, list) else []


def narrowed(selector: JsonObject, *more: Json) -> JsonObject:
    """Return a selector that asks for more."""
    return {**selector, "matchExpressions": [*requirements(selector), *more]}


def matches(selector: JsonObject, labels: Mapping[str, str]) -> bool:
    """Whether `labels` satisfy a metav1.LabelSelector; an empty one matches all."""
    equal = selector.get("matchLabels")
    if isinstance(equal, dict) and any(labels.get(key) != value for key, value in equal.items()):
        return False
    return all(_holds(one, labels) for one in requirements(selector) if isinstance(one, dict))


def _holds(expression: Mapping[str, Json], labels: Mapping[str, str]) -> bool:
    key, values = expression.get("key"), expression.get("values")
    present = isinstance(key, str) and key in labels
    listed = present and isinstance(values, list) and labels[str(key)] in values
    return {
        "In": listed,
        "NotIn": not listed,
        "Exists": present,
        "DoesNotExist": not present,
    }.get(str(expression.get("operator")), False)
