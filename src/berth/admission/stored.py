"""What a Pod that stands in the cluster, or is to, wants: read by the functions of its creation."""

from berth.admission import project
from berth.admission.rules import Privileged, Rules
from berth.admission.wanted import wanted
from berth.dialects import translate
from berth.model.demand import Demand
from berth.model.pod import Pod
from berth.model.raw import JsonObject
from berth.model.request import PodRequest


def request(raw: JsonObject, rules: Rules) -> PodRequest:
    """Return what a Pod wants, whoever schedules it. Raises BadReview.

    What is wrong with a container's numbers leaves it without a card.
    """
    pod = project.pod(raw)
    return wanted(pod, _demand(pod, rules), rules.known)


def demand(raw: JsonObject, rules: Rules) -> Demand:
    """Return what a Pod wants of cards alone. Raises BadReview."""
    return _demand(project.pod(raw), rules)


def _demand(pod: Pod, rules: Rules) -> Demand:
    skipped = rules.privileged is Privileged.SKIP
    return translate.read(pod, rules.options, skip_privileged=skipped).demand
