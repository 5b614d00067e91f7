"""`InterpretedFunction`: a kernel that runs as the Python function it is, program by program, on NumPy data.

`@jit` makes one under `TRITONX_INTERPRET=1` (or `TRITON_INTERPRET=1`); `interpreted(kernel)` makes one of any kernel.
It is launched like a compiled kernel and takes the same arguments. Inside, the kernel's own lines run: breakpoints,
`pdb` and `print` work, values are `tl.tensor`s whose numbers `print` shows. What goes wrong is an `InterpreterError`
that names the kernel's line.
"""

from __future__ import annotations

import hashlib
import inspect
from bdb import BdbQuit
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import CodeType
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from xdsl.ir import SSAValue

from tritonx.dialects.tile import TensorDescType
from tritonx.frontend.codegen.call_stack import room_for_calls
from tritonx.frontend.codegen.calls import bind_arguments
from tritonx.frontend.semantics import ir_type
from tritonx.interpreter import fresh_memory
from tritonx.interpreter.arguments import argument_value
from tritonx.interpreter.check import check
from tritonx.interpreter.eager import EagerValue
from tritonx.interpreter.errors import InterpretedCallError, InvalidLaunch, KernelFault
from tritonx.interpreter.execution import Execution
from tritonx.interpreter.host import HostMemory
from tritonx.interpreter.rewrite import rewritten
from tritonx.interpreter.running import Runtime
from tritonx.interpreter.semantics import EagerSemantics, LanesDiverge
from tritonx.interpreter.tracebacks import trail
from tritonx.interpreter.values import Descriptor, reads_as
from tritonx.kernel import active
from tritonx.kernel.declaration import KernelDeclaration
from tritonx.kernel.params import KernelParam
from tritonx.kernel.source import JITCallable
from tritonx.kernel.syntax import parse
from tritonx.language.types.dtypes import int32, int64
from tritonx.language.types.signatures import str_to_ty
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as language_tuple
from tritonx.language.values.tuples import tuple_type
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.compiling.kernel_metadata import common_fields, make_metadata
from tritonx.runtime.compiling.request import Request
from tritonx.runtime.driver import choice
from tritonx.runtime.errors import InterpreterError
from tritonx.runtime.launch.arg_spec import ArgSpec
from tritonx.runtime.launch.dataclass_arguments import parts_of, record_in
from tritonx.runtime.launch.launch_hooks import LazyDict, around_launch, launch_data
from tritonx.runtime.launch.measured_launch import RecordsOfLines

ASSERTING = {"debug": True, "sanitize_overflow": False}
"""The kernel's assertions always run; sums that overflow wrap, as they do on a device."""


