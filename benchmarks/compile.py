"""Compile times up to the cubin beside Triton's, on a machine that needs no GPU: ratio of medians, interleaved.

    python benchmarks/compile.py [repetitions]

Both are asked for the same kernel source, types and options, with the caches off and everything imported; each
repetition compiles with one and then with the other. The time on the clock, and the processors' time of this process
and of those it started, which other work on the machine does not lengthen by waiting."""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ["TRITONX_ALWAYS_COMPILE"] = "1"
os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="triton-bench-")
os.environ["TRITONX_CACHE_DIR"] = tempfile.mkdtemp(prefix="tritonx-bench-")

from peers import load  # the caches must be set before anything is imported


class Case(NamedTuple):
    kernel: str
    signature: dict[str, str]
    constants: dict[str, Any]
    target: str
    options: dict[str, int]


def pointers(names: str, type_: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), type_)


CASES: dict[str, Case] = {
    "add": Case("add", {**pointers("x_ptr y_ptr z_ptr", "*fp32"), "n": "i32"}, {"BLOCK": 1024}, "cuda:90",
                {"num_warps": 4}),
    "softmax": Case(
        "softmax", {**pointers("out_ptr in_ptr", "*fp32"), "n_cols": "i32"}, {"BLOCK": 8192}, "cuda:90",
        {"num_warps": 8},
    ),
    "layer norm": Case(
        "layer_norm", {**pointers("x_ptr y_ptr w_ptr b_ptr", "*fp16"), "n_cols": "i32", "eps": "fp32"},
        {"BLOCK": 8192}, "cuda:90", {"num_warps": 8},
    ),
    "matmul, 8.0": Case(
        "matmul",
        {**pointers("a_ptr b_ptr c_ptr", "*fp16"), **pointers("M N K stride_am stride_bk stride_cm", "i32")},
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "GROUP_M": 8}, "cuda:80", {"num_warps": 4, "num_stages": 3},
    ),
    "attention, 8.0": Case(
        "attention", {**pointers("q_ptr k_ptr v_ptr o_ptr", "*fp16"), "n_ctx": "i32", "scale": "fp32"},
        {"D": 64, "BLOCK_M": 128, "BLOCK_N": 64, "CAUSAL": True}, "cuda:80", {"num_warps": 4, "num_stages": 3},
    ),
}  # fmt: skip


def source(module: Any, ast_source: Any, case: Case) -> Any:
    fn = getattr(module, case.kernel)
    names = fn.arg_names
    aligned = {
        (names.index(n),): [["tt.divisibility", 16]] for n, t in case.signature.items() if t[0] == "*" or t == "i32"
    }
    full = {n: case.signature.get(n, "constexpr") for n in names}
    return ast_source(fn, full, constexprs={(names.index(k),): v for k, v in case.constants.items()}, attrs=aligned)


def compilers() -> dict[str, Callable[[Case], Any]]:
    import tritonx
    from tritonx.backends.compiler import GPUTarget
    from tritonx.compiler import ASTSource

    kernels = load("kernels_memory")

    def ours(case: Case) -> Any:
        target = GPUTarget("cuda", int(case.target[5:]), 32)
        return tritonx.compile(source(kernels.ours, ASTSource, case), target=target, options=case.options)

    found: dict[str, Callable[[Case], Any]] = {"tritonx": ours}
    if kernels.peer is not None:
        import triton
        from triton.backends.compiler import GPUTarget as PeerTarget
        from triton.compiler import ASTSource as PeerSource

        def peer(case: Case) -> Any:
            target = PeerTarget("cuda", int(case.target[5:]), 32)
            return triton.compile(source(kernels.peer, PeerSource, case), target=target, options=case.options)

        found["triton"] = peer
    return found


class Times(NamedTuple):
    """In milliseconds."""

    clock: float
    processors: float


def now() -> Times:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = time.process_time() + children.ru_utime + children.ru_stime
    return Times(time.perf_counter() * 1e3, busy * 1e3)


def line(name: str, times: dict[str, list[Times]]) -> str:
    """Medians, the best times, and both ratios."""
    clock, busy = ({who: statistics.median(t[i] for t in values) for who, values in times.items()} for i in (0, 1))
    cells = [
        f"{who} {clock[who]:.0f} ms (best {min(t.clock for t in times[who]):.0f}, processors {busy[who]:.0f})"
        for who in times
    ]
    if "triton" in times:
        of_clock, of_busy = (medians["tritonx"] / medians["triton"] for medians in (clock, busy))
        cells.append(f"ratio {of_clock:.2f}, of processors {of_busy:.3f} (goal 1.3)")
    return f"{name:16s} {', '.join(cells)}"


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    available = compilers()
    for compile_ in available.values():
        compile_(CASES["add"])
    for name, case in CASES.items():
        times: dict[str, list[Times]] = {who: [] for who in available}
        for _ in range(repetitions):
            for who, compile_ in available.items():
                start = now()
                compile_(case)
                end = now()
                times[who].append(Times(end.clock - start.clock, end.processors - start.processors))
        print(line(name, times), flush=True)


if __name__ == "__main__":
    main()
