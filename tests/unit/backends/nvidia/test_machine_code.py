"""What the assembler makes of a program computes what the program says: its machine code, executed on the host
(``sass``). Random straight programs, and those that assemblers get wrong: what they make is wrong, and what they make
of the other words is not.

``TRITONX_RANDOM_KERNELS=200`` draws so many programs a capability, others with every seed. Without it the programs are
the same each time: what instructions mean is nowhere described, so a new program may show a gap of ``sass`` rather than
the assembler's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.unit.backends.nvidia.test_assembler_faults import EITHER
from tritonx.backends.nvidia.assembler import assemble as assembler
from tritonx.backends.nvidia.assembler.assembler_faults import avoid_faults, takes_and_for_or
from tritonx.backends.nvidia.assembler.disassemble import find_nvdisasm
from tritonx.backends.nvidia.targets import CAPABILITIES
from tritonx.runtime.devices.dtype_names import TYPE_NAMES
from tritonx_testing.conformance.case import Output
from tritonx_testing.conformance.random_blocks import arithmetic_program
from tritonx_testing.emulators.ptx.arguments import packed
from tritonx_testing.emulators.sass.extrema import Extrema
from tritonx_testing.emulators.sass.operands import NotKnown
from tritonx_testing.emulators.sass.program import of_a_warp
from tritonx_testing.emulators.sass.run import run

if assembler.find_ptxas() is None or find_nvdisasm() is None:
    pytest.skip("there is no ptxas or no nvdisasm", allow_module_level=True)

ASKED = os.environ.get("TRITONX_RANDOM_KERNELS")
DRAWS = int(ASKED or 6)
SEED = int(os.environ["TRITONX_SEED"]) if ASKED else 0
PAGE = 4096


class Memory:
    """Global memory with arrays that begin a page each."""

    def __init__(self) -> None:
        self.bytes, self.end = np.zeros(1 << 20, np.uint8), PAGE

    def placed(self, array: Any) -> int:
        raw = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        at, self.end = self.end, self.end + -(-len(raw) // PAGE) * PAGE
        self.bytes[at : at + len(raw)] = raw
        return at


def laid_out(addresses: Sequence[int], numbers: Sequence[int]) -> bytes:
    """The bytes of parameters: pointers, and numbers of 32 bits behind them."""
    types = ["!tt.ptr"] * len(addresses) + ["i32"] * len(numbers)
    return b"".join(packed(types, [*addresses, *numbers]))


@pytest.mark.parametrize("draw", range(DRAWS))
@pytest.mark.parametrize("arch", [75, 80, 90, 100, 120])
def test_random_programs(arch: int, draw: int, compiler: Any) -> None:
    random = Random(f"{SEED} {arch} {draw}")
    program = arithmetic_program(random, length=random.choice((8, 16, 32, 64)), across=False)
    warps = random.choice((1, 2, 4))
    signature = {b.name: f"*{TYPE_NAMES[b.dtype]}" for b in program.buffers} | {"n": "i32", "m": "i32"}
    made = compiler(program.kernel(), str(arch), signature, {}, num_warps=warps)
    trial, memory = program.trial(np.random.default_rng([SEED, draw])), Memory()
    arrays = [a.buffer() if isinstance(a, Output) else a for a in trial.args[: len(program.buffers)]]
    places = [memory.placed(a) for a in arrays]
    arguments = laid_out(places, program.scalars)
    try:
        with np.errstate(all="ignore"):
            run(made.stages["cubin"], arch, 32 * warps, arguments, memory.bytes)
    except NotKnown as reason:
        pytest.skip(f"not executed here: {reason}")
    for at, array, wanted in zip(places, arrays, trial.args, strict=False):
        if isinstance(wanted, Output):
            wanted.check(memory.bytes[at : at + array.nbytes].view(array.dtype))


def executed(cubin: bytes, arch: int, array: Any, *numbers: int) -> Any:
    """What a warp leaves in the array, whose address comes first."""
    memory = Memory()
    at = memory.placed(array)
    with np.errstate(all="ignore"):
        run(cubin, arch, 32, laid_out([at], numbers), memory.bytes)
    return memory.bytes[at : at + array.nbytes].view(array.dtype)


@pytest.mark.parametrize("arch", [80, 90])
def test_an_or_is_none_where_an_and_stands_for_it(arch: int) -> None:
    """Lanes below 3, or whose partner of bit 3 is below 12, or lane 9."""
    ptx, chip, lanes = EITHER.format(arch=arch), CAPABILITIES[arch], np.arange(32)
    wanted = (lanes < 3) | (lanes ^ 8 < 12) | (lanes == 9)
    wrong = assembler.assemble_once(ptx, chip).cubin
    if takes_and_for_or(wrong):
        assert (executed(wrong, arch, np.zeros(32, np.int32), 3, 12) != wanted).any()
    right = assembler.assemble(ptx, chip).cubin
    np.testing.assert_array_equal(executed(right, arch, np.zeros(32, np.int32), 3, 12), wanted)


@pytest.mark.parametrize("draw", range(4 * DRAWS))
@pytest.mark.parametrize("arch", [90, 100])
def test_extrema_of_negations_that_the_assembler_finds(arch: int, draw: int) -> None:
    """Of these programs a ptxas before 13.4 makes wrong code of one in five, if it gets them as they are."""
    program, chip = Extrema(Random(f"{SEED} {arch} {draw}")), CAPABILITIES[arch]
    numbers = np.random.default_rng([SEED, draw]).integers(-(2**31), 2**31, (32, 4)).astype(np.int32)
    made = assembler.assemble(avoid_faults(program.ptx(arch), chip), chip)
    got = executed(made.cubin, arch, numbers).reshape(32, 4)[:, 0]
    np.testing.assert_array_equal(got, program.computed(numbers))


@pytest.mark.parametrize("operation", ["neg", "abs"])
@pytest.mark.parametrize("arch", [75, 80, 90, 100, 120])
def test_the_least_number_turned_is_itself(arch: int, operation: str) -> None:
    chip = CAPABILITIES[arch]
    turned = f"{operation}.s16 %rs2, %rs1;"
    lines = ("ld.global.b16 %rs1, [%rd3];", turned, "cvt.s32.s16 %r2, %rs2;", "st.global.b32 [%rd3], %r2;")
    ptx = avoid_faults(of_a_warp(f"sm_{arch}", 4, *lines), chip)
    numbers = np.resize(np.array([-32768, 32767, -32767, 0, 5, -7], np.int16), 32)
    got = executed(assembler.assemble(ptx, chip).cubin, arch, numbers.astype(np.int32))
    np.testing.assert_array_equal(got, getattr(np, {"neg": "negative", "abs": "abs"}[operation])(numbers))
