"""How a C program loads and launches a kernel: the names of the CUDA driver's API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tritonx.backends.api import KernelImage
from tritonx.backends.embedding import Dialect, Loader, threads
from tritonx.backends.nvidia.launch.launcher import PORTABLE_CLUSTER, STATIC_SHARED_LIMIT


@dataclass(frozen=True)
class Launch:
    """What a launch needs to know beside grid and arguments: threads and bytes of shared memory of a block, blocks of a
    cluster, whether all blocks run at once and whether it may begin before the launch in front of it is over."""

    threads: int
    shared: int
    cluster: int
    cooperative: bool
    overlapping: bool

    @staticmethod
    def of(image: KernelImage) -> Launch:
        known = image.metadata
        return Launch(
            threads(image),
            int(known["shared"]),
            int(known["num_ctas"]),
            bool(known["launch_cooperative_grid"]),
            bool(known["launch_pdl"]),
        )


def prepare(image: KernelImage) -> Sequence[str]:
    of = Launch.of(image)
    steps: list[str] = []
    if of.shared > STATIC_SHARED_LIMIT:
        steps.append(f"cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {of.shared})")
        steps.append("cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100)")
    if of.cluster > PORTABLE_CLUSTER:
        steps.append("cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)")
    return steps


def launch(image: KernelImage) -> Sequence[str]:
    of = Launch.of(image)
    attributes = _attributes(of)
    if not attributes:
        return [f"return cuLaunchKernel(function, x, y, z, {of.threads}, 1, 1, {of.shared}, stream, arguments, 0);"]
    return [
        f"CUlaunchAttribute attributes[{len(attributes)}] = {{0}};",
        *(f"attributes[{number}].{line};" for number, lines in enumerate(attributes) for line in lines),
        "CUlaunchConfig config = {0};",
        f"config.gridDimX = x * {of.cluster}, config.gridDimY = y, config.gridDimZ = z;",
        f"config.blockDimX = {of.threads}, config.blockDimY = 1, config.blockDimZ = 1;",
        f"config.sharedMemBytes = {of.shared}, config.hStream = stream;",
        f"config.attrs = attributes, config.numAttrs = {len(attributes)};",
        "return cuLaunchKernelEx(&config, function, arguments, 0);",
    ]


def _attributes(of: Launch) -> list[list[str]]:
    found: list[list[str]] = []
    if of.cluster > 1:
        extents = [f"value.clusterDim.x = {of.cluster}", "value.clusterDim.y = 1", "value.clusterDim.z = 1"]
        found.append(["id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION", *extents])
    if of.cooperative:
        found.append(["id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE", "value.cooperative = 1"])
    if of.overlapping:
        allowed = "value.programmaticStreamSerializationAllowed = 1"
        found.append(["id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION", allowed])
    return found


DIALECT = Dialect(
    include="cuda.h",
    result="CUresult",
    success="CUDA_SUCCESS",
    invalid="CUDA_ERROR_INVALID_VALUE",
    stream="CUstream",
    source=Loader(
        module="CUmodule",
        function="CUfunction",
        load="cuModuleLoadData",
        find="cuModuleGetFunction",
        unload="cuModuleUnload",
        prepare=prepare,
        launch=launch,
    ).source,
)
