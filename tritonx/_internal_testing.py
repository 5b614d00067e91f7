"""What tests of libraries take from Triton's module of this name: which device there is and what it can do, arrays for
it, and settings as if nothing had been set."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from tritonx.backends import registry
from tritonx.backends.api import Target
from tritonx.runtime import driver, knobs
from tritonx.runtime.devices.torch_interface import pytorch
from tritonx.runtime.settings import environment
from tritonx.testing.child_process import ProcessResult, run_in_process, use_process_pool
from tritonx.testing.library_arrays import (
    default_alloc_fn,
    dtypes,
    dtypes_with_bfloat16,
    float_dtypes,
    float_dtypes_with_bfloat16,
    int_dtypes,
    integral_dtypes,
    numpy_random,
    str_to_triton_dtype,
    tma_dtypes,
    to_numpy,
    to_triton,
    torch_dtype_name,
    torch_dtypes,
    torch_float8_dtypes,
    uint_dtypes,
    unwrap_tensor,
)

if TYPE_CHECKING:
    requires_tma: Any  # made where it is asked for: it needs pytest

__all__ = [
    "ProcessResult",
    "_fresh_knobs_impl",
    "default_alloc_fn",
    "dtypes",
    "dtypes_with_bfloat16",
    "float_dtypes",
    "float_dtypes_with_bfloat16",
    "get_arch",
    "get_current_target",
    "get_hip_lds_size",
    "int_dtypes",
    "integral_dtypes",
    "is_ampere_or_newer",
    "is_blackwell",
    "is_blackwell_ultra",
    "is_compile_warmup",
    "is_cuda",
    "is_hip",
    "is_hip_cdna",
    "is_hip_cdna2",
    "is_hip_cdna3",
    "is_hip_cdna3_or_newer",
    "is_hip_cdna4",
    "is_hip_gfx11",
    "is_hip_gfx12",
    "is_hip_gfx1250",
    "is_hip_rdna",
    "is_hip_rdna3",
    "is_hip_rdna4",
    "is_hip_rdna4m",
    "is_hopper",
    "is_hopper_or_newer",
    "is_interpreter",
    "is_rubin",
    "is_sm12x",
    "is_xpu",
    "numpy_random",
    "random_float",
    "random_int",
    "requires_tma",
    "run_in_process",
    "skip_if_unsupported_cluster_size",
    "str_to_triton_dtype",
    "supports_clc",
    "supports_tma",
    "supports_ws",
    "tma_dtypes",
    "tma_skip_msg",
    "to_numpy",
    "to_triton",
    "torch_dtype_name",
    "torch_dtypes",
    "torch_float8_dtypes",
    "uint_dtypes",
    "unwrap_tensor",
    "use_process_pool",
]


def is_interpreter() -> bool:
    """Whether kernels run line by line."""
    return bool(knobs.runtime.interpret)


def is_compile_warmup() -> bool:
    """Whether tests run only to fill the cache, as Triton's test runner has them do at first: never here."""
    return False


def random_int(low: int, high: int, *, warmup_value: int | None = None, **kwargs: Any) -> int:
    """A number of [``low``, ``high``) from PyTorch's generator; ``kwargs`` are those of ``torch.randint``."""
    torch: Any = pytorch()

    return int(torch.randint(low, high, size=(), **kwargs).item())


def random_float(*, warmup_value: float = 0.5, **kwargs: Any) -> float:
    """A number of [0, 1) from PyTorch's generator; ``kwargs`` are those of ``torch.rand``."""
    torch: Any = pytorch()

    return float(torch.rand((), **kwargs).item())


def get_current_target() -> Target | None:
    """What kernels are compiled for; None where they run line by line."""
    return None if is_interpreter() else driver.get_active().get_current_target()


def _arch(backend: str) -> Any:
    target = get_current_target()
    return target.arch if target is not None and target.backend == backend else None


def is_cuda() -> bool:
    """Whether the device is NVIDIA's."""
    return _arch("cuda") is not None


def is_hip() -> bool:
    """Whether the device is AMD's."""
    return _arch("hip") is not None


def is_xpu() -> bool:
    """Whether the device is Intel's, of a backend of that name."""
    return _arch("xpu") is not None


def get_arch() -> str:
    """The chip as its target spells it; nothing where kernels run line by line."""
    target = get_current_target()
    return "" if target is None else str(target.arch)


def _capability() -> int:
    """NVIDIA's compute capability, 90 for 9.0; 0 on other devices."""
    return int(_arch("cuda") or 0)


def is_ampere_or_newer() -> bool:
    """Compute capability 8.0 and up."""
    return _capability() >= 80


def is_hopper_or_newer() -> bool:
    """Compute capability 9.0 and up."""
    return _capability() >= 90


