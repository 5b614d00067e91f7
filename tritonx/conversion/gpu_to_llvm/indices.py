"""Applying a linear layout to run-time lane and warp numbers; the plan is made by ``tritonx.layouts.index_math``.

The registers' contribution is a constant. It is joined to the run-time part with ``or disjoint`` where their bits
cannot meet, so that it ends up in the immediate of a load or store, and with ``xor`` otherwise (a swizzle)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.constant_offsets import Sum
from tritonx.layouts import LinearLayout
from tritonx.layouts.dims import BLOCK, LANE, REGISTER, WARP
from tritonx.layouts.index_math import ChoiceTerm, IndexPlan, all_xors, index_plan

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
    from tritonx.conversion.gpu_to_llvm.threads import Stand


def apply_layout(f: FunctionEmitter, layout: LinearLayout, out_dim: str, stand: Stand | None = None) -> tuple[str, int]:
    """The coordinate ``out_dim`` of (lane, warp, block) as an i32, "0" if it is always 0, and the bits that it can
    have; for the known position of the thread unless ``stand`` gives it.

    Written at the emitter's insertion point; callers that want it in the entry block open the prologue first.
    """
    plan = index_plan(layout, out_dim)
    return _applied(f, plan, lambda dim: thread_coordinate(f, dim, stand)), plan.reach


def apply_to_values(f: FunctionEmitter, layout: LinearLayout, out_dim: str, values: Mapping[str, str]) -> str:
    """The coordinate ``out_dim`` of the element whose coordinates are ``values``, i32 by dim; of these no bits count
    that the layout does not have."""
    return _applied(f, index_plan(layout, out_dim, tuple(values)), values.__getitem__)


def _applied(f: FunctionEmitter, plan: IndexPlan, read: Callable[[str], str]) -> str:
    join = "or disjoint" if plan.disjoint else "xor"
    total = "0"
    for term in plan.terms:
        x = read(term.in_dim)
        if x == "0":
            continue
        if isinstance(term, ChoiceTerm):
            bit = f.inst(f"and i32 {x}, {1 << term.bit}")
            test = f.inst(f"icmp ne i32 {bit}, 0")
            part = f.inst(f"select i1 {test}, i32 {term.value}, i32 0")
        else:
            part = f.inst(f"and i32 {x}, {term.mask}")
            if term.shift > 0:
                part = f.inst(f"shl nuw nsw i32 {part}, {term.shift}")
            elif term.shift < 0:
                part = f.inst(f"lshr i32 {part}, {-term.shift}")
        total = part if total == "0" else f.inst(f"{join} i32 {total}, {part}")
    return total


def thread_coordinate(f: FunctionEmitter, dim: str, stand: Stand | None = None) -> str:
    """The run-time value of an input dim of a layout."""
    where = stand or f.threads
    if dim == LANE:
        return where.lane
    if dim == WARP:
        return where.warp
    return f.machine.cluster_rank(f)


def columns_layout(columns: dict[str, list[int]]) -> LinearLayout:
    """The layout that maps each dim's bits to the given numbers."""
    reach = 0
    for values in columns.values():
        for value in values:
            reach |= value
    return LinearLayout(columns.items(), [("index", reach.bit_length())])


def apply_columns(f: FunctionEmitter, columns: dict[str, list[int]]) -> str:
    """XOR of the columns of the set bits of the thread's lane, warp and block, as an i32 in the entry block; "0" if
    there are none."""
    f.threads.touch()
    with f.in_prologue():
        return apply_layout(f, columns_layout(columns), "index")[0]


def add_constant(f: FunctionEmitter, base: str, reachable: int, constant: int) -> str:
    """``base ^ constant`` where ``base`` can only have bits of ``reachable``."""
    if constant == 0:
        return base
    if base == "0":
        return str(constant)
    join = "xor" if reachable & constant else "or disjoint"
    return f.inst(f"{join} i32 {base}, {constant}")


def register_constants(layout: LinearLayout, dim: int) -> tuple[int, ...]:
    """For every register, its part of the coordinate along ``dim``."""
    return all_xors([basis[dim] for basis in layout.bases(REGISTER)])


class LayoutIndices:
    """The coordinates of this thread's registers in a distributed layout; computed in the entry block, once a
    function, unless they are asked for anew.
    """

    def __init__(self, f: FunctionEmitter, layout: LinearLayout) -> None:
        self.f = f
        self.layout = layout
        self._dims: dict[int, list[str]] = {}

    def dim(self, dim: int) -> list[str]:
        """The coordinate along ``dim`` of every register; equal coordinates share a name."""
        if dim not in self._dims:
            with self.f.in_prologue():
                self._dims[dim] = self._written(dim, None)
        return self._dims[dim]

    def dim_anew(self, dim: int) -> list[str]:
        """The same, written at the emitter's insertion point, from a thread's number that nothing else is made of."""
        return self._written(dim, self.f.threads.read_anew())

    def _written(self, dim: int, stand: Stand | None) -> list[str]:
        f, constants = self.f, register_constants(self.layout, dim)
        base, reachable = apply_layout(f, self.layout, self.layout.out_dims[dim], stand)
        made = {c: add_constant(f, base, reachable, c) for c in dict.fromkeys(constants)}
        for c, name in made.items():
            if not reachable & c:
                f.sums.know(name, Sum(base, c, reachable + c + 1))
        return [made[c] for c in constants]

    @cached_property
    def owner(self) -> str | None:
        """An i1 that holds in exactly one of the threads that own copies of an element, or None if there are no
        copies.
        """
        return self._without_copies((LANE, WARP, BLOCK))

    @cached_property
    def owner_in_block(self) -> str | None:
        """The same among the threads of each block."""
        return self._without_copies((LANE, WARP))

    def _without_copies(self, dims: tuple[str, ...]) -> str | None:
        f = self.f
        masks = self.layout.free_masks()
        result: str | None = None
        with f.in_prologue():
            for dim in dims:
                if mask := masks.get(dim, 0):
                    bits = f.inst(f"and i32 {thread_coordinate(f, dim)}, {mask}")
                    test = f.inst(f"icmp eq i32 {bits}, 0")
                    result = test if result is None else f.inst(f"and i1 {result}, {test}")
        return result
