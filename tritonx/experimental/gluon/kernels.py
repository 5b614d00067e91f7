"""Kernels of Gluon: `jit`, what it makes of a function, and what that is compiled from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tritonx.backends.api import Language
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.errors import NotCallable

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from tritonx.backends.api import Options, Target


class GluonASTSource(ASTSource):
    """A kernel of Gluon and what it is specialised on, as `tritonx.compiler.ASTSource`. Its module is one of `ttg`.

    >>> from tritonx.experimental import gluon
    >>> from tritonx.experimental.gluon import language as ttgl
    >>> @gluon.jit
    ... def one(x):
    ...     ttgl.store(x, 1.0)
    >>> source = gluon.GluonASTSource(one, {"x": "*fp32"})
    >>> "ttir" in tritonx.compile(source, target="cuda:90").asm
    False
    """

    ext = "ttgir"
    language = Language.GLUON

    def hash(self) -> str:
        return f"{super().hash()}-gluon"

    def make_module(self, target: Target, options: Options) -> ModuleOp:
        """The kernel at ``ttg``. Raises the front end's errors."""
        from tritonx.experimental.gluon.generator import GluonModuleGenerator
        from tritonx.frontend.compile import make_module

        return make_module(
            self.fn, self.signature, self.constants, self.attrs, options, target, generator=GluonModuleGenerator
        )

    def passes(self) -> tuple[ModulePass, ...]:
        """Unused ops go, so that no layout is looked for in vain. Equal ops were merged as they were made."""
        from tritonx.transforms.tile.dce import DeadCodeElimination

        return (DeadCodeElimination(),)


class GluonJITFunction(JITFunction[Any, Any]):
    """What `jit` makes of a function: launched with ``kernel[grid](...)``, or called by kernels of Gluon.

    >>> from tritonx.experimental import gluon
    >>> gluon.jit(lambda x: None).is_gluon()
    True
    """

    def is_gluon(self) -> bool:
        """True, as of a Triton kernel it is false."""
        return True

    def source_of(
        self, signature: Mapping[str, Any], constants: Mapping[Any, Any], attrs: Mapping[Any, Any]
    ) -> ASTSource:
        return GluonASTSource(self, signature, constants, attrs)


def jit(
    fn: Callable[..., object] | None = None,
    *,
    version: object = None,
    repr: Callable[..., str] | None = None,
    launch_metadata: Callable[..., object] | None = None,
    do_not_specialize: Iterable[int | str] | None = None,
    do_not_specialize_on_alignment: Iterable[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> Any:
    """Make a kernel of Gluon of a Python function; ``@jit`` or ``@jit(option=...)``, with the options of `tritonx.jit`.

    >>> from tritonx.experimental import gluon
    >>> from tritonx.experimental.gluon import language as ttgl
    >>> @gluon.jit
    ... def double(x, layout: ttgl.constexpr):
    ...     at = x + ttgl.arange(0, 64, layout)
    ...     ttgl.store(at, ttgl.load(at) * 2)
    >>> layout = ttgl.BlockedLayout([1], [32], [4], [0])
    >>> source = gluon.GluonASTSource(double, {"x": "*fp32", "layout": "constexpr"}, {"layout": layout})
    >>> "st.global" in tritonx.compile(source, target="cuda:90").asm["ptx"]
    True
    """

    def decorate(function: Callable[..., Any]) -> GluonJITFunction:
        if not callable(function):
            raise NotCallable(f"@jit expects a function, got {function!r}")
        return GluonJITFunction(
            function,
            version,
            do_not_specialize,
            do_not_specialize_on_alignment,
            debug,
            noinline,
            repr,
            launch_metadata,
        )

    return decorate if fn is None else decorate(fn)
