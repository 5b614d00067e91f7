"""A backend outside tritonx's repository, for a made-up accelerator beside the host: it takes the module at ``tt``,
puts products onto the matrix unit and loads onto the DMA engine, writes a NumPy program, and runs that on a model of
the chip.

``BACKEND`` is what the entry point names. Beside this file nothing is imported before a kernel is compiled for ``toy``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tritonx.backends.api import Backend, Candidate, Compilation, Driver, EmitStage, Options, PassStage, Target

MOST_COPIES = 16
"""The queue of the DMA engine holds no more."""


@dataclass(frozen=True)
class ToyOptions(Options):
    """``copies`` may be under way at a time; with 0 every load is waited for at once. ``trace`` makes the program print
    the id of every program instance it runs. Of the language's 8-bit floats the chip has two; products of float32 are
    computed by their meaning, which has all precisions."""

    copies: int = 4
    trace: bool = False
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e5", "fp8e4nv")
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")


class ToyBackend(Backend):
    name = "toy"
    api_version, stable_version = 2, 1
    options_type = ToyOptions
    binary_stage = "numpy"
    dlpack_device_types = frozenset({1})
    torch_device_types = frozenset({"cpu"})
    array_interfaces = ("__array_interface__",)
    language_module = "tritonx_toy.language"

    def parse_target(self, arch: str) -> Target:
        if arch not in ("", "v1"):
            raise ValueError(f"unknown architecture {arch!r}; toy has v1")
        return Target("toy", "v1")

    def known_targets(self) -> tuple[Target, ...]:
        return (Target("toy", "v1"),)

    def parse_options(self, target: Target, given: Mapping[str, object]) -> Options:
        options = super().parse_options(target, given)
        copies = getattr(options, "copies", None)
        if type(copies) is not int or not 0 <= copies <= MOST_COPIES:
            raise ValueError(f"copies must be an integer from 0 to {MOST_COPIES}, got {copies!r}")
        return options

    def stages(self, target: Target, options: Options) -> tuple[PassStage | EmitStage, ...]:
        from tritonx.backends.tile import TILE_PIPELINE
        from tritonx_toy.copy_ahead import CopyAhead
        from tritonx_toy.refuse_types import RefuseTypes
        from tritonx_toy.use_matrix_unit import UseMatrixUnit

        assert isinstance(options, ToyOptions)
        return (
            PassStage("ttir", (*TILE_PIPELINE, RefuseTypes(), UseMatrixUnit(), CopyAhead(options.copies))),
            EmitStage("numpy", _emit, kind="text"),
        )

    def code_options(self, target: Target, options: Options) -> Options:
        from tritonx_toy.hints import same_code

        return same_code(options)

    def propose(self, target: Target, candidate: Candidate) -> Sequence[Mapping[str, object]]:
        from tritonx_toy.hints import neighbours

        return neighbours(candidate)

    def prune(self, target: Target, candidates: Sequence[Candidate]) -> Mapping[int, str]:
        from tritonx_toy.hints import not_worth_it

        return not_worth_it(candidates)

    def driver(self) -> Driver:
        from tritonx_toy.driver import ToyDriver

        return ToyDriver()

    def version_key(self) -> str:
        return "toy 0.2.0"


def _emit(module: Any, compilation: Compilation) -> str:
    from tritonx_toy.emit import emit_module

    return emit_module(module, compilation)


BACKEND = ToyBackend()
