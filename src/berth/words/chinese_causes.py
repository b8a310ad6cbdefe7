"""Why each class of refusals and warnings is, in Chinese: for the page."""

from berth.words.entry import Cause

CAUSES = {
    "not-a-quantity": Cause("Kubernetes 无法把该数值解析为数量（quantity）。"),
    "not-whole": Cause(
        "设备按整个分配，显存和算力按整数单位分配。如果只需要一张卡的一部分，请申请显存或算力。"
    ),
    "negative": Cause("数值小于 0。"),
    "too-large": Cause(
        "按该资源的单位，任何节点或卡都没有这么多。多半是单位弄错了："
        "显存以 MiB 或厂商自己的单位计，而不是以字节计。"
    ),
    "request-without-limit": Cause(
        "设备属于扩展资源。Kubernetes 只接受同时写在 limits 中的扩展资源请求。"
    ),
    "request-not-limit": Cause("Kubernetes 要求扩展资源的 requests 与 limits 相等。"),
    "memory-twice": Cause("既按单位又按百分比申请了显存。"),
    "share-of-nothing": Cause("数量为 0，却又申请了显存或算力。"),
    "zero": Cause("对该资源来说，0 没有意义；对其他资源来说，写 0 等于没有申请。"),
    "not-a-slice": Cause("此类卡只能切分成固定的大小。"),
    "not-a-multiple": Cause("此类设备按固定的组分配。"),
    "not-shared": Cause("此类设备不能按所申请的方式共享。"),
    "annotation": Cause(
        "HAMi 调度器或厂商的软件无法识别该注解的值：它们会出错，或者不作任何提示就按别的方式处理。"
    ),
    "contradiction": Cause("一些注解选择设备，另一些注解又排除设备，结果没有剩下任何设备。"),
    "several-vendors": Cause("一个容器申请了两种设备，而没有任何设备插件或容器运行时支持这样做。"),
    "pod-level": Cause("设备属于某个容器，而 `spec.resources` 属于整个 Pod。"),
    "too-many": Cause("能够运行的 Pod 不会有这么多。逐一判断所花的时间里，其他 Pod 都要等待。"),
    "node-name": Cause("设置了 `spec.nodeName` 的 Pod 会绕过所有调度器，因此分配不到设备。"),
    "privileged": Cause("特权容器能看到节点上所有的卡，而 `policy.privileged` 为 `deny`。"),
    "device-env": Cause(
        "容器可以借助这些环境变量超出自己的份额。"
        "如何处理由 `policy.deviceEnv` 和 `policy.limitEnv` 决定。"
    ),
    "clash": Cause("Pod 的卷或挂载占用了设置中某个注入所需的名称或路径。"),
    "quota": Cause("ResourceQuota 通过 `limits.<资源>` 限制命名空间中所有 Pod 的总用量。"),
    "no-room": Cause(
        "能运行该 Pod 的节点目前都没有足够的空闲资源，而 `placement.full` 为 `refuse`。"
    ),
    "never-fits": Cause("即使节点空闲，也没有节点能运行该 Pod，而 `placement.never` 为 `refuse`。"),
    "allocation": Cause(
        "无论这些注解由谁写入，HAMi 和 Volcano 都会相信它们，并据此计数和分配卡。"
        "在这样的记录出现之前，Berth 按自己的决定计数。"
        "`policy.allocations` 为 `deny`，因此只有 `policy.allocators` 中的账号可以写入。"
    ),
    "undone": Cause(
        "API 服务器没有调用变更 Webhook，或者另一个 Webhook 撤销了它的改写，"
        "而 `policy.undone` 为 `deny`。这样的 Pod 永远得不到设备，或者会得到超出其份额的资源。"
        "指明容器的句子来自 `berth policy` 输出的策略。"
        "如果 Pod 的第一个设备由另一个 Webhook 添加，该 Webhook 必须先于 Berth 被调用："
        "API 服务器按配置的名称依次调用，并且不会再次调用此前没有调用过的 Webhook。"
    ),
    "no-device": Cause("申请了显存或算力，却没有申请它们所属的设备。"),
    "replaced": Cause(
        "Pod 中的值不能保留：没有这样的大小，或者 limits 或集群的设置另有规定。",
        "请自己写上新的值，或去掉原来的值。",
    ),
    "removed": Cause(
        "该环境变量由设备插件在分配设备时设置，而设置要求将其从 Pod 中删除。", "请去掉该变量。"
    ),
    "ceiling": Cause(
        "命名空间中的某个 LimitRange 对已被转换的名称设有 `max`。该名称保留为 0，"
        "因为 Pod 类型的 LimitRange 会拒绝未写明该名称的 Pod。`classes.limitRange` 已打开。",
        "如果仍需要该限制，请在 LimitRange 中为新名称也设置 `max`，并写 `default: 0`。",
    ),
    "floor": Cause(
        "命名空间中的某个 LimitRange 对已被转换的名称设有 `min` 或 `maxLimitRequestRatio`。"
        "Kubernetes 会拒绝申请少于该值或未申请的 Pod。`classes.limitRange` 已打开。",
        "请从 LimitRange 中去掉该名称，或让该 Pod 不作转换。",
    ),
    "kept": Cause(
        "设置中的某个注入把同名的项设为另一个值；以 Pod 自己的值为准。",
        "如果想用集群的值，请去掉自己的值。",
    ),
    "limit-range": Cause(
        "命名空间中的某个 LimitRange 对该资源设有 `default`。"
        "API 服务器会把它设置给没有写明该资源的每个容器，包括边车容器和 Init 容器。"
    ),
    "no-effect": Cause(
        "这个名称是已知的，但写在此处不会被读取。",
        "请去掉其中一个：容器要么申请整个设备，要么申请指定大小的份额。",
    ),
    "not-read": Cause("没有任何程序读取该注解，但它与某个会被读取的注解非常相似。"),
    "unmanaged": Cause(
        "Berth 和 HAMi 不管理此类容器的设备，因此该申请不起作用。",
        "如果需要份额，请不要以特权方式运行，也不要在 Windows 上运行。",
    ),
    "past-shares": Cause(
        "通过该路径，容器能访问未分配给它的卡。只有节点才能阻止。",
        "请去掉该路径；容器运行时会向容器提供分配给它的设备。",
    ),
    "no-class": Cause(
        "device-config 为此类设备指定了一个 RuntimeClass，而集群中没有这个名称的 RuntimeClass："
        "API server 会拒绝该 Pod。`classes.runtime` 已打开。",
        "请创建它，或从 device-config 中去掉这个名称。",
    ),
    "mapped": Cause(
        "某个 DeviceClass 以该资源为 `extendedResourceName`："
        "在有 DRA 驱动的节点上，默认调度器会把申请变成 claim。"
        "Berth 及其所写入的方案都不认识 claim。`classes.device` 已打开。",
        "请在一个集群中只用其中一种，或让 DRA 的 Pod 不经处理。",
    ),
    "unsized": Cause(
        "配额限制了显存，而卡的显存有多大，要等分配之后才知道。",
        "请在每个使用设备的容器中写明显存。",
    ),
    "full": Cause(
        "能运行该 Pod 的节点目前都没有足够的空闲资源，或未就绪。",
        "无需处理：该 Pod 会等待。如果必须立即运行，请减少申请。",
    ),
    "unplaceable": Cause(
        "即使节点空闲，也没有节点能运行该 Pod：节点或卡太小、型号不符，"
        "或被 Pod 自己的选择算符、亲和性或容忍度排除。",
        "请申请某个节点所具备的资源；`berth explain --cluster` 会说明各节点缺少什么。",
    ),
    "unrecorded": Cause(
        "Kubernetes 规定一个对象的注解总共最多 256 KiB。",
        "无需处理。但如果 Berth 的设置会更改，请留出一些空间："
        "设置不同的副本靠 `berth.dev/original-request` 识别该 Pod。",
    ),
    "not-injected": Cause(
        "设置刚刚更改，还没有到达所有副本。", "如果该 Pod 需要所注入的内容，请重新创建。"
    ),
    "not-rewritten": Cause(
        "API 服务器没有调用变更 Webhook，或者另一个 Webhook 撤销了它的改写，"
        "而 `policy.undone` 为 `warn`。",
        "请稍后重新创建该 Pod，如果问题依旧，请告知集群管理员。",
    ),
    "workload": Cause(
        "工作负载的模板有错，因此由它创建的每个 Pod 都会有错。"
        "两行属于同一处：第一行是位置，第二行是原因。",
        "请按第二行处理，即该 Pod 被拒绝时的说明。",
    ),
    "audit": Cause(
        "命名空间处于审计模式（设置中的 `audit`）：Berth 只说明决定，不做任何改动。",
        "如果会被拒绝，请按其说明修改；如果只是会被改写，则无需处理。",
    ),
    "several-dialects": Cause(
        "每种共享方案只读取自己的写法。"
        "如果一个容器使用两种方案的写法，就会各得到一部分，或者都得不到。"
    ),
    "unknown-size": Cause(
        "运行该 Pod 的方案不支持百分比。要把百分比换算成 MiB，必须知道卡的显存大小；"
        "而它是未知的，或者可选的各卡大小不同。"
    ),
    "no-such-card": Cause("集群中目前没有任何卡或节点有这么多，而 `placement.never` 为 `refuse`。"),
    "beyond": Cause(
        "集群中目前没有任何卡或节点有这么多；以后可能会有，因为节点池可以从零扩容。",
        "请减少申请，或增加这样的节点；`placement.never: refuse` 会拒绝这样的 Pod。",
    ),
    "loss": Cause(
        "该 Pod 的某项要求无法用目标写法表达，而该转换不允许这类损失（`loss`、`losses`）。"
    ),
    "lost": Cause(
        "该 Pod 的某项要求无法用目标写法表达；其余要求都会保留。",
        "请去掉这项要求，或通过 `conversions[].losses` 让转换拒绝或忽略它。",
    ),
    "renamed": Cause(
        "运行该 Pod 的方案对该资源使用另一个名称，或不读取该注解。"
        "查找旧名称的工具只能在 `berth.dev/original-request` 中找到它。"
    ),
    "pod-group": Cause("PodGroup 的大小由其 Pod 的模板决定，而且早于任何 Pod 的转换。"),
    "left-alone": Cause("由其他调度器调度的 Pod 不作转换。"),
}
