"""Refusals in Chinese: numbers, and what they mean together."""

from berth.words.entry import Entry

AMOUNTS = {
    "request-without-limit": Entry(
        "只写在 requests 中，没有写在 limits 中，Kubernetes 不接受这样的设备申请",
        "请改在 limits 下写 {name}: {value}",
    ),
    "request-without-limit.wrong": Entry(
        "只写在 requests 中，没有写在 limits 中，Kubernetes 不接受这样的设备申请",
        "请改在 limits 下写 {name}，并写正确的数值",
    ),
    "request-not-limit": Entry(
        "{asked} 与 limits 中的 {limit} 不一致，而设备不能过量使用", "请去掉 requests 中的这一项"
    ),
    "not-a-quantity": Entry(
        "{shown!r} 不是 Kubernetes 能识别的数值", "请写 {least} 到 {most} 之间的整数"
    ),
    "negative": Entry("{shown} 是负数", "请写 {least} 到 {most} 之间的数"),
    "not-whole.count": Entry("{number} 不是整数", "请写 1，并用 {resources} 申请这张卡的一部分"),
    "not-whole.devices": Entry("{number} 不是整数", "请写整数个设备，此类设备不能只申请一部分"),
    "not-whole.slices": Entry("{number} 不是整数", "请写整数个切片"),
    "not-whole.units": Entry("{number} 不是整数", "请写整数，以 {unit} MiB 为一个单位"),
    "not-whole.gib": Entry("{number} 不是整数", "请写整数 GiB，或从 {least} 起写整数 MiB"),
    "not-whole.size": Entry(
        "{number} 不是整数", "请写不超过 {most} 的整数 GiB，或 512Mi 这样的大小"
    ),
    "not-whole.memory": Entry("{number} 不是整数", "请写整数 MiB"),
    "not-whole.percent": Entry("{number} 不是整数", "请写 1 到 100 之间的整数百分比"),
    "not-whole.cores": Entry(
        "{number} 不是整数", "请写 1 到 100 之间的整数，即单个设备算力的百分比"
    ),
    "not-whole.all-cores": Entry(
        "{number} 不是整数", "请写不超过 {most} 的整数，即容器全部设备的算力之和"
    ),
    "not-whole.priority": Entry("{number} 不是整数", "请写整数"),
    "zero": Entry(
        "此处不能写 0：0 个设备，或设备的 0 份，都不构成申请",
        "请去掉这一项，或写 {least} 到 {most} 之间的数",
    ),
    "too-large.count": Entry("任何节点都没有 {shown} 个设备", "最多写 {most}"),
    "too-large.mib": Entry(
        "以 MiB 计，{shown} 超过任何卡的显存（该资源的单位是 MiB，不是字节）", "最多写 {most}"
    ),
    "too-large.mib-meant": Entry(
        "以 MiB 计，{shown} 超过任何卡的显存（该资源的单位是 MiB，不是字节）",
        "如果想要的是 {shown}，请写 {units}",
    ),
    "too-large.units": Entry(
        "{shown} 超过任何卡的显存（该资源以 {unit} MiB 为一个单位）", "最多写 {most}"
    ),
    "too-large.units-meant": Entry(
        "{shown} 超过任何卡的显存（该资源以 {unit} MiB 为一个单位）",
        "如果想要的是 {shown}，请写 {units}",
    ),
    "too-large.size": Entry(
        "{shown} 既不是卡可能具有的 GiB 数，也不是带后缀的整数 MiB",
        "请写不超过 {most} 的 GiB 数，或 512Mi 这样的大小",
    ),
    "too-large.size-meant": Entry(
        "{shown} 既不是卡可能具有的 GiB 数，也不是带后缀的整数 MiB",
        "如果想要的是这个大小，请写 {gib}Gi",
    ),
    "too-large.percent": Entry("{shown}% 超过整张卡的显存", "最多写 {most}"),
    "too-large.cores": Entry(
        "{shown}% 超过整个设备的算力", "最多写 {most}，容器的每个设备都会得到这么多"
    ),
    "too-large.all-cores": Entry("{shown} 超过这些设备的算力总和 {most}", "最多写 {most}"),
    "too-large.priority": Entry("{shown} 超出优先级的取值范围", "最多写 {most}"),
    "too-large.npu": Entry("{memory} MiB 超过 {device} 的显存", "最多写 {most}"),
    "too-large.xpu": Entry("{memory} MiB 超过一个 XPU 的显存", "最多写 {most}"),
    "too-large.profile": Entry(
        "{memory} 超过所允许的最大 MIG 规格（{largest} MiB）", "最多写 {most}，或去掉 {mode}"
    ),
    "memory-twice": Entry("显存重复申请：此处和 {other} 各申请了一次", "请去掉其中一个"),
    "share-of-nothing": Entry(
        "申请了 0 个设备，却又为每个设备申请显存或算力", "请写 1，或去掉其他几项"
    ),
    "not-a-slice": Entry(
        "{memory} 不是这种卡可以切分出的大小（以 {unit} MiB 为一个单位）", "请写以下之一：{sizes}"
    ),
    "not-a-multiple.pairs": Entry("{count} 个芯片无法两两成对", "请写 {below} 或 {above}"),
    "not-a-multiple.devices": Entry(
        "{cores} 个核心既不是单个设备的一部分，也不是若干整个设备（每个 {unit} 个核心）",
        "请写 {below} 或 {above}",
    ),
    "not-shared.cores": Entry(
        "NPU 的算力只有在软切分模式下才能共享", "请为 Pod 添加注解 {mode}: {soft}，或只申请显存"
    ),
    "not-shared.templates": Entry(
        "为 {count} 个设备各申请了 {memory}，但只有申请单个设备时才能按模板切分",
        "请只申请一个设备，或申请若干完整的设备",
    ),
    "not-shared.pairs": Entry(
        "此类芯片成对分配，为 {count} 个芯片各申请了 {memory}，但只有单个设备才能切分",
        "请写 {whole}，或去掉这一项",
    ),
    "not-shared.class": Entry(
        "申请了 {count} 个，而带有注解 {key} 的 Pod 中，每个容器只能申请一个",
        "请写 {name}: 1，或去掉该注解",
    ),
    "several-vendors": Entry("该容器还申请了 {other} 设备", "请为每种设备使用单独的容器"),
    "too-large.bytes": Entry("{shown} 超过任何卡的显存", "请写 16Gi 这样的大小"),
    "not-whole.no-bytes": Entry(
        "{shown} 不足 1 MiB，因为该资源以字节为单位", "如果想要的是 MiB，请写 {value}Mi"
    ),
    "not-whole.bytes": Entry("{shown} 不是整数个 MiB", "请写 {mib}Mi"),
    "several-dialects": Entry(
        "该容器同时使用 {one} 和 {other} 两种写法申请", "请只使用其中一种写法"
    ),
    "unknown-size.none": Entry(
        "申请了一张卡 {percent}% 的显存，但集群中没有已知的此类卡",
        "请写明 MiB，或用 {key} 指定显存大小唯一的型号",
    ),
    "unknown-size.several": Entry(
        "申请了一张卡 {percent}% 的显存，但可选的卡显存大小不同（{sizes} MiB）",
        "请写明 MiB，或用 {key} 指定显存大小唯一的型号",
    ),
    "no-such-card.memory": Entry(
        "{mib} MiB 超过集群中任何此类卡的显存（{sizes} MiB）", "请为每张卡最多申请 {most} MiB"
    ),
    "no-such-card.count": Entry(
        "申请了 {count} 张卡，而集群中卡最多的节点也只有 {largest} 张",
        "请最多申请 {largest} 张，必要时分到多个 Pod 中",
    ),
    "no-such-card.model": Entry(
        "集群中没有型号为 {models} 的卡，现有型号为 {known}", "请指定其中之一，或不指定型号"
    ),
}
