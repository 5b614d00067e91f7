"""Attention, forward and backward, of f16."""

from __future__ import annotations

import torch

from products.case import Bench, Builder, Call, Case, Configuration, Step

HEADS = 16
SAMPLED = (0, 7, 15)
"""Heads that are compared."""


def attentions(choices: list[tuple[int, int, int, int]]) -> list[Configuration]:
    """Of blocks of queries and keys, warps and stages."""
    return [{"BLOCK_M": m, "BLOCK_N": n, "num_warps": w, "num_stages": s} for m, n, w, s in choices]


FORWARD = attentions(
    [(128, 64, 4, 3), (128, 128, 8, 2), (128, 64, 4, 2), (128, 64, 4, 4), (128, 64, 8, 3), (128, 128, 8, 3),
     (128, 128, 8, 4), (64, 64, 4, 3), (64, 64, 4, 4)]
)  # fmt: skip

FORWARD_WIDE = attentions(
    [(128, 64, 8, 2), (128, 32, 8, 2), (128, 32, 8, 3), (64, 64, 4, 2), (64, 32, 4, 2), (64, 32, 4, 3),
     (64, 64, 8, 2)]
)  # fmt: skip

BACKWARD: list[Configuration] = [
    {"BLOCK": block, "STEP": step, "num_warps": w, "num_stages": s}
    for block, step, w, s in (
        (64, 64, 4, 2), (128, 64, 8, 2), (128, 32, 4, 2), (128, 32, 4, 3), (128, 32, 8, 3), (128, 64, 8, 3),
        (64, 64, 4, 3), (64, 32, 4, 3), (128, 128, 8, 2),
    )
]  # fmt: skip


def sampled(x: torch.Tensor) -> torch.Tensor:
    return x[[head for head in SAMPLED if head < len(x)]]


def scores_of(q: torch.Tensor, k: torch.Tensor, causal: bool) -> torch.Tensor:
    """Of one head, in f64."""
    scores = q.double() @ k.double().T * q.shape[1] ** -0.5
    if causal:
        scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    return scores


def forward(n: int, head: int, *, causal: bool) -> Builder:
    def build(bench: Bench) -> Case:
        heads, rows = (2, 256) if bench.small else (HEADS, n)
        q, k, v = (bench.drawn(heads, rows, head, dtype=torch.float16) for _ in range(3))
        out = torch.empty_like(q)
        width = 1 << (head - 1).bit_length()

        def steps(c: Configuration) -> list[Step]:
            options = {"HEAD": head, "WIDTH": width, "CAUSAL": causal, **c}
            arguments = (q, k, v, out, head**-0.5, rows)
            return [Call("kernels_attention", "attention", (rows // c["BLOCK_M"], heads), arguments, options)]

        def exact() -> list[torch.Tensor]:
            given = zip(*map(sampled, (q, k, v)), strict=True)
            return [torch.stack([torch.softmax(scores_of(x, y, causal), 1) @ z.double() for x, y, z in given])]

        def library() -> list[torch.Tensor]:
            attend = torch.nn.functional.scaled_dot_product_attention
            return [attend(q[None], k[None], v[None], is_causal=causal)[0]]

        return Case(
            f"attention {heads}x{n} D={head}{' causal' if causal else ''}",
            4.0 * heads * rows * rows * head / (2 if causal else 1), FORWARD_WIDE if head > 128 else FORWARD, (out,),
            steps, exact, 2e-3, library, sampled,
        )  # fmt: skip

    return build


def backward(n: int, head: int, *, causal: bool) -> Builder:
    """Gradients of queries, keys and values, with the sums that both kernels need; the forward pass has been."""

    def build(bench: Bench) -> Case:
        heads, rows = (2, 256) if bench.small else (HEADS, n)
        q, k, v, go = (bench.drawn(heads, rows, head, dtype=torch.float16) for _ in range(4))
        gradients = tuple(torch.empty_like(q) for _ in range(3))
        gq, gk, gv = gradients
        o, lse = torch.empty_like(q), bench.empty(heads, rows, dtype=torch.float32)
        delta = torch.empty_like(lse)
        for x, y, z, result, logarithm in zip(q, k, v, o, lse, strict=True):
            scores = scores_of(x, y, causal)
            logarithm.copy_(torch.logsumexp(scores, 1) * 1.4426950408889634)
            result.copy_(torch.softmax(scores, 1) @ z.double())

        def steps(c: Configuration) -> list[Step]:
            options = {"HEAD": head, "CAUSAL": causal, **c}
            shared = (q, k, v, go, lse, delta)
            numbers = (head**-0.5, rows)
            grid = (rows // c["BLOCK"], heads)
            delta_options = {"HEAD": head, "BLOCK": 64, "num_warps": 4}
            return [
                Call("kernels_attention", "gradient_sums", (heads * rows // 64,), (o, go, delta), delta_options),
                Call("kernels_attention", "gradients_of_keys", grid, (*shared, gk, gv, *numbers), options),
                Call("kernels_attention", "gradients_of_queries", grid, (*shared, gq, *numbers), options),
            ]

        def exact() -> list[torch.Tensor]:
            found: list[tuple[torch.Tensor, ...]] = []
            for x, y, z, g in zip(*map(sampled, (q, k, v, go)), strict=True):
                p = torch.softmax(scores_of(x, y, causal), 1)
                gp = g.double() @ z.double().T
                gs = p * (gp - (p * gp).sum(1, keepdim=True)) * head**-0.5
                found.append((gs @ y.double(), gs.T @ x.double(), p.T @ g.double()))
            return [torch.stack(each) for each in zip(*found, strict=True)]

        wanted = tuple(x.detach()[None].requires_grad_() for x in (q, k, v))
        result: list[torch.Tensor] = []

        def library() -> list[torch.Tensor]:
            if not result:
                result.append(torch.nn.functional.scaled_dot_product_attention(*wanted, is_causal=causal))
            found = torch.autograd.grad(result[0], wanted, go[None], retain_graph=True)
            return [gradient[0] for gradient in found]

        return Case(
            f"attention backward {heads}x{n} D={head}{' causal' if causal else ''}",
            10.0 * heads * rows * rows * head / (2 if causal else 1), BACKWARD, gradients, steps, exact, 4e-3, library,
            sampled, scratch=(delta,),
        )  # fmt: skip

    return build


def _named(head: int, n: int, causal: bool, kind: str = "attention") -> str:
    return f"{kind}{head}{'_causal' if causal else ''}_{n}"


ATTENTION: dict[str, Builder] = {
    **{
        _named(head, n, causal): forward(n, head, causal=causal)
        for n, widths in ((4096, (64, 96, 128, 256)), (16384, (64, 128)))
        for head in widths
        for causal in (False, True)
    },
    **{
        _named(head, 4096, causal, "backward"): backward(4096, head, causal=causal)
        for head in (64, 128)
        for causal in (False, True)
    },
}
