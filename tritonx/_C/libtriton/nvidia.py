"""Triton's module ``triton._C.libtriton.nvidia``: the products that programs compare their kernels with."""

from tritonx.backends.nvidia import cublas
from tritonx.runtime.refusals import refusing

__all__ = ["cublas"]

_COMPILER = "what is compiled for these GPUs goes through `tritonx.backends`, whose passes are others"

__getattr__ = refusing(
    __name__,
    dict.fromkeys(
        ["has_extern_deps", "load_dialects", "passes", "set_nvvm_reflect_ftz", "set_short_ptr"],
        _COMPILER,
    ),
)
