"""Each mistake that the machine knows, in a program of a few lines, beside the program without it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tritonx.interpreter.asynchronous import Kind, Landing, Order, Setting, Timeline, Warps, execute
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify

HEAD = """
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#slice = #ttg.slice<{dim = 0, parent = #rows}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32SHARED} {
  tt.func public @f(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %d: !tt.tensordesc<tensor<64x16xf16, #wide>>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
BODY
    tt.return
  }
}
"""

ALLOC = "!ttg.memdesc<16x16xf32, #plain, #smem, mutable>"
TILE = "!ttg.memdesc<64x16xf16, #wide, #smem, mutable>"
RIGHT = "!ttg.memdesc<16x16xf16, #wide, #smem>"
DESC = "!tt.tensordesc<tensor<64x16xf16, #wide>>"
BARRIER = "!ttg.memdesc<1xi64, #bar, #smem, mutable>"


def module_of(body: str, shared: int | None = None) -> Any:
    text = body
    for short, type_ in {"ALLOC": ALLOC, "TILE": TILE, "BAR": BARRIER, "RIGHT": RIGHT, "DESC": DESC}.items():
        text = text.replace(short, type_)
    placed = "" if shared is None else f', "ttg.shared" = {shared} : i32'
    module = parse_module(HEAD.replace("SHARED", placed).replace("BODY", text), "program")
    verify(module)
    return module


class Host:
    """A tensor descriptor of the host."""

    def __init__(self, base: Any) -> None:
        self.base = base
        self.shape = base.shape
        self.strides = (base.shape[1], 1)


def found(body: str, shared: int | None = None, landing: Landing = Landing.LATE, **setting: Any) -> set[Kind]:
    module = module_of(body, shared)
    x = np.arange(64 * 64).reshape(64, 64).astype(np.float16)
    reports = execute(module, 1, [x, x.copy(), Host(x.copy())], Setting(order=Order(3, landing), **setting))
    for report in reports:
        assert re.search(r"\w+\.\w+", str(report)), report
    return {report.kind for report in reports}


TRANSPOSE = """
    %t = arith.constant dense<1.0> : tensor<16x16xf32, #rows>
    %m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> ALLOC
    %n = ttg.local_alloc {allocation.offset = 1024 : i32} : () -> ALLOC
    ttg.local_store %t, %m : tensor<16x16xf32, #rows> -> ALLOC
    ttg.local_barrier
    %r = ttg.local_load %m : ALLOC -> tensor<16x16xf32, #columns>
    ttg.local_barrier
    ttg.local_store %t, %m : tensor<16x16xf32, #rows> -> ALLOC
    ttg.local_store %t, %n : tensor<16x16xf32, #rows> -> ALLOC
    %s = ttg.local_load %n : ALLOC -> tensor<16x16xf32, #rows>
"""
"""Written by rows and read by columns; the last load is of what each warp has written itself."""


def without(text: str, line: str, which: int = 0) -> str:
    lines = text.splitlines()
    places = [number for number, one in enumerate(lines) if line in one]
    del lines[places[which]]
    return "\n".join(lines)


def test_barriers_between_warps() -> None:
    assert found(TRANSPOSE, 2048) == set()
    assert found(without(TRANSPOSE, "local_barrier", 0), 2048) == {Kind.NOT_VISIBLE}
    assert found(without(TRANSPOSE, "local_barrier", 1), 2048) == {Kind.OVERWRITE}
    assert found(without(TRANSPOSE, "local_barrier", 0), 2048, warps=Warps.TOGETHER) == set()


def test_where_buffers_lie() -> None:
    assert found(TRANSPOSE.replace("offset = 1024", "offset = 0"), 2048, warps=Warps.TOGETHER) == set()
    assert Kind.CLOBBERED in found(
        TRANSPOSE.replace("offset = 1024", "offset = 512")
        + "    %z = ttg.local_load %m : ALLOC -> tensor<16x16xf32, #rows>\n",
        2048,
        warps=Warps.TOGETHER,
    )
    assert Kind.MISPLACED in found(TRANSPOSE.replace("offset = 1024", "offset = 1028"), 4096)


@pytest.mark.parametrize("spoilt", [0, 1, 2])
@pytest.mark.parametrize("by", [0, 1, 2])
def test_whose_bytes_they_are(spoilt: int, by: int) -> None:
    """Of three buffers of which two share memory: reading what the other one has written is reported for each of them,
    the first of the program too; what was never written is not reported as a buffer's."""
    allocs = [
        f"%m{n} = ttg.local_alloc {{allocation.offset = {offset} : i32}} : () -> ALLOC"
        for n, offset in enumerate((0, 1024, 2048))
    ]
    if by != spoilt:
        allocs[by] = re.sub(r"offset = \d+", f"offset = {512 + 1024 * spoilt}", allocs[by])
    stores = [
        f"ttg.local_store %t, %m{n} : tensor<16x16xf32, #rows> -> ALLOC" for n in ([spoilt, by] if by != spoilt else [])
    ]
    text = "\n".join([
        "%t = arith.constant dense<1.0> : tensor<16x16xf32, #rows>", *allocs, *stores,
        f"%r = ttg.local_load %m{spoilt} : ALLOC -> tensor<16x16xf32, #rows>",
    ])  # fmt: skip
    kind = Kind.UNWRITTEN if by == spoilt else Kind.CLOBBERED
    assert found(text, 4096, warps=Warps.TOGETHER) == {kind}
    assert Kind.MISPLACED in found(TRANSPOSE, 1024)


