"""Compiling kernels for a target where there is no device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tritonx.backends.api import Compilation, run_stages
from tritonx.backends.nvidia import BACKEND
from tritonx.frontend.compile import make_module


@dataclass(frozen=True)
class Made:
    """The text or bytes of each stage, and the metadata."""

    stages: dict[str, Any]
    metadata: dict[str, Any]

    @property
    def ptx(self) -> str:
        return self.stages["ptx"]

    def count(self, instruction: str) -> int:
        """How often an instruction that starts with these words is in the PTX."""
        lines = (line.strip().split(None, 1) for line in self.ptx.splitlines())
        names = [words[-1] if words and words[0].startswith("@") else " ".join(words) for words in lines]
        return sum(name.startswith(instruction) for name in names)


class Compiler:
    """``compiler(kernel, arch, signature, constants, **options)``: pointers and i32 are divisible by ``aligned``."""

    def __call__(
        self,
        kernel: Any,
        arch: str,
        signature: dict[str, str],
        constants: dict[str, Any],
        *,
        aligned: int = 16,
        until: str = "cubin",
        **given: Any,
    ) -> Made:
        target = BACKEND.parse_target(arch)
        options = BACKEND.parse_options(target, given)
        names = kernel.arg_names
        full = {n: signature.get(n, "constexpr") for n in names}
        places = [names.index(n) for n, t in signature.items() if t.startswith("*") or t == "i32"]
        attrs = {(place,): [["tt.divisibility", aligned]] for place in places} if aligned > 1 else {}
        values = {(names.index(k),): v for k, v in constants.items()}
        module = make_module(kernel, full, values, attrs, options, target)
        stages = BACKEND.stages(target, options)
        wanted = [s.name for s in stages].index(until) + 1
        compilation = Compilation(target, options)
        made = run_stages(module, stages[:wanted], compilation)
        return Made(made, compilation.metadata)


@pytest.fixture
def compiler() -> Compiler:
    return Compiler()
