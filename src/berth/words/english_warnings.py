"""Warnings in English: what the author of a Pod that is let through should hear."""

from berth.words.entry import Entry

WARNINGS = {
    "no-device": Entry("{path}: {name} without {count} gives no device", "add it"),
    "limit-range": Entry("{path}: a LimitRange gives it {name}", "write 0 there for none"),
    "limit-range.always": Entry(
        "{path}: a LimitRange gives it {name}, and 0 is refused", "have the LimitRange changed"
    ),
    "ceiling": Entry("{path}: the max of {name} in LimitRange {range} limits nothing now"),
    "floor": Entry("{path}: LimitRange {range} wants {name}, and refuses this Pod"),
    "replaced.amount": Entry("{path}: {name} {before} becomes {value}: {why}"),
    "replaced.variable": Entry("{path}: {name} is replaced by {value}: {why}"),
    "replaced.annotation": Entry("{path} is replaced by {value}, as the limits say"),
    "removed.variable": Entry("{path}: {name} is removed: {why}"),
    "kept.variable": Entry("{path}: {name} is kept as the Pod sets it, against {why}"),
    "kept.annotation": Entry("{path} is kept, against {why}"),
    "no-effect.amount": Entry("{path}: {name} has no effect beside {count}"),
    "no-effect.annotation": Entry("{path} has no effect", "write it under a container's limits"),
    "no-effect.workload": Entry("{path} has no effect on {kind}", "move it to its Pod template"),
    "not-read": Entry("{path} is not read", "did you mean {meant}?"),
    "unmanaged.privileged": Entry(
        "{path}: privileged, so it sees every card of its node and its {count} request is not "
        "managed"
    ),
    "unmanaged.windows": Entry(
        "{path}: a Windows Pod, on whose nodes HAMi does not share cards; its device requests are "
        "not managed"
    ),
    "past-shares.volume": Entry(
        "{path}: {volume} shows {host}, which reaches cards past their shares"
    ),
    "past-shares.mount": Entry("{path}: {mount} reaches cards past their shares"),
    "no-class": Entry("{path}: {name} is set here, and there is no such RuntimeClass", "create it"),
    "mapped": Entry("{path}: DeviceClass {class} maps it to claims, which are not looked at"),
    "unsized": Entry("{resource} is not named, so quota {quota} cannot count all of it"),
    "beyond.memory": Entry("{path}: {mib} MiB, and no such card here has more than {most}"),
    "beyond.count": Entry("{path}: {count} cards, and the largest node here has {largest}"),
    "beyond.model": Entry("{path}: no card here is a {models}"),
    "full": Entry("no node has room now: {why}"),
    "unplaceable": Entry("no node can run it: {why}"),
    "unrecorded": Entry("{path} is full, so the original request is not recorded there"),
    "not-injected": Entry(
        "the injection {injection} is not in the settings of the replica that was asked; nothing "
        "was injected"
    ),
    "not-rewritten": Entry(
        "{path} is not as the GPU webhook writes it, so the device may never come"
    ),
    "workload.refused": Entry("{path}: its Pods will be refused"),
    "workload.audited": Entry("{path}: its Pods would be refused, but for audit"),
    "workload.why": Entry("{problem}"),
    "audit.changed": Entry("audit: this Pod would be changed, and is stored as it came"),
    "audit.refused": Entry("audit: this would be refused, and is let through"),
    "audit.problem": Entry("{path}: {problem}"),
    "audit.edit": Entry("{path}: {why}"),
    "lost": Entry("{path}: lost ({kind}): {what}"),
    "renamed": Entry("{path}: {old} is written as {new}", "{key} has it"),
    "renamed.resource": Entry("{path}: {old} is taken out", "{key} has it"),
    "renamed.annotation": Entry("{path} is taken out: the limits say it now", "{key} has it"),
    "pod-group": Entry("{path}: the PodGroup counts what its template says", "convert that too"),
    "left-alone": Entry("{path}: {why}", "what the Pod asks for is left as it is"),
    "not-converted": Entry(
        "the replica that was asked has no conversion {conversion} in its settings",
        "nothing was translated",
    ),
    "no-effect.conversion": Entry(
        "{path} has no effect: no conversion holds here", "write resources instead"
    ),
    "no-effect.container": Entry(
        "{path}: container {container} wants no device", "name one that does"
    ),
    "no-effect.accelerator": Entry("{path} has no effect on {device}", "write its resources"),
    "no-effect.alone": Entry("{path} has no effect without {name}", "add it"),
    "no-effect.model": Entry("{path} has no effect beside {name}", "leave one of them out"),
}
