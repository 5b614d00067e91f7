"""Which warps run which partition of a `ttg.warp_specialize`, and how many registers each thread may hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, i32
from xdsl.passes import ModulePass

from tritonx.dialects.gpu_layout import WarpSpecializeOp
from tritonx.ir.contract import Contract
from tritonx.ir.failure import PassError
from tritonx.ir.properties import stated_number
from tritonx.ir.walk import ops_in

WARPS_IN_GROUP = 4
"""Registers are given to so many warps at a time, and products of warp groups take so many."""

GRANULE = 8
"""Registers are given in eights."""


@dataclass(frozen=True)
class AllocateWarpGroups(ModulePass):
    """Gives each partition of warps its place behind the kernel's own, and its registers.

    The first warp of each is in `warpGroupStartIds`: the widest partitions come first, so that each of four warps or
    more begins at a warp group. The warps of the block, in whole warp groups, become `ttg.total-num-warps`.

    Where partitions ask for registers (`requestedRegisters`), `ttg.maxnreg` becomes what each thread has at the
    launch, out of `registers` in all and no more than `limit` or than the module already says, and `actualRegisters`
    what a thread of the kernel's own warps has during the op, then of each partition: what it asked for, in eights; the
    kernel's own warps have what is left. Refused where the number of registers is unknown.

    Ops that have their warps already are left as they are.
    """

    name = "allocate-warp-groups"
    contract = Contract(
        ("ttg",),
        on=("ttg.warp_specialize",),
        reads=("ttg.num-warps", "ttg.maxnreg"),
        writes=("ttg.total-num-warps", "ttg.maxnreg"),
    )

    registers: int | None = None
    """Registers of a block's threads in all; None where that is unknown."""
    fewest: int = 24
    """Registers that a thread keeps at least."""
    most: int = 256
    """Registers that a thread may have at most."""
    threads_per_warp: int = 32
    """Lanes of a warp."""
    limit: int | None = None
    """Registers of a thread at the launch at most; None where that is unknown."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        specialized = [inner for inner in ops_in(op) if isinstance(inner, WarpSpecializeOp)]
        own = op.attributes.get("ttg.num-warps")
        if not specialized or not isinstance(own, IntegerAttr):
            return
        first = -(-int(own.value.data) // WARPS_IN_GROUP) * WARPS_IN_GROUP
        total = max(_place(each, first) for each in specialized)
        total = -(-total // WARPS_IN_GROUP) * WARPS_IN_GROUP
        op.attributes["ttg.total-num-warps"] = IntegerAttr(total, i32)
        if any(each.requestedRegisters is not None for each in specialized):
            if self.registers is None:
                raise PassError(
                    specialized[0], "partitions ask for registers, and the target does not say how many it has"
                )
            if int(own.value.data) % WARPS_IN_GROUP:
                raise PassError(
                    specialized[0],
                    f"partitions ask for registers, which whole warp groups share out; the kernel has {own.value.data}"
                    " warps",
                    f"num_warps must be a multiple of {WARPS_IN_GROUP}",
                )
            share = min(self.registers // (total * self.threads_per_warp), self.most - 1)
            limits = (self.limit, stated_number(op.attributes, "ttg.maxnreg"))
            at_launch = min([share, *(limit for limit in limits if limit is not None)]) // GRANULE * GRANULE
            op.attributes["ttg.maxnreg"] = IntegerAttr(at_launch, i32)
            for each in specialized:
                self._share_out(each, first, total, at_launch)

    def _share_out(self, op: WarpSpecializeOp, first: int, total: int, at_launch: int) -> None:
        if op.actualRegisters is not None:
            return
        assert op.warpGroupStartIds is not None
        if op.requestedRegisters is None:
            wanted = [at_launch] * len(op.partitions)
        else:
            wanted = [int(n) for n in op.requestedRegisters.get_values()]
        given = [min(self.most, max(self.fewest, -(-n // GRANULE) * GRANULE)) for n in wanted]
        starts, warps = (
            [int(n) for n in values.get_values()] for values in (op.warpGroupStartIds, op.partitionNumWarps)
        )
        groups = dict.fromkeys(range(first // WARPS_IN_GROUP, total // WARPS_IN_GROUP), self.fewest)
        groups |= registers_of_groups(starts, warps, given)
        left = total * at_launch - WARPS_IN_GROUP * sum(groups.values())
        own = min(self.most, left // first // GRANULE * GRANULE)
        if own < self.fewest:
            raise PassError(
                op,
                f"the partitions ask for {wanted} registers a thread, which leaves {max(own, 0)} for the kernel's own"
                f" warps of the {at_launch} that each of {total} warps has; they need {self.fewest}",
            )
        op.properties["actualRegisters"] = DenseArrayBase.from_list(i32, [own, *given])


def registers_of_groups(starts: Sequence[int], warps: Sequence[int], registers: Sequence[int | None]) -> dict[int, int]:
    """Warp group → the most registers a thread that one of its partitions has; none where it is not given."""
    found: dict[int, int] = {}
    for start, count, amount in zip(starts, warps, registers, strict=True):
        for group in range(start // WARPS_IN_GROUP, (start + count - 1) // WARPS_IN_GROUP + 1):
            if amount is not None:
                found[group] = max(amount, found.get(group, 0))
    return found


def _place(op: WarpSpecializeOp, first: int) -> int:
    """Give the partitions their warps from `first` on; returns the first warp behind them."""
    warps = [int(n) for n in op.partitionNumWarps.get_values()]
    if op.warpGroupStartIds is not None:
        given = [int(n) for n in op.warpGroupStartIds.get_values()]
        return max((start + count for start, count in zip(given, warps, strict=True)), default=first)
    starts = [0] * len(warps)
    following = first
    for index in sorted(range(len(warps)), key=lambda i: (-warps[i], i)):
        starts[index] = following
        following += warps[index]
    op.properties["warpGroupStartIds"] = DenseArrayBase.from_list(i32, starts)
    return following
