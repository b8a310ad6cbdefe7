"""What is said, or refused, where a dialect cannot say all that a Pod means."""

from collections.abc import Iterator

from berth import names
from berth.dialects.conversion import Conversion
from berth.model.edit import Change
from berth.model.loss import Handling, Loss
from berth.model.problem import Problem
from berth.model.raw import Path
from berth.model.said import Said


def lose(by: Conversion, loss: Loss, path: Path, what: Said) -> Iterator[Change]:
    """Yield what a loss comes to under a conversion: a warning, a refusal, or nothing."""
    handling = by.handling(loss)
    if handling is Handling.WARN:
        yield Said("lost", {"path": path, "kind": loss.value, "what": what})
    elif handling is Handling.REFUSE:
        label = f"{names.INJECT}={names.INJECT_VALUE}"
        facts = {"what": what, "kind": loss.value, "conversion": by.name, "label": label}
        yield Problem("loss", path, facts)
