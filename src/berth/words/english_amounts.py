"""Refusals in English: numbers, and what they mean together."""

from berth.words.entry import Entry

AMOUNTS = {
    "request-without-limit": Entry(
        "is requested without a limit, which Kubernetes refuses for devices",
        "write {name}: {value} under limits instead",
    ),
    "request-without-limit.wrong": Entry(
        "is requested without a limit, which Kubernetes refuses for devices",
        "write {name} under limits instead, and there what is right",
    ),
    "request-not-limit": Entry(
        "{asked} differs from the limit {limit}, and devices cannot be overcommitted",
        "leave the request out",
    ),
    "not-a-quantity": Entry(
        "{shown!r} is not a number that Kubernetes reads",
        "write a whole number from {least} to {most}",
    ),
    "negative": Entry("{shown} is negative", "write a number from {least} to {most}"),
    "not-whole.count": Entry(
        "{number} is not a whole number",
        "write 1, and ask for a part of the card with {resources}",
    ),
    "not-whole.devices": Entry(
        "{number} is not a whole number", "write whole devices, of which nobody gets a part"
    ),
    "not-whole.slices": Entry("{number} is not a whole number", "write whole slices"),
    "not-whole.memory": Entry("{number} is not a whole number", "write whole MiB"),
    "not-whole.units": Entry("{number} is not a whole number", "write whole units of {unit} MiB"),
    "not-whole.gib": Entry(
        "{number} is not a whole number", "write whole GiB, or whole MiB from {least} on"
    ),
    "not-whole.size": Entry(
        "{number} is not a whole number", "write whole GiB, up to {most}, or a size such as 512Mi"
    ),
    "not-whole.percent": Entry(
        "{number} is not a whole number", "write whole percent, from 1 to 100"
    ),
    "not-whole.cores": Entry(
        "{number} is not a whole number", "write whole percent of one device, from 1 to 100"
    ),
    "not-whole.all-cores": Entry(
        "{number} is not a whole number",
        "write a whole number up to {most}, for all devices of the container together",
    ),
    "not-whole.priority": Entry("{number} is not a whole number", "write a whole number"),
    "zero": Entry(
        "0 devices, or 0 of a device, is not a request here",
        "leave it out, or write a number from {least} to {most}",
    ),
    "too-large.count": Entry("{shown} devices are more than any node has", "write at most {most}"),
    "too-large.mib": Entry(
        "{shown} is more MiB than any card has (this resource counts MiB, not bytes)",
        "write at most {most}",
    ),
    "too-large.mib-meant": Entry(
        "{shown} is more MiB than any card has (this resource counts MiB, not bytes)",
        "write {units} if {shown} is meant",
    ),
    "too-large.units": Entry(
        "{shown} is more than any card has (this resource counts units of {unit} MiB)",
        "write at most {most}",
    ),
    "too-large.units-meant": Entry(
        "{shown} is more than any card has (this resource counts units of {unit} MiB)",
        "write {units} if {shown} is meant",
    ),
    "too-large.size": Entry(
        "{shown} is neither GiB that a card has nor whole MiB with a suffix",
        "write GiB, up to {most}, or a size such as 512Mi",
    ),
    "too-large.size-meant": Entry(
        "{shown} is neither GiB that a card has nor whole MiB with a suffix",
        "write {gib}Gi if that is meant",
    ),
    "too-large.percent": Entry(
        "{shown} percent is more than all of a card's memory", "write at most {most}"
    ),
    "too-large.cores": Entry(
        "{shown} percent is more than all of a device's cores",
        "write at most {most}, which each device of the container gets",
    ),
    "too-large.all-cores": Entry(
        "{shown} is more than all cores of the devices, which are {most}", "write at most {most}"
    ),
    "too-large.priority": Entry("{shown} is more than a priority can be", "write at most {most}"),
    "too-large.npu": Entry("{memory} is more MiB than {device} has", "write at most {most}"),
    "too-large.xpu": Entry("{memory} is more MiB than an XPU has", "write at most {most}"),
    "too-large.profile": Entry(
        "{memory} is more than the largest MIG profile allowed has, {largest} MiB",
        "write at most {most}, or leave {mode} out",
    ),
    "memory-twice": Entry(
        "memory is asked for twice, here and as {other}", "leave one of them out"
    ),
    "share-of-nothing": Entry(
        "0 devices are asked for, with memory or cores of each", "write 1, or drop the others"
    ),
    "not-a-slice": Entry(
        "{memory} is no slice of a card (units of {unit} MiB)", "write one of {sizes}"
    ),
    "not-a-multiple.pairs": Entry("{count} chips are not whole pairs", "write {below} or {above}"),
    "not-a-multiple.devices": Entry(
        "{cores} cores are neither part of one device nor whole devices of {unit}",
        "write {below} or {above}",
    ),
    "not-shared.cores": Entry(
        "cores of an NPU are shared in soft split only",
        "annotate the Pod with {mode}: {soft}, or ask for memory alone",
    ),
    "not-shared.templates": Entry(
        "{memory} of each of {count} devices: only one device is cut into templates",
        "ask for one, or for whole ones",
    ),
    "not-shared.pairs": Entry(
        "{memory} of each of {count} chips, which come in pairs: only one device alone is cut",
        "write {whole}, or leave it out",
    ),
    "not-shared.class": Entry(
        "{count} are asked for, and a Pod with {key} may have one per container",
        "write {name}: 1, or leave the annotation out",
    ),
    "several-vendors": Entry(
        "the container asks for {other} devices too", "use a container for each kind of device"
    ),
    "too-large.bytes": Entry("{shown} is more than any card has", "write a size such as 16Gi"),
    "not-whole.no-bytes": Entry(
        "{shown} is less than a MiB, as this resource counts bytes",
        "write {value}Mi, if MiB are meant",
    ),
    "not-whole.bytes": Entry("{shown} is not a whole number of MiB", "write {mib}Mi"),
    "several-dialects": Entry(
        "the container asks in the dialects {one} and {other} at once",
        "write what it wants in one of them",
    ),
    "unknown-size.none": Entry(
        "{percent} percent of a card's memory is asked for, and no such card is known here",
        "name MiB, or, with {key}, a model whose cards have one size",
    ),
    "unknown-size.several": Entry(
        "{percent} percent of a card's memory is asked for, and the cards differ: {sizes} MiB",
        "name MiB, or, with {key}, a model whose cards have one size",
    ),
    "no-such-card.memory": Entry(
        "{mib} MiB are more than any such card here has ({sizes} MiB)",
        "ask for at most {most} MiB of each",
    ),
    "no-such-card.count": Entry(
        "{count} cards are asked for, and the largest node here has {largest}",
        "ask for at most {largest}, in several Pods if need be",
    ),
    "no-such-card.model": Entry(
        "no card here is a {models}; there are {known}", "name one of these, or none"
    ),
}
