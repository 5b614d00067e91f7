"""What ``TRITONX_EXPLAIN`` says of a host's code: ``accesses``, ``products`` and ``pipeline``, as GPUs' passes do.

A tile may be evaluated at several positions, so that an op is emitted more than once; the first emission is described.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.conversion.tile_to_loops.dot import compute_element, register_tile
from tritonx.conversion.tile_to_loops.groups import Effect, Group, Reduction
from tritonx.conversion.tile_to_loops.types import memory_type, register_type, type_bytes
from tritonx.dialects import scf, tile
from tritonx.ir.explain import explain, is_asked, is_collected
from tritonx.ir.types import element_type, is_tensor, shape_of, type_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter
    from tritonx.conversion.tile_to_loops.groups import Plan
    from tritonx.conversion.tile_to_loops.memory import Chunk


@dataclass(frozen=True)
class LoopNest:
    """A nest over `shape`, `width` elements along the dimension `lane` at a time (-1, 0: one by one); `work`: what it
    does, `reduced`: the dimension that its reductions reduce."""

    shape: tuple[int, ...]
    lane: int
    width: int
    work: tuple[str, ...]
    reduced: int | None = None


@dataclass(frozen=True)
class HostAccess:
    """How a tile is loaded or stored: `width` elements of `bits` bits at once; `kind`: `vector`, `gathered`,
    `scattered`, or `element` where they go one by one."""

    kind: str
    width: int
    bits: int


def describe_nest(e: Emitter, group: Group, shape: tuple[int, ...], lane: int, width: int) -> None:
    """The nest that is written for a group; of who collects remarks alone."""
    if not is_collected():
        return
    ops = [a.op if isinstance(a, Effect | Reduction) else a.value.owner for a in group.anchors]
    found = [op for op in ops if isinstance(op, Operation)]
    if found and found[0] not in e.described_nests:
        e.described_nests.add(found[0])
        work = tuple(op.name for op in found)
        explain("loops", found[0], "", LoopNest(shape, lane, width, work, group.axis))


def _is_first(e: Emitter, op: Operation) -> bool:
    first = op not in e.described
    e.described.add(op)
    return first


def describe_access(e: Emitter, op: tile.LoadOp | tile.StoreOp, chunk: Chunk | None, width: int) -> None:
    """How a load or a store of a tile reaches memory, unless it goes in whole vectors. ``chunk``: None for one element
    at a time."""
    if not is_asked("accesses") or not _is_first(e, op):
        return
    stored = op.result.type if isinstance(op, tile.LoadOp) else op.value.type
    bits = 8 * type_bytes(memory_type(element_type(stored)))
    kind = "gathered" if isinstance(op, tile.LoadOp) else "scattered"
    if chunk is None:
        text = f"Warning: vectorization fails: elements of {bits} bits go one by one"
        explain("accesses", op, text, HostAccess("element", 1, bits))
    elif chunk.consecutive is not None:
        text = f"a vector of {width} elements of {bits} bits where the remainder does not wrap, else {kind}"
        explain("accesses", op, text, HostAccess("vector", width, bits))
    elif chunk.pointer is None:
        text = f"Warning: vectorization fails: {width} elements of {bits} bits are {kind}"
        why = "since neighbours along the vector are not known to be neighbours in memory"
        explain("accesses", op, f"{text}, {why}", HostAccess(kind, width, bits))
    elif is_collected():
        explain("accesses", op, "", HostAccess("vector", width, bits))


def describe_product(e: Emitter, op: tile.DotOp, parts: int) -> None:
    """The instructions of a product, and the part of the result that registers hold. ``parts``: of each f32 operand
    that is written as a sum."""
    if not is_asked("products") or not _is_first(e, op):
        return
    *_, m, n = shape_of(type_of(op.d))
    extents = "x".join(map(str, (*shape_of(type_of(op.d)), shape_of(type_of(op.a))[-1])))
    element = element_type(type_of(op.a))
    chosen = register_tile(e, m, n, register_type(compute_element(element)))
    times = "" if parts == 1 else f", in {parts * (parts + 1) // 2} products of parts"
    block = f"{chosen.rows} rows x {chosen.columns} columns in registers"
    explain("products", op, f"{extents} of {element} by multiply-adds of {max(1, chosen.width)} lanes, {block}{times}")


def describe_loop(e: Emitter, op: scf.ForOp, plan: Plan) -> None:
    """What a run-time loop over tiles consists of. A host's loops are not pipelined: its processor reorders."""
    if not is_asked("pipeline") or not _is_first(e, op):
        return
    tiles = any(is_tensor(result.type) for inner in op.walk() for result in inner.results)
    if tiles:
        nests = sum(isinstance(item, Group) for item in plan.items)
        text = "not pipelined: the processor runs ahead by itself; an iteration has"
        explain("pipeline", op, f"{text} {nests} loop nest{'s' * (nests != 1)}")