def is_hopper() -> bool:
    """Compute capability 9."""
    return _capability() // 10 == 9


def is_blackwell() -> bool:
    """Compute capability 10, the data centre's."""
    return _capability() // 10 == 10


def is_blackwell_ultra() -> bool:
    """Compute capability 10.3."""
    return _capability() == 103


def is_rubin() -> bool:
    """Compute capability 10.7."""
    return _capability() == 107


def is_sm12x() -> bool:
    """Compute capability 12."""
    return _capability() // 10 == 12


def _processor() -> str:
    """AMD's name of the chip, ``gfx942``; nothing on other devices."""
    return str(_arch("hip") or "")


def is_hip_cdna2() -> bool:
    """MI200."""
    return _processor() == "gfx90a"


def is_hip_cdna3() -> bool:
    """MI300."""
    return _processor() == "gfx942"


def is_hip_cdna4() -> bool:
    """MI350."""
    return _processor() == "gfx950"


def is_hip_cdna() -> bool:
    """MI200 to MI350."""
    return is_hip_cdna2() or is_hip_cdna3() or is_hip_cdna4()


def is_hip_cdna3_or_newer() -> bool:
    """MI300 and MI350."""
    return is_hip_cdna3() or is_hip_cdna4()


def is_hip_rdna3() -> bool:
    """RDNA 3 and 3.5."""
    return _processor().startswith(("gfx110", "gfx115"))


def is_hip_rdna4m() -> bool:
    """RDNA 4's mobile chips."""
    return _processor().startswith("gfx117")


def is_hip_rdna4() -> bool:
    """RDNA 4."""
    return _processor().startswith("gfx120")


def is_hip_rdna() -> bool:
    """RDNA 3 to RDNA 4."""
    return is_hip_rdna3() or is_hip_rdna4m() or is_hip_rdna4()


def is_hip_gfx11() -> bool:
    """RDNA 3."""
    return "gfx11" in _processor()


def is_hip_gfx12() -> bool:
    """RDNA 4, and what else is called gfx12."""
    return "gfx12" in _processor()


def is_hip_gfx1250() -> bool:
    """MI450."""
    return "gfx1250" in _processor()


def get_hip_lds_size() -> int:
    """Bytes of LDS that a block may have."""
    return 160 * 1024 if is_hip_cdna4() else 64 * 1024


def supports_tma(byval_only: bool = False) -> bool:
    """Whether descriptors are copied by the chip's own engine (``byval_only`` is Triton's: for a CUDA before 12.3),
    which the interpreter does as well."""
    return is_interpreter() or is_hopper_or_newer()


def supports_ws() -> bool:
    """Whether the warps of a block may be given parts of a loop."""
    return is_interpreter() or is_hopper_or_newer()


def supports_clc() -> bool:
    """Whether a cluster that is done can take over one that has not started (cluster launch control)."""
    return _capability() >= 100


def skip_if_unsupported_cluster_size(num_ctas: int) -> None:
    """Skips the test that calls it on an NVIDIA device without clusters of ``num_ctas`` blocks: below compute
    capability 9.0, and above 8 blocks, which devices need not have (CUDA C++ Programming Guide, thread block
    clusters)."""
    if num_ctas > 1 and is_cuda() and (not is_hopper_or_newer() or num_ctas > 8):
        import pytest

        pytest.skip(f"Device does not support {num_ctas} CTAs per cluster")


def tma_skip_msg(byval_only: bool = False) -> str:
    """Why a test is skipped where `supports_tma` says no."""
    return "Requires a device that copies blocks of tensors by itself"


def __getattr__(name: str) -> Any:
    if name != "requires_tma":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import pytest

    return pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())


def _fresh_knobs_impl(skipped_attr: Iterable[str] | None = None) -> tuple[Callable[[], Any], Callable[[], None]]:
    """(a function that forgets all settings and gives the module, one that restores them); but for those named."""
    left = set(skipped_attr or ())
    own = {name: g for name, g in vars(knobs).items() if isinstance(g, knobs.Group)}
    backends = [backend.triton_name or name for name, backend in registry.available().items()]
    found = {**own, **{name: getattr(knobs, name, None) for name in backends}}
    groups = [g for name, g in found.items() if isinstance(g, knobs.Group) and name not in left]
    scopes = ExitStack()

    def propagate(on: bool) -> None:
        knobs.propagate_env = on  # pyright: ignore[reportAttributeAccessIssue]  # a property of the module's class

    def fresh() -> Any:
        scopes.callback(propagate, environment.propagate_env)
        propagate(True)
        for group in groups:
            scopes.enter_context(group.scope())
            group.reset()
            for knob in group.knob_descriptors.values():
                if knob.env:
                    os.environ.pop(knob.env, None)
        knobs.refresh_knobs()
        return knobs

    return fresh, scopes.close
