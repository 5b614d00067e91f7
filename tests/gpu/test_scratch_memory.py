"""Global scratch memory of a launch on a GPU: every program has its own, whoever provides it, in launches that follow
one another without a pause and on streams that overlap."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest

import tritonx
from tritonx.runtime import driver
from tritonx.runtime.arrays import to_device

SEED = int(os.environ["TRITONX_SEED"])
WIDTH = 128

TEXT = """
#rows = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @through_scratch(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
    %width = arith.constant 128 : i32
    %last = arith.constant dense<127> : tensor<128xi32, #rows>
    %g = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 512 : i32} : !tt.ptr<i8>
    %s = tt.bitcast %g : !tt.ptr<i8> -> !tt.ptr<i32>
    %px = tt.get_program_id x : i32
    %py = tt.get_program_id y : i32
    %pz = tt.get_program_id z : i32
    %nx = tt.get_num_programs x : i32
    %ny = tt.get_num_programs y : i32
    %a = arith.muli %pz, %ny : i32
    %b = arith.addi %a, %py : i32
    %c = arith.muli %b, %nx : i32
    %d = arith.addi %c, %px : i32
    %e = arith.muli %d, %width : i32
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #rows>
    %j = arith.subi %last, %i : tensor<128xi32, #rows>
    %from = tt.addptr %x, %e : !tt.ptr<i32>, i32
    %to = tt.addptr %y, %e : !tt.ptr<i32>, i32
    %xs = tt.splat %from : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #rows>
    %ys = tt.splat %to : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #rows>
    %ss = tt.splat %s : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #rows>
    %xi = tt.addptr %xs, %i : tensor<128x!tt.ptr<i32>, #rows>, tensor<128xi32, #rows>
    %yi = tt.addptr %ys, %i : tensor<128x!tt.ptr<i32>, #rows>, tensor<128xi32, #rows>
    %si = tt.addptr %ss, %i : tensor<128x!tt.ptr<i32>, #rows>, tensor<128xi32, #rows>
    %sj = tt.addptr %ss, %j : tensor<128x!tt.ptr<i32>, #rows>, tensor<128xi32, #rows>
    %v = tt.load %xi : tensor<128x!tt.ptr<i32>, #rows>
    tt.store %si, %v : tensor<128x!tt.ptr<i32>, #rows>
    gpu.barrier
    %w = tt.load %sj {isVolatile = true} : tensor<128x!tt.ptr<i32>, #rows>
    tt.store %yi, %w : tensor<128x!tt.ptr<i32>, #rows>
    tt.return
  }
}
"""  # noqa: E501
"""Every program writes its row to its scratch memory and reads it the other way round."""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Any:
    if driver.active.get_current_target().backend != "cuda":
        pytest.skip("a launch here has no global scratch memory")
    path = tmp_path_factory.mktemp("scratch") / "through_scratch.ttgir"
    path.write_text(TEXT)
    return tritonx.compile(str(path))


def check(kernel: Any, rng: np.random.Generator, launches: int) -> None:
    """Launches of random grids, looked at when all have been enqueued."""
    made: list[tuple[Any, Any]] = []
    for _ in range(launches):
        grid = tuple(int(n) for n in rng.integers(1, 9, 3))
        x = rng.integers(-(1 << 31), 1 << 31, (int(np.prod(grid)), WIDTH)).astype(np.int32)
        y = to_device(np.full_like(x, 77))
        kernel[grid](to_device(x), y)
        made.append((y, x[:, ::-1]))
    for y, expected in made:
        np.testing.assert_array_equal(y.numpy(), expected, err_msg=f"seed {SEED}")


def test_every_program_has_its_own(kernel: Any) -> None:
    assert kernel.metadata.global_scratch_size == 512
    check(kernel, np.random.default_rng(SEED), 60)


def test_from_several_threads(kernel: Any) -> None:
    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            check(kernel, np.random.default_rng((SEED, number)), 20)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


@pytest.mark.real_gpu
def test_on_streams_that_overlap(kernel: Any) -> None:
    torch: Any = pytest.importorskip("torch")
    streams = [torch.cuda.Stream() for _ in range(3)]
    generator = torch.Generator().manual_seed(SEED)
    made: list[tuple[Any, Any]] = []
    for number in range(30):
        x = torch.randint(-99, 99, (600, WIDTH), generator=generator, dtype=torch.int32).cuda()
        y = torch.full_like(x, 77)
        torch.cuda.synchronize()
        with torch.cuda.stream(streams[number % 3]):
            kernel[(600, 1, 1)](x, y)
        made.append((x, y))
    torch.cuda.synchronize()
    for x, y in made:
        assert torch.equal(y, x.flip(1)), f"seed {SEED}"


@pytest.mark.real_gpu
def test_in_a_graph_that_is_replayed(kernel: Any) -> None:
    torch: Any = pytest.importorskip("torch")
    x = torch.arange(40 * WIDTH, dtype=torch.int32).reshape(40, WIDTH).cuda()
    y = torch.full_like(x, 77)
    kernel[(40, 1, 1)](x, y)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel[(40, 1, 1)](x, y)
    for _ in range(3):
        x.mul_(3).add_(1)
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(y, x.flip(1))


def test_the_allocator_of_the_user(kernel: Any) -> None:
    held: list[Any] = []

    def provide(size: int, alignment: int, stream: int | None) -> Any:
        assert alignment == 128
        held.append(to_device(np.zeros(size, np.uint8)))
        return held[-1]

    tritonx.set_allocator(provide)
    try:
        check(kernel, np.random.default_rng(SEED), 5)
    finally:
        tritonx.set_allocator(None)
    assert len(held) == 5
