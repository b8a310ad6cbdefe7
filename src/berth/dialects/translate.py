"""Any dialect in, one demand, any dialect out: the dialects that there are, put together."""

from collections.abc import Iterator, Mapping

from berth.dialects import hami
from berth.dialects.dialect import Dialect, Reading, Write
from berth.dialects.options import Options
from berth.model.decided import Decided
from berth.model.demand import Demand
from berth.model.edit import Change
from berth.model.pod import Pod

DIALECTS: tuple[Dialect, ...] = (hami.DIALECT,)
WRITES: Mapping[str, Write] = {one.name: one.write for one in DIALECTS if one.write}


def read(pod: Pod, options: Options, *, skip_privileged: bool) -> Reading:
    """Read a Pod in whichever of the dialects it is written."""
    return hami.read(pod, options, skip_privileged=skip_privileged)


def write(demand: Demand, placed: Decided | None, pod: Pod, options: Options) -> Iterator[Change]:
    """Yield what makes a Pod say its demand in the dialect that the options want."""
    return WRITES[options.writes](demand, placed, pod, options)
