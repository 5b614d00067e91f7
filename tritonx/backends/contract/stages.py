"""How a module becomes code: the stages of a compile, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from tritonx.backends.contract.options import Options, Target

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from tritonx.ir.origin import Origin


@dataclass
class Compilation:
    """What the stages of one compile share. ``metadata`` ends up as the compiled kernel's ``metadata``.

    >>> from tritonx.backends.api import Options, Target
    >>> Compilation(Target("cpu"), Options()).metadata
    {}
    """

    target: Target
    options: Options
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    scratch: dict[str, Any] = field(default_factory=dict[str, Any])
    """What one stage keeps for the next and no one else needs (an optimised module beside its text)."""
    origin: Origin | None = None
    """Where the LLVM text comes from; None for text that a user supplies. Set by the stage that writes the text, read
    where it is compiled (``tritonx.runtime.isolation``)."""
    inspect: Callable[[str, Any], None] | None = None
    """Called with (stage or pass name, artifact) as each is made; ``tritonx-opt --print-ir-after-all`` and dumps use
    it."""


@dataclass(frozen=True)
class PassStage:
    """A stage from IR to IR: these passes, in this order. ``name`` is the key in a compiled kernel's ``asm``.

    ``pending`` tells which passes a module still needs that was read from a file and may be beyond this stage; without
    it all of them.

    >>> from tritonx.transforms.tile.dce import DeadCodeElimination
    >>> PassStage("ttir", (DeadCodeElimination(),)).passes[0].name
    'dce'
    """

    name: str
    passes: tuple[ModulePass, ...]
    pending: Callable[[ModuleOp], tuple[ModulePass, ...]] | None = None
    kind: ClassVar[Literal["ir"]] = "ir"

    def remaining(self, module: ModuleOp) -> PassStage:
        """The stage with what ``module``, at whatever level, still needs of it."""
        return self if self.pending is None else PassStage(self.name, self.pending(module))


@dataclass(frozen=True)
class EmitStage:
    """A stage from what the previous one made to text or bytes (``llir``, ``ptx``, ``cubin``, ``amdgcn``, ``obj``).

    Behind the first that makes text, what a stage makes must depend on that text and on the compilation's target,
    options and metadata alone: it does not run where the cache has what it made of the same.

    >>> from tritonx.backends.api import Compilation, Options, Target, run_stages
    >>> shout = EmitStage("loud", lambda text, compilation: text.upper())
    >>> run_stages("words", [shout], Compilation(Target("cpu"), Options()))
    {'loud': 'WORDS'}
    """

    name: str
    emit: Callable[[Any, Compilation], str | bytes]
    kind: Literal["text", "binary"] = "text"
    needs_tool: bool = False
    """Whether it takes a program of the vendor's, which need not be there where nothing runs."""
    tells: Callable[[], bool] = lambda: False
    """Whether it is to print what it makes (``knobs.nvidia.dump_nvptx``); then it runs whatever the cache has."""


Stage = PassStage | EmitStage


def run_stages(module: ModuleOp | str | bytes, stages: Sequence[Stage], compilation: Compilation) -> dict[str, Any]:
    r"""Run ``stages`` in order from ``module``; the artifact of each by name. A failing pass raises ``PassFailure``.

    >>> from tritonx.backends.api import Compilation, EmitStage, Options, Target
    >>> lines = EmitStage("lines", lambda text, compilation: text.replace(";", "\n"))
    >>> size = EmitStage("size", lambda text, compilation: bytes([len(text)]), "binary")
    >>> run_stages("a;b", [lines, size], Compilation(Target("cpu"), Options()))
    {'lines': 'a\nb', 'size': b'\x03'}
    """
    from tritonx.ir.pipeline import run_emit_stage, run_pass_stage

    artifacts: dict[str, Any] = {}
    value: ModuleOp | str | bytes = module
    for stage in stages:
        if isinstance(stage, PassStage):
            run_pass_stage(cast("ModuleOp", value), stage, compilation)
        else:
            value = run_emit_stage(stage, value, compilation)
            if compilation.inspect is not None:
                compilation.inspect(stage.name, value)
        artifacts[stage.name] = value
    return artifacts
