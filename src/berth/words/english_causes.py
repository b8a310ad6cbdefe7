"""Why each class of refusals and warnings is, in English: for the page."""

from berth.words.entry import Cause

CAUSES = {
    "not-a-quantity": Cause("Kubernetes cannot read the amount as a quantity."),
    "not-whole": Cause(
        "Devices are given out whole, and memory and cores in whole units. To get a part of a "
        "card, ask for memory or cores."
    ),
    "negative": Cause("The amount is below 0."),
    "too-large": Cause(
        "No node or card has so much, in the unit of this resource. Mostly the unit was mistaken: "
        "memory is counted in MiB, or in units of the vendor, and not in bytes."
    ),
    "request-without-limit": Cause(
        "Devices are extended resources. Kubernetes accepts a request for these only with a limit."
    ),
    "request-not-limit": Cause(
        "Kubernetes wants the request of an extended resource to equal its limit."
    ),
    "memory-twice": Cause("Memory is asked for in units and in percent of the card as well."),
    "share-of-nothing": Cause("The count is 0, but memory or cores are not."),
    "zero": Cause("0 has no meaning for this resource. For other resources it means: not asked."),
    "not-a-slice": Cause("Such cards are cut into fixed sizes."),
    "not-a-multiple": Cause("Such devices are given out in fixed groups."),
    "not-shared": Cause("Such devices cannot be shared in this way."),
    "annotation": Cause(
        "HAMi's scheduler, or the vendor's software, would not understand the annotation: it would "
        "fail, or silently do something else."
    ),
    "contradiction": Cause(
        "Some annotations choose devices and others exclude them, so that none is left."
    ),
    "several-vendors": Cause(
        "A container asks for devices of two kinds. No device plugin and no container runtime is "
        "made for that."
    ),
    "pod-level": Cause("Devices belong to a container; `spec.resources` belongs to the whole Pod."),
    "too-many": Cause(
        "No Pod that runs has so many. While Berth judges each of them, all other Pods wait."
    ),
    "node-name": Cause(
        "A Pod with `spec.nodeName` bypasses every scheduler, so nobody gives it a device."
    ),
    "privileged": Cause(
        "A privileged container sees every card of its node, and `policy.privileged` is `deny`."
    ),
    "device-env": Cause(
        "With these variables, a container could leave its share. `policy.deviceEnv` and "
        "`policy.limitEnv` say what is done about them."
    ),
    "clash": Cause(
        "A volume or mount of the Pod has the name or path that an injection of the settings needs."
    ),
    "quota": Cause(
        "A ResourceQuota limits, with `limits.<resource>`, what all Pods of the namespace use "
        "together."
    ),
    "no-room": Cause(
        "Every node that could run the Pod is too full now, and `placement.full` is `refuse`."
    ),
    "never-fits": Cause(
        "No node could run the Pod, even if it were empty, and `placement.never` is `refuse`."
    ),
    "allocation": Cause(
        "HAMi and Volcano believe what these annotations say, whoever wrote them, and count and "
        "give out cards by it. Until such a record is there, Berth counts by its own decision. "
        "`policy.allocations` is `deny`, so only the accounts of `policy.allocators` may write "
        "them."
    ),
    "undone": Cause(
        "The API server did not ask the mutating webhook, or another webhook undid its change, and "
        "`policy.undone` is `deny`. The Pod would never get its device, or would get more than its "
        "share. The sentences that name a container come from the policy that `berth policy` "
        "prints. A webhook that gives a Pod its first device has to be asked before Berth: the API "
        "server goes by the names of the configurations, and asks nobody again whom it has not "
        "asked before."
    ),
    "no-device": Cause("Memory or cores are asked for, but no device to which they could belong."),
    "replaced": Cause(
        "The value in the Pod cannot stay: there is no such size, or the limits or the cluster's "
        "settings say otherwise.",
        "Write the new value yourself, or leave yours out.",
    ),
    "removed": Cause(
        "The device plugin sets this variable when it gives out the device, and the settings say "
        "that it is removed from the Pod.",
        "Leave the variable out.",
    ),
    "limit-range": Cause(
        "A LimitRange of the namespace has a `default` for the resource. The API server gives it "
        "to each container that does not name the resource, also to sidecars and init containers."
    ),
    "ceiling": Cause(
        "A LimitRange of the namespace has a `max` for a name that was translated. The name stays "
        "with 0, because a LimitRange of type Pod refuses each Pod that does not name it. "
        "`classes.limitRange` is on.",
        "If the limit is still wanted, give the LimitRange a `max` for the new name too, with "
        "`default: 0`.",
    ),
    "floor": Cause(
        "A LimitRange of the namespace has a `min` or a `maxLimitRequestRatio` for a name that was "
        "translated. Kubernetes refuses each Pod that asks for less of it, or for none. "
        "`classes.limitRange` is on.",
        "Take the name out of the LimitRange, or let the Pod opt out of the translation.",
    ),
    "kept": Cause(
        "An injection of the settings sets the same name to another value. The Pod's own value "
        "stays.",
        "If you want the cluster's value, leave yours out.",
    ),
    "no-effect": Cause(
        "The name is known, but nothing reads it in this place.",
        "Leave one of the two out: a container gets whole devices, or a share of a given size.",
    ),
    "not-read": Cause("Nothing reads this annotation, but it is almost the name of one that is."),
    "unmanaged": Cause(
        "Berth and HAMi do not manage the devices of such a container, so the request has no "
        "effect.",
        "If it needs a share, run it without privileges, and not on Windows.",
    ),
    "past-shares": Cause(
        "Through this path, a container reaches cards that it was not given. Only the node can "
        "prevent that.",
        "Leave the path out; the container runtime shows the container its devices.",
    ),
    "no-class": Cause(
        "The device-config names a RuntimeClass for such devices, and the cluster has none of that "
        "name. The API server refuses the Pod. `classes.runtime` is on.",
        "Create it, or take its name out of the device-config.",
    ),
    "mapped": Cause(
        "A DeviceClass has the resource as its `extendedResourceName`. On nodes with a DRA driver "
        "the default scheduler makes a claim of the request; Berth, and the stack that it writes "
        "for, know no claims. `classes.device` is on.",
        "Run one of the two in a cluster, or let the Pods for DRA opt out.",
    ),
    "unsized": Cause(
        "The quota limits memory, but how much memory the card has is known only once it is given.",
        "Name the memory in each container with a device.",
    ),
    "full": Cause(
        "Every node that could run the Pod is too full now, or not ready.",
        "You need not do anything: the Pod waits. If it must run at once, ask for less.",
    ),
    "unplaceable": Cause(
        "No node could run the Pod, even if it were empty: nodes or cards are too small, or of "
        "another model, or the Pod's own selector, affinity or tolerations exclude them.",
        "Ask for what some node has; `berth explain --cluster` says what each node lacks.",
    ),
    "unrecorded": Cause(
        "Kubernetes keeps at most 256 KiB of annotations in an object.",
        "You need not do anything, but leave some room if the settings of Berth change: replicas "
        "with other settings know the Pod by `berth.dev/original-request`.",
    ),
    "not-injected": Cause(
        "The settings were changed a moment ago, and not all replicas have them yet.",
        "If the Pod needs what is injected, create it again.",
    ),
    "not-rewritten": Cause(
        "The API server did not ask the mutating webhook, or another webhook undid its change, and "
        "`policy.undone` is `warn`.",
        "Create the Pod again shortly. If this goes on, tell the cluster's administrators.",
    ),
    "workload": Cause(
        "The template of the workload has a mistake, so each of its Pods will have it. The two "
        "lines belong together: the first says where, the second what.",
        "Do what the second line says; it is the refusal of the Pod.",
    ),
    "audit": Cause(
        "The namespace is in audit mode (`audit` in the settings): Berth tells its decision and "
        "does nothing.",
        "If it would be refused, do what the refusal says. Changes need nothing from you.",
    ),
    "several-dialects": Cause(
        "Each sharing stack reads only its own words. If a container uses the words of two stacks, "
        "each would give it a part, or neither would."
    ),
    "unknown-size": Cause(
        "The stack that runs the Pod does not know percent. To turn percent into MiB, Berth must "
        "know the size of the card; it does not, or the cards that the Pod may get differ in size."
    ),
    "no-such-card": Cause(
        "No card, or no node, of this cluster has so much today, and `placement.never` is `refuse`."
    ),
    "beyond": Cause(
        "No card, or no node, of this cluster has so much today. One may come, as a node pool may "
        "grow from zero.",
        "Ask for less, or add such nodes. `placement.never: refuse` refuses such Pods.",
    ),
    "loss": Cause(
        "The dialect into which the Pod is translated cannot express something that the Pod asks "
        "for, and the conversion refuses such a loss (`loss`, `losses`)."
    ),
    "lost": Cause(
        "The dialect into which the Pod is translated cannot express something that the Pod asks "
        "for. Everything else is kept.",
        "Leave it out, or let the conversion refuse or drop it: `conversions[].losses`.",
    ),
    "renamed": Cause(
        "The stack that runs the Pod has another name for this resource, or does not read this "
        "annotation. Tools that look for the old name find it only in `berth.dev/original-request`."
    ),
    "pod-group": Cause(
        "The size of a PodGroup comes from the template of its Pods, before any Pod is translated."
    ),
    "left-alone": Cause("A Pod that another scheduler places is not translated."),
}
