"""How a C program loads and launches a kernel: the names of HIP's module API."""

from __future__ import annotations

from collections.abc import Sequence

from tritonx.backends.api import KernelImage
from tritonx.backends.embedding import Dialect, Loader, threads


def launch(image: KernelImage) -> Sequence[str]:
    """The LDS is static, so no dynamic amount is asked for."""
    shape = f"function, x, y, z, {threads(image)}, 1, 1, 0, stream, arguments"
    if image.metadata.get("launch_cooperative_grid"):
        return [f"return hipModuleLaunchCooperativeKernel({shape});"]
    return [f"return hipModuleLaunchKernel({shape}, 0);"]


DIALECT = Dialect(
    include="hip/hip_runtime_api.h",
    result="hipError_t",
    success="hipSuccess",
    invalid="hipErrorInvalidValue",
    stream="hipStream_t",
    source=Loader(
        module="hipModule_t",
        function="hipFunction_t",
        load="hipModuleLoadData",
        find="hipModuleGetFunction",
        unload="hipModuleUnload",
        prepare=lambda _: (),
        launch=launch,
    ).source,
)
