"""What a variant is compiled with: the types of a launch of the case's sizes, as Triton specialises them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tests.styles.running import evaluated, loaded
from tests.styles.variants import Variant
from tritonx.analysis.launch_bounds import questions_of
from tritonx.backends.api import Compilation, Options, Target, run_stages
from tritonx.backends.nvidia import BACKEND
from tritonx.backends.nvidia.passes.describe_loads import DescribeLoads
from tritonx.dialects import tile
from tritonx.frontend.compile import make_module
from tritonx.ir.pipeline import pass_context
from tritonx.transforms.tile.pipeline import TILE_PIPELINE

ALIGNED = [["tt.divisibility", 16]]


@dataclass(frozen=True)
class Given:
    """``signature`` by parameter, with ``constexpr`` for constants; ``constants`` by parameter; ``aligned``: which are
    multiples of 16."""

    signature: dict[str, str]
    constants: dict[str, Any]
    aligned: frozenset[str]
    options: Mapping[str, int]


def given_of(variant: Variant) -> Given:
    program, sizes = variant.program, variant.case.sizes
    constants = {name: evaluated(text, sizes) for name, text in program.constants.items()}
    types = {name: f"*{tensor.dtype}" for name, tensor in program.tensors.items()}
    aligned = set(types)
    for name, text in program.numbers.items():
        value = evaluated(text, sizes)
        if value == 1 and name not in program.unspecialised:
            constants[name] = 1
        else:
            types[name] = "fp32" if isinstance(value, float) else "i64" if name in program.wide else "i32"
            if isinstance(value, int) and value % 16 == 0 and name not in program.unspecialised:
                aligned.add(name)
    signature = {name: types.get(name, "constexpr") for name in program.parameters()}
    return Given(signature, constants, frozenset(aligned), variant.case.options)


def module_of(variant: Variant, chip: Target, options: Options, folder: Path) -> ModuleOp:
    """The `tt` of a variant."""
    given = given_of(variant)
    kernel = loaded(variant.program, variant.case.name, folder)
    names = kernel.arg_names
    constants = {(names.index(name),): value for name, value in given.constants.items()}
    attrs = {(names.index(name),): ALIGNED for name in given.aligned if name in names}
    return make_module(kernel, given.signature, constants, attrs, options, chip)


def code_of(variant: Variant, target: str, folder: Path) -> tuple[str, int]:
    """The PTX of a variant, and its bytes of shared memory."""
    chip = BACKEND.parse_target(target)
    options = BACKEND.parse_options(chip, dict(variant.case.options))
    module = module_of(variant, chip, options, folder)
    stages = BACKEND.stages(chip, options)
    wanted = [stage.name for stage in stages].index("ptx") + 1
    compilation = Compilation(chip, options)
    made = run_stages(module, stages[:wanted], compilation)
    return made["ptx"], compilation.metadata["shared"]


def is_described(variant: Variant, target: str, folder: Path) -> bool:
    """Whether a launch of the case's sizes has tensor maps made for what products load through pointers."""
    chip = BACKEND.parse_target(target)
    options = BACKEND.parse_options(chip, dict(variant.case.options))
    module = module_of(variant, chip, options, folder)
    for each in (*TILE_PIPELINE, DescribeLoads(at_launch=True)):
        each.apply(pass_context(), module)
    function = next(op for op in module.ops if isinstance(op, tile.FuncOp) and op.is_kernel)
    program, sizes, types = variant.program, variant.case.sizes, given_of(variant).signature
    parameters = [name for name, type_ in types.items() if type_ != "constexpr"]
    numbers = {n: evaluated(program.numbers[x], sizes) for n, x in enumerate(parameters) if x in program.numbers}
    grid = [*(int(evaluated(extent, sizes)) for extent in program.grid), 1, 1]
    asked = all(question.holds(numbers, grid) for question in questions_of(function))
    return asked and any(isinstance(op, tile.DescriptorLoadOp) for op in module.walk())
