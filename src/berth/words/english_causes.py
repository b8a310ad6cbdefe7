"""Why each class of refusals and warnings is, in English: for the page."""

from berth.words.entry import Cause

CAUSES = {
    "not-a-quantity": Cause("The amount is outside Kubernetes' grammar of quantities."),
    "not-whole": Cause(
        "Devices are given whole, and what is asked of each is counted in whole units. A part of a "
        "card is asked for by memory or cores."
    ),
    "negative": Cause("The amount is below 0."),
    "too-large": Cause(
        "The amount is more than any node or card has, in the unit of this resource. Mostly a unit "
        "was mistaken: memory is counted in MiB, or in units of the vendor, and not in bytes."
    ),
    "request-without-limit": Cause(
        "Kubernetes takes extended resources, as devices are, only with a limit."
    ),
    "request-not-limit": Cause(
        "Kubernetes wants the request of an extended resource to equal its limit."
    ),
    "memory-twice": Cause("Memory is asked for both in units and in percent of the card."),
    "share-of-nothing": Cause("The count is 0, beside memory or cores that are not."),
    "zero": Cause("For this resource 0 means nothing, where for others it is as if left out."),
    "not-a-slice": Cause("Such cards are cut into fixed sizes."),
    "not-a-multiple": Cause("Such devices are given in fixed groups."),
    "not-shared": Cause("Such devices are not shared in the way that is asked for."),
    "annotation": Cause(
        "HAMi's scheduler, or the vendor's software, would not understand the annotation, and fail "
        "or take it for something else without a word."
    ),
    "contradiction": Cause("Annotations choose devices and leave them out again: none is left."),
    "several-vendors": Cause(
        "A container asks for devices of two kinds, for which no device plugin and no container "
        "runtime is made."
    ),
    "pod-level": Cause("Devices belong to a container, and `spec.resources` to the whole Pod."),
    "too-many": Cause(
        "No Pod that runs has so many. To judge each takes time in which all other Pods wait."
    ),
    "node-name": Cause(
        "A Pod with `spec.nodeName` passes every scheduler by, and nobody gives it a device."
    ),
    "privileged": Cause(
        "A privileged container sees every card of its node, and `policy.privileged` is `deny`."
    ),
    "device-env": Cause(
        "By these variables a container could leave its share. `policy.deviceEnv` and "
        "`policy.limitEnv` say what becomes of them."
    ),
    "clash": Cause(
        "A volume or mount of the Pod stands where an injection of the settings puts its own."
    ),
    "quota": Cause(
        "A ResourceQuota of the namespace limits `limits.<resource>` of all its Pods together."
    ),
    "no-room": Cause(
        "Every node that could run the Pod is too full now, and `placement.full` is `refuse`."
    ),
    "never-fits": Cause(
        "No node could run the Pod if it were empty, and `placement.never` is `refuse`."
    ),
    "allocation": Cause(
        "HAMi and Volcano count, and give out, what stands in these annotations, whoever wrote it, "
        "and Berth counts by its own decision until then. They are for the accounts of "
        "`policy.allocators` alone; `policy.allocations` is `deny`."
    ),
    "undone": Cause(
        "The mutating webhook was not asked, or another one changed what it wrote, and "
        "`policy.undone` is `deny`. The Pod would never get its device, or more than its share. "
        "The sentences that name a container are those of the policy that `berth policy` prints."
    ),
    "no-device": Cause("Memory or cores were asked for, and no device that they could be of."),
    "replaced": Cause(
        "What the Pod says cannot stand as it is: the size is none that is given, or the limits or "
        "the cluster's settings say otherwise.",
        "Write the new value yourself, or leave yours out.",
    ),
    "removed": Cause(
        "The device plugin sets the variable when the device is given, and the settings say that "
        "it is taken out.",
        "Leave the variable out.",
    ),
    "limit-range": Cause(
        "A LimitRange of the namespace has a `default` of the resource, which the API server gives "
        "to each container that names none: sidecars and init containers too."
    ),
    "kept": Cause(
        "An injection of the settings sets the same name to another value; the Pod's own wins.",
        "Leave yours out if the cluster's is meant.",
    ),
    "no-effect": Cause(
        "The name is known, and not read where it stands.",
        "Leave one of the two out: a container has whole devices, or the size of a share.",
    ),
    "not-read": Cause("The annotation is none that anything reads, and is almost one that is."),
    "unmanaged": Cause(
        "Berth and HAMi do not manage such a container's devices, so the request has no effect.",
        "Run it without privileges where it shall have a share, and not on Windows.",
    ),
    "past-shares": Cause(
        "By the path a container reaches cards that it was not given. Only a node can prevent it.",
        "Leave the path out; the container runtime shows a container its devices.",
    ),
    "no-class": Cause(
        "The device-config names a RuntimeClass for such devices, and the cluster has none of that "
        "name: the API server refuses the Pod. `classes.runtime` is on.",
        "Create it, or take its name out of the device-config.",
    ),
    "mapped": Cause(
        "A DeviceClass has the resource as its `extendedResourceName`: on nodes with a DRA driver "
        "the default scheduler makes a claim of the request. Berth, and the stack that it writes "
        "for, know no claims. `classes.device` is on.",
        "Run one of the two in a cluster, or have the Pods of DRA opt out.",
    ),
    "unsized": Cause(
        "The quota limits memory, and how large the card is, is known once it is given.",
        "Name the memory in each container with a device.",
    ),
    "full": Cause(
        "Every node that could run the Pod is too full now, or not ready.",
        "Nothing has to be done: it waits. Ask for less where it must run at once.",
    ),
    "unplaceable": Cause(
        "No node could run the Pod if it were empty: the nodes or cards are too small, of another "
        "model, or left out by the Pod's own selector, affinity or tolerations.",
        "Ask for what some node has; `berth explain --cluster` says what each lacks.",
    ),
    "unrecorded": Cause(
        "Kubernetes keeps at most 256 KiB of annotations in an object.",
        "Nothing has to be done; `berth.dev/original-request` is for people.",
    ),
    "not-injected": Cause(
        "The settings were changed a moment ago, and not all replicas have them yet.",
        "Create the Pod again if it needs what is injected.",
    ),
    "not-rewritten": Cause(
        "The mutating webhook was not asked, or another one changed what it wrote, and "
        "`policy.undone` is `warn`.",
        "Create the Pod again shortly, and tell the cluster's administrators if it stays so.",
    ),
    "workload": Cause(
        "The template of the workload has the mistake, and so each of its Pods will. The two lines "
        "belong together: where, and what.",
        "As the refusal of the Pod says, in the second line.",
    ),
    "audit": Cause(
        "The namespace is in audit (`audit` in the settings): decisions are told, and nothing is "
        "done.",
        "As the refusal says; an edit needs nothing.",
    ),
    "several-dialects": Cause(
        "Each sharing stack reads its own words alone: of a container with words of two, each "
        "would give it a part, or neither would."
    ),
    "unknown-size": Cause(
        "The stack that runs the Pod knows no percent, and what it would be of is not known, or "
        "not the same for all cards that the Pod may get."
    ),
    "no-such-card": Cause(
        "No card, or no node, of this cluster has as much today, and `placement.never` refuses it."
    ),
    "beyond": Cause(
        "No card, or no node, of this cluster has as much today; one may come, as a node pool may "
        "scale from nothing.",
        "Ask for less, or add such nodes; `placement.never: refuse` refuses such Pods.",
    ),
    "loss": Cause(
        "The Pod means something that the dialect it is written in cannot say, and `losses` of its "
        "conversion has `refuse` for it."
    ),
    "lost": Cause(
        "The Pod means something that the dialect it is written in cannot say; the rest of its "
        "meaning is kept.",
        "Leave it out, or have the conversion refuse or drop it: `conversions[].losses`.",
    ),
    "renamed": Cause(
        "The stack that runs the Pod has another name for what it asks for. Tools that look for "
        "the old one find it in the annotation alone."
    ),
    "pod-group": Cause(
        "A PodGroup is sized by the template of its Pods before any of them is translated."
    ),
    "left-alone": Cause("A Pod that another scheduler is to place is not translated."),
    "not-converted": Cause(
        "The replica that was asked has older or newer settings than the one that registered the "
        "conversion; this lasts some seconds."
    ),
}
