"""The names of the modules below Gluon (Triton 3.9.0), by which what tritonx lacks is known: it can be imported, and is
a class that refuses to be called."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import NoReturn

from tritonx.experimental.gluon.errors import NoGluon
from tritonx.language.builtins.builtin import builtin
from tritonx.language.extra import libdevice
from tritonx.language.values.constexpr import unwrap

_COPIES = "async_copy_global_to_shared async_load commit_group mbarrier_arrive wait_group"
_BARRIERS = "MBarrierLayout allocate_mbarrier arrive init invalidate wait"
_ATOMICS = " ".join(f"async_atomic_{name}" for name in ("add", "and", "max", "min", "or", "xor"))
_TMA = (
    f"{_ATOMICS} async_copy_global_to_shared async_copy_shared_to_global async_load async_load_im2col async_store "
    "make_tensor_descriptor store_wait tensor_descriptor tensor_descriptor_type"
)
_POLICIES = "CachePolicy FractionalEvictionPolicy"
_BLACKWELL = (
    f"{_POLICIES} TensorMemoryLayout TensorMemoryScalesLayout add2 allocate_tensor_memory async_store "
    "fence_async_shared fma2 max2 min2 mma_v2 mul2 sub2 tcgen05_commit tcgen05_copy tcgen05_mma "
    "tcgen05_mma_barrier_count tcgen05_mma_scaled tensor_memory_descriptor tensor_memory_descriptor_type"
)
_CDNA3 = (
    "buffer_atomic_add buffer_atomic_and buffer_atomic_max buffer_atomic_min buffer_atomic_or buffer_atomic_xchg "
    "buffer_atomic_xor "
    "buffer_load buffer_store get_scaled_upcast_fp4_scale_layout mfma scaled_upcast"
)
_CDNA5 = (
    "PartitionedSharedLayout buffer_load buffer_store get_scaled_upcast_fp4_scale_layout get_wmma_scale_layout "
    "load_shared_fp4_repacked make_partitioned_dot_layouts scaled_downcast scaled_upcast wmma wmma_scaled"
)
_CDNA5_INNER = {
    "async_copy": "commit_group global_to_shared mbarrier_arrive shared_to_global wait_group",
    "cluster": "arrive wait",
    "mbarrier": "MBarrierLayout arrive init wait",
    "tdm": "async_gather async_load async_load_fused async_scatter async_store async_wait make_tensor_descriptor "
    "prefetch tensor_descriptor tensor_descriptor_type update_tensor_descriptor",
}
_CLC = "clc_result clc_result_type load_result try_cancel"

MODULES: dict[str, str] = {
    "language": "aggregate_replace CachePolicy base_value base_type block_type broadcast cast clamp constexpr dtype "
    "void int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8e5 float8e5b16 float8e4nv float8e4b8 "
    "float8e4b15 float16 bfloat16 float32 float64 pointer_type shared_memory_descriptor tensor tuple tuple_type add "
    "allocate_shared_memory arange associative_scan assume atomic_add atomic_and atomic_cas atomic_load atomic_max "
    "atomic_min atomic_or atomic_poll atomic_store atomic_xchg atomic_xor bank_conflicts convert_layout device_assert "
    "device_print dot_fma expand_dims full fp4_to_fp gather num_warps num_ctas histogram inline_asm_elementwise "
    "inline_asm join load map_elementwise max_constancy max_contiguous maximum minimum mul multiple_of num_programs "
    "permute program_id reduce reshape distributed_type shared_memory_descriptor_type set_auto_layout split "
    "static_assert static_print static_range store sub barrier to_linear_layout to_tensor expect_zero "
    "warp_specialize where AutoLayout BlockedLayout SliceLayout DistributedLinearLayout DotOperandLayout "
    "NVMMADistributedLayout NVMMASharedLayout SwizzledSharedLayout PaddedSharedLayout SharedLinearLayout "
    "CoalescedLayout umulhi exp exp2 fma log log2 cos rsqrt sin sqrt sqrt_rn abs fdiv div_rn erf floor ceil cdiv "
    "cumprod cumsum full_like max min ravel reduce_or sum xor_sum zeros zeros_like",
    "language.extra": "",
    "language.fpsan": "embed unembed",
    "language.nvidia": "",
    "language.nvidia.ampere": f"{_POLICIES} mma_v2",
    "language.nvidia.ampere.async_copy": _COPIES,
    "language.nvidia.ampere.mbarrier": _BARRIERS,
    "language.nvidia.hopper": f"{_POLICIES} async_store fence_async_shared mma_v2 warpgroup_mma "
    "warpgroup_mma_accumulator warpgroup_mma_accumulator_type warpgroup_mma_init warpgroup_mma_wait",
    "language.nvidia.hopper.async_copy": _COPIES,
    "language.nvidia.hopper.cluster": "barrier",
    "language.nvidia.hopper.mbarrier": f"{_BARRIERS} expect",
    "language.nvidia.hopper.tma": f"{_TMA} async_copy_global_to_shared_im2col tensor_descriptor_im2col "
    "tensor_descriptor_im2col_type",
    "language.nvidia.blackwell": _BLACKWELL,
    "language.nvidia.blackwell.async_copy": _COPIES,
    "language.nvidia.blackwell.clc": _CLC,
    "language.nvidia.blackwell.cluster": "barrier",
    "language.nvidia.blackwell.mbarrier": f"{_BARRIERS} expect",
    "language.nvidia.blackwell.tma": f"{_TMA} async_gather async_scatter",
    "language.nvidia.rubin": f"{_BLACKWELL} add4 fma4 mul4 sub4",
    "language.nvidia.rubin.async_copy": _COPIES,
    "language.nvidia.rubin.clc": _CLC,
    "language.nvidia.rubin.cluster": "barrier",
    "language.nvidia.rubin.mbarrier": f"{_BARRIERS} expect",
    "language.nvidia.rubin.tma": f"{_TMA} async_gather async_scatter",
    "language.amd": "AMDMFMALayout AMDWMMALayout slice warp_pipeline_stage",
    "language.amd.hint": "sched_barrier",
    "language.amd.cdna3": _CDNA3,
    "language.amd.cdna4": f"{_CDNA3} compute_efficient_padded_shared_layout get_mfma_scale_layout "
    "load_shared_fp4_repacked mfma_scaled scaled_downcast",
    "language.amd.cdna4.async_copy": "buffer_load_to_shared commit_group global_load_to_shared load_shared_relaxed "
    "wait_group",
    "language.amd.rdna3": "wmma",
    "language.amd.rdna4": "wmma",
    "nvidia": "",
    "nvidia.hopper": "TensorDescriptor TensorDescriptorIm2Col",
    "nvidia.blackwell": "TensorDescriptor",
    "amd": "",
    **{
        name: text
        for chip in ("cdna5", "gfx1250")
        for name, text in {
            f"amd.{chip}": "TensorDescriptor",
            f"language.amd.{chip}": _CDNA5,
            **{f"language.amd.{chip}.{inner}": names for inner, names in _CDNA5_INNER.items()},
        }.items()
    },
}
"""Module → its names; a module follows the one that holds it."""

ALIASES = {"language._layouts": "layouts", "language.amd._layouts": "layouts.amd"}
"""Modules of Triton's that programs import classes from → ours. ``language._core`` has the names of `language` and what
builtins are made with."""


class _Refusing(type):
    """The class of a name that is not there: to make one, or to call it, is refused by name."""

    def __call__(cls, *_: object, **__: object) -> NoReturn:
        raise NoGluon(f"tritonx does not have {cls.__module__}.{cls.__qualname__}")


def add_modules(package: str) -> None:
    """Complete the modules of `MODULES` below ``package``: what there is no file of is made, and names that a module
    lacks become classes that refuse."""
    for name, text in MODULES.items():
        full = f"{package}.{name}"
        holder, _, last = full.rpartition(".")
        module = _shared(holder, last, full) or (import_module(full) if find_spec(full) else _made(full, name))
        for each in text.split():
            if not hasattr(module, each):
                setattr(module, each, _Refusing(each, (), {"__module__": full}))
        module.__dict__.setdefault("__all__", text.split())
        setattr(sys.modules[holder], last, module)
    for name, own in ALIASES.items():
        module = sys.modules[f"{package}.{name}"] = import_module(f"{package}.{own}")
        holder, _, last = f"{package}.{name}".rpartition(".")
        setattr(sys.modules[holder], last, module)
    core = _made(f"{package}.language._core", "language")
    core.__dict__.update(
        {each: found for each, found in vars(sys.modules[f"{package}.language"]).items() if each[0] != "_"}
    )
    core.__dict__.update(builtin=builtin, _unwrap_if_constexpr=unwrap)
    sys.modules[f"{package}.language"].__dict__["_core"] = core
    extra = f"{package}.language.extra"
    sys.modules[f"{extra}.libdevice"] = sys.modules[extra].__dict__["libdevice"] = libdevice


def _shared(holder: str, last: str, full: str) -> ModuleType | None:
    """What a module has of another one under that name: the copies that two generations of chips have alike."""
    module = getattr(sys.modules[holder], last, None)
    if not isinstance(module, ModuleType) or module.__name__ == full:
        return None
    sys.modules[full] = module
    return module


def _made(full: str, name: str) -> ModuleType:
    module = ModuleType(full, f"Names of Gluon's ``{name}``; see `{full.split('.gluon.')[0]}.gluon`.")
    module.__spec__ = ModuleSpec(full, None, is_package=True)
    module.__path__ = []
    sys.modules[full] = module
    return module
