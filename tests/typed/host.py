"""What pyright says of programs that launch kernels."""

# pyright: strict
# ruff: noqa: F821  # `reveal_type`

from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx.tools.tensor_descriptor import TensorDescriptor


@tritonx.jit
def plain(x: tl.tensor, n: tl.tensor, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), n)


@tritonx.jit(do_not_specialize=["n"], noinline=False)
def options(x: tl.tensor, n: tl.tensor, BLOCK: tl.constexpr):
    plain(x, n, BLOCK)


def even(args: dict[str, Any]) -> bool:
    return args["n"] % 16 == 0


@tritonx.autotune(configs=[tritonx.Config({"BLOCK": 16}, num_warps=4, num_stages=2)], key=["n"])
@tritonx.heuristics({"EVEN": even})
@tritonx.jit
def tuned(x: tl.tensor, n: tl.tensor, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), n)


def grid(meta: dict[str, Any]) -> tuple[int]:
    return (tritonx.cdiv(100, meta["BLOCK"]),)


x = np.zeros(100, np.float32)
compiled = plain[(1,)](x, 100, BLOCK=16, num_warps=4)
reveal_type(compiled)  # CompiledKernel
plain[grid](x, 100, 16)
options[1, 2](x, 100, BLOCK=16)
tuned[grid](x, 100)
reveal_type(tuned.best_config)  # Config | None
reveal_type(plain)  # JITFunction[(x: tensor, n: tensor, BLOCK: Any), None]
reveal_type(options)  # JITFunction[(x: tensor, n: tensor, BLOCK: Any), None]
reveal_type(tritonx.cdiv(7, 2))  # int
reveal_type(tritonx.next_power_of_2(7))  # int
reveal_type(plain.warmup(x, 100, BLOCK=16, grid=(1,)))  # CompiledKernel | None
device = tritonx.runtime.arrays.to_device(x)
reveal_type(device.numpy())  # ndarray[tuple[Any, ...], dtype[Any]]
descriptor = TensorDescriptor.from_tensor(x, [16])
tritonx.testing.assert_close(x, x)
tritonx.knobs.runtime.interpret = False
