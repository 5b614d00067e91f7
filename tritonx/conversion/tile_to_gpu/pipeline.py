"""The stages from `tt` to a `ttg` that can be emitted, of every GPU: which of a backend's passes a module still needs.
The passes themselves, in order, are in `tritonx.backends.gpu_passes`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.backends.api import PassStage
from tritonx.ir.contract import contract_of
from tritonx.ir.types import encoding_of, is_tensor, is_undetermined, type_of
from tritonx.ir.walk import ops_in


def tile_stage(passes: tuple[ModulePass, ...]) -> PassStage:
    """The stage `ttir`; a file that is `ttg` already is beyond it.

    >>> from tritonx.backends.gpu import tile_passes
    >>> tile_stage(tile_passes()).name
    'ttir'
    """
    return PassStage("ttir", passes, lambda module: () if has_layouts(module) else passes)


def gpu_stage(
    layouts: tuple[ModulePass, ...], memory: tuple[ModulePass, ...], finding: tuple[ModulePass, ...] = ()
) -> PassStage:
    """The stage `ttgir`. A module that is `ttg` already needs the `memory` passes, of `layouts` those that say so
    (`Contract.written`), and those ``finding`` layouts where it leaves some open; where its memory is placed already,
    those of `memory` that say so (`Contract.placed`).
    """

    def pending(module: ModuleOp) -> tuple[ModulePass, ...]:
        if "ttg.shared" in module.attributes:
            return tuple(one for one in memory if (says := contract_of(type(one))) is not None and says.placed)
        if not has_layouts(module):
            return (*layouts, *memory)
        written = (one for one in layouts if (says := contract_of(type(one))) is not None and says.written)
        return (*(finding if has_open_layouts(module) else ()), *written, *memory)

    return PassStage("ttgir", (*layouts, *memory), pending)


def has_layouts(module: ModuleOp) -> bool:
    """Whether a module is `ttg`: its tiles have layouts, or it has no tiles and a launch shape is recorded."""
    tiles = [t for op in ops_in(module) for t in map(type_of, (*op.results, *op.operands)) if is_tensor(t)]
    if not tiles:
        return "ttg.num-warps" in module.attributes
    return any(encoding_of(type_) is not None for type_ in tiles)


def has_open_layouts(module: ModuleOp) -> bool:
    """Whether a tile of `ttg` has a layout that is to be found."""
    return any(is_undetermined(type_of(value)) for op in ops_in(module) for value in (*op.results, *op.operands))
