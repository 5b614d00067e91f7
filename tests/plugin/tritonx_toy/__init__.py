"""A backend outside tritonx's repository: it takes the module at ``tt``, writes a NumPy program, and runs that.

``BACKEND`` is what the entry point names. Beside this file nothing is imported before a kernel is compiled for ``toy``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tritonx.backends.api import Backend, Compilation, Driver, EmitStage, Options, PassStage, Target


@dataclass(frozen=True)
class ToyOptions(Options):
    """``trace`` makes the program print the id of every program instance it runs. The meanings that it
    calls have every format and precision of the language."""

    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16")
    trace: bool = False


class ToyBackend(Backend):
    name = "toy"
    options_type = ToyOptions
    binary_stage = "numpy"
    dlpack_device_types = frozenset({1})
    torch_device_types = frozenset({"cpu"})
    array_interfaces = ("__array_interface__",)

    def parse_target(self, arch: str) -> Target:
        if arch not in ("", "v1"):
            raise ValueError(f"unknown architecture {arch!r}; toy has v1")
        return Target("toy", "v1")

    def known_targets(self) -> tuple[Target, ...]:
        return (Target("toy", "v1"),)

    def stages(self, target: Target, options: Options) -> tuple[PassStage | EmitStage, ...]:
        from tritonx.backends.tile import TILE_PIPELINE
        from tritonx_toy.double_by_adding import DoubleByAdding

        return (
            PassStage("ttir", (*TILE_PIPELINE, DoubleByAdding())),
            EmitStage("numpy", _emit, kind="text"),
        )

    def driver(self) -> Driver:
        from tritonx_toy.driver import ToyDriver

        return ToyDriver()

    def version_key(self) -> str:
        return "toy 0.1.0"


def _emit(module: Any, compilation: Compilation) -> str:
    from tritonx_toy.emit import emit_module

    return emit_module(module, compilation)


BACKEND = ToyBackend()
