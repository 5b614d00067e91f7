"""Asks a Triton wheel in which registers threads have tiles of tensor memory; a script, in a process of its own.

stdin: a JSON list of [dtype, shape, shape of the allocation, [class, fields] of the layout, warps, variant]; stdout:
for each the fields of the layout in registers, or null where it is refused.
"""

import json
import sys

from triton.experimental.gluon import language as ttgl
from triton.experimental.gluon.language.nvidia import blackwell


def answer(dtype, shape, whole, layout, warps, variant):
    lies = getattr(blackwell, layout[0])(**layout[1])
    type_ = blackwell.tensor_memory_descriptor_type(getattr(ttgl, dtype), shape, lies, whole)
    try:
        found = type_.get_reg_layout(num_warps=warps, instr_variant=variant)
    except (AssertionError, ValueError, RuntimeError):
        return None
    return [found.reg_bases, found.lane_bases, found.warp_bases, found.block_bases, found.shape]


if __name__ == "__main__":
    json.dump([answer(*question) for question in json.load(sys.stdin)], sys.stdout)
