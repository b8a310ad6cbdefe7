"""The policies by name."""

from berth.placement import baselines
from berth.placement.binpack import BINPACK
from berth.placement.fragmentation import Fragmentation
from berth.placement.least_utilised import LEAST_UTILISED
from berth.placement.mutex import MUTEX
from berth.placement.policy import Policy
from berth.placement.scarcity import Scarcity
from berth.placement.spread import SPREAD
from berth.placement.topology import Topology

POLICIES: dict[str, Policy] = {
    policy.name: policy
    for policy in (
        BINPACK,
        SPREAD,
        MUTEX,
        LEAST_UTILISED,
        Topology(),
        baselines.FIRST_FIT,
        baselines.BEST_FIT,
        baselines.DOT_PRODUCT,
        baselines.PACKING,
        Fragmentation(),
        Scarcity(),
    )
}