class InterpretedFunction(JITFunction):
    """See the module's docstring. Launch options (`num_warps`, ...) are those of the compiler for these arguments, and
    say nothing about how the lines run.

    >>> isinstance(tritonx.interpreter.interpreted(double), InterpretedFunction)
    True
    """

    poison = False
    """Whether undefined values show as NaN or 0xA5 bytes; see `Execution.poison`."""

    has_source = True
    """Whether the text of the function is known. Of one that `exec` made, and whose text was not kept, the lines run as
    they are, without what `rewrite` changes, and nothing is checked before."""

    def _read_source(self) -> tuple[list[str], int, str]:
        try:
            return super()._read_source()
        except ValueError as error:
            if not isinstance(error.__cause__, OSError):
                raise
        self.has_source = False
        self._source = found = _stand_in(self.fn)
        return found

    def __getitem__(self, grid: Any) -> Any:
        return partial(self._over, grid if callable(grid) else self.launcher.extents(grid, {}, {}))

    def run(self, /, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
        """Run every program of `grid`, in order, x fastest; with `warmup` only look whether it compiles."""
        self._run(grid, warmup, args, kwargs)

    def _over(self, grid: object, /, *args: object, **kwargs: object) -> None:
        """The launch over `grid`, of whose arguments one may be called `grid` too."""
        self._run(grid, False, args, kwargs)

    @fresh_memory.unwatched()
    def _run(self, grid: object, warmup: bool, args: tuple[object, ...], kwargs: dict[str, Any]) -> None:
        request, given = self.launcher.request(args, kwargs)
        symbol = check(self, request)
        if warmup:
            return
        extents = self.launcher.extents(grid, request.bound, given)
        for hook in self.pre_run_hooks:
            hook(*request.bound.values(), **given)
        with around_launch(lambda: self._described(symbol, extents, request)):
            self._run_lines(extents, request)

    def _run_lines(self, extents: tuple[int, int, int], request: Request) -> None:
        execution = Execution(grid=extents, memory=(host := HostMemory()).memory, poison=self.poison)
        if request.options.instrumentation_mode:
            execution.regions = []
        options = request.options.replace(**ASSERTING)
        semantic = EagerSemantics(execution, options, call)
        values = {p.name: _argument(p, spec, request, host) for p, spec in zip(self.params, request.specs, strict=True)}
        python = python_of(self)
        with active.activate(semantic), np.errstate(all="ignore"), room_for_calls():
            _run_programs(execution, python, values)
        host.write_back()
        if execution.regions is not None and choice.listener is not None:
            choice.listener.recorded(RecordsOfLines(tuple(execution.regions)))

    def _described(self, symbol: str, extents: tuple[int, int, int], request: Request) -> LazyDict:
        """What launch hooks receive: as of a compiled kernel that has no stages and runs on stream 0."""
        fields = common_fields(request.options, request.placement.target)
        own = {"name": symbol, "hash": self.cache_key, "target": request.placement.target, "stages": ()}
        basics = {"name": symbol, "function": self.fn, "stream": 0}
        return launch_data(self, basics, extents, make_metadata({**fields, **own}), request.bound)

    def __repr__(self) -> str:
        return f"InterpretedFunction({self.module}:{self.fn.__qualname__})"


def _stand_in(fn: Any) -> tuple[list[str], int, str]:
    """Lines in the place of those of a function whose text is not known: its parameters, and a digest of its code."""
    code: CodeType = fn.__code__
    digest = hashlib.sha256(repr((code.co_code, code.co_consts, code.co_names)).encode()).hexdigest()
    names = [p.replace(annotation=p.empty, default=p.empty) for p in inspect.signature(fn).parameters.values()]
    lines = [f"def {fn.__name__}{inspect.Signature(names)}:  # {digest}\n", "    pass\n"]
    return lines, code.co_firstlineno, "".join(lines)


def interpreted(kernel: JITFunction) -> InterpretedFunction:
    """`kernel` to be run by the interpreter, whatever the environment says. Its pre-run hooks are those of `kernel`.

    >>> from tritonx.interpreter import interpreted
    >>> x = np.ones(4)
    >>> interpreted(double)[(1,)](x, BLOCK=4)
    >>> x.tolist()
    [2.0, 2.0, 2.0, 2.0]
    """
    made = InterpretedFunction(
        kernel.fn,
        launch_metadata=kernel.launch_metadata,
        do_not_specialize=kernel.do_not_specialize,
        do_not_specialize_on_alignment=kernel.do_not_specialize_on_alignment,
        debug=kernel.debug,
        noinline=kernel.noinline,
        repr=kernel.repr,
    )
    made.pre_run_hooks = kernel.pre_run_hooks
    return made


def call(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> Any:
    """Call what kernel code may call, with values of the language; the active semantics run its ops."""
    kwargs = kwargs or {}
    if not isinstance(fn, KernelDeclaration):
        return fn(*args, **kwargs)
    return python_of(fn)(**bind_arguments(fn, args, kwargs))


_PYTHON: WeakKeyDictionary[JITCallable, tuple[str, Callable[..., Any]]] = WeakKeyDictionary()
"""Rewritten functions by the function they were made of, with the source they were made from: a cache, nothing else."""


def python_of(fn: JITCallable) -> Callable[..., Any]:
    """The rewritten Python function of a kernel function, or the function itself where its text is not known."""
    known = _PYTHON.get(fn)
    if known is not None and known[0] is fn.src:
        return known[1]
    if isinstance(fn, InterpretedFunction) and not fn.has_source:
        return fn.fn
    made = rewritten(
        fn.fn,
        parse(fn.src),
        file=fn.file_name,
        first_line=fn.def_line_number,
        indentation=fn.indentation,
        runtime=Runtime,
    )
    _PYTHON[fn] = (fn.src, made)
    return made


def _run_programs(execution: Execution, python: Callable[..., Any], values: Mapping[str, base_value]) -> None:
    x_extent, y_extent, z_extent = execution.grid
    for z in range(z_extent):
        for y in range(y_extent):
            for x in range(x_extent):
                execution.program = (x, y, z)
                try:
                    python(**values)
                except KernelFault as fault:
                    fault.trail = trail(fault.__traceback__, function_of)
                    raise fault.at(None, execution.program) from None
                except (InterpreterError, BdbQuit):
                    raise
                except Exception as error:
                    diverges = isinstance(error, LanesDiverge)
                    text = "a combine function branches on values of a block" if diverges else repr(error)
                    where = trail(error.__traceback__, function_of)
                    raise InterpretedCallError(where.describe(text)) from (None if diverges else error)


def function_of(code: CodeType) -> JITCallable | None:
    """The kernel function whose rewritten form has this code."""
    return next((fn for fn, (_, made) in list(_PYTHON.items()) if made.__code__ is code), None)


# Arguments.


def _argument(param: KernelParam, spec: ArgSpec | None, request: Request, host: HostMemory) -> base_value:
    if spec is None:
        return constexpr(request.wanted.constants[(param.num,)])
    return _language_value(spec, request.bound[param.name], param.name, host)


def _language_value(spec: ArgSpec, value: Any, name: str, host: HostMemory) -> base_value:
    if spec.elements is not None:
        parts: list[base_value] = [
            _language_value(s, part, name + own_name, host)
            for s, (own_name, part) in zip(spec.elements, parts_of(value), strict=True)
        ]
        record = record_in(value)
        fields = getattr(value if record is None else record.kind, "_fields", None)
        return language_tuple(parts, tuple_type([p.type for p in parts], fields))
    if spec.type == "constexpr":
        return constexpr(unwrap(spec.value))
    type_ = str_to_ty(spec.type)
    if spec.type.startswith("tensordesc"):
        return _descriptor(type_, value, name, host)
    if type_.is_ptr():
        return tensor(EagerValue(ir_type(type_), np.int64(host.address(value, name))), type_)
    number: Any = value.item() if hasattr(value, "item") else value
    return tensor(EagerValue(ir_type(type_), argument_value(number, ir_type(type_), name, host.memory)), type_)


def _descriptor(type_: base_type, value: Any, name: str, host: HostMemory) -> base_value:
    """A host tensor descriptor: the device-side descriptor with its shape (i32) and strides (i64)."""
    shape, strides = [int(n) for n in value.shape], [int(n) for n in value.strides]
    block = tuple(int(n) for n in value.block_shape)
    if len(shape) != len(block) or len(strides) != len(block):
        raise InvalidLaunch(
            f"{name}: a descriptor's shape, strides and block shape have one rank, got {shape}, {strides}, {block}"
        )
    descriptor = cast(TensorDescType, ir_type(type_.leaves()[0]))
    data = Descriptor(
        host.address(value.base, name), tuple(shape), tuple(strides), block, descriptor.element_type, *reads_as(value)
    )
    handles: list[SSAValue] = [EagerValue(descriptor, data)]
    handles += [EagerValue(ir_type(int32), np.int32(n)) for n in shape]
    handles += [EagerValue(ir_type(int64), np.int64(n)) for n in strides]
    return type_.rebuild(iter(handles))
