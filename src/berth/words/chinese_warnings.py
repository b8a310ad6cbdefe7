"""Warnings in Chinese: what the author of a Pod that is let through should hear."""

from berth.words.entry import Entry

WARNINGS = {
    "no-device": Entry("{path}：只有 {name} 而没有 {count}，不会分配设备", "请加上"),
    "replaced.amount": Entry("{path}：{name} 由 {before} 改为 {value}：{why}"),
    "replaced.variable": Entry("{path}：{name} 被替换为 {value}：{why}"),
    "replaced.annotation": Entry("{path} 按 limits 被替换为 {value}"),
    "removed.variable": Entry("{path}：{name} 被删除：{why}"),
    "kept.variable": Entry("{path}：{name} 保留 Pod 自己的值，而非采用{why}"),
    "kept.annotation": Entry("{path} 保留原值，而非采用{why}"),
    "no-effect.amount": Entry("{path}：{name} 与 {count} 同时写时不起作用"),
    "no-effect.annotation": Entry("{path} 不起作用", "请写到容器的 limits 下"),
    "no-effect.workload": Entry("{path} 在 {kind} 上不起作用", "请移到 {where}"),
    "not-read": Entry("{path} 不会被读取", "您想写的是 {meant} 吗？"),
    "unmanaged.privileged": Entry("{path}：特权容器能看到节点上所有的卡，其 {count} 申请不受管理"),
    "unmanaged.windows": Entry(
        "{path}：Windows Pod，HAMi 不在此类节点上共享卡；其设备申请不受管理"
    ),
    "past-shares.volume": Entry("{path}：{volume} 挂载 {host}，会绕过份额接触到卡"),
    "past-shares.mount": Entry("{path}：{mount} 会绕过份额接触到卡"),
    "unsized": Entry("未写明 {resource}，配额 {quota} 无法完整计数"),
    "full": Entry("目前没有节点放得下：{why}"),
    "unplaceable": Entry("没有节点能运行它：{why}"),
    "unrecorded": Entry("{path} 已满，无法在其中记录原始申请"),
    "not-injected": Entry("被询问的副本的设置中没有注入 {injection}；没有注入任何内容"),
    "not-rewritten": Entry("{path} 不是 GPU webhook 所写的样子，设备可能永远不会分配"),
    "workload.refused": Entry("{path}：它的 Pod 将被拒绝"),
    "workload.audited": Entry("{path}：若不是处于审计模式，它的 Pod 将被拒绝"),
    "workload.why": Entry("{problem}"),
    "audit.changed": Entry("审计：这个 Pod 本应被改写，现按原样存储"),
    "audit.refused": Entry("审计：本应拒绝，现予放行"),
    "audit.problem": Entry("{path}：{problem}"),
    "audit.edit": Entry("{path}：{why}"),
    "lost": Entry("{path}：有损失（{kind}）：{what}"),
    "renamed": Entry("{path}：{old} 改写为 {new}", "原来的申请记在 {key} 中"),
    "pod-group": Entry("{path}：PodGroup 按其模板计数", "请把模板也转换"),
    "left-alone": Entry("{path}：{why}", "Pod 的申请保持原样"),
    "not-converted": Entry("被询问的副本的设置中没有转换 {conversion}", "没有进行转换"),
    "no-effect.conversion": Entry("{path} 不起作用：此处没有转换", "请改写资源"),
    "no-effect.alone": Entry("{path} 没有 {name} 时不起作用", "请加上"),
    "no-effect.model": Entry("{path} 在有 {name} 时不起作用", "请去掉其中一个"),
}
