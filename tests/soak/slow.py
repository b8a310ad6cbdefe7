"""`berth webhook` with a slow decision, planted from outside: `slow.py SECONDS webhook …`."""

import sys
import time

from berth.admission import mutate
from berth.admission.rules import Rules
from berth.admission.standing import Standing
from berth.cli import main
from berth.model.decision import Decision
from berth.model.raw import JsonObject

_SECONDS = float(sys.argv.pop(1))
_decide = mutate.decide


def _slowly(
    raw: JsonObject,
    namespace: str,
    rules: Rules,
    user: str = "",
    standing: Standing | None = None,
) -> Decision:
    time.sleep(_SECONDS)
    return _decide(raw, namespace, rules, user, standing)


mutate.decide = _slowly
main.main()
