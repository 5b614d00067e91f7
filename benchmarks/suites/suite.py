"""What a library's tests are: where they lie, what they need, what is left out and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Suite:
    """All paths are below ``root``, which is below the folder of sources."""

    root: str
    files: tuple[str, ...]
    """Patterns of test files."""
    paths: tuple[str, ...] = (".",)
    """What goes on ``sys.path``."""
    without: tuple[str, ...] = ()
    """Patterns of files that are no tests of Triton kernels: other compilers', several GPUs, downloads."""
    arguments: tuple[str, ...] = ()
    """For pytest."""
    environment: tuple[tuple[str, str], ...] = ()
    bare: tuple[tuple[str, str], ...] = ()
    """Packages whose ``__init__`` does not run, since it needs what is not there, and the module whose names they have
    instead, or none."""
    needs: tuple[str, ...] = ()
    """What its tests import beside PyTorch and pytest, for pip; without, files are not collected."""
    limit: float = 100
    """Seconds a test may take."""
    here: bool = False
    """Its root is below this repository's folder benchmarks."""

    def folder(self, sources: Path) -> Path:
        """Its root."""
        return (Path(__file__).parents[1] if self.here else sources).resolve() / self.root

    def found(self, sources: Path) -> list[str]:
        """The test files, relative to the root."""
        root = self.folder(sources)
        files = {f.relative_to(root).as_posix() for p in self.files for f in root.glob(p)}
        left_out = {f.relative_to(root).as_posix() for p in self.without for f in root.glob(p)}
        return sorted(files - left_out)


SGLANG = "test/registered/"

SUITES = {
    "triton": Suite(
        "triton/python/test",
        ("unit/**/test_*.py",),
        (".", "unit/language"),
        without=("unit/instrumentation/*.py", "unit/plugins/*.py", "unit/tools/test_triton_to_gluon.py"),
        arguments=("--device", "cuda", "--rootdir", ".", "--confcutdir", "."),
        limit=120,
    ),
    "liger": Suite(
        "liger",
        ("test/transformers/test_*.py", "test/triton/test_*.py", "test/chunked_loss/test_*.py"),
        (".", "src"),
        ("test/transformers/test_cut*.py", "test/transformers/*cutedsl*.py", "test/transformers/test_monkey_patch.py"),
        limit=200,
    ),
    "fla": Suite(
        "fla",
        ("tests/ops/**/test_*.py", "tests/modules/test_*.py", "tests/layers/test_*.py"),
        without=("tests/ops/test_dplr_tilelang.py",),
        limit=200,
    ),
    "flaggems": Suite(
        "flaggems",
        ("tests/**/test_*.py",),
        (".", "src"),
        arguments=("--mode", "quick"),
        environment=(("GEMS_VENDOR", "nvidia"),),
        needs=("pyyaml", "sqlalchemy"),
    ),
    "triton_kernels": Suite(
        "triton_kernels/python/triton_kernels",
        ("tests/**/test_*.py",),
        without=("tests/test_distributed.py",),
        limit=120,
    ),
    "unsloth": Suite(
        "unsloth",
        (
            "unsloth/kernels/*norm.py",
            "unsloth/kernels/moe/tests/test_*.py",
            "tests/test_fast_gemv*.py",
            "tests/test_fp8*.py",
            "tests/test_grouped_gemm*.py",
        ),
        (".", "unsloth/kernels/moe"),
        bare=(("unsloth", "unsloth.device_type"), ("unsloth_zoo", "unsloth_zoo.device_type")),
        needs=("datasets", "transformers", "unsloth_zoo"),
        limit=120,
    ),
    "sglang": Suite(
        "sglang",
        (
            *(
                SGLANG + f
                for f in (
                    "attention/test_create_kvindices.py",
                    "attention/test_kda_kernels.py",
                    "attention/test_triton_attention_kernels.py",
                    "attention/test_verify_splitkv.py",
                    "attention/test_wave_attention_kernels.py",
                    "attention/test_gemma4_swa_triton_oob_regression.py",
                    "attention/unittests/*/test_triton.py",
                    "attention/unittests/mamba/test_mamba2.py",
                    "jit/diffusion/test_group_norm_silu.py",
                    "jit/diffusion/test_qwen_image_modulation.py",
                    "jit/diffusion/test_varlen_*.py",
                    "jit/kv_canary/test_*.py",
                    "jit/test_sigmoid_gate_mul.py",
                    "jit/test_per_token_group_quant_8bit.py",
                    "kernels/test_gather_spec_extras.py",
                    "kernels/test_sigmoid_gate_mul.py",
                    "kernels/test_gemma4_fused_routing.py",
                    "kernels/test_mhc_kernels.py",
                    "kernels/test_dsa_indexer.py",
                    "layers/mamba/test_*.py",
                    "lora/test_chunked_sgmv_backend.py",
                    "lora/test_fused_moe_lora_kernel.py",
                    "lora/test_virtual_experts_kernels.py",
                    "moe/test_fused_moe.py",
                    "moe/test_triton_fused_moe.py",
                    "moe/test_triton_moe_channel_fp8_kernel.py",
                    "quant/test_awq_dequant.py",
                    "quant/test_block_int8.py",
                    "quant/test_fp8_kernel.py",
                    "quant/test_fp8kv_triton.py",
                    "quant/test_fp8_blockwise_gemm.py",
                    "quant/test_fused_rms_fp8_group_quant.py",
                    "quant/test_int4fp8_moe.py",
                    "quant/test_int8_kernel.py",
                    "quant/test_triton_scaled_mm.py",
                    "unit/constrained/test_token_filter_ops.py",
                    "unit/layers/test_mamba_state_scatter_triton.py",
                )
            ),
            "test/manual/quant/test_block_fp8.py",
            "test/manual/test_triton_moe_wna16.py",
            "test/manual/layers/attention/dsa/test_*.py",
        ),
        ("python", "."),
        bare=(("sglang", ""),),
        needs=(
            "aiohttp",
            "anyio",
            "apache-tvm-ffi==0.1.9",
            "compressed-tensors",
            "datasets",
            "dill",
            "fastapi",
            "gguf",
            "httpx",
            "ipython",
            "loguru",
            "msgspec",
            "openai",
            "orjson",
            "partial-json-parser",
            "pillow",
            "psutil",
            "pybase64",
            "pydantic",
            "pyzmq",
            "regex",
            "requests",
            "sentencepiece",
            "setproctitle",
            "sgl-kernel",
            "starlette",
            "torchvision",
            "tqdm",
            "transformers==5.6.0",
            "uvicorn",
            "uvloop",
        ),
        limit=120,
    ),
    "torch_models": Suite("torch_models", ("test_torch_models.py",), limit=200, here=True),
}