def test_never_written() -> None:
    assert found(without(TRANSPOSE, "local_store %t, %n"), 2048) == {Kind.UNWRITTEN}


CONVERT = """
    %t = arith.constant dense<1.0> : tensor<16x16xf32, #rows>
    %a = ttg.convert_layout %t {allocation.offset = 0 : i32} : tensor<16x16xf32, #rows> -> tensor<16x16xf32, #columns>
    ttg.local_barrier
    %b = ttg.convert_layout %t {allocation.offset = 512 : i32} : tensor<16x16xf32, #rows> -> tensor<16x16xf32, #columns>
"""


def test_scratch_memory() -> None:
    assert found(CONVERT, 2048) == set()
    assert found(without(CONVERT, "local_barrier"), 2048) == {Kind.OVERWRITE}
    assert found(without(CONVERT, "local_barrier").replace("512", "1024"), 2048) == set()


COPIES = """
    %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #slice>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32, #slice> -> tensor<1x16xi32, #rows>
    %k = tt.broadcast %j : tensor<1x16xi32, #rows> -> tensor<64x16xi32, #rows>
    %p = tt.splat %x : !tt.ptr<f16> -> tensor<64x16x!tt.ptr<f16>, #rows>
    %q = tt.addptr %p, %k : tensor<64x16x!tt.ptr<f16>, #rows>, tensor<64x16xi32, #rows>
    %m = ttg.local_alloc : () -> TILE
    %n = ttg.local_alloc : () -> TILE
    %u = ttg.async_copy_global_to_local %q, %m : tensor<64x16x!tt.ptr<f16>, #rows> -> TILE
    %v = ttg.async_commit_group tokens %u
    %w = ttg.async_copy_global_to_local %q, %n : tensor<64x16x!tt.ptr<f16>, #rows> -> TILE
    %o = ttg.async_commit_group tokens %w
    %e = ttg.async_wait %v {num = 1 : i32}
    %r = ttg.local_load %m : TILE -> tensor<64x16xf16, #rows>
    %f = ttg.async_wait %o {num = 0 : i32}
    %s = ttg.local_load %n : TILE -> tensor<64x16xf16, #rows>
"""
NO_TYPE = COPIES.replace("-> TILE", "-> <64x16xf16, #wide, #smem, mutable>")
COPIES = "\n".join(
    b if "async_copy" in a else a for a, b in zip(COPIES.splitlines(), NO_TYPE.splitlines(), strict=True)
)


def test_copies_in_groups() -> None:
    assert found(COPIES) == set()
    assert found(COPIES.replace("num = 1", "num = 2")) == {Kind.NOT_VISIBLE}
    assert found(without(COPIES, "async_commit_group", 1).replace("%o {", "{")) == {Kind.NOT_VISIBLE, Kind.UNFINISHED}
    assert found(without(without(COPIES, "%f ="), "%s =")) == {Kind.UNFINISHED}


ROW = """
    %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #slice>
    %p = tt.splat %x : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>, #slice>
    %q = tt.addptr %p, %i : tensor<16x!tt.ptr<f16>, #slice>, tensor<16xi32, #slice>
    %m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<16xf16, #bar, #smem, mutable>
    %u = ttg.async_copy_global_to_local %q, %m : tensor<16x!tt.ptr<f16>, #slice> -> <16xf16, #bar, #smem, mutable>
    %v = ttg.async_commit_group tokens %u
    %e = ttg.async_wait %v {num = 0 : i32}
    ttg.local_barrier
    %r = ttg.local_load %m : !ttg.memdesc<16xf16, #bar, #smem, mutable> -> tensor<16xf16, #slice>
"""


def test_one_warp_copies_what_all_have() -> None:
    """The others' wait is for nothing of their own: they know of the copy behind a barrier only."""
    assert found(ROW, 32) == set()
    assert found(without(ROW, "local_barrier"), 32) == {Kind.NOT_VISIBLE}


