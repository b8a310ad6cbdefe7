"""NVIDIA under HAMi: whole cards, shares by memory and cores, MIG and MPS (device/nvidia)."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from berth import names
from berth.model.raw import Json
from berth.model.records import Counted, Records
from berth.model.said import either
from berth.model.section import Count, Keys, Scaling, Section
from berth.model.vendor import Amounts, Fault, Selectors, Settled, Vendor, recorded

MODE = "nvidia.com/vgpu-mode"
_MODELS = "nvidia.com/use-gputype"
_MODES = ("hami-core", "mig", "mps")
_PROFILE = r"^\d+g\.(\d+)gb.*$"


class Profiles(Keys, frozen=True, kw_only=True):
    """Which MIG profiles the administrator allows on which models."""

    models: Annotated[tuple[str, ...], Meta(min_length=1)]
    profiles: Annotated[
        tuple[Annotated[str, Meta(pattern=_PROFILE, description="a profile such as 1g.10gb")], ...],
        Meta(min_length=1),
    ]


_ALLOWED = tuple(
    Profiles(models=models, profiles=profiles)
    for models, profiles in (
        (("A30",), ("1g.6gb", "2g.12gb", "4g.24gb")),
        (
            ("A100-SXM4-40GB", "A100-40GB-PCIe", "A100-PCIE-40GB"),
            ("1g.5gb", "2g.10gb", "3g.20gb", "7g.40gb"),
        ),
        (
            ("A100-SXM4-80GB", "A100-80GB-PCIe", "A100-PCIE-80GB"),
            ("1g.10gb", "2g.20gb", "3g.40gb", "7g.79gb"),
        ),
        (("H100-PCIE-80GB", "H100-SXM5-80GB"), ("1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb")),
        (("H100-PCIE-94GB", "H100-SXM5-94GB"), ("1g.12gb", "2g.24gb", "3g.47gb", "7g.94gb")),
        (("H20", "H100 on GH200"), ("1g.12gb", "2g.24gb", "3g.48gb", "7g.96gb")),
        (("H200 NVL", "H200-SXM5"), ("1g.18gb", "2g.35gb", "3g.71gb", "7g.141gb")),
        (("B200",), ("1g.23gb", "2g.45gb", "3g.90gb", "7g.180gb")),
        (("RTX PRO 6000 Blackwell Server Edition",), ("1g.24gb", "2g.48gb", "4g.96gb")),
    )
)
"""As in HAMi's chart."""


class Nvidia(Keys, frozen=True, kw_only=True):
    """The section `nvidia`. The keys after the empty line are the node side's to act on."""

    resource_count_name: str = "nvidia.com/gpu"
    resource_memory_name: str = "nvidia.com/gpumem"
    resource_memory_percentage_name: str = "nvidia.com/gpumem-percentage"
    resource_core_name: str = "nvidia.com/gpucores"
    resource_priority_name: str = "nvidia.com/priority"
    overwrite_env: bool = False
    default_memory: Count = 0
    default_cores: Count = 0
    default_gpu_num: Count = msgspec.field(default=1, name="defaultGPUNum")
    memory_factor: Count = 1
    gpu_core_policy: str = "default"
    runtime_class_name: str = ""
    mig_profile_allowlist: tuple[Profiles, ...] = _ALLOWED

    disable_core_limit: bool = False
    device_split_count: Count = 10
    device_memory_scaling: Scaling = 1
    device_core_scaling: Scaling = 1
    pre_configured_device_memory: Count = 0
    lib_cuda_log_level: Literal["0", "1", "3", "4", 0, 1, 3, 4] = 1
    enable_numa_topology: bool = False


def _settle(vendor: Vendor, asked: Amounts, annotations: Mapping[str, Json]) -> Settled:
    mode = annotations.get(MODE)
    if not mode or not isinstance(mode, str):
        return Settled(amounts=asked)
    return Settled(amounts=asked, faults=tuple(_faults(vendor, asked, annotations)))


