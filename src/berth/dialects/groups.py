"""PodGroups and queues, which only their own scheduler reads: lost where another gets the Pod."""

from collections.abc import Iterator

from berth import names
from berth.dialects import volcano
from berth.dialects.losses import lose
from berth.dialects.options import Options
from berth.model.edit import Change
from berth.model.loss import Loss
from berth.model.pod import Pod
from berth.model.said import Said

_VOLCANO = (
    *(*names.VOLCANO_GROUPS, names.VOLCANO_QUEUE, names.VOLCANO_APART),
    *names.VOLCANO_PLANNED,
)
_KAI = (names.KAI_QUEUE, names.KAI_NODE_POOL)


def lost(pod: Pod, options: Options) -> Iterator[Change]:
    """Yield what a Pod that is taken from its scheduler had been given there."""
    by, scheduler = options.conversion, options.scheduler_name
    stays = ("", names.DEFAULT_SCHEDULER, scheduler)
    if by is None or not scheduler or pod.scheduler_name in stays:
        return
    if pod.scheduler_name == names.KAI_SCHEDULER:
        found = [("metadata", "labels", key) for key in _KAI if key in pod.labels]
    else:
        keys = () if options.writes == volcano.NAME else _VOLCANO
        found = [("metadata", "annotations", key) for key in keys if key in pod.annotations]
    what = Said("part.lost-group", {"old": pod.scheduler_name, "scheduler": scheduler})
    for path in found:
        yield from lose(by, Loss.GROUP, path, what)
