"""Models of torchvision and transformers, small and with random weights, compiled by ``torch.compile``, forward and
backward. The compiled one may be three times as far from the same model in float64 as eager is, and no further."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch._dynamo
from torch import Tensor, nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WORDS = 1000


def images(size: int) -> Callable[[], dict[str, Tensor]]:
    return lambda: {"x": torch.randn(8, 3, size, size)}


def words(length: int = 96, *more: str) -> Callable[[], dict[str, Tensor]]:
    return lambda: {name: torch.randint(0, WORDS, (4, length)) for name in ("input_ids", *more)}


def vision(name: str, **options: Any) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        models = pytest.importorskip("torchvision.models")
        return getattr(models, name)(weights=None, num_classes=10, **options)

    return make


def language(model: str, config: str, **options: Any) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        transformers = pytest.importorskip("transformers")
        settings = getattr(transformers, config)(vocab_size=WORDS, **options)
        settings._attn_implementation = "eager" if model in ("T5Model", "MambaModel") else "sdpa"
        settings.use_cache = False
        return getattr(transformers, model)(settings)

    return make


SIZES = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4}

GPT2_DROPOUTS = ("resid_pdrop", "embd_pdrop", "attn_pdrop")

MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], dict[str, Tensor]]]] = {
    "resnet18": (vision("resnet18"), images(96)),
    "mobilenet_v3_small": (vision("mobilenet_v3_small", dropout=0.0), images(96)),
    "efficientnet_b0": (vision("efficientnet_b0", dropout=0.0, stochastic_depth_prob=0.0), images(96)),
    "convnext_tiny": (vision("convnext_tiny", stochastic_depth_prob=0.0), images(96)),
    "vit_b_16": (vision("vit_b_16", image_size=96), images(96)),
    "llama": (language("LlamaModel", "LlamaConfig", num_key_value_heads=2, **SIZES), words()),
    "qwen3": (language("Qwen3Model", "Qwen3Config", num_key_value_heads=2, head_dim=64, **SIZES), words()),
    "gpt2": (
        language("GPT2Model", "GPT2Config", n_embd=256, n_layer=2, n_head=4, **dict.fromkeys(GPT2_DROPOUTS, 0.0)),
        words(),
    ),
    "bert": (
        language("BertModel", "BertConfig", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **SIZES), words()
    ),
    "t5": (
        language("T5Model", "T5Config", d_model=256, d_ff=512, d_kv=64, num_layers=2, num_heads=4, dropout_rate=0.0),
        words(64, "decoder_input_ids"),
    ),
    "mamba": (language("MambaModel", "MambaConfig", hidden_size=256, num_hidden_layers=2), words(32)),
}  # fmt: skip


def step(model: nn.Module, run: Callable[..., Any], inputs: dict[str, Tensor]) -> list[Tensor]:
    """The output and the parameters' gradients of its mean square. What the output does not depend on has zeros: eager
    gives it no gradient, and a compiled model one."""
    model.zero_grad(set_to_none=True)
    out = run(**inputs)
    out = out if isinstance(out, Tensor) else out[0]
    out.float().square().mean().backward() if out.dtype != torch.float64 else out.square().mean().backward()
    return [out.detach(), *(torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters())]


def distance(found: list[Tensor], exact: list[Tensor]) -> list[float]:
    """Of each, relative to the norm of what it should be."""
    assert len(found) == len(exact)
    return [float((f.double() - e).norm() / e.norm().clamp_min(1e-12)) for f, e in zip(found, exact, strict=True)]


def cast(inputs: dict[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    return {k: v.to(DEVICE, dtype if v.is_floating_point() else v.dtype) for k, v in inputs.items()}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", list(MODELS))
def test_compiled(name: str, dtype: torch.dtype, record_property: Callable[[str, object], None]) -> None:
    torch.manual_seed(7)
    make, make_inputs = MODELS[name]
    base = make()
    given = make_inputs()
    if name.startswith(("resnet", "mobilenet", "efficientnet")):
        base.eval()  # batches of 8 make the statistics' gradients all rounding
    model = copy.deepcopy(base).to(DEVICE, dtype)
    wide = copy.deepcopy(model).double()
    exact = step(wide, wide, cast(given, torch.float64))
    if dtype != torch.float32:
        given = {k: v.to(dtype) if v.is_floating_point() else v for k, v in given.items()}
        exact = step(wide, wide, cast(given, torch.float64))
    eager = distance(step(model, model, cast(given, dtype)), exact)
    torch._dynamo.reset()
    start = time.perf_counter()
    compiled = torch.compile(model)
    found = distance(step(model, compiled, cast(given, dtype)), exact)
    record_property("ready_s", round(time.perf_counter() - start, 3))
    least = 2e-6 if dtype == torch.float32 else 4e-3
    worst = max(found_one / (3 * eager_one + least) for found_one, eager_one in zip(found, eager, strict=True))
    record_property("worst", round(worst, 3))
    assert worst <= 1, f"{worst:.2f} of what is allowed"