def _faults(vendor: Vendor, asked: Amounts, annotations: Mapping[str, Json]) -> Iterator[Fault]:
    """Yield what no card answers to: HAMi looks for a card's mode inside the value."""
    mode = str(annotations[MODE])
    if not any(word in mode for word in _MODES):
        yield Fault(
            code="annotation.mode",
            annotation=MODE,
            facts={"shown": mode[:40], "known": either(_MODES)},
        )
    largest = max(_profile_mib(vendor, annotations.get(_MODELS)), default=0)
    if mode == "mig" and largest and vendor.mib(asked.memory or 0) > largest:
        yield Fault(
            code="too-large.profile",
            role="memory",
            facts={
                "memory": asked.memory or 0,
                "largest": largest,
                "most": largest // vendor.unit_mib,
                "mode": MODE,
            },
        )


def _profile_mib(vendor: Vendor, chosen: Json) -> Iterator[int]:
    """Yield at most how many MiB each profile has: 2g.10gb holds a little less than 10240.

    `chosen` lists parts of models. Where each is a part of a model that has profiles, only those
    models are meant; else a card may be meant that is called otherwise here.
    """
    listed = chosen.lower().split(",") if isinstance(chosen, str) else []
    meant = []
    for part in dict.fromkeys(map(str.strip, listed)):  # a list may have a million entries
        if not part:
            continue
        meant.append([one for one in vendor.profiles if part in "\n".join(one[0]).lower()])
        if not meant[-1]:
            break
    for _, profiles in chain(*meant) if meant and all(meant) else vendor.profiles:
        for profile in profiles:
            named = re.match(_PROFILE, profile)
            yield int(named[1]) * 1024 if named else 0


def _vendors(keys: Nvidia) -> tuple[Vendor, ...]:
    return (
        Vendor(
            family="nvidia",
            name="nvidia",
            domain="nvidia.com/",
            count=keys.resource_count_name,
            memory=keys.resource_memory_name,
            memory_percent=keys.resource_memory_percentage_name,
            cores=keys.resource_core_name,
            priority=keys.resource_priority_name,
            memory_factor=keys.memory_factor,
            whole_is_named=True,
            default_count=keys.default_gpu_num,
            default_memory=keys.default_memory,
            default_cores=keys.default_cores,
            settle=_settle,
            runtime_class=keys.runtime_class_name,
            priority_env="CUDA_TASK_PRIORITY",
            core_policy=keys.gpu_core_policy,
            core_policy_env="GPU_CORE_UTILIZATION_POLICY",
            core_policies=frozenset({"default", "force", "disable"}),
            visible_env="NVIDIA_VISIBLE_DEVICES",
            hide_from_others=keys.overwrite_env,
            limit_env=_LIMIT_ENV,
            device_paths=("/dev/nvidia", "/var/run/nvidia-container-devices"),
            records=Records(
                word="nvidia",
                register=("hami.io/node-nvidia-register", names.VOLCANO_REGISTER),
                scores="hami.io/node-nvidia-score",
                allocated=("hami.io/vgpu-devices-allocated", names.VOLCANO_ALLOCATED),
                partitions="hami.io/vgpu-mig-allocations",
                counted=Counted(),
                labels="nvidia.com/gpu.",
            ),
            selectors=Selectors(
                models=_MODELS,
                not_models="nvidia.com/nouse-gputype",
                uuids=("nvidia.com/use-gpuuuid",),
                not_uuids=("nvidia.com/nouse-gpuuuid",),
                numa="nvidia.com/numa-bind",
                mode=MODE,
            ),
            allocations=(*recorded("vgpu"), "hami.io/vgpu-mig-allocations"),
            profiles=tuple((one.models, one.profiles) for one in keys.mig_profile_allowlist),
        ),
    )


_LIMIT_ENV = frozenset(
    {"CUDA_DEVICE_SM_LIMIT", "CUDA_DISABLE_CONTROL", "CUDA_DEVICE_MEMORY_LIMIT"}
    | {f"CUDA_DEVICE_MEMORY_LIMIT_{index}" for index in range(16)}
)

SECTION = Section("nvidia", "nvidia", Nvidia, Nvidia(), _vendors)
