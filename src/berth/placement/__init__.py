"""Where a Pod goes: pure, the same for webhook, extender, simulator and explanation."""
