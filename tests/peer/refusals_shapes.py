"""Shapes, products, reductions, scans and what else rearranges blocks that Triton refuses."""

from __future__ import annotations

from refusal_case import Case, bodies

COMBINE = """
@triton.jit
def both(a, b):
    return a + b
@triton.jit
def first(a, b, c, d):
    return a, b
@triton.jit
def widened(a, b):
    return (a + b).to(tl.int64)
@triton.jit
def none(a, b):
    pass
@triton.jit
def packed(a, b):
    return a, b.to(tl.float32)
"""

EXTERN = """
FP32 = tl.dtype("fp32")
@tl.core.extern
def called(y, _semantic=None):
    return tl.core.extern_elementwise("l", "", [y], {table}, True, _semantic=_semantic)
"""

SCALED = """a8 = tl.full((32, 64), 0, tl.uint8)
b8 = tl.full((64, 16), 0, tl.uint8)
sa = tl.full((32, 2), 0, tl.uint8)
sb = tl.full((16, 2), 0, tl.uint8)
"""


def scaled(body: str) -> str:
    return SCALED + body


def combined(table: dict[str, str]) -> dict[str, Case]:
    return {name: Case(body, head=COMBINE) for name, body in table.items()}


CASES: dict[str, Case] = {
    **bodies(
        {
            "arange_runtime": "tl.arange(0, n)",
            "arange_float": "tl.arange(0, 8.0)",
            "arange_wide": "tl.arange(0, 8589934592)",
            "arange_wide_start": "tl.arange(4294967296, 4294967304)",
            "arange_backwards": "tl.arange(8, 0)",
            "arange_empty": "tl.arange(4, 4)",
            "arange_odd": "tl.arange(0, 12)",
            "splat_of_block": "tl.full((8, 8), x, tl.float32)",
            "reshape_elements": "tl.reshape(i, (16,))",
            "reshape_fewer": "i.reshape(2, 2)",
            "view_elements": "tl.view(v, (8, 8))",
            "reshape_negative": "tl.reshape(v, (-1,))",
            "reshape_odd": "tl.reshape(v, (3, 11))",
            "reshape_runtime": "tl.reshape(v, (n, 4))",
            "reshape_scalar": "tl.reshape(n, (2,))",
            "ravel_scalar": "tl.ravel(3)",
            "cat_ordered": "tl.cat(i, i)",
            "cat_rank": "tl.cat(v, v, can_reorder=True)",
            "cat_types": "tl.cat(i, x, can_reorder=True)",
            "cat_shapes": "tl.cat(i, tl.arange(0, 4), can_reorder=True)",
            "cat_ranks": "tl.cat(i, v)",
            "cat_ordered_shapes": "tl.cat(i, tl.arange(0, 4))",
            "join_shapes": "tl.join(i, tl.arange(0, 4))",
            "join_types": "tl.join(i, x)",
            "split_scalar": "tl.split(n)",
            "split_last": "tl.split(v)",
            "split_row": "tl.split(i)",
            "permute_length": "tl.permute(v, (0,))",
            "permute_twice": "tl.permute(v, (0, 0))",
            "permute_range": "tl.permute(v, (1, 2))",
            "permute_negative": "tl.permute(v, (-1, 0))",
            "permute_rank": "tl.trans(i, (0, 1))",
            "trans_row": "tl.trans(i)",
            "trans_scalar": "tl.trans(n)",
            "transposed_row": "i.T",
            "transposed_cube": "tl.zeros((2, 2, 2), tl.int32).T",
            "broadcast_to_rank": "tl.broadcast_to(i, (8, 8))",
            "broadcast_to_extent": "tl.broadcast_to(v, (8, 8))",
            "broadcast_to_less": "tl.broadcast_to(v, (1, 4))",
            "broadcast_shapes": "tl.broadcast(i, tl.arange(0, 4))",
            "expand_dims_axis": "tl.expand_dims(i, 2)",
            "expand_dims_low": "tl.expand_dims(i, -3)",
            "expand_dims_twice": "tl.expand_dims(i, (0, 0))",
            "expand_dims_same": "tl.expand_dims(i, (0, -3))",
            "index_ellipsis": "i[...]",
            "index_number": "i[0]",
            "index_range": "i[0:4]",
            "index_block": "i[i]",
            "index_text": "i['a']",
            "index_too_many": "i[:, :, None]",
            "index_scalar": "n[0]",
            "unsplat_condition": "if i > 3:\n    tl.store(p, 1.0)",
            "item_of_block": "i.item()",
            # Products.
            "dot_scalars": "tl.dot(n, n)",
            "dot_scalar_second": "tl.dot(a, n)",
            "dot_types": "tl.dot(a, a.to(tl.float32))",
            "dot_int32": "tl.dot(a.to(tl.int32), a.to(tl.int32))",
            "dot_int16_second": "tl.dot(a, a.to(tl.int16))",
            "dot_int64": "tl.dot(a.to(tl.int64), a.to(tl.int64))",
            "dot_bool": "tl.dot(a.to(tl.int1), a.to(tl.int1))",
            "dot_uint8": "z = a.to(tl.uint8)\nz = tl.trans(z)\nw32 = tl.full((16, 32), 1, "
            "tl.uint8)\ntl.dot(w32, tl.trans(w32))",
            "dot_signs": "z = tl.full((16, 32), 1, tl.uint8)\ny = tl.full((32, 16), 1, tl.int8)\ntl.dot(z, y)",
            "dot_float8_and_half": "tl.dot(tl.full((16, 32), 1.0, tl.float32).to(tl.float8e5), "
            "tl.full((32, 16), 1.0, tl.float16))",
            "dot_precision": "tl.dot(a, a, input_precision='half')",
            "dot_precision_case": "tl.dot(a, a, input_precision='tf64')",
            "dot_precision_twice": "tl.dot(a, a, input_precision='ieee', allow_tf32=True)",
            "dot_rank_one": "tl.dot(x, x)",
            "dot_ranks": "tl.dot(a, tl.zeros((2, 16, 16), tl.float16))",
            "dot_rank_four": "tl.dot(tl.zeros((2, 2, 16, 16), tl.float16), a)",
            "dot_k": "tl.dot(a, tl.zeros((32, 16), tl.float16))",
            "dot_batch": "tl.dot(tl.zeros((2, 16, 16), tl.float16), tl.zeros((4, 16, 16), tl.float16))",
            "dot_batch_one": "tl.dot(tl.zeros((1, 16, 16), tl.float16), tl.zeros((2, 16, 16), tl.float16))",
            "dot_small_k": "tl.dot(tl.zeros((16, 4), tl.float16), tl.zeros((4, 16), tl.float16))",
            "dot_small_int_k": "z = tl.zeros((16, 16), tl.int8)\ntl.dot(z, z)",
            "dot_out_bfloat": "tl.dot(a, a, out_dtype=tl.bfloat16)",
            "dot_acc_shape": "y = tl.dot(a, a, tl.zeros((8, 16), tl.float32))",
            "dot_acc_broadcast": "y = tl.dot(a, a, tl.zeros((1, 16), tl.float32))",
            "dot_acc_type": "y = tl.dot(a, a, tl.zeros((16, 16), tl.float16))",
            "dot_acc_int": "y = tl.dot(a, a, tl.zeros((16, 16), tl.int32))",
            "dot_acc_double": "y = tl.dot(a, a, tl.zeros((16, 16), tl.float64))",
            "dot_acc_scalar": "y = tl.dot(a, a, n)",
            "dot_acc_out_half": "y = tl.dot(a, a, tl.zeros((16, 16), tl.float32), out_dtype=tl.float16)",
            "dot_imprecise": "z = tl.full((16, 32), 1.0, tl.float32).to(tl.float8e5)\n"
            "y = tl.dot(z, tl.trans(z), max_num_imprecise_acc=64)",
            "scaled_scalars": "tl.dot_scaled(n, None, 'e5m2', n, None, 'e5m2')",
            "scaled_ranks": scaled("tl.dot_scaled(a8, sa, 'e5m2', tl.zeros((2, 64, 16), tl.uint8), sb, 'e5m2')"),
            "scaled_rank_one": "z = i.to(tl.uint8)\ntl.dot_scaled(z, None, 'e5m2', z, None, 'e5m2')",
            "scaled_format": scaled("tl.dot_scaled(a8, sa, 'e9m9', b8, sb, 'e5m2')"),
            "scaled_format_second": scaled("tl.dot_scaled(a8, sa, 'e5m2', b8, sb, 'e9m9')"),
            "scaled_e3m2": scaled("tl.dot_scaled(a8, sa, 'e3m2', b8, sb, 'e5m2')"),
            "scaled_e2m3_second": scaled("tl.dot_scaled(a8, sa, 'e5m2', b8, sb, 'e2m3')"),
            "scaled_e2m1_type": scaled("tl.dot_scaled(a8.to(tl.int8), sa, 'e2m1', b8, sb, 'e2m1')"),
            "scaled_e5m2_type": scaled("tl.dot_scaled(a8.to(tl.int8), sa, 'e5m2', b8, sb, 'e5m2')"),
            "scaled_bf16_type": scaled("tl.dot_scaled(a8.to(tl.float16), sa, 'bf16', b8, sb, 'e5m2')"),
            "scaled_fp16_type": scaled("tl.dot_scaled(a8.to(tl.float32), sa, 'fp16', b8, sb, 'e5m2')"),
            "scaled_pack": scaled("tl.dot_scaled(a8, sa, 'e5m2', b8, sb, 'e5m2', lhs_k_pack=False)"),
            "scaled_pack_second": scaled("tl.dot_scaled(a8, sa, 'e5m2', b8, sb, 'e5m2', rhs_k_pack=False)"),
            "scaled_k": scaled("tl.dot_scaled(a8, None, 'e5m2', tl.zeros((32, 16), tl.uint8), None, 'e5m2')"),
            "scaled_k_packed": scaled("tl.dot_scaled(a8, None, 'e2m1', b8, None, 'e5m2')"),
            "scaled_acc_shape": scaled(
                "tl.dot_scaled(a8, sa, 'e5m2', b8, sb, 'e5m2', acc=tl.zeros((16, 16), tl.float32))"
            ),
            "scaled_acc_type": scaled(
                "tl.dot_scaled(a8, sa, 'e5m2', b8, sb, 'e5m2', acc=tl.zeros((32, 16), tl.float16))"
            ),
            "scaled_out": scaled("tl.dot_scaled(a8, sa, 'e5m2', b8, sb, 'e5m2', out_dtype=tl.float16)"),
            "scaled_scale": scaled("tl.dot_scaled(a8, sb, 'e5m2', b8, sb, 'e5m2')"),
            "scaled_scale_second": scaled("tl.dot_scaled(a8, sa, 'e5m2', b8, sa, 'e5m2')"),
            "scaled_scale_turned": scaled("tl.dot_scaled(a8, sa, 'e5m2', b8, tl.trans(sb), 'e5m2')"),
            # Reductions and scans.
            "sum_axis": "tl.sum(i, axis=1)",
            "sum_axis_low": "tl.sum(i, axis=-2)",
            "sum_axis_2d": "tl.sum(v, axis=2)",
            "max_axis": "tl.max(x, axis=1)",
            "argmax_axis": "tl.argmax(x, axis=1)",
            "sum_scalar": "tl.sum(n)",
            "sum_scalar_axis": "tl.sum(n, 0)",
            "sum_runtime_axis": "tl.sum(v, axis=n)",
            "max_of_pointers": "tl.max(p + i)",
            "max_scalar_of_bytes": "tl.max(p + i, axis=0)",
            "min_of_pointers": "tl.min(p + i)",
            "xor_of_floats": "tl.xor_sum(x, 0)",
            "or_of_floats": "tl.reduce_or(x, 0)",
            "cumsum_axis": "tl.cumsum(i, axis=1)",
            "cumsum_axis_low": "tl.cumsum(i, axis=-2)",
            "cumprod_axis": "tl.cumprod(v, axis=2)",
            "cumsum_scalar": "tl.cumsum(n)",
            "sort_dim": "tl.sort(v, dim=0)",
            "sort_outer": "tl.sort(v, dim=2)",
            "topk_dim": "tl.topk(v, 2, dim=0)",
            "topk_large": "tl.topk(i, 16)",
            "topk_odd": "tl.topk(i, 3)",
            "flip_dim": "tl.flip(v, dim=2)",
            "flip_low": "tl.flip(v, dim=-3)",
            "interleave_shapes": "tl.interleave(i, tl.arange(0, 4))",
            "gather_float": "tl.gather(x, x, 0)",
            "gather_rank": "tl.gather(v, i, 0)",
            "gather_axis": "tl.gather(i, i, 1)",
            "gather_axis_low": "tl.gather(i, i, -2)",
            "gather_extent": "tl.gather(v, tl.zeros((4, 8), tl.int32), 0)",
            "gather_runtime_axis": "tl.gather(v, v, n)",
            "histogram_rank": "tl.histogram(v, 8)",
            "histogram_float": "tl.histogram(x, 8)",
            "histogram_mask": "tl.histogram(i, 8, mask=i)",
            "histogram_mask_shape": "tl.histogram(i, 8, mask=tl.arange(0, 4) > 0)",
            "histogram_mask_rank": "tl.histogram(i, 8, mask=v > 0)",
            "histogram_bins": "tl.histogram(i, n)",
            "histogram_odd": "tl.histogram(i, 3)",
            "histogram_long": "tl.histogram(i.to(tl.int64), 8)",
            "histogram_scalar": "tl.histogram(n, 8)",
            # Hints.
            "multiple_of_length": "tl.multiple_of(v, 8)",
            "multiple_of_runtime": "tl.multiple_of(i, n)",
            "multiple_of_float": "tl.multiple_of(i, 8.0)",
            "multiple_of_scalar_length": "tl.multiple_of(n, (8, 8))",
            "max_contiguous_length": "tl.max_contiguous(v, 8)",
            "max_contiguous_runtime": "tl.max_contiguous(i, n)",
            "max_contiguous_float": "tl.max_contiguous(i, 8.0)",
            "max_contiguous_scalar": "tl.max_contiguous(n, 8)",
            "max_constancy_length": "tl.max_constancy(v, 8)",
            "max_constancy_runtime": "tl.max_constancy(i, n)",
            "max_constancy_float": "tl.max_constancy(i, 8.0)",
            "max_constancy_scalar": "tl.max_constancy(n, 8)",
            "multiple_of_runtime_list": "tl.multiple_of(v, (n, 8))",
            "max_contiguous_runtime_list": "tl.max_contiguous(v, (n, 8))",
            "max_constancy_runtime_list": "tl.max_constancy(v, (n, 8))",
            # Printing and inline code.
            "print_number_prefix": "tl.device_print(3, i)",
            "print_prefix": "tl.device_print('\\u00e4', i)",
            "print_tensor_prefix": "tl.device_print(n)",
            "print_text_argument": "tl.device_print('x', 'a')",
            "inline_no_type": "tl.inline_asm_elementwise('mov $0, $1;', '=r,r', [i], dtype=None, is_pure=True, pack=1)",
            "inline_shapes": "tl.inline_asm_elementwise('mov $0, $1;', '=r,r,r', [i, tl.arange(0, 4)], dtype=tl.int32, "
            "is_pure=True, pack=1)",
            "assume_number": "tl.assume(3)",
            "assume_block": "tl.assume(i > 0)",
            "randint_shapes": "tl.randint4x(0, v) + i",
            "softmax_rank": "tl.softmax(v, dim=3)",
            "swizzle_float": "tl.swizzle2d(s, s, 4, 4, 2)",
        }
    ),
    **combined(
        {
            "reduce_axis": "tl.reduce(i, 1, both)",
            "reduce_shapes": "tl.reduce((i, tl.arange(0, 4)), 0, first)",
            "reduce_type": "tl.reduce(i, 0, widened)",
            "reduce_nothing": "tl.reduce(i, 0, none)",
            "reduce_arity": "tl.reduce((i, i), 0, both)",
            "reduce_scalar": "tl.reduce(n, 0, both)",
            "scan_axis": "tl.associative_scan(i, 1, both)",
            "scan_shapes": "tl.associative_scan((i, tl.arange(0, 4)), 0, first)",
            "scan_type": "tl.associative_scan(i, 0, widened)",
            "scan_nothing": "tl.associative_scan(i, 0, none)",
            "scan_scalar": "tl.associative_scan(n, 0, both)",
            "map_pack": "tl.map_elementwise(both, i, i, pack=0)",
            "map_nothing": "tl.map_elementwise(both)",
            "map_pack_types": "tl.map_elementwise(packed, i, pack=2)",
            "map_shapes": "tl.map_elementwise(both, i, tl.arange(0, 4))",
            "map_arity": "tl.map_elementwise(both, i)",
        }
    ),
    **{
        f"extern_{name}": Case("y = called(x)", head=EXTERN.format(table=table))
        for name, table in (
            ("no_types", "{}"),
            ("count", "{(FP32, FP32): ('f', FP32)}"),
            ("types", "{(tl.dtype('int32'),): ('f', FP32)}"),
        )
    },
    "dot_target": Case("tl.dot(tl.zeros((16, 8), tl.float16), tl.zeros((8, 16), tl.float16))"),
    "print_old": Case("print('x', i, y=3)"),
}
