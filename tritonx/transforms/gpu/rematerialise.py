"""What would wait in registers where they are short is made again behind that place, of what is there anyway.

Code generators compute each value once, and as early as they can: out of loops, and in front of all that needs it. From
there on it is in a register, and where tiles take nearly all of them it is what the register allocator spills. An
instruction or two to make it again cost less. Three kinds of values are cheap to make again, and each is written so
that the code generator cannot merge it with the first one:

- wide tiles behind a reduction, of the narrow tiles that they were computed from (`remade_tiles`);
- the offsets of a store behind a crowded stretch, of ranges (`remade_offsets`);
- pointers in a loop around a loop, of a scalar and what changes (`remade_sums`).

Whether registers are short, the model says that all passes have (`tritonx.analysis.registers`)."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.passes import ModulePass

from tritonx.analysis.registers import RegisterFile
from tritonx.dialects.tile.shape import ANEW
from tritonx.ir.contract import Contract
from tritonx.ir.properties import stated_number
from tritonx.transforms.gpu.remade_offsets import remake_offsets
from tritonx.transforms.gpu.remade_sums import remake_sums
from tritonx.transforms.gpu.remade_tiles import remake_tiles


@dataclass(frozen=True)
class Rematerialise(ModulePass):
    """Makes values again, instead of keeping them in registers, where a thread has too few.

    Pointers in loops around loops, and offsets of stores, where `registers` of a thread are too few for tiles, these
    and `working` more. Float tiles of at least `words` registers, behind reductions, where `blocks` blocks would not
    have room for them beside each other in the `shared` registers of a processor; then `ttg.maxnreg` is set to what
    lets them share it. Where it is not known how many registers there are it does nothing."""

    name = "rematerialise"
    contract = Contract(
        ("ttg",),
        on=("tt.reduce", "tt.store", "tt.atomic_rmw", "tt.addptr"),
        creates=("tt.elementwise_inline_asm", "tt.splat", "tt.broadcast", "tt.addptr"),
        reads=("ttg.num-warps", "ttg.threads-per-warp"),
        writes=("ttg.maxnreg", ANEW),
        needs=("assign-layouts",),
    )

    registers: int | None = None
    """That a thread can have; None if it is not known."""
    shared: int | None = None
    """Of a processor; None if it is not known."""
    words: int = 64
    """Registers that a float tile takes in a thread at least; 0 for no tile."""
    blocks: int = 2
    """That are to share a processor."""
    working: int = RegisterFile.working
    """Of a thread, for what is neither tile nor offset."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.registers is not None:
            remake_sums(op, self.registers - self.working)
        if self.shared is not None and self.words:
            self._share(op, self.shared)
        if self.registers is not None:
            remake_offsets(op, self.registers - self.working)

    def _share(self, op: ModuleOp, registers: int) -> None:
        warps, lanes = (stated_number(op.attributes, name) or 1 for name in ("ttg.num-warps", "ttg.threads-per-warp"))
        threads = warps * lanes
        share = registers // (self.blocks * threads)
        if remake_tiles(op, self.words, share - self.working) and "ttg.maxnreg" not in op.attributes:
            limit = share // 8 * 8
            if limit >= self.words // 2 + 24:
                op.attributes["ttg.maxnreg"] = IntegerAttr(min(limit, 248), 32)
