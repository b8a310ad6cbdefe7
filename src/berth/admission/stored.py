"""What a Pod that stands in the cluster, or is to, wants: read by the functions of its creation."""

from berth.admission import project
from berth.admission.rules import Privileged, Rules
from berth.admission.wanted import wanted
from berth.dialects import hami
from berth.model.raw import JsonObject
from berth.model.request import PodRequest


def request(raw: JsonObject, rules: Rules) -> PodRequest:
    """Return what a Pod wants, whoever schedules it. Raises BadReview.

    What is wrong with a container's numbers leaves it without a card.
    """
    pod = project.pod(raw)
    skipped = rules.privileged is Privileged.SKIP
    reading = hami.read(pod, rules.options, skip_privileged=skipped)
    return wanted(pod, reading.demand, rules.known)
