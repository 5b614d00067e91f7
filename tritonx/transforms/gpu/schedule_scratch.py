from dataclasses import dataclass
from xdsl.passes import ModulePass
from xdsl.ir import Operation

from tritonx.dialects import scf, tile
from tritonx.dialects.gpu_layout import LocalAllocOp
from tritonx.analysis.scheduled_loops import *
from tritonx.ir.edit import *


def schedule(module, stages):
    L = stages - 1
    for loop in [o for o in module.walk() if isinstance(o, scf.ForOp)]:
        body = loop.body.block
        ops = [o for o in body.ops if not is_terminator(o)]
        from tritonx.dialects.nvidia import WarpGroupDotOp

        if not any(isinstance(o, (tile.DotOp, WarpGroupDotOp)) for o in ops):
            continue
        loads = [
            o
            for o in ops
            if isinstance(o, tile.LoadOp) and any(isinstance(u.operation, LocalAllocOp) for u in o.result.uses)
        ]
        first = set()
        work = list(loads)
        while work:
            o = work.pop()
            if o in first:
                continue
            first.add(o)
            for v in needed(o):
                if isinstance(v.owner, Operation) and v.owner.parent is body:
                    work.append(v.owner)
        # distance-1 deps
        second = set()
        args = {c.argument: c.yielded.value for c in carried_by(loop)}
        for o in list(first):
            for v in needed(o):
                if (
                    v in args
                    and isinstance(args[v].owner, Operation)
                    and args[v].owner.parent is body
                    and args[v].owner not in first
                ):
                    work.append(args[v].owner)
        while work:
            o = work.pop()
            if o in first or o in second:
                continue
            second.add(o)
            for v in needed(o):
                if isinstance(v.owner, Operation) and v.owner.parent is body:
                    work.append(v.owner)
        for o in ops:
            set_place(o, Place(0, 3) if o in first else Place(min(1, L), 2) if o in second else Place(L, 0))
        loop.attributes[LAST_STAGE] = IntegerAttr(L, i32)


@dataclass(frozen=True)
class ScheduleLoops(ModulePass):
    name = "schedule-scratch"
    num_stages: int = 3

    def apply(self, ctx, op):
        if self.num_stages > 1:
            schedule(op, self.num_stages)
