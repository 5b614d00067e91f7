"""PyTorch programs for ``torch.compile``, with whatever ``triton`` is: checked against eager, or timed.

    python -m tritonx.compat benchmarks/torch_programs.py --device cpu|cuda [--seed N] [names]     # a line of JSON each

Each program is a forward and a backward pass. It is held against eager in float64: the compiled one may be three times
as far from it as eager in the program's own type is, and no further; integers and shapes must be equal. Inputs are
random, from the seed. ``--device cpu`` makes PyTorch write kernels for the CPU as it does for GPUs. ``--serve`` is for
`torch_compile.py`: it compiles everything in the sizes of a benchmark and then answers names with microseconds."""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
import torch._dynamo
import torch._inductor.config
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor, nn


@dataclass(frozen=True)
class Program:
    """``run(module, *inputs)`` returns tensors. ``make(large)`` gives the module, or None, and the inputs on the CPU in
    float32; calls after the first may bring other inputs where there are several."""

    run: Callable[..., Any]
    make: Callable[[bool], tuple[nn.Module | None, list[list[Tensor]]]]
    devices: tuple[str, ...] = ("cpu", "cuda")
    options: tuple[tuple[str, Any], ...] = ()
    """Keywords of ``torch.compile``."""
    config: tuple[tuple[str, Any], ...] = ()
    """Settings of ``torch._inductor.config``."""
    check: Callable[[list[Tensor], list[Tensor]], None] | None = None
    """Instead of the comparison: called with the inputs and the outputs, gradients of floating inputs last."""


def one(*inputs: Tensor) -> list[list[Tensor]]:
    return [list(inputs)]


# Programs ------------------------------------------------------------------------------------------------------------


def pointwise(_: None, x: Tensor, y: Tensor) -> Any:
    return F.gelu(torch.sin(x) * y + 1.5) * torch.sigmoid(x) + torch.where(y > 0, x.abs().sqrt(), y.tanh())


def reductions(_: None, x: Tensor) -> Any:
    return x.sum(0), x.mean(1), x.var(1), x.amax(0), x.argmax(1), (x * x).cumsum(1), x.norm()


def softmax_and_layer_norm(module: nn.Module, x: Tensor) -> Any:
    return torch.softmax(module(x) * 2.0, dim=-1), torch.log_softmax(x, dim=0)


def module_of_inputs(module: nn.Module, *inputs: Tensor) -> Any:
    return module(*inputs)


def mlp(large: bool) -> Any:
    n, wide = (4096, 4096) if large else (37, 96)
    module = nn.Sequential(nn.Linear(wide, 2 * wide), nn.GELU(approximate="tanh"), nn.Linear(2 * wide, wide), nn.SiLU())
    return module, one(torch.randn(n, wide))


def convolutions(large: bool) -> Any:
    n, c, side = (32, 64, 112) if large else (2, 8, 17)
    module = nn.Sequential(
        nn.Conv2d(3, c, 3, padding=1), nn.BatchNorm2d(c), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(c, 2 * c, 3, stride=2), nn.GroupNorm(4, 2 * c), nn.Hardswish(), nn.AdaptiveAvgPool2d(3),
    )  # fmt: skip
    return module, one(torch.randn(n, 3, side, side))


class Block(nn.Module):
    """A transformer's block, norms first."""

    def __init__(self, wide: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(wide), nn.RMSNorm(wide)
        self.qkv, self.out = nn.Linear(wide, 3 * wide), nn.Linear(wide, wide)
        self.up, self.gate, self.down = nn.Linear(wide, 2 * wide), nn.Linear(wide, 2 * wide), nn.Linear(2 * wide, wide)

    def forward(self, x: Tensor) -> Tensor:
        b, n, wide = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, wide // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2)) / (wide // self.heads) ** 0.5
        causal = torch.ones(n, n, dtype=torch.bool, device=x.device).tril()
        mixed = torch.softmax(scores.masked_fill(~causal, float("-inf")), -1) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(b, n, wide))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def transformer(large: bool) -> Any:
    b, n, wide, heads = (8, 1024, 1024, 16) if large else (2, 19, 64, 4)
    return Block(wide, heads), one(torch.randn(b, n, wide))


