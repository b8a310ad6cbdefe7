"""What was understood of a container's wish, in English."""

from berth.words.entry import Entry

DEMAND = {
    "asks.devices": Entry("{count} of {vendor}"),
    "asks.something": Entry("something of {vendor}, see below"),
    "asks.each": Entry("each with {amount}"),
    "asks.slices": Entry("{slices} slices of it"),
    "asks.size": Entry("{size}"),
    "asks.size-by-default": Entry("{size} by default"),
    "asks.percent": Entry("{percent} % of its memory"),
    "asks.all-memory": Entry("all of its memory"),
    "asks.free-cores": Entry("cores without a limit"),
    "asks.cores-percent": Entry("{cores} % of its cores"),
    "asks.cores-by-default": Entry("{cores} % of its cores by default"),
    "asks.cores": Entry("{cores} of {unit} of its cores"),
    "asks.all-cores": Entry("all of its cores"),
    "asks.priority": Entry("priority {priority}"),
    "asks.models": Entry("a model with {models} in its name"),
    "asks.not-models": Entry("no model with {models} in its name"),
    "asks.out-of": Entry("out of {devices}"),
    "asks.no-device": Entry("out of no device"),
    "asks.not": Entry("not {devices}"),
    "asks.numa": Entry("all on one NUMA node"),
    "asks.mode": Entry("shared as {mode}"),
    "asks.node-policy": Entry("nodes by {policy}"),
    "asks.device-policy": Entry("devices by {policies}"),
    "part.then": Entry("{one} then {other}"),
}
