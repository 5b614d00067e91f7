"""The hooks around a just-in-time compile, and the compile they describe as text.

``hook(key=, repr=, fn=, compile=, is_manual_warmup=, already_compiled=)`` as in Triton: ``jit_cache_hook`` before a
compile (a true result takes it over), ``jit_post_compile_hook`` after it. ``compile["specialization_data"]`` is what
``JITFunction.preload`` accepts, in this or in another process.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from tritonx.backends.api import Options, Target
from tritonx.kernel.source import NO_MODULE, JITCallable
from tritonx.runtime import knobs
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.errors import OtherKernel, TritonError
from tritonx.runtime.launch.placement import Placement

if TYPE_CHECKING:
    from tritonx.runtime.compiling.compiled_kernel import CompiledKernel
    from tritonx.runtime.compiling.jit_function import JITFunction
    from tritonx.runtime.compiling.request import Request


@dataclass(frozen=True)
class JitFunctionInfo:
    """Which kernel a hook is about.

    >>> def told(*, fn, key, **more):
    ...     print(fn.name)
    >>> with tritonx.knobs.runtime.scope():
    ...     tritonx.knobs.runtime.jit_cache_hook = told
    ...     compiled = tritonx.jit(double.fn).warmup(np.zeros(8), BLOCK=8, grid=(1,))
    double
    """

    module: str
    name: str
    jit_function: JITFunction


_described: WeakValueDictionary[str, JITCallable] = WeakValueDictionary()
"""By digest, the functions that compiles of this process had as arguments: one that was made in a function has no name
by which it can be found again."""


def _encode(value: Any) -> Any:
    """A compile-time value for JSON; values that only exist in a process are encoded as their text."""
    if isinstance(value, JITCallable):
        _described[value.cache_key] = value
        return {"function": [value.fn.__module__, value.fn.__qualname__, value.cache_key]}
    if type(value) is tuple:
        return {"tuple": [_encode(v) for v in value]}  # pyright: ignore[reportUnknownVariableType]  # a tuple of anything, of tuples, and so on
    if value is None or type(value) in (bool, int, str) or (type(value) is float and value == value):
        return {"value": value}
    if type(value).__name__ == "dtype" and hasattr(value, "cache_key_part"):
        return {"dtype": str(value).rsplit(".", 1)[-1]}
    return {"opaque": repr(value)}


def _function(module: str, name: str, key: str) -> JITCallable:
    """The function of that digest, of this process or of its module."""
    if (found := _described.get(key)) is not None:
        return found
    try:
        named: Any = import_module(module)
        for part in name.split("."):
            named = getattr(named, part)
    except (ImportError, AttributeError):
        named = None
    if not isinstance(named, JITCallable):
        raise TritonError(f"a compile with the function {module}.{name} cannot be preloaded: it is not to be found")
    if named.cache_key != key:
        raise OtherKernel(f"Specialization data is for another {name}: the function {module}.{name} has changed")
    return named


def _decode(stored: dict[str, Any]) -> Any:
    if "function" in stored:
        return _function(*stored["function"])
    if "tuple" in stored:
        return tuple(_decode(v) for v in stored["tuple"])
    if "value" in stored:
        return stored["value"]
    if "dtype" in stored:
        import tritonx.language as tl

        return tl.dtype(stored["dtype"])
    raise TritonError(
        f"a compile with the argument {stored['opaque']} cannot be preloaded: it exists in one process only"
    )


def _type(stored: Any) -> Any:
    return tuple(_type(s) for s in stored) if isinstance(stored, list) else stored  # pyright: ignore[reportUnknownVariableType]  # a tuple of anything, of tuples, and so on


def specialization_data(key: str, source: ASTSource, target: Target, options: Options) -> str:
    """The compile as JSON."""
    return json.dumps(
        {
            "name": source.name,
            "signature": source.signature,
            "constants": [[list(path), _encode(value)] for path, value in source.constants.items()],
            "attrs": [[list(path), marks] for path, marks in source.attrs.items()],
            "target": asdict(target),
            "options": {k: _encode(v) for k, v in vars(options).items()},
            "key": key,
        }
    )


def source_of_data(kernel: JITFunction, text: str) -> tuple[ASTSource, Target, dict[str, Any]]:
    """What ``specialization_data`` described. Raises OtherKernel where it is about another."""
    data = json.loads(text)
    if data["name"] != kernel.__name__:
        raise OtherKernel(f"Specialization data is for {data['name']} but trying to preload for {kernel.__name__}")
    source = kernel.source_of(
        {name: _type(type) for name, type in data["signature"].items()},
        {tuple(path): _decode(value) for path, value in data["constants"]},
        {tuple(path): marks for path, marks in data["attrs"]},
    )
    return source, Target(**data["target"]), {k: _decode(v) for k, v in data["options"].items()}


def compile_with_hooks(asked: Request, source: ASTSource, warmup: bool) -> CompiledKernel | None:
    """The kernel that a launch asks for, between the two hooks; a future of it where compiles are asynchronous, None
    where a hook took the compile over."""
    from tritonx.runtime.async_compile import CompileRequest, active_mode

    place, options = asked.placement, asked.options
    before = knobs.runtime.jit_cache_hook
    if before is not None and call_hook(before, asked.hook_key, source, place, options, warmup, before=True):
        return None
    mode = active_mode.get()
    request = CompileRequest(source, place.target, options)
    kernel: Any = mode.submit((source.hash(), asked.hook_key), request) if mode is not None else request()
    if kernel is None:
        return None
    after = knobs.runtime.jit_post_compile_hook
    if after is not None:
        call_hook(after, asked.hook_key, source, place, options, warmup, before=False)
    return kernel


def call_hook(
    hook: Callable[..., Any],
    key: str,
    source: ASTSource,
    placement: Placement,
    options: Options,
    warmup: bool,
    *,
    before: bool,
) -> bool:
    """Call one hook; its result as a truth value."""
    fn = source.fn
    name = fn.fn.__qualname__  # a library that generates kernels names the function as what its module exports
    arguments = ", ".join(f"{name}: {type}" for name, type in source.signature.items())
    description = (
        f"{name}[num_warps={options.num_warps}, num_ctas={options.num_ctas}, num_stages={options.num_stages}, "
        f"enable_fp_fusion={options.enable_fp_fusion}, launch_cooperative_grid={options.is_cooperative}]"
        f"({arguments})"
    )
    compile = {
        "key": key,
        "signature": source.signature,
        "device": placement.device,
        "constants": source.constants,
        "num_warps": options.num_warps,
        "num_ctas": options.num_ctas,
        "num_stages": options.num_stages,
        "enable_fp_fusion": options.enable_fp_fusion,
        "launch_cooperative_grid": options.is_cooperative,
        "extern_libs": options.extern_libs,
        "configs": [source.attrs],
        "specialization_data": specialization_data(key, source, placement.target, options),
        "is_warmup": warmup,
    }
    return bool(
        hook(
            key=key,
            repr=description,
            fn=JitFunctionInfo(fn.fn.__module__ or NO_MODULE, name, fn),
            compile=compile,
            is_manual_warmup=warmup,
            already_compiled=False,
        )
    )
