"""Reasons in Chinese: why each edit is made, why nothing is, and parts of other sentences."""

from berth.words.entry import Entry

REASONS = {
    "why.lacks-count": Entry("申请显存或算力时必须有设备"),
    "why.lacks-memory": Entry("没有申请更小的份额，因此是整张卡"),
    "why.lacks-cores": Entry("没有写明份额，因此整张卡归该容器独占"),
    "why.pairs": Entry("此类设备成对分配"),
    "why.size": Entry("此类卡按这样的大小分配"),
    "why.all-cores": Entry("整个设备包含其全部算力"),
    "why.priority": Entry("任务优先级由 {name} 设置"),
    "why.core-policy": Entry("管理员设定的算力策略"),
    "why.container-name": Entry("厂商的软件从这里读取容器名"),
    "why.device-plugin": Entry("它由设备插件设置"),
    "why.hidden": Entry("overwriteEnv 会隐藏未申请的卡"),
    "why.twice": Entry("{name} 出现了两次"),
    "why.runtime-class": Entry("{vendor} 容器使用这个 RuntimeClass 运行"),
    "why.scheduler": Entry("只有 HAMi 调度器了解卡的份额"),
    "why.vendor-annotation": Entry("厂商的调度器会读取它"),
    "why.decided": Entry("已经选定的设备"),
    "why.counted-once": Entry("使其在配额中只计一次"),
    "why.not-decided": Entry("没有对该 Pod 作出过决定，这是另一个 Pod 的决定"),
    "why.known-again": Entry("Pod 存储后以此识别该 Pod"),
    "why.fits": Entry("目前有足够空闲资源的节点数：{count}"),
    "why.node": Entry("选定的节点"),
    "why.best": Entry("最合适的节点之一"),
    "why.told": Entry("已告知该 Pod 应调度到何处"),
    "why.original": Entry("保留改动前的原始申请"),
    "why.injection": Entry("设置中的注入 {injection}"),
    "left.names-none": Entry("没有写任何 Berth 认识的设备"),
    "left.as-it-should-be": Entry("已经符合要求"),
    "left.privileged": Entry("只有特权容器申请了设备，而其设备不受管理"),
    "left.namespace": Entry("命名空间 {namespace} 已被设置排除"),
    "left.mirror": Entry("这是静态 Pod 的镜像 Pod，改动不会传到节点"),
    "left.too-long": Entry("注解超过 {most} 字节，API 服务器不接受这样的对象"),
    "left.opt-out": Entry("标签 {label} 表示不要处理"),
    "left.default-scheduler": Entry("默认调度器保留自己的 Pod（scheduler.force 已关闭）"),
    "left.other-scheduler": Entry("调度器 {scheduler} 不由 Berth 负责"),
    "left.windows": Entry("这是 Windows Pod，HAMi 不在此类节点上共享卡"),
    "left.not-validated": Entry("此处没有需要验证的内容"),
    "left.no-creation": Entry("这不是创建 Pod 的请求，而 Berth 只处理此类请求"),
    "left.unknown-injection": Entry("被调用的副本的设置中没有注入 {injection}"),
    "left.selector": Entry("命名空间 {namespace} 不在注册的 namespaceSelector 范围内：{unmet}"),
    "part.lacks": Entry("{container} 缺少 {name}"),
    "part.sets": Entry("{container} 设置了 {name}"),
    "part.nothing": Entry("空值"),
    "part.or": Entry("{one} 或 {other}"),
    "part.author": Entry("修改者"),
    "part.more": Entry("再申请 {amount}"),
    "part.at-least": Entry("至少再申请 {amount}"),
    "part.unsized": Entry("申请的显存要在分到设备之后才能得知"),
    "part.not-ready": Entry("未就绪或已标记为不可调度的节点数：{nodes}"),
    "part.not-selected": Entry("被其节点选择算符或亲和性排除的节点数：{nodes}"),
    "part.tainted": Entry("带有其不能容忍的污点的节点数：{nodes}"),
    "part.no-such-card": Entry("没有其可接受的健康卡的节点数：{nodes}"),
    "part.too-small": Entry(
        "需要一张卡上的 {wanted} MiB 显存，{nearest} 只有 {has} MiB（节点数：{nodes}）"
    ),
    "part.too-few-cores": Entry(
        "需要一张卡 {wanted}% 的算力，{nearest} 只有 {has}%（节点数：{nodes}）"
    ),
    "part.too-few": Entry("需要 {wanted} 张此类卡，{nearest} 有 {has} 张（节点数：{nodes}）"),
    "part.cpu": Entry("需要 {wanted} 毫核 CPU，{nearest} 剩余 {has} 毫核（节点数：{nodes}）"),
    "part.memory": Entry("需要 {wanted} MiB 内存，{nearest} 剩余 {has} MiB（节点数：{nodes}）"),
    "part.cpu-in-all": Entry(
        "需要 {wanted} 毫核 CPU，{nearest} 共有 {has} 毫核（节点数：{nodes}）"
    ),
    "part.memory-in-all": Entry(
        "需要 {wanted} MiB 内存，{nearest} 共有 {has} MiB（节点数：{nodes}）"
    ),
    "part.resource-in-all": Entry(
        "需要 {wanted} 个 {resource}，{nearest} 共有 {has} 个（节点数：{nodes}）"
    ),
    "part.pods": Entry("{nearest} 还能运行 {has} 个 Pod（节点数：{nodes}）"),
    "part.resource": Entry(
        "需要 {wanted} 个 {resource}，{nearest} 剩余 {has} 个（节点数：{nodes}）"
    ),
    "part.cards": Entry("需要 {wanted} 张空闲的卡，{nearest} 有 {has} 张（节点数：{nodes}）"),
    "part.card": Entry(
        "需要单张卡上的 {wanted} MiB 显存，{nearest} 剩余 {has} MiB（节点数：{nodes}）"
    ),
    "part.card-cores": Entry(
        "需要单张卡 {wanted}% 的算力，{nearest} 剩余 {has}%（节点数：{nodes}）"
    ),
    "part.card-slots": Entry("卡的共享名额均已用完（节点数：{nodes}）"),
    "part.card-places": Entry("卡上没有可以放置该分区的位置（节点数：{nodes}）"),
    "part.numa": Entry(
        "需要同一 NUMA 节点上 {wanted} 张空闲的卡，{nearest} 有 {has} 张（节点数：{nodes}）"
    ),
    "part.apart": Entry("空闲的卡上已有不得与其同卡的工作负载类别的节点数：{nodes}"),
    "part.filtered": Entry("没有空闲的卡满足过滤条件 {resource} 的节点数：{nodes}"),
    "part.together": Entry("能逐个容纳但不能同时容纳其各容器的节点数：{nodes}"),
    "part.and-more": Entry("另外还有 {count} 处"),
    "why.asked": Entry("用运行该 Pod 的方案的写法表达所申请的内容"),
    "why.other-name": Entry("运行该 Pod 的方案使用另一个名称"),
    "why.no-percent": Entry("没有节点提供百分比形式的资源"),
    "why.ceiling": Entry("LimitRange 对它设有 max，可能拒绝未写明它的 Pod"),
    "why.limit-range": Entry("它由 LimitRange 设置，而该容器用另一种写法申请"),
    "why.choice": Entry("{dialect} 中的对应写法"),
    "why.default": Entry("该命名空间为使用设备的容器设定的默认值"),
    "why.queue": Entry("该命名空间的队列"),
    "why.whole-pods": Entry("此调度器负责调度该命名空间的所有 Pod"),
    "why.volcano-scheduler": Entry("由 Volcano 的调度器分配卡"),
    "why.pool-scheduler": Entry("池的调度器"),
    "why.plain-scheduler": Entry("此处整卡的调度器"),
    "why.kai": Entry("已用目标写法表达"),
    "why.divided": Entry("记录所得的比所申请的少多少"),
    "why.oversubscribed": Entry("按系数 {factors} 超分"),
    "why.sized": Entry("由 Pod 的注解或其命名空间决定"),
    "why.percent-of": Entry("{size} MiB 的 {percent}%"),
    "left.unknown-conversion": Entry("被调用的副本的设置中没有转换 {conversion}"),
    "part.leftover": Entry("{container} 仍按 {dialect} 的写法申请"),
    "part.lost-accelerator": Entry("{dialect} 无法表达 {device}，该设备保留原来的写法"),
    "part.lost-memory": Entry("{dialect} 只能分配整卡"),
    "part.lost-rounding": Entry("以每块 {block} MiB 计，{mib} MiB 变为 {rounded} MiB"),
    "part.lost-cores": Entry("{dialect} 无法只分配一部分算力"),
    "part.lost-priority": Entry("{dialect} 没有 {name}"),
    "part.lost-choice": Entry("{dialect} 无法表达这一选择"),
    "part.lost-policy": Entry("{dialect} 按自己的配置比较节点和设备"),
    "part.lost-group": Entry("{old} 会读取它，而 {scheduler} 不会"),
    "part.lost-init-container": Entry("Volcano 不计入 Init 容器，也不为其选卡"),
    "part.lost-devices": Entry("从 Volcano {first} 起才读取它，而此处是 {version}"),
}
