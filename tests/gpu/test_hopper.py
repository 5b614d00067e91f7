"""Asynchronous programs that Triton's passes wrote for compute capability 9.0, run here as they are: its `ttgir` of
`tests/peer/kernels_hopper.py`, with descriptors as arguments, on random inputs, against products in f64.

`TRITONX_HOPPER=all` runs all, `TRITONX_HOPPER=NAME,NAME` these; otherwise a sample is drawn.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
from tests.peer.described_blocks import DTYPES, LAUNCHES, Launch, combined, launches, same
from tritonx.runtime.arrays import to_device
from tritonx.tools.tensor_descriptor import TensorDescriptor

if importlib.util.find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

PEER = Path(__file__).parents[1] / "peer"
ORACLE = PEER / "hopper_oracle.py"
SEED = int(os.environ["TRITONX_SEED"])

TRITON_FAILS = {"persistent_specialized"}
"""Its warp specialisation does not manage a block that is stored through a descriptor."""


def cases() -> dict[str, Any]:
    sys.path.insert(0, str(PEER))
    try:
        kernels: Any = importlib.import_module("kernels_hopper")
    finally:
        sys.path.remove(str(PEER))
    return {case.name: case for case in kernels.CASES if case.name not in TRITON_FAILS}


def chosen() -> list[str]:
    names, wanted = sorted(cases()), os.environ.get("TRITONX_HOPPER", "")
    if wanted == "all":
        return names
    return wanted.split(",") if wanted else random.Random(SEED).sample(names, 12)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("hopper")
    made = subprocess.run(
        [sys.executable, str(ORACLE), str(directory), *chosen()], capture_output=True, text=True, timeout=500
    )
    assert made.returncode == 0 and not made.stdout, made.stdout + made.stderr
    return directory


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Values whose products the tensor cores take as they are: of f32 they read the bits of tf32, and sums of f8 are
    exact there to 13 bits below the largest term only, so whole numbers.
    """
    kind = np.dtype(DTYPES[dtype])
    if kind.kind in "iu" or dtype.startswith("fp8"):
        return rng.integers(-8, 8, shape).astype(kind)
    values = rng.standard_normal(shape, dtype=np.float32)
    if dtype == "fp32":
        values = (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return values.astype(kind)


class Arguments:
    """The flattened arguments of a kernel, in the order of its source; descriptors with their extents and strides."""

    def __init__(self, case: Any) -> None:
        self.case = case
        self.given: list[Any] = []

    def tensor(self, name: str, array: Any) -> Any:
        """A pointer or a descriptor, as the signature says; returns the array on the device."""
        held = to_device(np.ascontiguousarray(array))
        type_ = self.case.signature[name]
        if type_.startswith("*"):
            self.given.append(held)
            return held
        block = [int(n) for n in type_.split("[")[1].rstrip("]>").split(",")]
        strides = [math.prod(array.shape[i + 1 :]) for i in range(array.ndim)]
        self.given += [TensorDescriptor(held, list(array.shape), strides, block), *array.shape, *strides]
        return held

    def scalars(self, *values: Any) -> None:
        self.given += values


def exact(*arrays: Any) -> list[Any]:
    return [np.asarray(a).astype(np.float64) for a in arrays]


def close(got: Any, expected: Any, dtype: str, depth: int) -> None:
    """Within the rounding of the result and of sums of ``depth`` products."""
    got = np.asarray(got.numpy()).astype(np.float64)
    assert np.isfinite(got).all()
    step = {"fp32": 2.0**-11, "fp16": 2.0**-10, "bf16": 2.0**-7, "i32": 0.0}[dtype]
    np.testing.assert_allclose(got, expected, rtol=step, atol=step * np.sqrt(depth) if step else 0)


def poisoned(shape: tuple[int, ...], dtype: str) -> Any:
    return np.full(shape, 77 if dtype == "i32" else np.nan, np.dtype(DTYPES[dtype]))


def element(type_: str) -> str:
    return type_.removeprefix("tensordesc<").removeprefix("*").split("[")[0]


ON_DEVICE = ("product_device_descriptors", "specialized_device_descriptors", "persistent_device_descriptors")
"""Kernels that make their descriptors themselves."""
OF_ROWS = ("persistent_product", "specialized_product", *ON_DEVICE)
"""Kernels whose `b` is N x K."""


def run_product(case: Any, kernel: Any, rng: np.random.Generator) -> None:
    """Products of every kind: `a` is M x K, `b` is K x N or, for descriptors, mostly N x K."""
    tile = {key: case.constants[key] for key in "MNK"}
    m, n, k = 3 * tile["M"], 2 * tile["N"], 5 * tile["K"]
    of = {name: element(type_) for name, type_ in case.signature.items() if name in "abc"}
    turned = case.constants.get("TURNED", case.fn.__name__ in OF_ROWS)
    a, b = drawn(rng, (m, k), of["a"]), drawn(rng, (n, k) if turned else (k, n), of["b"])
    expected = np.matmul(*exact(a, b.T if turned else b))
    arguments, out = Arguments(case), poisoned((m, n), of["c"])
    arguments.tensor("a", a)
    arguments.tensor("b", b)
    grid = (m // tile["M"], n // tile["N"], 1)
    match case.fn.__name__:
        case "matmul":
            c = arguments.tensor("c", out)
            arguments.scalars(m, n, k, k, n, n)
        case "gathered_product":
            rows = np.array(random.Random(SEED).choices(range(m), k=m), np.int32)
            expected = expected[rows]
            arguments.tensor("rows", rows)
            c = arguments.tensor("c", out)
            arguments.scalars(k, k, n, n)
        case name if name in ON_DEVICE:
            c = arguments.tensor("c", out)
            arguments.scalars(m, n, k)
            grid = (case.constants["BLOCKS"], 1, 1) if "BLOCKS" in case.constants else grid
        case "persistent_product":
            c = arguments.tensor("c", out)
            arguments.scalars(m, n, k)
            grid = (case.constants["BLOCKS"], 1, 1)
        case "specialized_product":
            c = arguments.tensor("c", out)
            arguments.scalars(n, k)
        case _:
            c = arguments.tensor("c", out)
            arguments.scalars(k)
    kernel[grid](*arguments.given)
    close(c, expected, of["c"], k)


def run_two_products(case: Any, kernel: Any, rng: np.random.Generator) -> None:
    m, n, k = 256, 256, 320
    a, b, c = drawn(rng, (m, k), "fp16"), drawn(rng, (k, 64), "fp16") / 8, drawn(rng, (64, n), "fp16")
    b = b.astype(np.float16)
    arguments = Arguments(case)
    for name, array in zip("abc", (a, b, c), strict=True):
        arguments.tensor(name, array)
    d = arguments.tensor("d", poisoned((m, n), "fp16"))
    arguments.scalars(k)
    kernel[(m // 128, n // 128, 1)](*arguments.given)
    x, y, z = exact(a, b, c)
    expected = sum(
        (x[:, s : s + 64] @ y[s : s + 64]).astype(np.float16).astype(np.float64) @ z for s in range(0, k, 64)
    )
    got = d.numpy().astype(np.float64)
    np.testing.assert_allclose(got, expected, rtol=2e-2, atol=0.5)


def run_attention(case: Any, kernel: Any, rng: np.random.Generator) -> None:
    m, d = case.constants["M"], case.constants["D"]
    n = 4 * m
    dtype = element(case.signature["q"])
    q, k, v = (drawn(rng, (n, d), dtype) for _ in range(3))
    arguments = Arguments(case)
    for name, array in zip("qkv", (q, k, v), strict=True):
        arguments.tensor(name, array)
    o = arguments.tensor("o", poisoned((n, d), "fp16"))
    scale = 1.0 / d**0.5
    arguments.scalars(n, scale)
    kernel[(n // m, 1, 1)](*arguments.given)
    x, y, z = exact(q, k, v)
    scores = x @ y.T * scale
    if case.constants["CAUSAL"]:
        scores = np.where(np.tri(n, dtype=bool), scores, -1e6)
    p = np.exp2(scores - scores.max(1, keepdims=True))
    close(o, p / p.sum(1, keepdims=True) @ z, "bf16" if dtype == "bf16" else "fp16", 16)


def run_gradients(case: Any, kernel: Any, rng: np.random.Generator) -> None:
    n, d, scale = 256, 64, 0.125
    q, k, v, go = (drawn(rng, (n, d), "fp16") for _ in range(4))
    x, y, z, g = exact(q, k, v, go)
    scores = x @ y.T * scale
    lse = np.log2(np.exp2(scores).sum(1))
    p = np.exp2(scores - lse[:, None])
    delta = (g * (p @ z)).sum(1)
    ds = p * (g @ z.T - delta[:, None])
    expected = {"gq": ds @ y * scale, "gk": ds.T @ x * scale, "gv": p.T @ g}
    arguments = Arguments(case)
    outputs: dict[str, Any] = {}
    inputs = {"q": q, "k": k, "v": v, "go": go, "lse": lse.astype(np.float32), "delta": delta.astype(np.float32)}
    for name in case.fn.arg_names:
        if name in inputs:
            arguments.tensor(name, inputs[name])
        elif name in expected:
            outputs[name] = arguments.tensor(name, poisoned((n, d), "fp16"))
    arguments.scalars(n, scale)
    kernel[(n // 64, 1, 1)](*arguments.given)
    for name, array in outputs.items():
        np.testing.assert_allclose(array.numpy().astype(np.float64), expected[name], rtol=1e-2, atol=2e-2)


SHAPES = {1: (1024,), 2: (128, 256), 3: (8, 24, 64), 4: (2, 6, 8, 64), 5: (2, 2, 4, 12, 32)}


def corner(rank: int, x: int, y: int) -> tuple[int, ...]:
    """Where program (x, y) has its block."""
    match rank:
        case 1:
            return (x * 256,)
        case 2:
            return x * 32, y * 64
        case 3:
            return x * 4, 8, y * 32
        case 4:
            return x, 2, y * 4, 0
        case _:
            return x, 0, y * 2, 4, 0


def run_copy(case: Any, kernel: Any, rng: np.random.Generator) -> None:
    """Blocks are copied, or combined, at the places that the kernel's source says; nothing else is touched."""
    rank, kind = case.constants["RANK"], case.constants["KIND"]
    dtype = element(case.signature["source"])
    source, target = (drawn(rng, SHAPES[rank], dtype) for _ in range(2))
    arguments = Arguments(case)
    arguments.tensor("source", source)
    out = arguments.tensor("target", target)
    kernel[(2, 2, 1)](*arguments.given)
    expected = target.copy()
    block = [int(n) for n in case.signature["source"].split("[")[1].rstrip("]>").split(",")]
    for x in range(2):
        for y in range(2 if rank > 1 else 1):
            where = tuple(slice(s, s + b) for s, b in zip(corner(rank, x, y), block, strict=True))
            times = 2 if rank == 1 and kind != "store" else 1  # two programs do the same there
            for _ in range(times):
                expected[where] = combined(kind, expected[where], source[where])
    np.testing.assert_array_equal(out.numpy(), expected)


RUNS = {
    "two_products": run_two_products,
    "attention_of_blocks": run_attention,
    "attention_keys": run_gradients,
    "attention_queries": run_gradients,
    "copy_blocks": run_copy,
}


def run_launch(kernel: Any, launch: Launch, where: str) -> None:
    """One that says itself what must come out."""
    source, target, *rest = launch.args
    out = to_device(target)
    given = [to_device(each) if isinstance(each, np.ndarray) else each for each in (source, *rest)]
    kernel[(launch.grid, 1, 1)](given[0], out, *given[1:])
    same(out.numpy(), launch.expected, f"{where} (seed {SEED})")


@pytest.mark.parametrize("name", chosen())
def test_runs_what_triton_wrote(programs: Path, name: str) -> None:
    case = cases()[name]
    kernel = tritonx.compile(str(programs / f"{name}.ttgir"))
    for launch in launches(programs / f"{name}.json", ((SEED, seed) for seed in range(8))):
        run_launch(kernel, launch, name)
    if case.fn.__name__ in LAUNCHES:
        return
    for seed in range(3):
        RUNS.get(case.fn.__name__, run_product)(case, kernel, np.random.default_rng((SEED, seed)))


@pytest.mark.parametrize("kind", ["min", "max"])
@pytest.mark.parametrize("name", ["made_2d_fp16_add", "made_4d_bf16_add"])
def test_reduces_floats_to_their_extremes(tmp_path: Path, name: str, kind: str) -> None:
    """Triton's language asks for a device before it compiles these; its sums with another kind are the same program."""
    subprocess.run([sys.executable, str(ORACLE), str(tmp_path), name], check=True, timeout=200)
    path = tmp_path / f"{name}.ttgir"
    text = path.read_text()
    assert text.count("ttng.async_tma_reduce add") == 1
    path.write_text(text.replace("ttng.async_tma_reduce add", f"ttng.async_tma_reduce {kind}"))
    described = tmp_path / f"{name}.json"
    described.write_text(described.read_text().replace('"KIND": "add"', f'"KIND": "{kind}"'))
    kernel = tritonx.compile(str(path))
    for launch in launches(described, ((SEED, seed) for seed in range(4))):
        run_launch(kernel, launch, name)
