"""The launch path: arguments into the driver's parameter block, and one call of the driver.

A kernel is launched by a *builtin*: a function with CPython's METH_FASTCALL convention that reads the argument objects,
fills the block on its stack and calls the driver (2.7–3.2 µs, of which the driver takes 2.7). Its machine code is the
same for all kernels and lies in the cache on disk (`launcher_builtin`), so the first launch has it already and none
compiles anything. Launches with attributes (clusters, cooperative grids) or scratch memory, threads
without the kernel's context, and interpreters whose objects the builtin cannot read (no GIL, not CPython) pack their
arguments with one ``struct.pack_into`` and call the driver through ctypes (4.5–5.5 µs)."""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast

from tritonx.backends.api import KernelImage
from tritonx.backends.nvidia.assembler.replaced_code import null_parameters
from tritonx.backends.nvidia.launch.scratch_memory import ScratchMemory
from tritonx.backends.nvidia.targets import GRID_LIMITS
from tritonx.backends.nvidia.tensor_maps.tensor_map import Check, ParameterRecipe, TensorMaps
from tritonx.runtime.devices.elf import LinkError
from tritonx.runtime.devices.loaded_modules import LoadedModule
from tritonx.runtime.errors import UnsupportedArgument
from tritonx.runtime.launch.descriptor_parameters import MAP, FlatParameters, Made
from tritonx.runtime.launch.parameter_values import address_of, bfloat16_bits, cell

if TYPE_CHECKING:
    from tritonx.backends.nvidia.tensor_maps.launch_maps import AtLaunch

STATIC_SHARED_LIMIT = 48 * 1024
"""Bytes of shared memory that a kernel gets without being asked for."""

PORTABLE_CLUSTER = 8
"""Blocks of a cluster that every device has."""

Block = ctypes.Array[ctypes.c_void_p]
"""The addresses of a launch's arguments."""