TMA = """
    %m = ttg.local_alloc : () -> TILE
    %b = ttg.local_alloc : () -> BAR
    ttng.init_barrier %b, 1 : BAR
    ttng.barrier_expect %b, 2048, %true : BAR
    ttng.async_tma_copy_global_to_local %d[%c0, %c0] %m, %b, %true : DESC, BAR -> TILE
    ttng.wait_barrier %b, %c0 : BAR
    %r = ttg.local_load %m : TILE -> tensor<64x16xf16, #rows>
    ttg.local_store %r, %m : tensor<64x16xf16, #rows> -> TILE
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_local_to_global %d[%c0, %c0] %m : DESC, TILE
    ttng.async_tma_store_wait {pendings = 0 : i32}
    ttg.local_store %r, %m : tensor<64x16xf16, #rows> -> TILE
    ttng.inval_barrier %b : BAR
"""


@pytest.mark.parametrize("landing", Landing)
def test_copies_of_blocks(landing: Landing) -> None:
    assert found(TMA, landing=landing) == set()
    assert found(without(TMA, "wait_barrier"), landing=landing) >= {Kind.NOT_VISIBLE}
    assert found(without(TMA, "fence_async"), landing=landing) == {Kind.UNFENCED}
    assert found(without(TMA, "store_wait"), landing=landing) >= {Kind.OVERWRITE}
    # What the wrong parity does depends on whether the phase is over by then.
    assert found(TMA.replace("%b, %c0 :", "%b, %c1 :"), landing=landing) & {Kind.NOT_VISIBLE, Kind.HANG}
    assert found(TMA.replace("2048,", "4096,"), landing=landing) >= {Kind.HANG}
    assert found(without(TMA, "barrier_expect"), landing=landing) >= {Kind.HANG}
    assert found(without(TMA, "init_barrier"), landing=landing) >= {Kind.NO_BARRIER}
    assert found(TMA + "    ttng.wait_barrier %b, %c1 : BAR\n", landing=landing) == {Kind.NO_BARRIER}


def test_an_arrival_too_many() -> None:
    two = TMA.replace("init_barrier %b, 1", "init_barrier %b, 2")
    arrive = "    ttng.arrive_barrier %b, COUNT : BAR\n    ttng.wait_barrier"
    assert found(two.replace("    ttng.wait_barrier", arrive.replace("COUNT", "1"))) == set()
    assert found(two.replace("    ttng.wait_barrier", arrive.replace("COUNT", "2"))) == {Kind.TOO_MANY_ARRIVALS}
    assert found(two) == {Kind.HANG}


PRODUCT = """
    %z = arith.constant dense<0.0> : tensor<64x16xf32, #mma>
    %a = arith.constant dense<1.0> : tensor<64x16xf16, #rows>
    %w = arith.constant dense<1.0> : tensor<16x16xf16, #rows>
    %m = ttg.local_alloc %a : (tensor<64x16xf16, #rows>) -> TILE
    %n = ttg.local_alloc %w : (tensor<16x16xf16, #rows>) -> !ttg.memdesc<16x16xf16, #wide, #smem>
    ttng.fence_async_shared {bCluster = false}
    %p = ttng.warp_group_dot %m, %n, %z {isAsync = true} : TILE * RIGHT -> tensor<64x16xf32, #mma>
    %q = ttng.warp_group_dot %m, %n, %p {isAsync = true} : TILE * RIGHT -> tensor<64x16xf32, #mma>
    %r = ttng.warp_group_dot_wait %q {pendings = 0 : i32} : tensor<64x16xf32, #mma>
    ttg.local_store %a, %m : tensor<64x16xf16, #rows> -> TILE
    %s = arith.truncf %r : tensor<64x16xf32, #mma> to tensor<64x16xf16, #mma>
"""


def test_a_fence_covers_what_was_before_it() -> None:
    """Moved in front of what it is for, it is as good as none."""
    fence = "    ttng.fence_async_shared {bCluster = false}\n"
    assert found(fence + without(PRODUCT, "fence")) == {Kind.UNFENCED}


def test_products() -> None:
    assert found(PRODUCT) == set()
    assert found(without(PRODUCT, "fence")) == {Kind.UNFENCED}
    assert found(PRODUCT.replace("pendings = 0", "pendings = 1")) == {Kind.OVERWRITE, Kind.IN_FLIGHT}
    assert found(PRODUCT.replace("truncf %r", "truncf %q")) == set()  # the wait was for it, too


