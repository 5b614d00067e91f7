"""A case's launches, bound to one compiler."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from peers import load

from products.case import Call, Case, Configuration, Described, Step

Compiler = Literal["tritonx", "triton"]
COMPILERS: tuple[Compiler, ...] = ("tritonx", "triton")


def provide_scratch() -> None:
    """Both compilers ask the same allocator for what kernels need of a launch: descriptors that they make."""
    for name in COMPILERS:
        if importlib.util.find_spec(name) is not None:
            given = importlib.import_module(name)
            given.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))


def kernel_of(call: Call, compiler: Compiler) -> Any:
    """None where Triton is not installed."""
    pair = load(call.module)
    module = pair.ours if compiler == "tritonx" else pair.peer
    return module and getattr(module, call.kernel)


def bound(case: Case, configuration: Configuration, compiler: Compiler) -> Callable[[], None]:
    """All steps, one after the other. Descriptors are made now, not with each launch."""
    runs = [_run(step, compiler) for step in case.steps(configuration)]

    def run() -> None:
        for each in runs:
            each()

    return run


def _run(step: Step, compiler: Compiler) -> Callable[[], object]:
    if not isinstance(step, Call):
        return step
    kernel, options = kernel_of(step, compiler)[step.grid], dict(step.options)
    arguments = [_argument(value, compiler) for value in step.arguments]
    return lambda: kernel(*arguments, **options)


def _argument(value: Any, compiler: Compiler) -> Any:
    if not isinstance(value, Described):
        return value
    if compiler == "tritonx":
        from tritonx.tools.tensor_descriptor import TensorDescriptor as Ours

        return Ours.from_tensor(value.matrix, list(value.block))
    from triton.tools.tensor_descriptor import TensorDescriptor  # pyright: ignore[reportMissingImports]

    return TensorDescriptor.from_tensor(value.matrix, list(value.block))


def in_a_graph(run: Callable[[], object]) -> Callable[[], object]:
    """The same launches without their launching."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        run()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        run()
    return graph.replay


def compile_all(case: Case, configurations: Sequence[Configuration]) -> None:
    """Into the caches on disk, with both compilers; what fails, fails again when it is launched."""
    for compiler in COMPILERS:
        for configuration in configurations:
            for step in case.steps(configuration):
                if not isinstance(step, Call) or (kernel := kernel_of(step, compiler)) is None:
                    continue
                try:
                    arguments = [_argument(value, compiler) for value in step.arguments]
                    kernel.warmup(*arguments, grid=step.grid, **step.options)
                except Exception:
                    break
