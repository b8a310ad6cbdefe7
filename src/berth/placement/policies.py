"""The policies by name."""

from berth.placement import baselines
from berth.placement.fragmentation import Fragmentation
from berth.placement.policy import Policy
from berth.placement.scarcity import Scarcity

POLICIES: dict[str, Policy] = {
    policy.name: policy
    for policy in (
        baselines.FIRST_FIT,
        baselines.BEST_FIT,
        baselines.DOT_PRODUCT,
        baselines.PACKING,
        Fragmentation(),
        Scarcity(),
    )
}
