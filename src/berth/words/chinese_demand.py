"""What was understood of a container's wish, in Chinese."""

from berth.words.entry import Entry

DEMAND = {
    "asks.devices": Entry("{count} 个 {vendor}"),
    "asks.something": Entry("要 {vendor} 的设备，详见下文"),
    "asks.each": Entry("每个 {amount}"),
    "asks.slices": Entry("其中 {slices} 个切片"),
    "asks.size": Entry("{size}"),
    "asks.size-by-default": Entry("默认 {size}"),
    "asks.percent": Entry("{percent}% 的显存"),
    "asks.all-memory": Entry("全部显存"),
    "asks.free-cores": Entry("算力不设上限"),
    "asks.cores-percent": Entry("{cores}% 的算力"),
    "asks.cores-by-default": Entry("默认 {cores}% 的算力"),
    "asks.cores": Entry("{unit} 份算力中的 {cores} 份"),
    "asks.all-cores": Entry("全部算力"),
    "asks.priority": Entry("优先级 {priority}"),
    "asks.models": Entry("型号名包含 {models}"),
    "asks.not-models": Entry("型号名不包含 {models}"),
    "asks.out-of": Entry("只从 {devices} 中选"),
    "asks.no-device": Entry("没有可选的设备"),
    "asks.not": Entry("不选 {devices}"),
    "asks.numa": Entry("全部位于同一个 NUMA 节点"),
    "asks.mode": Entry("以 {mode} 方式共享"),
    "asks.node-policy": Entry("按 {policy} 选节点"),
    "asks.device-policy": Entry("按 {policies} 选设备"),
    "part.then": Entry("{one}、{other}"),
}
