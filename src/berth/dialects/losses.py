"""What is said, or refused, where a dialect cannot say all that a Pod means."""

from collections.abc import Iterator

from berth.dialects.conversion import Conversion
from berth.model.edit import Change, Refuse, Warn
from berth.model.loss import Handling, Loss
from berth.model.raw import Path, dotted
from berth.model.reason import Reason


def lose(by: Conversion, loss: Loss, path: Path, what: str) -> Iterator[Change]:
    """Yield what a loss comes to under a conversion: a warning, a refusal, or nothing."""
    handling = by.handling(loss)
    if handling is Handling.WARN:
        yield Warn(f"{dotted(path)}: lost ({loss.value}): {what}")
    elif handling is Handling.REFUSE:
        fix = f"leave it out, or label the Pod {_OPT_OUT} to keep it as it is"
        yield Refuse(Reason.LOSS, path, f"{what} (loss {loss.value} of {by.name})", fix)


_OPT_OUT = 'berth.dev/inject: "false"'