class Launcher:
    """The way without the builtin, callable as ``(grid_x, grid_y, grid_z, stream, *args)`` with what the code takes
    (`of_arguments` makes that of a kernel's arguments); one for each loaded kernel.

    ``check(code, call)`` raises an error with the ``code``. ``on_device()`` is entered where ``context``, which the
    function was loaded in, is not the thread's current one. ``scratch`` lends what the programs need of it. ``module``
    has the function, and stays for as long as there is a launcher.
    """

    def __init__(
        self,
        cuda: ctypes.CDLL,
        image: KernelImage,
        function: int,
        context: int,
        check: Callable[[int, str], None],
        on_device: Callable[[], AbstractContextManager[None]],
        scratch: ScratchMemory | None = None,
        module: LoadedModule | None = None,
    ) -> None:
        metadata = image.metadata
        self.parameters = FlatParameters.of(image.parameters, metadata.get("tensordesc_meta") or ())
        self.made = made_maps(cuda, metadata.get("tensormaps_at_launch"), check, on_device)
        self.types = [*self.parameters.types, *([MAP] * self.made.count if self.made is not None else ())]
        self.function = function
        self.module = module
        self.on_other_stream = ctypes.c_uint8() if module is None else module.on_other_stream
        self.context = context
        self.threads = int(metadata["num_warps"]) * 32
        self.shared = int(metadata["shared"])
        self.check = check
        self.on_device = on_device
        self.cluster = int(metadata.get("num_ctas", 1))
        self.extended = bool(self.cluster > 1 or metadata.get("launch_pdl") or metadata.get("launch_cooperative_grid"))
        self.attributes = launch_attributes(metadata)
        self.cuda = cuda
        self.launch_kernel = cuda.cuLaunchKernel
        self.launch_kernel.argtypes = [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3
        self.maps = self.tensor_maps(metadata.get("tensordesc_meta") or ())
        self.packed_maps = [i for i, t in enumerate(self.types) if t.startswith(MAP)]
        self.packer = struct.Struct(
            "=" + "".join("8x" if i in self.packed_maps else cell(t) for i, t in enumerate(self.types))
        )
        self.pointers = [i for i, t in enumerate(self.types) if t.startswith("*")]
        self.bfloats = [i for i, t in enumerate(self.types) if t == "bf16"]
        self.scratch = scratch
        self.scratch_bytes = int(metadata.get("global_scratch_size", 0))
        self.scratch_alignment = int(metadata.get("global_scratch_align", 1))
        self.nulls = 0
        if metadata.get("replaced"):
            self.nulls = null_parameters(cuda, function, self.types, self.scratch_bytes)
        self.cells = len(self.types) + (self.scratch_bytes > 0) + self.nulls
        self.local = threading.local()

    def __call__(self, x: int, y: int, z: int, stream: int, *args: object) -> None:
        if x * self.cluster > GRID_LIMITS[0] or y > GRID_LIMITS[1] or z > GRID_LIMITS[2]:
            raise grid_too_large(x, y, z, self.cluster)
        if stream:
            self.on_other_stream.value = 1
        values = list(args)
        for i in self.pointers:
            values[i] = address_of(values[i])
        for i in self.bfloats:
            values[i] = bfloat16_bits(cast(float, values[i]))
        try:
            buffer, block = self.local.block
        except AttributeError:
            buffer = ctypes.create_string_buffer(max(8 * self.cells, 8))
            base = ctypes.addressof(buffer)
            block = (ctypes.c_void_p * max(self.cells, 1))(*[base + 8 * i for i in range(self.cells)])
            self.local.block = buffer, block
        for i in reversed(self.packed_maps):
            block[i] = values.pop(i)
        self.packer.pack_into(buffer, 0, *values)
        submit = self.submit_with_scratch if self.scratch_bytes else self.submit
        current = ctypes.c_void_p()
        self.check(self.cuda.cuCtxGetCurrent(ctypes.byref(current)), "cuCtxGetCurrent")
        if current.value == self.context:
            code = submit(x, y, z, stream, block)
        else:
            with self.on_device():
                code = submit(x, y, z, stream, block)
        self.check(code, "cuLaunchKernelEx" if self.extended else "cuLaunchKernel")

    def of_arguments(self, launch: Callable[..., None]) -> Callable[..., None]:
        """``launch``, which takes what the code takes, for the kernel's arguments."""
        return self.parameters.flattening(launch, self.maps, self.made)

    def tensor_maps(self, recipes: Iterable[ParameterRecipe]) -> dict[int, TensorMaps]:
        """What makes the values for each parameter that is a tensor map, by its position among the source's."""
        parameters = enumerate(zip(self.parameters.parameters, self.parameters.maps, strict=True))
        mapped = [(i, bool(as_map)) for i, (p, as_map) in parameters if as_map or p.type.startswith(MAP)]
        made = zip(mapped, recipes, strict=False)  # a file may have descriptors that no copy uses
        return {
            i: TensorMaps(self.cuda, recipe, self.check, with_extents=with_extents)
            for (i, with_extents), recipe in made
        }

    def submit(self, x: int, y: int, z: int, stream: int, block: Block) -> int:
        return (self.launch_extended if self.extended else self.launch_plain)(x, y, z, stream, block)

    def submit_with_scratch(self, x: int, y: int, z: int, stream: int, block: Block) -> int:
        """With memory for every block of the grid, whose address is the parameter behind the kernel's."""
        assert self.scratch is not None, "the driver has none"
        nbytes = x * y * z * self.cluster * self.scratch_bytes
        with self.scratch.lent(nbytes, self.scratch_alignment, stream) as address:
            ctypes.c_uint64.from_address(block[len(self.types)]).value = address
            return self.submit(x, y, z, stream, block)

    def launch_plain(self, x: int, y: int, z: int, stream: int, block: Block) -> int:
        return self.launch_kernel(
            self.function, x, y, z, self.threads, 1, 1, self.shared, stream, ctypes.addressof(block), None
        )

    def launch_extended(self, x: int, y: int, z: int, stream: int, block: Block) -> int:
        config = LaunchConfig(
            x * self.cluster, y, z, self.threads, 1, 1, self.shared, stream, self.attributes, len(self.attributes)
        )
        return self.cuda.cuLaunchKernelEx(ctypes.byref(config), ctypes.c_void_p(self.function), block, None)


def made_maps(
    cuda: ctypes.CDLL, described: AtLaunch | None, check: Check, on_device: Callable[[], AbstractContextManager[None]]
) -> Made | None:
    """What makes the tensor maps that the kernel leaves to the launch; None where it leaves none."""
    if described is None:
        return None
    from tritonx.backends.nvidia.tensor_maps.launch_maps import LaunchMaps

    maps = LaunchMaps(cuda, described, check, on_device)
    return Made(maps, maps.arguments, len(described["maps"]), maps.of_grid)


def grid_too_large(x: int, y: int, z: int, cluster: int) -> UnsupportedArgument:
    blocks = f" of {cluster} blocks each" if cluster > 1 else ""
    return UnsupportedArgument(
        f"the grid ({x}, {y}, {z}){blocks} is too large: CUDA takes up to {' x '.join(map(str, GRID_LIMITS))} blocks. "
        "Put the largest extent first, or give a program more to do."
    )


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute: an id, padding to 8 bytes, and a 64-byte union."""

    _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16))


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        *((name, ctypes.c_uint) for name in ("gx", "gy", "gz", "bx", "by", "bz", "shared")),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("count", ctypes.c_uint),
    )


_COOPERATIVE, _CLUSTER, _PROGRAMMATIC = 2, 4, 6


def launch_attributes(metadata: Mapping[str, Any]) -> ctypes.Array[LaunchAttribute]:
    """The CUlaunchAttribute array for clusters, cooperative grids and programmatic dependent launch."""
    wanted: list[tuple[int, tuple[int, ...]]] = []
    if (cluster := int(metadata.get("num_ctas", 1))) > 1:
        wanted.append((_CLUSTER, (cluster, 1, 1)))
    if metadata.get("launch_cooperative_grid"):
        wanted.append((_COOPERATIVE, (1,)))
    if metadata.get("launch_pdl"):
        wanted.append((_PROGRAMMATIC, (1,)))
    array = (LaunchAttribute * len(wanted))()
    for slot, (number, values) in zip(array, wanted, strict=True):
        slot.id = number
        for i, value in enumerate(values):
            slot.value[i] = value
    return array


def can_build() -> bool:
    """Whether this is a CPython on which the builtin's assumptions hold."""
    return (
        sys.implementation.name == "cpython"
        and bool(getattr(sys, "_is_gil_enabled", lambda: True)())
        and _plain_header()
    )


def _plain_header() -> bool:
    """Whether an object's type is at offset 8, as the builtin assumes."""
    probe = object()
    return ctypes.c_void_p.from_address(id(probe) + 8).value == id(object)


def fastest(launcher: Launcher) -> Callable[..., None]:
    """What launches the kernel with its arguments: the builtin, or ``launcher`` where there can be none."""
    return launcher.of_arguments(_fastest(launcher))


def _fastest(launcher: Launcher) -> Callable[..., None]:
    if launcher.extended or launcher.scratch_bytes or launcher.nulls or not can_build():
        return launcher
    from tritonx.backends.nvidia.launch.launcher_builtin import State, make_builtin

    def address(function: Any) -> int:
        return ctypes.cast(function, ctypes.c_void_p).value or 0

    state = State(
        address(launcher.launch_kernel),
        address(launcher.cuda.cuCtxGetCurrent),
        launcher.context,
        launcher.function,
        launcher.threads,
        launcher.shared,
        *GRID_LIMITS,
        ctypes.addressof(launcher.on_other_stream),
        launcher.check,
        launcher,
    )
    try:
        return make_builtin(launcher.types, state)
    except LinkError:  # a system that lets no process make code
        return launcher
