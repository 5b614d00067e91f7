"""The kernels of `kernels/`, with what they are compiled for and the sizes that they run with."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from tests.styles.kernels import attention, memory, products, quantised, rows
from tests.styles.program import Case, Tensor

Sizes = Mapping[str, "int | tuple[int, int]"]


def _tensors(text: str) -> dict[str, Tensor]:
    """``x: fp16[M * K] y: i32[M] < N``, one a line."""
    found: dict[str, Tensor] = {}
    for line in text.strip().splitlines():
        name, _, rest = line.partition(":")
        dtype, _, rest = rest.strip().partition("[")
        elements, _, below = rest.rpartition("]")
        found[name.strip()] = Tensor(dtype, elements, below.strip(" <"))
    return found


def _numbers(text: str) -> dict[str, str]:
    """``M N stride_am=K``: a name alone is the size of that name."""
    pairs = (part.partition("=") for part in text.split())
    return {name: value or name for name, _, value in pairs}


def case(
    module: ModuleType, name: str, tensors: str, numbers: str, grid: str, sizes: dict[str, int], small: Sizes,
    constants: str, options: dict[str, int] | None = None, title: str = "", *, exact: bool = True,
) -> Case:  # fmt: skip
    """A case whose values are written in short; ``constants`` are sizes too."""
    return Case(
        name, module, _tensors(tensors), _numbers(numbers), _numbers(constants), tuple(grid.split("; ")), sizes,
        {**{n: sizes[n] for n in sizes if n not in small}, **small}, options or {}, title=title or name, exact=exact,
    )  # fmt: skip


def _product(a: str, c: str) -> str:
    return f"a_ptr: {a}[M * K]\nb_ptr: {a}[K * N]\nc_ptr: {c}[M * N]"


TILES = {"BM": 128, "BN": 128, "BK": 64}
LARGE = {"M": 4096, "N": 4096, "K": 4096}
SMALL: Sizes = {"M": (1, 40), "N": (1, 40), "K": (1, 50), "BM": 16, "BN": 16, "BK": 16}
TWO = "cdiv(M, BM); cdiv(N, BN)"
ALL_STRIDES = "M N K stride_am=K stride_ak=1 stride_bk=N stride_bn=1 stride_cm=N stride_cn=1"
WARPS_8 = {"num_warps": 8, "num_stages": 3}

PRODUCTS = [
    case(products, "matmul", _product("fp16", "fp16"), ALL_STRIDES, "cdiv(M, BM) * cdiv(N, BN)",
         {**LARGE, **TILES, "GROUP": 8}, {**SMALL, "GROUP": 2}, "BM BN BK GROUP", WARPS_8),
    case(products, "matmul_two_axes", _product("bf16", "bf16"), ALL_STRIDES, TWO, {**LARGE, **TILES}, SMALL,
         "BM BN BK", WARPS_8),
    case(products, "matmul_two_axes", _product("fp32", "fp32"), ALL_STRIDES, TWO, {**LARGE, **TILES, "BK": 32}, SMALL,
         "BM BN BK", WARPS_8, "matmul_f32"),
    case(products, "matmul_rows_of_both", _product("fp16", "fp16"), "M N K stride_am=K stride_bn=K stride_cm=N", TWO,
         {**LARGE, **TILES}, SMALL, "BM BN BK", WARPS_8),
    case(products, "matmul_rows_of_both", _product("fp8e4nv", "fp16"), "M N K stride_am=K stride_bn=K stride_cm=N", TWO,
         {**LARGE, **TILES, "BK": 128}, {**SMALL, "BK": 32}, "BM BN BK", WARPS_8, "matmul_fp8"),
    case(products, "matmul_columns_of_a", _product("fp16", "fp16"), "M N K stride_ak=M stride_bk=N stride_cm=N", TWO,
         {**LARGE, **TILES}, SMALL, "BM BN BK", WARPS_8),
    case(products, "batched_matmul",
         "a_ptr: fp16[B * M * K]\nb_ptr: fp16[B * K * N]\nc_ptr: fp16[B * M * N]",
         "M N K stride_ab=M*K stride_am=K stride_ak=1 stride_bb=K*N stride_bk=N stride_bn=1 stride_cb=M*N stride_cm=N "
         "stride_cn=1", f"{TWO}; B", {**LARGE, "M": 1024, "N": 1024, "K": 512, "B": 16, "BM": 128, "BN": 64, "BK": 32},
         {**SMALL, "B": 2}, "BM BN BK", {"num_warps": 4, "num_stages": 3}),
    case(products, "gated_matmul",
         "x_ptr: fp16[M * K]\ngate_ptr: fp16[K * N]\nup_ptr: fp16[K * N]\nout_ptr: fp16[M * N]",
         "M N K stride_xm=K stride_wk=N stride_om=N", TWO, {**LARGE, **TILES, "BN": 64}, SMALL, "BM BN BK", WARPS_8),
    case(products, "split_k_matmul", "a_ptr: fp16[M * K]\nb_ptr: fp16[K * N]\nc_ptr: fp32[M * N]",
         "M N K stride_am=K stride_bk=N stride_cm=N", "cdiv(M, BM) * cdiv(N, BN); SPLIT",
         {"M": 64, "N": 4096, "K": 8192, "BM": 64, "BN": 64, "BK": 64, "SPLIT": 4}, {**SMALL, "SPLIT": 2},
         "BM BN BK SPLIT", {"num_warps": 4, "num_stages": 4}, exact=False),
]  # fmt: skip

QUANTISED = [
    case(quantised, "int8_weights", "x_ptr: fp16[M * K]\nw_ptr: i8[K * N] < 100\nscale_ptr: fp16[N]\n"
         "out_ptr: fp16[M * N]",
         "M N K stride_xm=K stride_wk=N stride_om=N", TWO, {**LARGE, "M": 64, "BM": 64, "BN": 128, "BK": 64}, SMALL,
         "BM BN BK", {"num_warps": 4, "num_stages": 3}),
    case(quantised, "int4_weights",
         "x_ptr: fp16[M * K]\nw_ptr: i32[K // 8 * N] < 1000000\nscale_ptr: fp16[K // SIZE * N]\nout_ptr: fp16[M * N]",
         "M N K stride_xm=K stride_wk=N stride_sk=N stride_om=N", TWO,
         {**LARGE, "M": 64, "SIZE": 128, "BM": 64, "BN": 128, "BK": 64},
         {**SMALL, "K": 64, "SIZE": 32}, "SIZE BM BN BK", {"num_warps": 4, "num_stages": 3}),
    case(quantised, "block_scaled",
         "a_ptr: fp8e4nv[M * K]\nb_ptr: fp8e4nv[N * K]\nas_ptr: fp32[M * cdiv(K, SIZE)]\n"
         "bs_ptr: fp32[cdiv(N, SIZE) * cdiv(K, SIZE)]\nc_ptr: fp16[M * N]",
         "M N K stride_am=K stride_bn=K stride_asm=cdiv(K,SIZE) stride_bsn=cdiv(K,SIZE) stride_cm=N", TWO,
         {**LARGE, "SIZE": 128, "BM": 64, "BN": 128, "BK": 128}, {**SMALL, "SIZE": 32, "BK": 32}, "SIZE BM BN BK",
         {"num_warps": 4, "num_stages": 3}),
    case(quantised, "int8_matmul", "a_ptr: i8[M * K] < 50\nb_ptr: i8[N * K] < 50\nscale_ptr: fp32[M]\n"
         "c_ptr: fp16[M * N]", "M N K stride_am=K stride_bn=K stride_cm=N", TWO,
         {**LARGE, **TILES}, {**SMALL, "BK": 32}, "BM BN BK", WARPS_8),
]  # fmt: skip

QKVO = "".join(f"{n}_ptr: fp16[B * H * N * D]\n" for n in "qkvo")
ATTENTION = [
    case(attention, "attention", QKVO, "scale=0.18 H N stride_b=H*N*D stride_h=N*D stride_n=D", "cdiv(N, BM); B * H",
         {"B": 4, "H": 16, "N": 2048, "D": 64, "BM": 128, "BN": 64},
         {"B": 2, "H": 2, "N": (1, 40), "D": 16, "BM": 16, "BN": 16}, "BM BN D", {"num_warps": 4, "num_stages": 3}),
    case(attention, "causal_attention", QKVO, "scale=0.18 N stride_h=N*D stride_n=D", "cdiv(N, BM); B * H",
         {"B": 4, "H": 16, "N": 2048, "D": 128, "BM": 128, "BN": 64},
         {"B": 1, "H": 2, "N": (1, 40), "D": 16, "BM": 16, "BN": 16}, "BM BN D", {"num_warps": 8, "num_stages": 2}),
    case(attention, "decode",
         "q_ptr: fp16[B * D]\nk_ptr: fp16[B * N * D]\nv_ptr: fp16[B * N * D]\n"
         "o_ptr: fp16[B * D]\nlength_ptr: i32[B] < N",
         "scale=0.09 stride_q=D stride_kb=N*D stride_kn=D", "B", {"B": 64, "N": 8192, "D": 128, "BN": 64},
         {"B": 3, "N": (2, 40), "D": 16, "BN": 16}, "BN D", {"num_warps": 4}),
]  # fmt: skip

MATRIX: Sizes = {"M": (1, 20), "N": (1, 16), "BM": 8, "BN": 16}
ROWS = [
    case(rows, "softmax", "x_ptr: fp32[R * N]\nout_ptr: fp32[R * N]", "n_cols=N stride_x=N stride_out=N", "R",
         {"R": 4096, "N": 2000, "BLOCK": 2048}, {"R": 3, "N": (1, 32), "BLOCK": 32}, "BLOCK", {"num_warps": 4}),
    case(rows, "layer_norm", "x_ptr: fp16[R * N]\nw_ptr: fp16[N]\nb_ptr: fp16[N]\ny_ptr: fp16[R * N]",
         "N stride_x=N eps=0.00001", "R", {"R": 2048, "N": 4096, "BLOCK": 1024}, {"R": 2, "N": (1, 50), "BLOCK": 16},
         "BLOCK", {"num_warps": 4}),
    case(rows, "rms_norm", "x_ptr: fp16[R * N]\nw_ptr: fp16[N]\ny_ptr: fp16[R * N]",
         "n_rows=R n_cols=N stride_x=N stride_y=N eps=0.00001", "cdiv(R, ROWS)",
         {"R": 4096, "N": 1024, "ROWS": 4, "BLOCK": 1024}, {"R": (1, 9), "N": (1, 32), "BLOCK": 32}, "ROWS BLOCK"),
    case(rows, "cross_entropy", "x_ptr: bf16[R * N]\nlabel_ptr: i64[R] < N\nloss_ptr: fp32[R]",
         "n_cols=N stride_x=N", "R",
         {"R": 4096, "N": 32000, "BLOCK": 2048}, {"R": 3, "N": (1, 60), "BLOCK": 16}, "BLOCK", {"num_warps": 8}),
    case(rows, "column_sums", "x_ptr: fp16[M * N]\nout_ptr: fp32[N]", "M N stride_x=N", "cdiv(N, BN)",
         {"M": 4096, "N": 4096, "BM": 32, "BN": 64}, {"M": (1, 30), "N": (1, 40), "BM": 8, "BN": 16}, "BM BN"),
    case(rows, "row_maxima", "x_ptr: fp32[M * N]\nvalue_ptr: fp32[M]\nindex_ptr: i32[M]",
         "M N stride_x=N", "cdiv(M, BM)",
         {"M": 4096, "N": 256, "BM": 8, "BN": 256}, MATRIX, "BM BN"),
    case(rows, "running_sums", "x_ptr: fp32[M * N]\nout_ptr: fp32[M * N]", "M N stride_x=N stride_out=N", "cdiv(M, BM)",
         {"M": 4096, "N": 512, "BM": 4, "BN": 512}, {**MATRIX, "BM": 4}, "BM BN"),
    case(rows, "top_values", "x_ptr: fp32[R * N]\nout_ptr: fp32[R * COUNT]", "N stride_x=N", "R",
         {"R": 4096, "N": 1024, "BLOCK": 1024, "COUNT": 4}, {"R": 3, "N": (4, 32), "BLOCK": 32}, "BLOCK COUNT"),
    case(rows, "quantise_rows", "x_ptr: fp16[M * N]\nout_ptr: i8[M * N]\nscale_ptr: fp32[M]",
         "M N stride_x=N stride_out=N", "cdiv(M, BM)", {"M": 4096, "N": 1024, "BM": 4, "BN": 1024}, {**MATRIX, "BM": 4},
         "BM BN"),
]  # fmt: skip

FLAT: Sizes = {"BLOCK": 16}
MEMORY = [
    case(memory, "scaled_add", "x_ptr: fp32[n]\ny_ptr: fp32[n]\nout_ptr: fp32[n]", "alpha=0.7 n", "cdiv(n, BLOCK)",
         {"n": 1048576, "BLOCK": 1024}, {"n": (1, 70), **FLAT}, "BLOCK"),
    case(memory, "rotary", "x_ptr: fp16[T * H * 2 * HALF]\ncos_ptr: fp32[L * HALF]\nsin_ptr: fp32[L * HALF]\n"
         "out_ptr: fp16[T * H * 2 * HALF]", "L H stride_l=H*2*HALF stride_h=2*HALF", "T; cdiv(H, HEADS)",
         {"T": 8192, "L": 2048, "H": 32, "HALF": 64, "HEADS": 8},
         {"T": 5, "L": 3, "H": (1, 9), "HALF": 8, "HEADS": 4}, "HALF HEADS"),
    case(memory, "gated", "x_ptr: fp16[R * 2 * width]\nout_ptr: fp16[R * width]", "n=R*width width",
         "cdiv(R * width, BLOCK)", {"R": 4096, "width": 4096, "BLOCK": 1024}, {"R": 3, "width": (1, 30), **FLAT},
         "BLOCK"),
    case(memory, "embedding", "ids_ptr: i32[T] < V\ntable_ptr: fp16[V * N]\nout_ptr: fp16[T * N]",
         "n_cols=N stride_table=N stride_out=N", "T; cdiv(N, BLOCK)", {"T": 8192, "V": 32000, "N": 4096, "BLOCK": 1024},
         {"T": 4, "V": 9, "N": (1, 40), **FLAT}, "BLOCK"),
    case(memory, "gather_rows", "index_ptr: i32[M] < V\nx_ptr: fp16[V * N]\nout_ptr: fp16[M * N]",
         "M N stride_x=N stride_out=N", TWO, {"M": 4096, "N": 1024, "V": 10000, "BM": 16, "BN": 256},
         {"M": (1, 20), "N": (1, 30), "V": 7, "BM": 8, "BN": 16}, "BM BN"),
    case(memory, "transpose", "x_ptr: fp16[M * N]\nout_ptr: fp16[M * N]",
         "M N stride_xm=N stride_xn=1 stride_on=M stride_om=1", TWO, {"M": 4096, "N": 4096, "BM": 64, "BN": 64},
         {"M": (1, 40), "N": (1, 40), "BM": 16, "BN": 16}, "BM BN"),
    case(memory, "stencil", "x_ptr: fp32[M * N]\nout_ptr: fp32[M * N]", "M N stride_x=N", TWO,
         {"M": 4096, "N": 4096, "BM": 16, "BN": 128}, {"M": (1, 30), "N": (1, 30), "BM": 8, "BN": 16}, "BM BN"),
    case(memory, "convolution", "x_ptr: fp16[I * H * W * C]\nw_ptr: fp16[R * S * C * F]\n"
         "out_ptr: fp16[I * (H - R + 1) * (W - S + 1) * F]",
         "C H W OH=H-R+1 OW=W-S+1 F K=R*S*C pixels=I*(H-R+1)*(W-S+1)",
         "cdiv(I * (H - R + 1) * (W - S + 1), BM); cdiv(F, BN)",
         {"I": 16, "H": 34, "W": 34, "C": 64, "F": 128, "R": 3, "S": 3, "BM": 128, "BN": 64, "BK": 32},
         {"I": 2, "H": (3, 7), "W": (3, 7), "C": (1, 6), "F": (1, 20), "BM": 16, "BN": 16, "BK": 16}, "R S BM BN BK",
         {"num_warps": 4, "num_stages": 3}),
    case(memory, "histogram", "x_ptr: i32[n] < 1000\ncounts_ptr: i32[bins] < 5", "n bins", "cdiv(n, BLOCK)",
         {"n": 1048576, "bins": 256, "BLOCK": 1024}, {"n": (1, 60), "bins": 7, **FLAT}, "BLOCK"),
    case(memory, "copy_volume", "x_ptr: fp32[A * D * E]\nout_ptr: fp32[A * D * E]",
         "n=A*D*E D E stride_0=E stride_1=A*E stride_2=1", "cdiv(A * D * E, BLOCK)",
         {"A": 128, "D": 64, "E": 128, "BLOCK": 1024}, {"A": 3, "D": (1, 5), "E": (1, 9), **FLAT}, "BLOCK"),
    case(memory, "add_bias", "x_ptr: fp16[R * width]\nbias_ptr: fp16[width]\nout_ptr: fp16[R * width]",
         "n=R*width width", "cdiv(R * width, BLOCK)", {"R": 4096, "width": 1024, "BLOCK": 1024},
         {"R": 3, "width": (1, 30), **FLAT},
         "BLOCK"),
]  # fmt: skip

CASES = [*PRODUCTS, *QUANTISED, *ATTENTION, *ROWS, *MEMORY]
