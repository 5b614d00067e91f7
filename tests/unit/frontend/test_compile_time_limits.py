"""What a kernel computes at compile time has limits, and is refused before memory or time ends."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

import tritonx
from tritonx.compiler import ASTSource
from tritonx.frontend.errors import CompileTimeLimit

REFUSED = (
    "1 << 10**9", "N << (N * 250000000)", "10**10**8", "10**N**30", "(-2) ** (N**9)", "tl.constexpr(10) ** (10**8)",
    "(10**1000) * (10**1000)", "'a' * 10**12", "(N * 10**11) * 'a'", "(1,) * 10**11", "[1] * N**15",
    "'%1000000000000d' % N", "f'{N:>10000000000}'", "'a'.ljust(10**12)", "'a'.zfill(10**12)", "list(range(10**12))",
    "tuple(range(10**30))",
)  # fmt: skip

TAKEN = (
    "2**63 - 1", "(1 << 64) - (1 << 63)", "10**N", "len('ab' * N)", "len((1, 2) * N)", "len(f'{N:>8}')",
    "len('%8d' % N)", "len(range(10**12))", "2**-3",
)  # fmt: skip


def compile_with(expression: str) -> None:
    name = f"<kernel with {expression}>"
    text = (
        "def kernel(out_ptr, N: tl.constexpr):\n"
        f"    value = {expression}\n"
        "    tl.store(out_ptr, 1)\n"
    )  # fmt: skip
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    scope: dict[str, Any] = {"tl": tritonx.language, "__name__": __name__}
    exec(compile(text, name, "exec"), scope)
    source = ASTSource(tritonx.jit(scope["kernel"]), {"out_ptr": "*i32", "N": "constexpr"}, constexprs={"N": 8})
    tritonx.compile(source, target="cuda:90")


@pytest.mark.parametrize("expression", REFUSED)
def test_refused_at_its_line(expression: str) -> None:
    with pytest.raises(CompileTimeLimit, match=r"at 2:\d+:") as raised:
        compile_with(expression)
    assert "on the host" in str(raised.value)


@pytest.mark.parametrize("expression", TAKEN)
def test_taken(expression: str) -> None:
    compile_with(expression)
