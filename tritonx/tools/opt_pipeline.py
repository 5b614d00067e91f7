"""From the text of a pipeline, ``a,b{opt=1}``, to passes; and from ``cuda:90`` to a backend's stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from tritonx.backends.api import Compilation, EmitStage, KernelImage
from tritonx.backends.registry import get_backend, launch_options
from tritonx.runtime.errors import TritonError
from tritonx.tools import command
from tritonx.tools.opt_diagnostics import Diagnostic, at_offset

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass
    from xdsl.utils.arg_spec import ArgSpec

    from tritonx.backends.api import Backend, Compilation, Stage

OTHER_NAMES = {"llvm": "llir", "ll": "llir"}
"""Names by which Triton and LLVM know an emit stage."""

_STATED = {"num_warps": "ttg.num-warps", "num_ctas": "ttg.num-ctas"}

PIPELINE = "<pipeline>"
TARGET = "<target>"


def parse_passes(text: str) -> tuple[ModulePass, ...]:
    """The passes that ``text`` names, with their options. Raises ``Diagnostic``."""
    from xdsl.utils.arg_spec import parse_pipeline
    from xdsl.utils.exceptions import ArgSpecParseError

    from tritonx.transforms.registry import UnknownPass, find_pass

    try:
        specs = tuple(parse_pipeline(text))
    except ArgSpecParseError as error:
        raise _syntax_error(text, str(error)) from None
    passes: list[ModulePass] = []
    offset = 0
    for spec in specs:
        offset = max(text.find(spec.name, offset), 0)
        try:
            passes.append(_made(find_pass(spec.name), spec))
        except UnknownPass as error:
            raise at_offset(PIPELINE, text, offset, str(error)) from None
        except (ValueError, TypeError) as error:
            raise at_offset(PIPELINE, text, offset, f"pass '{spec.name}': {error}") from None
        offset += len(spec.name)
    return tuple(passes)


def _made(kind: type[ModulePass], spec: ArgSpec) -> ModulePass:
    """The pass that ``spec`` names, for the target that it names where the pass is made for one."""
    from_target: Callable[[Any], ModulePass] | None = getattr(kind, "from_target", None)
    if from_target is None:
        return kind.from_spec(spec)
    given = {key: value[0] for key, value in spec.normalize_parameter_names().parameters.items() if len(value) == 1}
    name = given.pop("target", None)
    if not isinstance(name, str):
        raise ValueError('name a target: {target="backend:arch"}')
    found = find_target(name, [f"{key}={value}" for key, value in given.items()])
    target = found.backend.gpu_target(found.compilation.target, found.compilation.options)
    if target is None:
        raise ValueError(f"{name} has no layouts")
    return from_target(target)


def _syntax_error(text: str, report: str) -> Diagnostic:
    """xDSL's report carries the position as ``pass-pipeline:1:COL`` and the message as its last line."""
    lines = [line for line in report.splitlines() if line.strip()]
    position = next((line for line in lines if line.startswith("pass-pipeline:")), "pass-pipeline:1:1")
    column = int(position.rsplit(":", 1)[1])
    return at_offset(PIPELINE, text, column - 1, lines[-1].strip())


@dataclass(frozen=True)
class TargetStages:
    """A backend's stages for one target, with the compilation that they share."""

    backend: Backend
    stages: tuple[Stage, ...]
    compilation: Compilation

    def names(self) -> str:
        return ", ".join((*(stage.name for stage in self.stages), *self.backend.disassemblies))

    def ir_stages(self) -> tuple[str, ...]:
        """The stages that leave IR."""
        return tuple(stage.name for stage in self.stages if not isinstance(stage, EmitStage))

    def position(self, name: str) -> int:
        """The position of the stage called ``name``. Raises ``Diagnostic``."""
        name = OTHER_NAMES.get(name, name)
        for index, stage in enumerate(self.stages):
            if stage.name == name:
                return index
        raise Diagnostic(
            TARGET, 0, 0, f"{self.compilation.target} has no stage '{name}'; its stages are {self.names()}"
        )

    def between(self, first: str | None, last: str | None) -> tuple[Stage, ...]:
        """The stages from ``first`` (by default the first one) to ``last`` (by default the last), both included;
        ``last`` may also be a disassembly of the last one's output."""
        if last in self.backend.disassemblies:
            return (*self.between(first, None), EmitStage(last, partial(self.disassembly, last)))
        start = 0 if first is None else self.position(first)
        stop = len(self.stages) if last is None else self.position(last) + 1
        if stop <= start:
            raise Diagnostic(TARGET, 0, 0, f"stage '{last}' comes before '{first}'; the stages are {self.names()}")
        return self.stages[start:stop]

    def up_to(self, name: str) -> tuple[Stage, ...]:
        """The stages to the one that makes ``name``, output or IR, which may also be a disassembly of the last one's.
        Raises ``Diagnostic`` where ``name`` is neither."""
        if name in self.backend.disassemblies:
            return (*self.stages, EmitStage(name, partial(self.disassembly, name)))
        return self.stages[: self.position(name) + 1]

    def text_stage(self, name: str, first: str | None) -> int | None:
        """Which emit stage made the text of an input: the one that the extension of its file name names, or the one
        before ``first`` (``--from``). None where the input is IR."""
        extension = PurePath(name).suffix.lstrip(".")
        if first is not None and first not in self.backend.disassemblies:
            made = self.position(first) - 1
        else:
            names = [stage.name for stage in self.stages]
            extension = OTHER_NAMES.get(extension, extension)
            made = names.index(extension) if extension in names else -1
        stage = self.stages[made] if made >= 0 else None
        return made if isinstance(stage, EmitStage) and stage.kind == "text" else None

    def disassembly(self, name: str, binary: bytes, compilation: Compilation) -> str:
        """The backend's listing of what its last stage made."""
        symbol = str(compilation.metadata.get("name", ""))
        listing = self.backend.disassemble(
            name, KernelImage(symbol, binary, (), compilation.metadata, compilation.target)
        )
        if listing is None:
            raise Diagnostic(TARGET, 0, 0, f"{compilation.target} cannot be disassembled to {name}")
        return listing


def find_target(text: str, options: Sequence[str]) -> TargetStages:
    """The stages of a launch on a target such as ``cuda:90``, with ``key=value`` options. Raises ``Diagnostic``."""
    name, _, arch = text.partition(":")
    given = dict(_option(text) for text in options)
    try:
        backend = get_backend(name)
        target = backend.parse_target(arch)
        parsed = launch_options(backend, target, given)
        return TargetStages(backend, tuple(backend.stages(target, parsed)), Compilation(target, parsed))
    except (TritonError, ValueError, KeyError, TypeError, ImportError) as error:
        raise Diagnostic(TARGET, 0, 0, f"{text}: {str(error).strip(chr(34))}") from None


def stated_options(module: ModuleOp) -> list[str]:
    """The compile options that a module with layouts states of its launch, as ``key=value``."""
    from xdsl.dialects.builtin import IntegerAttr

    stated = ((option, module.attributes.get(name)) for option, name in _STATED.items())
    return [f"{option}={number.value.data}" for option, number in stated if isinstance(number, IntegerAttr)]


def _option(text: str) -> tuple[str, Any]:
    """``key=value`` with the value as a Python literal where it is one, and as a string otherwise."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise Diagnostic("<option>", 1, 1, f"expected key=value, got '{text}'", text)
    literal = {"true": "True", "false": "False", "none": "None"}.get(value.lower(), value)
    try:
        return key.replace("-", "_"), command.literal(literal)
    except ValueError:
        return key.replace("-", "_"), value
