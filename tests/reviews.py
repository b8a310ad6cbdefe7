"""The API server's question about a new Pod, as a value."""

from berth.admission.review import Review
from berth.model.decision import Decision, Verdict
from tests.pods import Pod

SPACE = "default"


def review(pod: Pod, *, dry_run: bool = False) -> Review:
    """Return what is asked about a Pod that is created in `SPACE`."""
    return Review(
        api_version="admission.k8s.io/v1",
        uid="1",
        operation="CREATE",
        kind="Pod",
        group="",
        resource="pods",
        sub_resource="",
        namespace=SPACE,
        name=pod["metadata"].get("name", ""),
        dry_run=dry_run,
        user="",
        old_object=None,
        object=pod,
    )


def last_word(pod: Pod, *, refused: bool) -> Decision:
    """Return what /validate decides about the Pod as it will be stored."""
    return Decision(verdict=Verdict.REFUSED if refused else Verdict.UNCHANGED, pod=pod)
