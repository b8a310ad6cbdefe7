"""Where a Pod could go, in English: for `berth explain` with a fleet."""

from berth.words.entry import Entry

PLACES = {
    "place.no-node": Entry("stands in the cluster: {phase}, on no node"),
    "place.node": Entry("stands in the cluster: {phase}, on {node} with {held}"),
    "place.node-known": Entry("stands in the cluster: {phase}, on {node} with {held}, {source}"),
    "place.decided": Entry("decided at its creation: {reason}"),
    "place.decided-node": Entry("decided at its creation: {node}, {reason}"),
    "place.policy": Entry("policy {policy}, by {by}"),
    "place.fitting": Entry("{fitting} of {nodes} nodes fit"),
    "place.candidate": Entry("{place}. {node}, score {score}: {held}"),
    "place.unscored": Entry("{place}. {node}, not scored yet: {held}"),
    "place.more": Entry("and {count} more"),
    "place.others": Entry("{count} nodes do not:"),
    "place.later": Entry("{why}; may fit later"),
    "place.never": Entry("{why}; will never fit"),
    "place.waiting-is-vain": Entry(
        "waiting does not help: no node could carry it even if it were empty"
    ),
    "place.waiting-helps": Entry("waiting can help: {nodes} nodes may fit once others have left"),
    "part.by-annotation": Entry("annotation {key}"),
    "part.by-settings": Entry("the settings"),
    "part.by-namespace": Entry("the settings for namespace {namespace}"),
    "part.recorded": Entry("recorded"),
    "part.decided": Entry("decided"),
    "part.guessed": Entry("guessed"),
    "part.no-card": Entry("no card"),
    "part.some-container": Entry("some container"),
    "part.held-all-memory": Entry("all memory"),
    "part.held-cores": Entry("{cores} % cores"),
    "part.held-all-cores": Entry("all cores"),
    "learned.little": Entry("scarcity has seen {count} Pods, and learns from the {first}th on"),
    "learned.pace": Entry(
        "scarcity has learned from {count} Pods; {pace} leave for each that comes"
    ),
    "learned.weights": Entry("counts most: {shapes}"),
    "learned.groups": Entry("breaking up a free group costs, in cards: {costs}"),
    "learned.kinds": Entry("a card for who could take another costs: {costs}"),
    "part.group": Entry("{size} cards {price}"),
    "part.shape-cpu": Entry("{cpu} milli CPU"),
    "part.shape": Entry("{wants} with {cpu} milli CPU"),
    "part.wants-alone": Entry("{count} {vendor} alone"),
    "part.wants-memory": Entry("{count} {vendor} of {mib} MiB"),
    "part.wants-percent": Entry("{count} {vendor} of {percent} %"),
}