MAP = """
    ttng.tensormap_create %g, %y, [%c16, %c64], [%c64, %c64], [%row], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 1 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %g : !tt.ptr<i8>
"""  # noqa: E501
MAPPED = f"""
    %c16 = arith.constant 16 : i32
    %c64 = arith.constant 64 : i32
    %row = arith.constant 128 : i64
    %a = arith.constant dense<1.0> : tensor<64x16xf16, #rows>
    %g = ttg.global_scratch_alloc {{alignment = 128 : i32, nbytes = 128 : i32}} : !tt.ptr<i8>
{MAP}
    %t = ttng.reinterpret_tensor_descriptor %g : !tt.ptr<i8> to DESC
    %m = ttg.local_alloc %a : (tensor<64x16xf16, #rows>) -> TILE
    ttng.fence_async_shared {{bCluster = false}}
    ttng.async_tma_copy_local_to_global %t[%c0, %c16] %m : DESC, TILE
    ttng.async_tma_store_wait {{pendings = 0 : i32}}
{MAP}
    ttng.async_tma_copy_local_to_global %t[%c0, %c0] %m : DESC, TILE
    ttng.async_tma_store_wait {{pendings = 0 : i32}}
"""


def test_tensor_maps() -> None:
    assert found(MAPPED) == set()
    for which in (0, 1):
        assert found(without(MAPPED, "acquire", which)) == {Kind.UNFENCED}
    assert found(without(MAPPED, "store_wait", 0)) == {Kind.OVERWRITE}, "made anew while a copy may read the old one"


def test_a_tensor_map_of_which_the_user_does_not_know() -> None:
    """One group of warps makes and acquires it; another has to be told."""
    body = f"""
    %c16 = arith.constant 16 : i32
    %c64 = arith.constant 64 : i32
    %row = arith.constant 128 : i64
    %a = arith.constant dense<1.0> : tensor<64x16xf16, #rows>
    %b = ttg.local_alloc : () -> BAR
    ttng.init_barrier %b, 1 : BAR
    %m = ttg.local_alloc %a : (tensor<64x16xf16, #rows>) -> TILE
    ttng.fence_async_shared {{bCluster = false}}
    %g = ttg.global_scratch_alloc {{alignment = 128 : i32, nbytes = 128 : i32}} : !tt.ptr<i8>
    {MAP}
    ttg.warp_specialize(%b, %m, %g) attributes {{warpGroupStartIds = array<i32: 4>}}
    default {{
      {MAP}
      ttng.arrive_barrier %b, 1 : BAR
      ttg.warp_yield
    }}
    partition0(%p: BAR, %n: TILE, %h: !tt.ptr<i8>) num_warps(1) {{
      WAIT
      %u = ttng.reinterpret_tensor_descriptor %h : !tt.ptr<i8> to DESC
      ttng.async_tma_copy_local_to_global %u[%z, %z] %n : DESC, TILE
      ttng.async_tma_store_wait {{pendings = 0 : i32}}
      ttg.warp_return
    }} : (BAR, TILE, !tt.ptr<i8>) -> ()
"""
    zero = "%z = arith.constant 0 : i32"
    seen: dict[str, set[Kind]] = {}
    for wait in ("ttng.wait_barrier %p, %z : BAR", ""):
        module = module_of(body.replace("WAIT", f"{zero}\n{wait}"))
        x = np.zeros((64, 64), np.float16)
        seen[wait] = {
            report.kind
            for seed in range(8)
            for report in execute(module, 1, [x, x.copy(), Host(x)], Setting(order=Order(seed)))
        }
    assert list(seen.values()) == [set(), {Kind.UNFENCED, Kind.OVERWRITE}]


def test_a_phase_that_ends_unseen() -> None:
    """The producer goes on without waiting until the consumer has looked."""
    body = """
    %b = ttg.local_alloc : () -> BAR
    ttng.init_barrier %b, 1 : BAR
    ttg.warp_specialize(%b) attributes {warpGroupStartIds = array<i32: 4>}
    default {
      ttng.wait_barrier %b, %c0 : BAR
      ttg.warp_yield
    }
    partition0(%p: BAR) num_warps(1) {
      ttng.arrive_barrier %p, 1 : BAR
      AGAIN
      ttg.warp_return
    } : (BAR) -> ()
"""
    assert found(body.replace("AGAIN", "")) == set()
    seen: set[Kind] = set()
    for seed in range(8):
        again = module_of(body.replace("AGAIN", "ttng.arrive_barrier %p, 1 : BAR"))
        x = np.zeros((64, 64), np.float16)
        seen |= {r.kind for r in execute(again, 1, [x, x, Host(x)], Setting(order=Order(seed)))}
    assert seen == {Kind.PHASE_MISSED, Kind.HANG}


def test_timeline() -> None:
    timeline = Timeline()
    assert found(TMA, timeline=timeline) == set()
    text, picture = timeline.text(), timeline.svg()
    for row in ("warps 0-3", "copies", "barrier at"):
        assert row in text
        assert row in picture
    assert text.count("async_tma_copy_global_to_local") == 1
