"""Label selectors, for the places where no API server evaluates them."""

from collections.abc import Mapping

from berth.model.raw import Json, JsonObject


def matches(selector: JsonObject, labels: Mapping[str, str]) -> bool:
    """Whether `labels` satisfy a metav1.LabelSelector; an empty one matches all."""
    equal = selector.get("matchLabels")
    if isinstance(equal, dict) and any(labels.get(key) != value for key, value in equal.items()):
        return False
    expressions = selector.get("matchExpressions")
    if not isinstance(expressions, list):
        return True
    return all(_holds(entry, labels) for entry in expressions if isinstance(entry, dict))


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