class Embedded(nn.Module):
    def __init__(self, words: int, wide: int) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(words, wide), nn.Linear(wide, words)

    def forward(self, tokens: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(self.head(self.words(tokens)), labels, ignore_index=0, label_smoothing=0.1)


def embedding(large: bool) -> Any:
    words, wide, n = (32000, 1024, 4096) if large else (101, 48, 33)
    return Embedded(words, wide), one(torch.randint(0, words, (n,)), torch.randint(0, words, (n,)))


def dropout(_: None, x: Tensor) -> Any:
    return F.dropout(x, 0.25, training=True) * 2.0


def dropout_is_right(inputs: list[Tensor], outputs: list[Tensor]) -> None:
    """A quarter is dropped, the rest is scaled, and the backward pass drops the same."""
    (x,), (y, gradient) = inputs, outputs
    kept = y != 0
    share = 1 - kept.double().mean().item()
    assert abs(share - 0.25) < 6 * (0.25 * 0.75 / x.numel()) ** 0.5, f"{share} dropped"
    torch.testing.assert_close(y, torch.where(kept, x * 2.0 / 0.75, 0.0))
    assert torch.equal(gradient != 0, kept), "the backward pass drops other elements"


def scatter(_: None, x: Tensor, at: Tensor, values: Tensor) -> Any:
    total = x.index_add(0, at, values)
    return total, x.scatter_add(1, (at[:, None] % x.shape[1]).expand(-1, 3), values[:, :3].tanh()), x[at].relu()


def make_scatter(large: bool) -> Any:
    rows, cols = (8192, 2048) if large else (40, 30)
    return None, one(torch.randn(rows, cols), torch.randint(0, rows, (rows // 2,)), torch.randn(rows // 2, cols))


def rope(_: None, q: Tensor, k: Tensor) -> Any:
    n, d = q.shape[-2:]
    at = torch.arange(n, device=q.device)[:, None].to(q.dtype)
    angle = at * 10000.0 ** (-torch.arange(0, d, 2, device=q.device).to(q.dtype) / d)
    cos, sin = torch.cat([angle.cos()] * 2, -1), torch.cat([angle.sin()] * 2, -1)

    def turned(x: Tensor) -> Tensor:
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat([-b, a], -1) * sin

    return turned(q), turned(k)


def make_rope(large: bool) -> Any:
    shape = (8, 16, 2048, 128) if large else (2, 3, 21, 16)
    return None, one(torch.randn(shape), torch.randn(shape))


def dynamic_shapes(_: None, x: Tensor, y: Tensor) -> Any:
    return (torch.cat([x, y], 1).softmax(-1) * x.shape[0]).sum(0), (x @ y.t()).relu().mean()


def make_dynamic(large: bool) -> Any:
    sizes = [(4096, 1000), (2000, 4096)] if large else [(37, 64), (5, 40), (130, 17)]
    return None, [[torch.randn(n, m), torch.randn(n, m)] for n, m in sizes]


def matmul(_: None, a: Tensor, b: Tensor, bias: Tensor) -> Any:
    return F.relu(a @ b + bias)


def make_matmul(large: bool) -> Any:
    m, n, k = (4096, 4096, 4096) if large else (128, 192, 96)
    return None, one(torch.randn(m, k), torch.randn(k, n), torch.randn(n))


def flex(_: None, q: Tensor, k: Tensor, v: Tensor) -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    def biased(score: Tensor, b: Any, h: Any, at: Any, other: Any) -> Tensor:
        return torch.where(at >= other, score + (other - at) * 0.05 * (h + 1), -float("inf"))

    return flex_attention(q, k, v, score_mod=biased)


def make_flex(large: bool) -> Any:
    shape = (4, 16, 2048, 64) if large else (2, 2, 256, 64)
    return None, one(*(torch.randn(shape) for _ in range(3)))


@triton.jit
def triton_users_scaled_add(x, y, out, n, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) * scale + tl.load(y + at, mask=inside), mask=inside)


def scaled_add(x: Tensor, y: Tensor, scale: float) -> Tensor:
    out = torch.empty_like(x)
    triton_users_scaled_add[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), scale, BLOCK=256)
    return out


class ScaledAdd(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        return scaled_add(x, y, 3.0) if x.dtype == torch.float32 else x * 3.0 + y

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        if gradient.dtype != torch.float32:
            return gradient * 3.0, gradient
        gradient = gradient.contiguous()
        return scaled_add(gradient, torch.zeros_like(gradient), 3.0), gradient


def users_kernel(_: None, x: Tensor, y: Tensor) -> Any:
    return ScaledAdd.apply(x.sin(), y * 2.0).cos()


def two(small: tuple[int, ...], big: tuple[int, ...], count: int = 2) -> Callable[[bool], Any]:
    return lambda large: (None, one(*(torch.randn(big if large else small) for _ in range(count))))


def make_norm(large: bool) -> Any:
    rows, cols = (8192, 4096) if large else (33, 100)
    module = nn.LayerNorm(cols)
    nn.init.normal_(module.weight)
    return module, one(torch.randn(rows, cols))


AUTOTUNED = (("max_autotune_gemm_backends", "TRITON"),)
"""No other library's products: where no template compiles, compiling fails."""

SAME_CONVOLUTIONS = (("layout_optimization", False),)
"""So that the library's convolutions are those of eager: in another layout it may take one of other precision."""

PROGRAMS: dict[str, Program] = {
    "pointwise": Program(pointwise, two((33, 71), (8192, 4096))),
    "reductions": Program(reductions, two((45, 130), (8192, 4096), 1)),
    "softmax and layer norm": Program(softmax_and_layer_norm, make_norm),
    "mlp": Program(module_of_inputs, mlp),
    "convolutions": Program(module_of_inputs, convolutions, config=SAME_CONVOLUTIONS),
    "transformer block": Program(module_of_inputs, transformer),
    "embedding, cross entropy": Program(module_of_inputs, embedding),
    "dropout": Program(dropout, two((300, 401), (8192, 4096), 1), check=dropout_is_right),
    "scatter": Program(scatter, make_scatter),
    "rope": Program(rope, make_rope),
    "dynamic shapes": Program(dynamic_shapes, make_dynamic, options=(("dynamic", True),)),
    "max_autotune matmul": Program(
        matmul, make_matmul, ("cuda",), (("mode", "max-autotune-no-cudagraphs"),), AUTOTUNED
    ),
    "flex_attention": Program(flex, make_flex, ("cuda",)),
    "a user's kernel": Program(users_kernel, two((50, 61), (8192, 4096))),
}


# Against eager -------------------------------------------------------------------------------------------------------


def flat(outputs: Any) -> list[Tensor]:
    return [outputs] if isinstance(outputs, Tensor) else list(outputs)


def gradients_of(outputs: list[Tensor], leaves: list[Tensor], seed: int) -> list[Tensor | None]:
    """With random weights for the elements of the outputs: the same for the same seed, in any type."""
    total: Any = 0.0
    generator = torch.Generator().manual_seed(seed)
    for out in outputs:
        if out.requires_grad:
            weights = torch.randn(out.shape, generator=generator).to(out.device, out.dtype)
            total = total + (out * weights).sum()
    return list(torch.autograd.grad(total, leaves, allow_unused=True))


def leaves_of(module: nn.Module | None, inputs: Iterable[Tensor]) -> list[Tensor]:
    parameters = list(module.parameters()) if module is not None else []
    return [*parameters, *(x for x in inputs if x.requires_grad)]


def moved(tensors: list[Tensor], device: str, dtype: torch.dtype) -> list[Tensor]:
    return [x.to(device, dtype).requires_grad_() if x.is_floating_point() else x.to(device) for x in tensors]


def results(program: Program, run: Any, module: Any, inputs: list[Tensor], seed: int) -> list[Tensor | None]:
    outputs = flat(run(module, *inputs))
    return [*outputs, *gradients_of(outputs, leaves_of(module, inputs), seed)]


def distance(found: Tensor, exact: Tensor) -> float:
    """Largest difference, in units of the exact tensor's size."""
    size = exact.abs().max().item() if exact.numel() else 0.0
    difference = (found.double() - exact).abs()
    assert not difference.isnan().any(), "NaN"
    return (difference.max().item() if exact.numel() else 0.0) / max(size, 1e-30)


ALLOWED, ROUNDING = 3.0, 1e-6
"""Times as far from float64 as eager; and some last bits for what eager happens to have exactly."""


def compare(found: list[Tensor | None], eager: list[Tensor | None], exact: list[Tensor | None]) -> float:
    """The largest ratio of the distances to what is allowed. Raises AssertionError where it is more than 1."""
    worst = 0.0
    for i, (ours, theirs, right) in enumerate(zip(found, eager, exact, strict=True)):
        assert (ours is None) == (theirs is None), f"result {i} is there in one of the two only"
        if ours is None or theirs is None or right is None:
            continue
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, f"result {i}: {ours.shape}, {ours.dtype}"
        if not ours.is_floating_point():
            assert torch.equal(ours, theirs), f"result {i} differs"
            continue
        far, eagers = distance(ours.detach(), right.detach()), distance(theirs.detach(), right.detach())
        worst = max(worst, far / (ALLOWED * eagers + ROUNDING))
        assert worst <= 1, f"result {i} is {far:.2e} from float64, eager's {eagers:.2e}"
    return worst


def compiled(program: Program) -> Any:
    torch._dynamo.reset()
    keywords: dict[str, Any] = dict(program.options)
    mode = keywords.pop("mode", None)  # which cannot be given beside settings
    settings = {**(torch._inductor.list_mode_options(mode) if mode else {}), **dict(program.config)}
    return torch.compile(program.run, options=settings or None, **keywords)


def check(name: str, device: str, seed: int) -> dict[str, Any]:
    program = PROGRAMS[name]
    torch.manual_seed(seed)
    module, calls = program.make(False)
    run = compiled(program)
    worst, start = 0.0, time.perf_counter()
    for cpu_inputs in calls:
        inputs = moved(cpu_inputs, device, torch.float32)
        single = module.to(device, torch.float32) if module is not None else None
        found = results(program, run, single, inputs, seed)
        if program.check is not None:
            program.check([x.detach() for x in inputs], [x.detach() for x in found if x is not None])
            continue
        eager = results(program, program.run, single, inputs, seed)
        double = module.to(device, torch.float64) if module is not None else None
        exact = results(program, program.run, double, moved(cpu_inputs, device, torch.float64), seed)
        worst = max(worst, compare(found, eager, exact))
    return {"ok": True, "of allowed": worst, "seconds": time.perf_counter() - start}


# Timed ---------------------------------------------------------------------------------------------------------------

REPEAT = 10


def prepared(name: str, device: str) -> Callable[[], None]:
    """The program's forward and backward pass, compiled and run once, in the sizes of a benchmark."""
    program = PROGRAMS[name]
    torch.manual_seed(0)
    module, calls = program.make(True)
    module = module.to(device, torch.bfloat16) if module is not None else None
    run = compiled(program)
    made = [moved(inputs, device, torch.float32 if name == "a user's kernel" else torch.bfloat16) for inputs in calls]

    def both() -> None:
        for inputs in made:
            outputs = flat(run(module, *inputs))
            torch.autograd.grad(sum(o.sum() for o in outputs if o.requires_grad), leaves_of(module, inputs),
                                allow_unused=True)  # fmt: skip

    for _ in range(3):
        both()
    return both


def kernel_microseconds(run: Callable[[], None]) -> dict[str, Any]:
    """Microseconds on the device of one run: of the kernels that Triton compiled, together and each, and of all."""
    activity = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[activity.CUDA if torch.cuda.is_available() else activity.CPU]) as profile:
        for _ in range(REPEAT):
            run()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    events = [(e.key, e.self_device_time_total / REPEAT) for e in profile.key_averages()]
    own = {key: t for key, t in events if key.startswith("triton_")}
    return {"kernels": sum(own.values()), "all": sum(t for _, t in events), "each": own}


def serve(names: list[str], device: str) -> None:
    """Prepare every program, say so, and then time those that are asked for, a line of JSON for each."""
    ready: dict[str, Callable[[], None]] = {}
    for name in names:
        start = time.perf_counter()
        try:
            ready[name] = prepared(name, device)
            say(name, {"ok": True, "seconds": time.perf_counter() - start})
        except Exception:
            say(name, {"ok": False, "error": traceback.format_exc()[-3000:]})
    say("ready", {"ok": True})
    for line in sys.stdin:
        name = line.strip()
        say(name, {"ok": True, **kernel_microseconds(ready[name])})


# The command ---------------------------------------------------------------------------------------------------------


def say(name: str, fields: dict[str, Any]) -> None:
    print(json.dumps({"program": name, **fields}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("names", nargs="*", help="programs; all by default")
    given = parser.parse_args()
    if given.device == "cpu":
        torch._inductor.config.cpu_backend = "triton"
        torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    names = given.names or [name for name, program in PROGRAMS.items() if given.device in program.devices]
    say("compiler", {"ok": True, "triton": triton.__name__, "torch": torch.__version__})
    if given.serve:
        serve(names, given.device)
        return
    for name in names:
        try:
            say(name, check(name, given.device, given.seed))
        except Exception:
            say(name, {"ok": False, "error": traceback.format_exc()[-3000:]})


if __name__ == "__main__":
    main()
