"""Refusals in Chinese: the Pod around the numbers, who writes it, and where."""

from berth.words.entry import Entry

_RETRY = "请稍后重试，如果问题依旧，请告知集群管理员"

PODS = {
    "annotation.weights": Entry(
        "{shown} 不是有效的设备权重", "请写 slot=1,core=1,memory=1 这样的整数权重，且不能全为 0"
    ),
    "annotation.policy": Entry(
        "{shown} 不是可用的选择策略，调度器会改用自己的默认策略", "请写以下之一：{known}"
    ),
    "annotation.switch": Entry("{shown} 既不是 true 也不是 false", "请写 true 或 false"),
    "annotation.list": Entry("{shown} 不是列表", "请写成以逗号分隔的文本"),
    "annotation.mode": Entry("{shown} 不是可用的共享方式", "请写 {known}"),
    "annotation.metax": Entry("沐曦 (MetaX) 的软件不认识 {shown}", "请写以下之一：{known}"),
    "contradiction.models": Entry(
        "{chosen} 选中的型号在此处全部被排除",
        "请从此列表中去掉一个型号，或在 {chosen} 中再加一个型号",
    ),
    "contradiction.devices": Entry(
        "此处列出的设备全部被该 Pod 的其他注解排除", "请列出一个未被 {lists} 排除的设备"
    ),
    "pod-level": Entry("{name} 不能在 Pod 级别申请", "请写到使用它的容器的 limits 下"),
    "too-many.containers": Entry(
        "有 {count} 个容器，而一个 Pod 最多读取 {most} 个", "请把它们分到多个 Pod"
    ),
    "too-many.edits": Entry(
        "需要 {count} 处改动，而最多允许 {most} 处", "请去掉由设备插件设置的变量"
    ),
    "node-name": Entry(
        "已设置为 {node}，因此 {scheduler} 永远不会为该 Pod 分配设备",
        "请改用匹配 metadata.name 的节点亲和性",
    ),
    "privileged.container": Entry(
        "容器 {container} 是特权容器，会看到所有的卡", "请放到单独的 Pod 中运行，或不以特权方式运行"
    ),
    "privileged.ephemeral": Entry(
        "容器 {container} 是特权容器，会看到所有的卡", "请不要以特权方式运行"
    ),
    "device-env.limit": Entry(
        "{name} 由设备插件根据容器的 limits 设置", "请删除它，并用 {resources} 申请"
    ),
    "device-env.visible": Entry("{name} 由设备插件按所分配的设备设置", "请删除它"),
    "device-env.ephemeral": Entry("{name} 会使容器绕过该 Pod 的份额访问设备", "请删除它"),
    "clash": Entry("{entry} 已被集群的注入 {injection} 占用", "请换一个 {key}"),
    "quota.room": Entry(
        "命名空间 {namespace} 已使用 {used}，该 Pod {wish}，而 ResourceQuota {quota} "
        "只允许 {most}（{entry}）",
        "请总共最多申请 {room}，或结束其他 Pod，或请管理员提高配额",
    ),
    "quota.full": Entry(
        "命名空间 {namespace} 已使用 {used}，该 Pod {wish}，而 ResourceQuota {quota} "
        "只允许 {most}（{entry}）",
        "请结束其他 Pod，或请管理员提高配额",
    ),
    "quota.unsized": Entry(
        "命名空间 {namespace} 已使用 {used}，该 Pod {wish}，而 ResourceQuota {quota} "
        "只允许 {most}（{entry}）",
        "请在每个使用设备的容器中写明 {resource}",
    ),
    "quota.slices": Entry(
        "命名空间 {namespace} 已使用 {used}，该 Pod {wish}，而 ResourceQuota {quota} "
        "只允许 {most}（{entry}）",
        "请改写 {resource}，去掉 {count}",
    ),
    "no-room": Entry("目前没有节点有足够的空闲资源：{why}", "请减少申请，或稍后重试"),
    "never-fits": Entry("没有任何节点能运行该 Pod：{why}", "请申请某个节点所具备的资源"),
    "allocation.new": Entry(
        "该注解记录 GPU 调度器分配给 Pod 的设备，而这个 Pod 是新建的", "请删除该注解"
    ),
    "allocation.changed": Entry(
        "该注解记录 GPU 调度器分配给该 Pod 的设备，而 {user} 不是该调度器",
        "请保持原样；其他可以写入的用户由 policy.allocators 指定",
    ),
    "allocation.decision": Entry(
        "该注解记录 Berth 在创建该 Pod 时所作的决定，{user} 无权更改",
        "请保持原样；可以写入的用户由 policy.allocators 指定",
    ),
    "undone": Entry(
        "与 GPU Webhook 的改写结果不符（{why}）：Webhook 未被调用，或其改写已被撤销", _RETRY
    ),
    "undone.scheduler": Entry(
        "GPU Webhook 没有改写此 Pod：容器 {container} 申请了设备，"
        "但 spec.schedulerName 不是 {scheduler}",
        _RETRY,
    ),
    "undone.node-name": Entry(
        "GPU Webhook 没有改写此 Pod：容器 {container} 申请了设备，但设置了 spec.nodeName", _RETRY
    ),
    "undone.runtime-class": Entry(
        "GPU Webhook 没有改写此 Pod：容器 {container} 申请了设备，但没有设置 RuntimeClass", _RETRY
    ),
    "undone.privileged": Entry(
        "GPU Webhook 没有改写此 Pod：容器 {container} 申请了设备，但该 Pod 是特权 Pod", _RETRY
    ),
    "undone.annotation": Entry(
        "GPU Webhook 没有改写此 Pod：容器 {container} 通过注解 {name} 申请了设备", _RETRY
    ),
    "undone.lacking": Entry("GPU Webhook 没有改写此 Pod：容器 {lacking}", _RETRY),
    "annotation.size": Entry(
        "{shown!r} 不是有效的大小", "请写 16Gi、40%，或按容器写 main=16Gi,side=40%"
    ),
    "annotation.size-twice": Entry("{shown!r} 多写了一个大小", "每个容器请只写一个"),
    "annotation.no-container": Entry(
        "该 Pod 没有名为 {container} 的容器", "请写该 Pod 中某个容器的名称"
    ),
    "annotation.choice": Entry("{shown!r} 不是以下之一：{known}", "请写其中之一"),
    "annotation.model": Entry("{shown!r} 不是有效的参数量", "请写 7b、1.5b 或 350m"),
    "annotation.fraction": Entry("{shown} 不是一张卡的有效比例", "请写 0.5 这样的数"),
    "annotation.mib": Entry("{shown} 不是有效的 MiB 数", "请写整数 MiB，例如 4096"),
    "annotation.cards": Entry("{shown} 不是有效的卡数", "请写 2 这样的数"),
    "annotation.twice": Entry("显存重复申请：此处和 {other} 各申请了一次", "请去掉其中一个注解"),
    "loss": Entry(
        "{what}，而转换 {conversion} 不允许这类损失（{kind}）",
        "请去掉这一项，或为 Pod 加标签 {label} 以保持原样",
    ),
}
