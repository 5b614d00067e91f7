"""A kernel through the front end and then through the machine: what a launch means, without any backend.

Beside `InterpretedFunction`, which runs the kernel's Python lines, this runs the IR that the compiler makes of them.
Both must give the same bits, and what any backend computes is compared with either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO, cast

from xdsl.dialects.builtin import ModuleOp

from tritonx.backends.api import Options, Target
from tritonx.dialects.tile import TensorDescType
from tritonx.frontend.compile import make_module
from tritonx.frontend.semantics import ir_type
from tritonx.interpreter.arguments import normalise_grid
from tritonx.interpreter.combine import TARGET
from tritonx.interpreter.host import HostMemory
from tritonx.interpreter.machine import interpret
from tritonx.interpreter.memory import Memory
from tritonx.interpreter.options import InterpreterOptions
from tritonx.interpreter.values import Descriptor, reads_as
from tritonx.language.types.signatures import str_to_ty
from tritonx.language.values.base import base_type
from tritonx.language.values.constexpr import unwrap
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.compiling.request import specialize
from tritonx.runtime.launch.arg_spec import ArgSpec
from tritonx.runtime.launch.binder import handlers_of

OPTIONS = InterpreterOptions()


@dataclass(frozen=True)
class Bound:
    """A kernel specialised on its arguments: the `tt` module, and what its function takes."""

    module: ModuleOp
    arguments: list[object]
    names: list[str]
    host: HostMemory


def bind(
    kernel: JITFunction,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    options: Options = OPTIONS,
    target: Target = TARGET,
    memory: Memory | None = None,
) -> Bound:
    """Specialise `kernel` as a launch with these arguments does, and compile it to a `tt` module. The arrays are
    registered in `memory`, or a new one. Raises `CompilationError`."""
    bound = kernel.signature.bind(*args, **kwargs)
    bound.apply_defaults()
    values = bound.arguments
    specs: list[ArgSpec | None] = []
    for param in kernel.params:
        if param.is_constexpr:
            specs.append(None)
            continue
        specs.append(handlers_of(param)(values[param.name])[0])
    wanted = specialize(kernel, specs, values)
    module = make_module(kernel, wanted.signature, wanted.constants, wanted.attrs, options, target)
    host = HostMemory(memory)
    arguments: list[object] = []
    names: list[str] = []
    for param, spec in zip(kernel.params, specs, strict=True):
        if spec is not None:
            for name, value in _flat(spec, values[param.name], param.name, host):
                names.append(name)
                arguments.append(value)
    return Bound(module, arguments, names, host)


def launch(
    kernel: JITFunction,
    grid: object,
    *args: object,
    options: Options = OPTIONS,
    target: Target = TARGET,
    transform: Callable[[ModuleOp], ModuleOp | None] | None = None,
    poison: bool = False,
    output: TextIO | None = None,
    **kwargs: object,
) -> ModuleOp:
    """Compile `kernel` for these arguments, run its module over `grid`; returns the module that ran.

    `transform` may change the module in place, or return another one, before it runs: the passes under test.

    >>> x = np.arange(4.0)
    >>> module = tritonx.interpreter.launch(double, (1,), x, BLOCK=4)
    >>> x.tolist()
    [0.0, 2.0, 4.0, 6.0]
    """
    bound = bind(kernel, args, kwargs, options, target)
    module = bound.module
    if transform is not None:
        module = transform(module) or module
    extents: Any = grid(dict(kernel.signature.bind(*args, **kwargs).arguments)) if callable(grid) else grid
    interpret(
        module,
        normalise_grid(extents),
        bound.arguments,
        memory=bound.host.memory,
        poison=poison,
        output=output,
        arg_names=bound.names,
    )
    bound.host.write_back()
    return module


def _flat(spec: ArgSpec, value: Any, name: str, host: HostMemory) -> list[tuple[str, object]]:
    """The arguments of the IR function for one parameter, with names for messages."""
    if spec.elements is not None:
        parts = [_flat(s, v, f"{name}[{i}]", host) for i, (s, v) in enumerate(zip(spec.elements, value, strict=True))]
        return [item for part in parts for item in part]
    if spec.type == "constexpr":
        return []
    if spec.type.startswith("tensordesc"):
        return _descriptor(str_to_ty(spec.type), value, name, host)
    if spec.type.startswith("*"):
        return [(name, host.address(value, name))]
    return [(name, unwrap(value))]


def _descriptor(type_: base_type, value: Any, name: str, host: HostMemory) -> list[tuple[str, object]]:
    shape, strides = tuple(int(n) for n in value.shape), tuple(int(n) for n in value.strides)
    handle = cast(TensorDescType, ir_type(type_.leaves()[0]))
    base = host.address(value.base, name)
    descriptor = Descriptor(base, shape, strides, handle.shape, handle.element_type, *reads_as(value))
    return [(name, descriptor), *((f"{name}.shape", n) for n in shape), *((f"{name}.strides", n) for n in strides)]
