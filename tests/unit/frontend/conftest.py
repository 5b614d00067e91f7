"""Compiling test kernels to ``tt``, without a backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def _build(
    fn: Any, signature: dict[str, Any] | None = None, /, options: dict[str, Any] | None = None, **constants: Any
) -> Any:
    from tritonx.backends.api import Target
    from tritonx.frontend.compile import make_module
    from tritonx.interpreter.options import InterpreterOptions

    given = signature or {}
    names = list(fn.arg_names)
    full = {name: given.get(name, "constexpr") for name in names}
    values = {(names.index(name),): value for name, value in constants.items()}
    aligned = {(names.index(name),): [["tt.divisibility", 16]] for name, type_ in given.items() if str(type_)[0] == "*"}
    settings = InterpreterOptions(**{"sanitize_overflow": False, **(options or {})})
    return make_module(fn, full, values, aligned, settings, Target("test", "", 32))


@pytest.fixture
def build() -> Callable[..., Any]:
    """(kernel, signature, **constants) → the verified module."""

    def verified(*args: Any, **kwargs: Any) -> Any:
        from tritonx.ir.verify import verify

        module = _build(*args, **kwargs)
        verify(module)
        return module

    return verified


@pytest.fixture
def text(build: Callable[..., Any]) -> Callable[..., str]:
    """(kernel, signature, **constants) → the module as text."""

    def printed(*args: Any, debuginfo: bool = False, **kwargs: Any) -> str:
        from tritonx.ir.text import print_module

        return print_module(build(*args, **kwargs), debuginfo=debuginfo)

    return printed


@pytest.fixture
def failure(build: Callable[..., Any]) -> Callable[..., Any]:
    """(kernel, signature, **constants) → the CompilationError that compiling it raises."""

    def raised(*args: Any, **kwargs: Any) -> Any:
        from tritonx.frontend.errors import CompilationError

        with pytest.raises(CompilationError) as caught:
            build(*args, **kwargs)
        return caught.value

    return raised
