"""Reasons in English: why each edit is made, why nothing is, and parts of other sentences."""

from berth.words.entry import Entry

REASONS = {
    "why.lacks-count": Entry("memory or cores need a device"),
    "why.lacks-memory": Entry("nothing smaller is asked for, so it is the whole card"),
    "why.lacks-cores": Entry("no share was named, so the whole card is this container's"),
    "why.pairs": Entry("such devices come in pairs"),
    "why.size": Entry("a size in which such cards are given"),
    "why.all-cores": Entry("whole devices have all their cores"),
    "why.priority": Entry("{name} sets the task priority"),
    "why.core-policy": Entry("the administrator's core policy"),
    "why.container-name": Entry("the vendor's software looks for the container's name there"),
    "why.device-plugin": Entry("the device plugin sets it"),
    "why.hidden": Entry("overwriteEnv hides cards not asked for"),
    "why.twice": Entry("{name} stands twice"),
    "why.runtime-class": Entry("{vendor} containers run under this RuntimeClass"),
    "why.scheduler": Entry("only HAMi's scheduler knows the shares of a card"),
    "why.vendor-annotation": Entry("the vendor's scheduler reads it"),
    "why.decided": Entry("the devices that were decided on"),
    "why.counted-once": Entry("its share of the quota is counted once"),
    "why.not-decided": Entry("nothing was decided about this Pod: it was about another"),
    "why.known-again": Entry("by it the Pod is known when it is stored"),
    "why.fits": Entry("so many nodes fit now: {count}"),
    "why.node": Entry("the node that was decided on"),
    "why.best": Entry("one of the best nodes for it"),
    "why.told": Entry("the Pod was told where to go"),
    "why.original": Entry("keeps what was asked for before this change"),
    "why.not-asked": Entry("is not what this Pod asked for"),
    "why.injection": Entry("injection {injection} of the settings"),
    "left.names-none": Entry("names none of the devices that Berth knows"),
    "left.as-it-should-be": Entry("already as it should be"),
    "left.privileged": Entry(
        "privileged containers alone ask for a device, and theirs are not managed"
    ),
    "left.namespace": Entry("namespace {namespace} is excluded by the settings"),
    "left.mirror": Entry("a mirror of a static Pod, whose changes would not reach the node"),
    "left.too-long": Entry(
        "annotations of more than {most} bytes, which the API server takes of no object"
    ),
    "left.opt-out": Entry("label {label} opts out"),
    "left.default-scheduler": Entry(
        "the default scheduler keeps its Pods (scheduler.force is off)"
    ),
    "left.other-scheduler": Entry("scheduler {scheduler} is not ours"),
    "left.windows": Entry("a Windows Pod, on whose nodes HAMi does not share cards"),
    "left.by-others": Entry(
        "as a replica with other settings wrote it; nobody has changed that since"
    ),
    "left.not-validated": Entry("nothing that is validated here"),
    "left.no-creation": Entry("not the creation of a Pod, which alone is our business"),
    "left.unknown-injection": Entry(
        "the injection {injection} is not in the settings of the replica that was asked"
    ),
    "left.selector": Entry(
        "namespace {namespace} is outside the registration's namespaceSelector: {unmet}"
    ),
    "part.lacks": Entry("{container} lacks {name}"),
    "part.sets": Entry("{container} sets {name}"),
    "part.nothing": Entry("nothing"),
    "part.or": Entry("{one} or {other}"),
    "part.author": Entry("the author of this change"),
    "part.more": Entry("{amount} more"),
    "part.at-least": Entry("at least {amount} more"),
    "part.unsized": Entry("memory that is not known before it has a device"),
    "part.not-ready": Entry("nodes that are not ready or cordoned: {nodes}"),
    "part.not-selected": Entry("nodes that its node selector or affinity leaves out: {nodes}"),
    "part.tainted": Entry("nodes with a taint that it does not tolerate: {nodes}"),
    "part.no-such-card": Entry("nodes without a healthy card that it accepts: {nodes}"),
    "part.too-small": Entry(
        "{wanted} MiB of one card wanted, {nearest} has {has} (nodes: {nodes})"
    ),
    "part.too-few-cores": Entry(
        "{wanted} percent of one card's cores wanted, {nearest} has {has} (nodes: {nodes})"
    ),
    "part.too-few": Entry("{wanted} such cards wanted, {nearest} has {has} (nodes: {nodes})"),
    "part.cpu": Entry("{wanted} milli CPU wanted, {nearest} has {has} free (nodes: {nodes})"),
    "part.memory": Entry("{wanted} MiB wanted, {nearest} has {has} free (nodes: {nodes})"),
    "part.cpu-in-all": Entry("{wanted} milli CPU wanted, {nearest} has {has} (nodes: {nodes})"),
    "part.memory-in-all": Entry("{wanted} MiB wanted, {nearest} has {has} (nodes: {nodes})"),
    "part.resource-in-all": Entry(
        "{wanted} of {resource} wanted, {nearest} has {has} (nodes: {nodes})"
    ),
    "part.pods": Entry("{nearest} takes {has} Pods more (nodes: {nodes})"),
    "part.resource": Entry(
        "{wanted} of {resource} wanted, {nearest} has {has} free (nodes: {nodes})"
    ),
    "part.cards": Entry("{wanted} free cards wanted, {nearest} has {has} (nodes: {nodes})"),
    "part.card": Entry(
        "{wanted} MiB of one card wanted, {nearest} has {has} free (nodes: {nodes})"
    ),
    "part.card-cores": Entry(
        "{wanted} percent of one card's cores wanted, {nearest} has {has} free (nodes: {nodes})"
    ),
    "part.card-slots": Entry("no free slot on a card (nodes: {nodes})"),
    "part.card-places": Entry("no place for such a partition of a card (nodes: {nodes})"),
    "part.numa": Entry(
        "{wanted} free cards of one NUMA node wanted, {nearest} has {has} (nodes: {nodes})"
    ),
    "part.apart": Entry(
        "nodes whose free cards carry a class of workload that must not be beside it: {nodes}"
    ),
    "part.filtered": Entry("nodes without a free card that passes the filter {resource}: {nodes}"),
    "part.together": Entry("nodes that take its containers one by one, not side by side: {nodes}"),
    "part.and-more": Entry("And {count} more"),
    "why.asked": Entry("what was asked for, in the words of the stack that runs the Pod"),
    "why.other-name": Entry("the stack that runs the Pod has another name for it"),
    "why.no-percent": Entry("no node has any percent"),
    "why.ceiling": Entry("a LimitRange has a max for it, and may refuse Pods that do not name it"),
    "why.limit-range": Entry("a LimitRange gives it, and the container asks in other words"),
    "why.choice": Entry("as {dialect} calls it"),
    "why.default": Entry("the namespace's default for containers with a device"),
    "why.queue": Entry("the queue of its namespace"),
    "why.whole-pods": Entry("this scheduler places all Pods of the namespace"),
    "why.volcano-scheduler": Entry("Volcano's scheduler gives out the cards"),
    "why.pool-scheduler": Entry("the scheduler of the pool"),
    "why.plain-scheduler": Entry("the scheduler of whole cards here"),
    "why.kai": Entry("said in the words of the written dialect"),
    "why.divided": Entry("records by how much less it gets than it asked for"),
    "why.oversubscribed": Entry("oversubscribed by {factors}"),
    "why.sized": Entry("as the Pod's annotations or its namespace have it"),
    "why.percent-of": Entry("{percent} percent of {size} MiB"),
    "part.leftover": Entry("{container} asks in the words of {dialect}"),
    "part.lost-accelerator": Entry("{dialect} has no words for {device}, which keeps its own"),
    "part.lost-memory": Entry("{dialect} gives whole cards only"),
    "part.lost-rounding": Entry("{mib} MiB become {rounded}, in blocks of {block}"),
    "part.lost-cores": Entry("{dialect} knows no share of the cores"),
    "part.lost-priority": Entry("{dialect} knows no {name}"),
    "part.lost-choice": Entry("{dialect} has no words for it"),
    "part.lost-policy": Entry("{dialect} compares by its own configuration"),
    "part.lost-group": Entry("{old} reads it, and {scheduler} does not"),
    "part.lost-init-container": Entry(
        "volcano counts nothing for an init container, and does not choose its card"
    ),
    "part.lost-devices": Entry("Volcano {first} reads it, and this is {version}"),
}
