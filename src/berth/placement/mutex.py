"""Only cards that nobody holds, on the fullest node that has them."""

from berth.placement.binpack import fullness
from berth.placement.pick import Choice
from berth.placement.policy import Simple

MUTEX = Simple("mutex", fullness, Choice(idle=True))
