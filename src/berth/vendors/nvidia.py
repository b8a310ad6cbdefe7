"""NVIDIA under HAMi: whole cards, and shares by memory and cores (HAMi 2.10, device/nvidia)."""

from berth.model.vendor import Vendor

VENDOR = Vendor(
    name="nvidia",
    section="nvidia",
    domain="nvidia.com/",
    count="nvidia.com/gpu",
    memory="nvidia.com/gpumem",
    memory_percent="nvidia.com/gpumem-percentage",
    cores="nvidia.com/gpucores",
    priority="nvidia.com/priority",
    priority_env="CUDA_TASK_PRIORITY",
    core_policy_env="GPU_CORE_UTILIZATION_POLICY",
    core_policies=frozenset({"default", "force", "disable"}),
    visible_env="NVIDIA_VISIBLE_DEVICES",
    limit_env=frozenset(
        {"CUDA_DEVICE_SM_LIMIT", "CUDA_DISABLE_CONTROL", "CUDA_DEVICE_MEMORY_LIMIT"}
        | {f"CUDA_DEVICE_MEMORY_LIMIT_{index}" for index in range(16)}
    ),
    device_paths=("/dev/nvidia", "/var/run/nvidia-container-devices"),
    annotations=(
        "nvidia.com/use-gputype",
        "nvidia.com/nouse-gputype",
        "nvidia.com/use-gpuuuid",
        "nvidia.com/nouse-gpuuuid",
        "nvidia.com/numa-bind",
        "nvidia.com/vgpu-mode",
    ),
    config_keys=(
        ("resourceCountName", "count"),
        ("resourceMemoryName", "memory"),
        ("resourceMemoryPercentageName", "memory_percent"),
        ("resourceCoreName", "cores"),
        ("resourcePriorityName", "priority"),
        ("overwriteEnv", "hide_from_others"),
        ("defaultMemory", "default_memory"),
        ("defaultCores", "default_cores"),
        ("defaultGPUNum", "default_count"),
        ("memoryFactor", "memory_factor"),
        ("gpuCorePolicy", "core_policy"),
        ("runtimeClassName", "runtime_class"),
    ),
    node_keys=frozenset(
        {
            "migProfileAllowlist",
            "disableCoreLimit",
            "deviceSplitCount",
            "deviceMemoryScaling",
            "deviceCoreScaling",
            "preConfiguredDeviceMemory",
            "libCudaLogLevel",
            "enableNumaTopology",
        }
    ),
)
