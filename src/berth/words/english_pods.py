"""Refusals in English: the Pod around the numbers, who writes it, and where."""

from berth.words.entry import Entry

_RETRY = "try again shortly, and tell the cluster's administrators if it stays so"

PODS = {
    "annotation.weights": Entry(
        "{shown} does not weigh a device",
        "write slot=1,core=1,memory=1 with whole numbers, not all 0",
    ),
    "annotation.policy": Entry(
        "{shown} is no way to choose, and the scheduler would fall back to its own",
        "write one of {known}",
    ),
    "annotation.switch": Entry("{shown} is neither true nor false", "write true or false"),
    "annotation.list": Entry("{shown} is not a list", "write it as text, with commas"),
    "annotation.mode": Entry("{shown} is no way to share a card", "write {known}"),
    "annotation.metax": Entry("{shown} is not known to MetaX's software", "write one of {known}"),
    "contradiction.models": Entry(
        "every model that {chosen} chooses is left out here",
        "take one out of this list, or add another to that",
    ),
    "contradiction.devices": Entry(
        "every device that is listed here is left out by another annotation of the Pod",
        "list one that none of {lists} excludes",
    ),
    "pod-level": Entry(
        "{name} cannot be asked for by the Pod as a whole",
        "write it under the limits of the container that uses it",
    ),
    "too-many.containers": Entry(
        "{count} containers, and of one Pod at most {most} are read",
        "spread them over several Pods",
    ),
    "too-many.edits": Entry(
        "{count} changes would have to be made, and {most} is the most",
        "leave out the variables that the device plugin sets",
    ),
    "node-name": Entry(
        "set to {node}, so {scheduler} would never give the Pod its device",
        "use node affinity on metadata.name instead",
    ),
    "privileged.container": Entry(
        "container {container} is privileged and would see every card",
        "run it in a Pod of its own or without privileges",
    ),
    "privileged.ephemeral": Entry(
        "container {container} is privileged and would see every card",
        "run it without privileges",
    ),
    "device-env.limit": Entry(
        "{name} is set by the device plugin from the container's limits",
        "remove it and ask with {resources}",
    ),
    "device-env.visible": Entry(
        "{name} is set by the device plugin to the devices given", "remove it"
    ),
    "device-env.ephemeral": Entry(
        "{name} would reach devices past the shares of the Pod", "remove it"
    ),
    "clash": Entry(
        "{entry} is taken by the cluster's injection {injection}", "choose another {key}"
    ),
    "quota.room": Entry(
        "namespace {namespace} uses {used}, this Pod asks for {wish}, and ResourceQuota {quota} "
        "allows {most} ({entry})",
        "ask for at most {room} in all, end other Pods or have the quota raised",
    ),
    "quota.full": Entry(
        "namespace {namespace} uses {used}, this Pod asks for {wish}, and ResourceQuota {quota} "
        "allows {most} ({entry})",
        "end other Pods or have the quota raised",
    ),
    "quota.unsized": Entry(
        "namespace {namespace} uses {used}, this Pod asks for {wish}, and ResourceQuota {quota} "
        "allows {most} ({entry})",
        "name {resource} in each container with a device",
    ),
    "quota.slices": Entry(
        "namespace {namespace} uses {used}, this Pod asks for {wish}, and ResourceQuota {quota} "
        "allows {most} ({entry})",
        "write {resource} in place of {count}",
    ),
    "no-room": Entry("no node has room now: {why}", "ask for less, or try again later"),
    "never-fits": Entry("no node can ever run this: {why}", "ask for what some node has"),
    "allocation.new": Entry(
        "records what the GPU scheduler gave to a Pod, and this one is new", "remove it"
    ),
    "allocation.changed": Entry(
        "records what the GPU scheduler gave to the Pod, and {user} is not that scheduler",
        "leave it as it is; policy.allocators names who else may write it",
    ),
    "allocation.decision": Entry(
        "says what Berth decided when the Pod was created, and {user} may not change it",
        "leave it as it is; policy.allocators names who may write it",
    ),
    "undone": Entry(
        "is not as the GPU webhook writes it ({why}): it was not asked, or its change was undone",
        _RETRY,
    ),
    "undone.scheduler": Entry(
        "the GPU webhook did not rewrite this Pod: container {container} asks for a device, but "
        "spec.schedulerName is not {scheduler}",
        _RETRY,
    ),
    "undone.node-name": Entry(
        "the GPU webhook did not rewrite this Pod: container {container} asks for a device, but "
        "spec.nodeName is set",
        _RETRY,
    ),
    "undone.runtime-class": Entry(
        "the GPU webhook did not rewrite this Pod: container {container} asks for a device, but "
        "no RuntimeClass is set",
        _RETRY,
    ),
    "undone.privileged": Entry(
        "the GPU webhook did not rewrite this Pod: container {container} asks for a device, but "
        "the Pod is privileged",
        _RETRY,
    ),
    "undone.annotation": Entry(
        "the GPU webhook did not rewrite this Pod: container {container} asks for a device by "
        "annotation {name}",
        _RETRY,
    ),
    "undone.lacking": Entry(
        "the GPU webhook did not rewrite this Pod: container {lacking}", _RETRY
    ),
    "annotation.size": Entry(
        "{shown!r} is no size", "write 16Gi, 40% or, by container, main=16Gi,side=40%"
    ),
    "annotation.size-twice": Entry(
        "{shown!r} is one size too many", "write one for each container"
    ),
    "annotation.no-container": Entry(
        "the Pod has no container {container}", "write the name of one that it has"
    ),
    "annotation.choice": Entry("{shown!r} is none of {known}", "write one of them"),
    "annotation.model": Entry("{shown!r} is no number of parameters", "write 7b, 1.5b or 350m"),
    "annotation.fraction": Entry("{shown} is no part of a card", "write a number such as 0.5"),
    "annotation.mib": Entry("{shown} is no number of MiB", "write whole MiB, such as 4096"),
    "annotation.cards": Entry("{shown} is no number of cards", "write a number such as 2"),
    "annotation.twice": Entry(
        "memory is asked for twice, here and as {other}", "leave one of these annotations out"
    ),
    "loss": Entry(
        "{what}, and conversion {conversion} refuses such a loss (loss {kind})",
        "leave it out, or label the Pod {label} to keep it as it is",
    ),
}
