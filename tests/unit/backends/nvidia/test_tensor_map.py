"""Descriptors as kernel arguments: what the driver is asked to encode, and that it is asked once."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tritonx.backends.api import Compilation, PassStage
from tritonx.backends.nvidia.tensor_maps.tensor_map import TensorMaps, recipe
from tritonx.backends.registry import get_backend
from tritonx.ir.pipeline import run_emit_stage, run_pass_stage
from tritonx.ir.text import parse_module
from tritonx.runtime.errors import UnsupportedArgument
from tritonx.tools.tensor_descriptor import TensorDescriptor

TEXT = """
#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8, rank = 3}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @two(
      %a: !tt.tensordesc<tensor<64x128xf16, #a>>, %n: i32, %b: !tt.tensordesc<tensor<2x512x32xi8, #b>>) {
    tt.return
  }
}
"""


class Recorder:
    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def cuTensorMapEncodeTiled(self, where: Any, kind: Any, rank: Any, base: Any, *rest: Any) -> int:
        extents, steps, box, elements, *modes = rest
        assert where.value % 64 == 0
        self.calls.append(
            {
                "type": kind.value,
                "base": base.value,
                "extents": list(extents),
                "steps": list(steps)[: rank.value - 1],
                "box": list(box),
                "elements": list(elements),
                "modes": [mode.value for mode in modes],
            }
        )
        ctypes.memset(where.value, len(self.calls) % 256, 128)
        return 0


def recipes(text: str = TEXT) -> list[dict[str, Any]]:
    backend = get_backend("cuda")
    target = backend.parse_target("90")
    options = backend.parse_options(target, {})
    compilation = Compilation(target, options)
    module: Any = parse_module(text, "two.ttgir")
    for stage in backend.stages(target, options)[:3]:
        if isinstance(stage, PassStage):
            run_pass_stage(module, stage.remaining(module), compilation)
        else:
            module = run_emit_stage(stage, module, compilation)
    return list(compilation.metadata["tensordesc_meta"])


def ok(code: int, call: str) -> None:
    assert code == 0


def aligned(shape: tuple[int, ...], dtype: Any) -> Any:
    memory = np.zeros(np.prod(shape) * np.dtype(dtype).itemsize + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + np.prod(shape) * np.dtype(dtype).itemsize].view(dtype).reshape(shape)


def with_pointer(array: Any) -> Any:
    strides = [s // array.itemsize for s in array.strides]
    return SimpleNamespace(
        data_ptr=lambda: array.ctypes.data, shape=array.shape, dtype=array.dtype, stride=lambda: strides
    )


def test_what_is_encoded() -> None:
    first, second = recipes()
    driver = Recorder()
    halves = aligned((100, 256), np.float16)
    (address,) = TensorMaps(driver, first, ok)(
        TensorDescriptor(with_pointer(halves), [100, 200], [256, 1], [64, 128], padding="nan")
    )
    assert ctypes.string_at(address, 128) == b"\x01" * 128
    bytes_ = aligned((3, 600, 48), np.int8)
    strides = [600 * 48, 48, 1]
    given = TensorDescriptor(with_pointer(bytes_), [3, 600, 40], strides, [2, 512, 32])
    TensorMaps(driver, second, ok)(given)
    assert driver.calls == [
        # boxes of one swizzle width, 64 halves; dims from the innermost out, steps in bytes
        {"type": 6, "base": halves.ctypes.data, "extents": [200, 100], "steps": [512], "box": [64, 64],
         "elements": [1, 1], "modes": [0, 3, 2, 1]},
        {"type": 0, "base": bytes_.ctypes.data, "extents": [40, 600, 3], "steps": [48, 28800], "box": [32, 256, 2],
         "elements": [1, 1, 1], "modes": [0, 1, 2, 0]},
    ]  # fmt: skip


def test_one_that_rounds_is_of_another_type() -> None:
    """TFLOAT32, which the driver numbers 11; set between launches as well."""
    driver = Recorder()
    maps = TensorMaps(driver, {**recipes()[0], "elem_size": 4, "elem_type": 7}, ok)
    descriptor = TensorDescriptor(with_pointer(aligned((64, 128), np.float32)), [64, 128], [128, 1], [64, 128])
    seen: list[int] = []
    for descriptor.round_f32_to_tf32 in (False, True, False, True):
        seen.append(maps(descriptor)[0])
    assert seen[:2] == seen[2:] and [call["type"] for call in driver.calls] == [7, 11]


def test_a_map_is_kept_for_the_same_tensor() -> None:
    driver = Recorder()
    maps = TensorMaps(driver, recipes()[0], ok)
    first, second = (with_pointer(aligned((64, 128), np.float16)) for _ in range(2))
    (where,) = maps(TensorDescriptor(first, [64, 128], [128, 1], [64, 128]))
    assert maps(TensorDescriptor(first, [64, 128], [128, 1], [64, 128])) == (where,)
    assert len(driver.calls) == 1
    other = [
        TensorDescriptor(second, [64, 128], [128, 1], [64, 128]),
        TensorDescriptor(first, [32, 128], [128, 1], [64, 128]),
    ]
    assert len({where, *(maps(each)[0] for each in other)}) == 3 and len(driver.calls) == 3


def test_a_changed_descriptor_has_another_map() -> None:
    """Whatever is set, and in place."""
    driver = Recorder()
    maps = TensorMaps(driver, recipes()[0], ok, with_extents=True)
    first, second = (with_pointer(aligned((64, 256), np.float16)) for _ in range(2))
    descriptor = TensorDescriptor(first, [64, 128], [128, 1], [64, 128])
    seen = [maps(descriptor)]

    changes: list[Callable[[], object]] = [
        lambda: setattr(descriptor, "base", second), lambda: descriptor.shape.__setitem__(0, 32),
        lambda: descriptor.strides.__setitem__(0, 256), lambda: setattr(descriptor, "padding", "nan"),
    ]  # fmt: skip
    for change in changes:
        change()
        assert maps(descriptor)[0] not in [each[0] for each in seen]
        seen.append(maps(descriptor))
    assert len(driver.calls) == len(seen) == 5
    assert seen[-1][1:] == (32, 128, 256, 1)
    assert [driver.calls[-1][name] for name in ("base", "extents", "steps")] == [second.data_ptr(), [128, 32], [512]]
    descriptor.block_shape = [32, 128]
    with pytest.raises(UnsupportedArgument, match=r"blocks of \[64, 128\], the descriptor is for \[32, 128\]"):
        maps(descriptor)


def test_a_descriptor_that_changes_at_random_has_the_map_of_a_new_one() -> None:
    """Whatever was launched before it at the same address."""
    rng = random.Random(seed := random.randrange(1 << 32))
    driver = Recorder()
    first = recipes()[0]
    maps = TensorMaps(driver, first, ok, with_extents=True)
    bases = [with_pointer(aligned((64, 256), np.float16)) for _ in range(2)]
    descriptor = TensorDescriptor(bases[0], [64, 128], [128, 1], [64, 128])
    told: dict[int, dict[str, Any]] = {}
    for _ in range(300):
        sequence = rng.choice([list, tuple])
        change: Any = rng.choice([
            ("base", rng.choice(bases)), ("shape", sequence([rng.choice([32, 64]), 128])), ("padding", "nan"),
            ("strides", sequence([rng.choice([128, 256]), 1])), ("padding", "zero"),
            ("block_shape", sequence([64, 128])),
        ])  # fmt: skip
        setattr(descriptor, *change)
        if isinstance(descriptor.shape, list) and rng.randrange(2):
            descriptor.shape[0] = rng.choice([32, 64])
        before = len(driver.calls)
        address, *extents = maps(descriptor)
        if len(driver.calls) > before:
            told[address] = driver.calls[-1]
        apart = Recorder()
        TensorMaps(apart, first, ok)(descriptor)
        assert told[address] == apart.calls[0], f"seed {seed}"
        assert extents == [*descriptor.shape, *descriptor.strides]
    assert len(driver.calls) <= 2 * 2 * 2 * 2


def test_a_map_that_is_forgotten_lives_as_long_as_its_address() -> None:
    """Another thread may make many, between the moment at which a launch is given one and that at which it is read."""
    maps = TensorMaps(Recorder(), recipes()[0], ok)
    array = with_pointer(aligned((64, 128), np.float16))
    (address,) = maps(TensorDescriptor(array, [64, 128], [128, 1], [64, 128]))
    for rows in range(1, 600):
        maps(TensorDescriptor(array, [rows, 128], [128, 1], [64, 128]))
    assert len(maps.kept) <= 256
    assert ctypes.string_at(address, 128) == b"\x01" * 128


def test_rows_that_a_copy_would_write_beyond_are_refused() -> None:
    """The copy engine writes whole pieces of 16 bytes; what it only reads may end anywhere."""
    read, written = recipes()[0], {**recipes()[0], "written": True}
    array = with_pointer(aligned((64, 128), np.float16))
    partial, whole = (TensorDescriptor(array, [64, width], [128, 1], [64, 128]) for width in (100, 104))
    assert not read["written"] and TensorMaps(Recorder(), read, ok)(partial)
    assert TensorMaps(Recorder(), written, ok)(whole)
    with pytest.raises(UnsupportedArgument, match=r"in pieces of 16 bytes, and rows of 100 elements are no whole"):
        TensorMaps(Recorder(), written, ok)(partial)


def test_what_is_written_is_known() -> None:
    memory = "!ttg.memdesc<64x128xf16, #a, #ttg.shared_memory, mutable>"
    stored = f"""    %z = arith.constant 0 : i32
    %m = ttg.local_alloc : () -> {memory}
    ttng.async_tma_copy_local_to_global %a[%z, %z] %m : !tt.tensordesc<tensor<64x128xf16, #a>>, {memory}
    tt.return"""
    text = TEXT.replace("    tt.return", stored)
    assert [each["written"] for each in recipes(text)] == [True, False]


def test_recipes_of_a_compiled_kernel() -> None:
    """Its metadata is frozen: tuples where there were lists."""
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in recipes()[0].items()}
    array = with_pointer(aligned((64, 128), np.float16))
    assert TensorMaps(Recorder(), frozen, ok)(TensorDescriptor(array, [64, 128], [128, 1], [64, 128]))


def test_another_block_is_refused() -> None:
    maps = TensorMaps(Recorder(), recipes()[0], ok)
    array = with_pointer(aligned((64, 128), np.float16))
    with pytest.raises(UnsupportedArgument, match=r"blocks of \[64, 128\], the descriptor is for \[64, 64\]"):
        maps(TensorDescriptor(array, [64, 128], [128, 1], [64, 64]))
    with pytest.raises(UnsupportedArgument, match="a TensorDescriptor is needed, got int"):
        maps(5)
    bytes_ = TensorMaps(Recorder(), {**recipes()[1]}, ok)
    array = with_pointer(aligned((2, 512, 32), ml_dtypes.float8_e5m2))
    with pytest.raises(UnsupportedArgument, match="pads blocks of 8-bit floats with zeros only"):
        bytes_(TensorDescriptor(array, [2, 512, 32], [512 * 32, 32, 1], [2, 512, 32], padding="nan"))


# CUtensorMapDataType and CUtensorMapSwizzle of cuda.h; 8-bit floats are bytes
KINDS = {
    "i8": (0, 1), "i16": (1, 2), "i32": (3, 4), "i64": (5, 8), "f16": (6, 2), "f32": (7, 4), "f64": (8, 8),
    "bf16": (9, 2), "f8E4M3FN": (0, 1), "f8E5M2": (0, 1), "si8": (0, 1), "ui8": (0, 1), "si16": (1, 2), "ui16": (1, 2),
    "si32": (3, 4), "ui32": (2, 4), "si64": (5, 8), "ui64": (4, 8),
}  # fmt: skip


@pytest.mark.parametrize("element", KINDS)
@pytest.mark.parametrize(("width", "code"), [(32, 1), (64, 2), (128, 3)])
def test_every_type_and_swizzle(element: str, width: int, code: int) -> None:
    """A box is as wide as the swizzle, and has at most 256 rows."""
    kind, size = KINDS[element]
    text = f"""
#a = #ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = false, elementBitWidth = {8 * size}}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @one(%a: !tt.tensordesc<tensor<512x{256 // size}x{element}, #a>>) {{
    tt.return
  }}
}}"""
    type_: Any = next(iter(parse_module(text, "one.ttgir").body.block.ops)).body.blocks[0].args[0].type  # type: ignore[attr-defined]
    assert recipe(type_) == {
        "swizzle": code,
        "elem_size": size,
        "elem_type": kind,
        "block_size": [256, width // size],
        "block_shape": [512, 256 // size],
        "fp4_padded": False,
    }
