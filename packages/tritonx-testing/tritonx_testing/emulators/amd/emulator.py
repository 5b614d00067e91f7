"""Reading code objects, and running them on tinygrad's instruction emulator (a checkout outside this repository)."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, i32

from tritonx.backends.amd import BACKEND
from tritonx.backends.amd.launch.parameters import layout_of, values_of
from tritonx.backends.api import Compilation, run_stages
from tritonx.dialects.tile import PointerType
from tritonx.interpreter.arguments import normalise_grid
from tritonx.interpreter.ir_launch import bind
from tritonx_testing.emulators.amd.direct_loads import UnderWay

ARCHITECTURE = {"gfx1100": "rdna3", "gfx1201": "rdna4", "gfx950": "cdna", "gfx942": "cdna", "gfx90a": "cdna"}
"""What the emulator calls the instruction sets; gfx942 and gfx90a are read with the tables of their successor."""

PROCESSOR = [""]
"""The processor whose code the emulator runs."""

UNDER_WAY = UnderWay()
"""The loads to the LDS of that code."""


def unpack_message(data: bytes, at: int = 0) -> tuple[Any, int]:
    """One MessagePack value of ``data`` from ``at``, and where it ends."""
    tag = data[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag >= 0xE0:
        return tag - 256, at
    if tag in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[tag], at
    if 0xCC <= tag <= 0xD3:
        size = 1 << (tag & 3)
        return int.from_bytes(data[at : at + size], "big", signed=tag >= 0xD0), at + size
    if 0xA0 <= tag <= 0xBF or 0xD9 <= tag <= 0xDB:
        size, at = _count(data, tag, 0x1F, 0xD9, at, 1)
        return data[at : at + size].decode(), at + size
    if 0x90 <= tag <= 0x9F or tag in (0xDC, 0xDD):
        size, at = _count(data, tag, 0x0F, 0xDC, at, 2)
        items: list[Any] = []
        for _ in range(size):
            item, at = unpack_message(data, at)
            items.append(item)
        return items, at
    if 0x80 <= tag <= 0x8F or tag in (0xDE, 0xDF):
        size, at = _count(data, tag, 0x0F, 0xDE, at, 2)
        pairs: dict[Any, Any] = {}
        for _ in range(size):
            key, at = unpack_message(data, at)
            pairs[key], at = unpack_message(data, at)
        return pairs, at
    raise ValueError(f"MessagePack tag {tag:#x}")


def _count(data: bytes, tag: int, mask: int, long: int, at: int, first: int) -> tuple[int, int]:
    if tag < 0xC0:
        return tag & mask, at
    size = first << (tag - long)
    return int.from_bytes(data[at : at + size], "big"), at + size


class CodeObject:
    """The parts of an hsaco that a loader needs: segments, relocations, the kernel's descriptor and its metadata."""

    def __init__(self, binary: bytes, name: str) -> None:
        self.binary = binary
        programs, count = struct.unpack_from("<Q", binary, 32)[0], struct.unpack_from("<H", binary, 56)[0]
        self.segments: list[tuple[int, int, int, int]] = []
        self.metadata: dict[str, Any] = {}
        for i in range(count):
            kind, _, offset, address, _, file_size, size, _ = struct.unpack_from("<IIQQQQQQ", binary, programs + 56 * i)
            if kind == 1:
                self.segments.append((offset, address, file_size, size))
            if kind == 4:
                owner, length, _ = struct.unpack_from("<III", binary, offset)
                start = offset + 12 + (owner + 3 & ~3)
                self.metadata = unpack_message(binary[start : start + length])[0]
        self.kernel: dict[str, Any] = next(k for k in self.metadata["amdhsa.kernels"] if k[".symbol"] == f"{name}.kd")
        self.size = max(address + size for _, address, _, size in self.segments)
        self.descriptor, self.relocations = self._tables(f"{name}.kd")

    def _tables(self, symbol: str) -> tuple[int, list[tuple[int, int]]]:
        """The address of ``symbol`` and the relative relocations as (place, addend)."""
        data = self.binary
        at, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + 64 * i) for i in range(count)]
        found, relocations = -1, list[tuple[int, int]]()
        for _, kind, flags, _, offset, size, link, _, _, _ in sections:
            if kind == 4 and flags & 2:
                for k in range(size // 24):
                    place, info, addend = struct.unpack_from("<QQq", data, offset + 24 * k)
                    assert info & 0xFFFFFFFF == 13, "R_AMDGPU_RELATIVE64 is the only one that is needed"
                    relocations.append((place, addend))
            if kind == 11:
                names = sections[link][4]
                for k in range(1, size // 24):
                    name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, offset + 24 * k)
                    end = data.index(b"\0", names + name)
                    if data[names + name : end].decode() == symbol:
                        found = value
        return found, relocations

    def block(self, types: Sequence[str], arguments: Sequence[Any], grid: tuple[int, int, int], threads: int) -> bytes:
        """The kernel's arguments with the implicit ones that its metadata lists."""
        explicit = layout_of(types).pack(*values_of(types, arguments))
        whole = bytearray(explicit.ljust(self.kernel[".kernarg_segment_size"], b"\0"))
        hidden = {f"hidden_block_count_{axis}": grid[i] for i, axis in enumerate("xyz")}
        hidden |= {"hidden_group_size_x": threads, "hidden_group_size_y": 1, "hidden_group_size_z": 1}
        for argument in self.kernel[".args"]:
            if (value := hidden.get(argument[".value_kind"])) is not None:
                offset, size = argument[".offset"], argument[".size"]
                whole[offset : offset + size] = value.to_bytes(size, "little")
        return bytes(whole)


@dataclass(frozen=True)
class Compiled:
    """Every stage's product for one kernel and one target."""

    stages: dict[str, Any]
    metadata: dict[str, Any]
    types: tuple[str, ...]
    arguments: tuple[Any, ...]

    @property
    def code_object(self) -> CodeObject:
        return CodeObject(self.stages["hsaco"], self.metadata["name"])


def compile_for(
    arch: str,
    kernel: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    small: bool = True,
    until: str = "",
    **given: Any,
) -> Compiled:
    """``kernel`` through all stages for ``arch``, or those up to ``until``, specialised on the arguments, whose arrays
    are ``small``; ``given`` are compile options.
    """
    target = BACKEND.parse_target(arch)
    options = BACKEND.parse_options(target, given)
    return compile_bound(bind(kernel, args, kwargs, options, target), target, options, small, until)


def compile_bound(bound: Any, target: Any, options: Any, small: bool = True, until: str = "") -> Compiled:
    """A ``tt`` module that is specialised on its arguments, through the stages."""
    function = next(op for op in bound.module.body.block.ops if op.name == "tt.func")
    if small:
        mark_small_buffers(function)
    types = tuple(_parameter(str(t)) for t in function.properties["function_type"].inputs.data)
    compilation = Compilation(target, options)
    stages = BACKEND.stages(target, options)
    last = next((i for i, stage in enumerate(stages, 1) if stage.name == until), len(stages))
    made = run_stages(bound.module, stages[:last], compilation)
    return Compiled(dict(made), dict(compilation.metadata), types, tuple(bound.arguments))


def mark_small_buffers(function: Any) -> None:
    """What a launch with arrays of less than 2 GiB states about the pointers."""
    arguments = function.body.blocks[0].args
    known = getattr(function.properties.get("arg_attrs"), "data", [DictionaryAttr({})] * len(arguments))
    small = {"tt.pointer_range": IntegerAttr(32, i32)}
    marked = [
        {**attributes.data, **(small if isinstance(argument.type, PointerType) else {})}
        for argument, attributes in zip(arguments, known, strict=True)
    ]
    function.properties["arg_attrs"] = ArrayAttr([DictionaryAttr(m) for m in marked])


def _parameter(ir: str) -> str:
    if ir.startswith("!tt.ptr"):
        return "*i8"
    return {"f16": "fp16", "f32": "fp32", "f64": "fp64"}.get(ir, ir)


class Emulator:
    """Runs kernels of one architecture on arrays in place."""

    def __init__(self, arch: str) -> None:
        self.arch = arch

    def __call__(self, kernel: Any, grid: Any, *args: Any, kwargs: dict[str, Any] | None = None, **given: Any) -> str:
        """Runs a kernel, and gives its code."""
        compiled = compile_for(self.arch, kernel, args, kwargs or {}, **given)
        arrays = iter([a for a in args if isinstance(a, np.ndarray)])
        values = [
            next(arrays).ctypes.data if t.startswith("*") else v
            for t, v in zip(compiled.types, compiled.arguments, strict=True)
        ]
        self.launch(compiled, grid, values)
        return compiled.stages["amdgcn"]

    def run_bound(self, bound: Any, options: Any, grid: Any) -> None:
        """Run a module that is specialised on its arguments with these."""
        self.launch(compile_bound(bound, BACKEND.parse_target(self.arch), options), grid, bound.arguments)

    def launch(self, compiled: Compiled, grid: Any, values: Sequence[Any]) -> None:
        """Run a kernel with these numbers and addresses."""
        threads = compiled.metadata["num_warps"] * compiled.metadata["warp_size"]
        self.run(compiled.code_object, compiled.types, values, normalise_grid(grid), threads)

    def run(
        self, code: CodeObject, types: Sequence[str], values: Sequence[Any], extents: tuple[int, int, int], threads: int
    ) -> None:
        """Run a code object with arguments of these types."""
        from test.mockgpu.amd.emu import run_asm

        UNDER_WAY.start(os.environ.get("TRITONX_SEED", ""))
        block = code.block(types, values, extents, threads)
        image = mmap.mmap(-1, code.size + 0x1FFF & ~0xFFF)
        base = ctypes.addressof(ctypes.c_char.from_buffer(image))
        for offset, address, file_size, _ in code.segments:
            image[address : address + file_size] = code.binary[offset : offset + file_size]
        for place, addend in code.relocations:
            struct.pack_into("<Q", image, place, base + addend)
        parameters = ctypes.create_string_buffer(block.ljust(256, b"\0"))
        self._run(run_asm, image, base, code, extents, threads, parameters)

    def _run(self, run_asm: Any, image: Any, base: int, code: CodeObject, grid: Any, threads: int, block: Any) -> None:
        """User registers in the hardware's order (AMDGPU usage, "initial kernel execution state")."""
        lds, private, _, _, entry = struct.unpack_from("<IIIIq", image, code.descriptor)
        _, rsrc1, rsrc2, properties, preload = struct.unpack_from("<IIIHH", image, code.descriptor + 44)
        assert rsrc1 >> 16 & 0xF == 0xF, "FLOAT_DENORM_MODE: subnormal numbers are kept, as the harness has it"
        address = ctypes.addressof(block)
        user: list[int] = []
        for bit, words in enumerate(
            ([0] * 4, [0, 0], [0, 0], [address & 0xFFFFFFFF, address >> 32], [0, 0], [0, 0], [private])
        ):
            if properties >> bit & 1:
                user += words
        if count := preload & 0x7F:
            user += struct.unpack_from(f"<{count}I", block, 4 * (preload >> 7))
        rsrc2 = rsrc2 & ~(0x1FF << 15) | (lds + 511) // 512 << 15
        start = base + code.descriptor + entry
        run_asm(start, code.size, *grid, threads, 1, 1, address, rsrc2, private, ARCHITECTURE[self.arch], user)


def checkout() -> str | None:
    """Where tinygrad lies; None where ``TINYGRAD`` does not say."""
    return os.environ.get("TINYGRAD") or None


def started(arch: str) -> Emulator:
    """The emulator for one architecture; the one that was started last is the one that runs."""
    place = checkout()
    assert place is not None, "TINYGRAD names no checkout of tinygrad"
    if place not in sys.path:
        sys.path.insert(0, place)
        from tritonx_testing.emulators.amd.emulation import fill_gaps

        fill_gaps(PROCESSOR, UNDER_WAY)
    PROCESSOR[0] = arch
    return Emulator(arch)
