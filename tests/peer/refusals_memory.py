"""Loads, stores, atomics, block pointers and descriptors that Triton refuses."""

from __future__ import annotations

from refusal_case import Case, bodies

BLOCK = (
    "t = tl.make_block_ptr({base}, shape=(16, 16), strides=(16, 1), offsets=(0, 0), block_shape=(8, 4), order=(1, 0))\n"
)
DESCRIPTOR = "t = tl.make_tensor_descriptor({base}, shape=[16, 16], strides=[16, 1], block_shape=[8, 16])\n"
ROW = "t = tl.make_tensor_descriptor({base}, shape=[16, 16], strides=[16, 1], block_shape=[1, 16])\n"


def block(body: str, base: str = "p") -> str:
    return BLOCK.format(base=base) + body


def descriptor(body: str, base: str = "p") -> str:
    return DESCRIPTOR.format(base=base) + body


def row(body: str, base: str = "p") -> str:
    return ROW.format(base=base) + body


ATOMICS = ("add", "max", "min", "and", "or", "xor", "xchg")
REDUCES = ("add", "min", "max", "and", "or", "xor")

CASES: dict[str, Case] = bodies(
    {
        "load_cache": "tl.load(p, cache_modifier='.xx')",
        "load_cache_of_stores": "tl.load(p, cache_modifier='.wb')",
        "store_cache": "tl.store(p, 1.0, cache_modifier='.xx')",
        "store_cache_of_loads": "tl.store(p, 1.0, cache_modifier='.ca')",
        "load_eviction": "tl.load(p, eviction_policy='never')",
        "store_eviction": "tl.store(p, 1.0, eviction_policy='never')",
        "load_padding": "tl.load(p, padding_option='one')",
        "load_no_pointer": "tl.load(n)",
        "load_block_no_pointer": "tl.load(i)",
        "load_number": "tl.load(3)",
        "load_none": "tl.load(None)",
        "load_other_without_mask": "tl.load(p + i, other=0.0)",
        "load_padding_of_pointers": "tl.load(p + i, padding_option='zero')",
        "load_boundary_of_pointers": "tl.load(p + i, boundary_check=(0,))",
        "load_scalar_block_mask": "tl.load(p, mask=i > 0)",
        "load_scalar_block_other": "tl.load(p, mask=n > 0, other=x)",
        "load_int_mask": "tl.load(p + i, mask=i)",
        "load_number_mask": "tl.load(p + i, mask=1)",
        "load_float_mask": "tl.load(p + i, mask=x)",
        "load_int_mask_scalar": "tl.load(p, mask=n)",
        "load_mask_shape": "tl.load(p + i, mask=tl.arange(0, 4) > 0)",
        "load_other_shape": "tl.load(p + i, mask=i > 0, other=tl.zeros((4,), tl.float32))",
        "load_mask_rank": "tl.load(p + v, mask=tl.arange(0, 8) > 0)",
        "load_other_wider": "tl.load(p + i[:, None], mask=i[:, None] > 0, other=v.to(tl.float32))",
        "load_other_rank": "tl.load(p + i, mask=i > 0, other=tl.zeros((4, 8), tl.float32))",
        "load_other_pointer": "tl.load(p + i, mask=i > 0, other=p)",
        "load_other_text": "tl.load(p + i, mask=i > 0, other='a')",
        "store_no_pointer": "tl.store(n, 1)",
        "store_block_no_pointer": "tl.store(i, 1)",
        "store_number_pointer": "tl.store(3, 1)",
        "store_boundary_of_pointers": "tl.store(p + i, x, boundary_check=(0,))",
        "store_scalar_block": "tl.store(p, x)",
        "store_scalar_block_mask": "tl.store(p, 1.0, mask=i > 0)",
        "store_value_wider": "tl.store(p + i[:, None], v)",
        "store_mask_wider": "tl.store(p + i[:, None], 1.0, mask=v > 0)",
        "store_mask_wider_than_both": "tl.store(p + i[:, None], x[:, None], mask=v > 0)",
        "store_value_rank": "tl.store(p + i, tl.zeros((1, 8), tl.float32))",
        "store_mask_rank": "tl.store(p + i, 1.0, mask=tl.zeros((1, 8), tl.int1))",
        "store_value_of_one_pointer": "tl.store(p + tl.arange(0, 1), x)",
        "store_mask_of_one_pointer": "tl.store(p + tl.arange(0, 1), 1.0, mask=i > 0)",
        "store_outer_value": "tl.store(p + i[:, None], tl.arange(0, 4)[None, :])",
        "store_value_shape": "tl.store(p + i, tl.arange(0, 4))",
        "store_int_mask": "tl.store(p + i, x, mask=i)",
        "store_number_mask": "tl.store(p + i, x, mask=1)",
        "store_int_mask_scalar": "tl.store(p, 1.0, mask=n)",
        "store_constant": "tl.store(c, 1.0)",
        "store_constant_block": "tl.store(c + i, 1.0)",
        "store_pointer_value": "tl.store(p, p)",
        "store_none": "tl.store(p, None)",
        "store_text": "tl.store(p, 'a')",
        "store_tuple": "tl.store(p, (1, 2))",
        # Atomics.
        **{f"atomic_{op}_no_pointer": f"tl.atomic_{op}(n, 1)" for op in ATOMICS},
        **{f"atomic_{op}_constant": f"tl.atomic_{op}(c + i, 1)" for op in ATOMICS},
        **{f"atomic_{op}_constant_scalar": f"tl.atomic_{op}(c, 1)" for op in ATOMICS},
        **{f"atomic_{op}_half": f"tl.atomic_{op}(h + i, 1.0)" for op in ATOMICS[1:]},
        **{f"atomic_{op}_bfloat": f"tl.atomic_{op}(q + i, 1.0)" for op in ATOMICS[1:]},
        **{f"atomic_{op}_bool": f"tl.atomic_{op}(b + i, 1)" for op in ATOMICS},
        **{f"atomic_{op}_int16": f"tl.atomic_{op}(k.to(tl.pointer_type(tl.int16)) + i, 1)" for op in ATOMICS},
        **{f"atomic_{op}_uint8": f"tl.atomic_{op}(k.to(tl.pointer_type(tl.uint8)) + i, 1)" for op in ATOMICS},
        **{f"atomic_{op}_order": f"tl.atomic_{op}(k + i, 1, sem='seq_cst')" for op in ATOMICS},
        **{f"atomic_{op}_scope": f"tl.atomic_{op}(k + i, 1, scope='grid')" for op in ATOMICS},
        **{f"atomic_{op}_value_shape": f"tl.atomic_{op}(k + i, tl.arange(0, 4))" for op in ATOMICS},
        **{f"atomic_{op}_value_rank": f"tl.atomic_{op}(k + v, tl.arange(0, 4))" for op in ATOMICS},
        **{f"atomic_{op}_value_wider": f"tl.atomic_{op}(k + i[:, None], v)" for op in ATOMICS},
        **{f"atomic_{op}_mask_wider": f"tl.atomic_{op}(k + i[:, None], 1, mask=v > 0)" for op in ATOMICS},
        **{f"atomic_{op}_mask_rank": f"tl.atomic_{op}(k + v, 1, mask=tl.arange(0, 4) > 0)" for op in ATOMICS},
        **{f"atomic_{op}_mask_int": f"tl.atomic_{op}(k + i, 1, mask=i)" for op in ATOMICS},
        **{f"atomic_{op}_scalar_block_value": f"tl.atomic_{op}(k, i)" for op in ATOMICS},
        **{f"atomic_{op}_scalar_block_mask": f"tl.atomic_{op}(k, 1, mask=i > 0)" for op in ATOMICS},
        "atomic_max_double": "tl.atomic_max(p.to(tl.pointer_type(tl.float8e5)) + i, 1.0)",
        "atomic_min_double": "tl.atomic_min(p.to(tl.pointer_type(tl.float8e5)) + i, 1.0)",
        "atomic_add_pointer_of_pointers": "tl.atomic_add(p.to(tl.pointer_type(tl.pointer_type(tl.float32))), 1)",
        "atomic_max_of_pointers": "tl.atomic_max(p.to(tl.pointer_type(tl.pointer_type(tl.float32))), p)",
        "atomic_min_of_pointers": "tl.atomic_min(p.to(tl.pointer_type(tl.pointer_type(tl.float32))), p)",
        "atomic_load_order": "tl.atomic_load(k + i, sem='release')",
        "atomic_store_order": "tl.atomic_store(k + i, i, sem='acquire')",
        "atomic_load_pointers": "tl.atomic_load(p.to(tl.pointer_type(tl.pointer_type(tl.float32))))",
        "atomic_load_no_pointer": "tl.atomic_load(n)",
        "atomic_store_no_pointer": "tl.atomic_store(n, n)",
        "atomic_store_wider": "tl.atomic_store(k + i[:, None], v)",
        "poll_time": "tl.atomic_poll(k, 1, timeout_ns=-1)",
        "poll_time_kind": "tl.atomic_poll(k, 1, timeout_ns=s)",
        "poll_no_pointer": "tl.atomic_poll(n, 1)",
        "poll_float": "tl.atomic_poll(p, 1.0)",
        "poll_order": "tl.atomic_poll(k, 1, sem='release')",
        "cache_policy_twice": "tl.load(p, cache_modifier='.ca', cache_policy=3)",
        "eviction_policy_twice": "tl.load(p, eviction_policy='evict_first', cache_policy=3)",
        "eviction_number": "tl.load(p, eviction_policy=3)",
        "cache_number": "tl.load(p, cache_modifier=3)",
        "cas_no_pointer": "tl.atomic_cas(n, 1, 2)",
        "cas_narrow": "tl.atomic_cas(b + i, i.to(tl.int1), i.to(tl.int1))",
        "cas_order": "tl.atomic_cas(k + i, i, i, sem='seq_cst')",
        "cas_scope": "tl.atomic_cas(k + i, i, i, scope='grid')",
        "cas_constant": "tl.atomic_cas(c, 1.0, 2.0)",
        "cas_compare_type": "tl.atomic_cas(k + i, x, i)",
        "cas_value_type": "tl.atomic_cas(k + i, i, x)",
        "cas_compare_scalar": "tl.atomic_cas(k + i, 0, i)",
        "cas_value_scalar": "tl.atomic_cas(k + i, i, 1)",
        "cas_compare_shape": "tl.atomic_cas(k + i, tl.arange(0, 4), i)",
        "cas_scalar_block": "tl.atomic_cas(k, i, i)",
        "cas_value_wider": "tl.atomic_cas(k + i[:, None], v, v)",
        # Block pointers.
        "block_base": "tl.make_block_ptr(n, (16,), (1,), (0,), (8,), (0,))",
        "block_base_block": "tl.make_block_ptr(p + i, (16,), (1,), (0,), (8,), (0,))",
        "block_base_block_pointer": block("tl.make_block_ptr(t, (16,), (1,), (0,), (8,), (0,))"),
        "block_shape_runtime": "tl.make_block_ptr(p, (16,), (1,), (0,), (n,), (0,))",
        "block_shape_float": "tl.make_block_ptr(p, (16,), (1,), (0,), (8.0,), (0,))",
        "block_shape_odd": "tl.make_block_ptr(p, (16,), (1,), (0,), (3,), (0,))",
        "block_shape_beyond": "tl.make_block_ptr(p, (16,), (1,), (0,), (4294967296,), (0,))",
        "block_order": "tl.make_block_ptr(p, (16, 16), (16, 1), (0, 0), (8, 8), (1, 1))",
        "block_order_short": "tl.make_block_ptr(p, (16, 16), (16, 1), (0, 0), (8, 8), (0,))",
        "block_lengths": "tl.make_block_ptr(p, (16, 16), (16, 1), (0,), (8, 8), (1, 0))",
        "block_strides_length": "tl.make_block_ptr(p, (16, 16), (16,), (0, 0), (8, 8), (1, 0))",
        "block_shape_length": "tl.make_block_ptr(p, (16,), (16, 1), (0, 0), (8, 8), (1, 0))",
        "block_offset_wide": "tl.make_block_ptr(p, (16,), (1,), (w,), (8,), (0,))",
        "block_offset_beyond": "tl.make_block_ptr(p, (16,), (1,), (4294967296,), (8,), (0,))",
        "block_extent_beyond": "tl.make_block_ptr(p, (36893488147419103232,), (1,), (0,), (8,), (0,))",
        "block_stride_beyond": "tl.make_block_ptr(p, (16,), (36893488147419103232,), (0,), (8,), (0,))",
        "block_offset_block": "tl.make_block_ptr(p, (16,), (1,), (i,), (8,), (0,))",
        "block_offset_float": "tl.make_block_ptr(p, (16,), (1,), (s,), (8,), (0,))",
        "block_stride_float": "tl.make_block_ptr(p, (16,), (1.5,), (0,), (8,), (0,))",
        "block_offset_text": "tl.make_block_ptr(p, (16,), (1,), ('a',), (8,), (0,))",
        "block_extent_none": "tl.make_block_ptr(p, (None,), (1,), (0,), (8,), (0,))",
        "block_load_mask": block("tl.load(t, mask=v > 0)"),
        "block_load_other": block("tl.load(t, other=0.0)"),
        "block_load_axis": block("tl.load(t, boundary_check=(2,))"),
        "block_load_negative_axis": block("tl.load(t, boundary_check=(-1,))"),
        "block_load_axis_twice": block("tl.load(t, boundary_check=(0, 0))"),
        "block_load_axis_text": block("tl.load(t, boundary_check=('0',))"),
        "block_load_nan_int": block("tl.load(t, boundary_check=(0,), padding_option='nan')", "k"),
        "block_load_nan_int_unchecked": block("tl.load(t, padding_option='nan')", "k"),
        "block_store_mask": block("tl.store(t, v.to(tl.float32), mask=v > 0)"),
        "block_store_shape": block("tl.store(t, tl.zeros((8, 8), tl.float32))"),
        "block_store_broadcast": block("tl.store(t, tl.zeros((8, 1), tl.float32))"),
        "block_store_rank": block("tl.store(t, tl.zeros((4,), tl.float32))"),
        "block_store_type": block("tl.store(t, v)"),
        "block_store_half": block("tl.store(t, tl.zeros((8, 4), tl.float32))", "h"),
        "block_store_scalar_type": block("tl.store(t, 1)"),
        "block_store_axis": block("tl.store(t, v.to(tl.float32), boundary_check=(2,))"),
        "block_store_axis_twice": block("tl.store(t, v.to(tl.float32), boundary_check=(1, 1))"),
        "block_store_constant": block("tl.store(t, v.to(tl.float32))", "c"),
        "block_offset_dtype": "tl.make_block_ptr(p, (16,), (1,), (tl.float32,), (8,), (0,))",
        "block_advance_core": "y = tl.core.advance(p, (1,))",
        "descriptor_load_dtype": descriptor("t.load([tl.float32, 0])"),
        "block_advance_wide": block("tl.advance(t, (w, 0))"),
        "block_advance_length": block("t = tl.advance(t, (1,))"),
        "block_advance_float": block("t = tl.advance(t, (1.5, 0))"),
        "block_advance_beyond": block("t = tl.advance(t, (4294967296, 0))"),
        "block_advance_pointer": "y = tl.advance(p, (1,))",
        # Descriptors.
        "descriptor_rank_none": "tl.make_tensor_descriptor(p, shape=[], strides=[], block_shape=[])",
        "descriptor_rank_six": "tl.make_tensor_descriptor(p, shape=[1] * 6, strides=[1] * 6, block_shape=[1] * 6)",
        "descriptor_rank_high": "tl.make_tensor_descriptor(p, shape=[1, 1, 1, 1, 1, 16], "
        "strides=[16, 16, 16, 16, 16, 1], "
        "block_shape=[1, 1, 1, 1, 1, 16])",
        "descriptor_strides": "tl.make_tensor_descriptor(p, shape=[16, 16], strides=[1], block_shape=[8, 16])",
        "descriptor_block_rank": "tl.make_tensor_descriptor(p, shape=[16, 16], strides=[16, 1], block_shape=[8])",
        "descriptor_base": "tl.make_tensor_descriptor(n, shape=[16, 16], strides=[16, 1], block_shape=[8, 16])",
        "descriptor_base_block": "tl.make_tensor_descriptor(p + i, shape=[16, 16], "
        "strides=[16, 1], block_shape=[8, 16])",
        "descriptor_row_bytes": "tl.make_tensor_descriptor(p, shape=[16, 16], strides=[16, 1], block_shape=[8, 2])",
        "descriptor_last_stride": "tl.make_tensor_descriptor(p, shape=[16, 16], strides=[16, 2], block_shape=[8, 16])",
        "descriptor_last_stride_runtime": "tl.make_tensor_descriptor(p, shape=[16, 16], "
        "strides=[16, n], block_shape=[8, 16])",
        "descriptor_stride_bytes": "tl.make_tensor_descriptor(p, shape=[16, 16], strides=[17, 1], block_shape=[8, 16])",
        "descriptor_odd_block": "tl.make_tensor_descriptor(p, shape=[16, 16], strides=[16, 1], block_shape=[8, 24])",
        "descriptor_block_runtime": "tl.make_tensor_descriptor(p, shape=[16, 16], "
        "strides=[16, 1], block_shape=[n, 16])",
        "descriptor_block_float": "tl.make_tensor_descriptor(p, shape=[16, 16], "
        "strides=[16, 1], block_shape=[8.0, 16])",
        "descriptor_extent_block": "tl.make_tensor_descriptor(p, shape=[i, 16], strides=[16, 1], block_shape=[8, 16])",
        "descriptor_extent_float": "tl.make_tensor_descriptor(p, shape=[1.5, 16], "
        "strides=[16, 1], block_shape=[8, 16])",
        "descriptor_padding": "tl.make_tensor_descriptor(p, shape=[16, 16], strides=[16, 1], block_shape=[8, 16], "
        "padding_option='one')",
        "descriptor_nan_int": "tl.make_tensor_descriptor(k, shape=[16, 16], strides=[16, 1], block_shape=[8, 16], "
        "padding_option='nan')",
        "descriptor_load_offsets": descriptor("t.load([0])"),
        "descriptor_load_wide": descriptor("t.load([w, 0])"),
        "descriptor_load_float": descriptor("t.load([s, 0])"),
        "descriptor_load_block": descriptor("t.load([i, 0])"),
        "descriptor_load_beyond": descriptor("t.load([4294967296, 0])"),
        "descriptor_load_text": descriptor("t.load(['a', 0])"),
        "descriptor_load_pointer": "tl.load_tensor_descriptor(p, [0, 0])",
        "descriptor_store_pointer": "tl.store_tensor_descriptor(p, [0, 0], v)",
        "descriptor_store_offsets": descriptor("t.store([0], tl.zeros((8, 16), tl.float32))"),
        "descriptor_store_shape": descriptor("t.store([0, 0], tl.zeros((16, 8), tl.float32))"),
        "descriptor_store_broadcast": descriptor("t.store([0, 0], tl.zeros((8, 1), tl.float32))"),
        "descriptor_store_scalar": descriptor("t.store([0, 0], n)"),
        "descriptor_store_number": descriptor("t.store([0, 0], 1.0)"),
        "descriptor_store_flat": descriptor("t.store([0, 0], tl.zeros((128,), tl.float32))"),
        "descriptor_atomic_add_type": descriptor(
            "t.atomic_add([0, 0], tl.zeros((8, 16), tl.int8))", "k.to(tl.pointer_type(tl.int8))"
        ),
        "descriptor_atomic_add_int64": descriptor(
            "t.atomic_add([0, 0], tl.zeros((8, 16), tl.int64))", "k.to(tl.pointer_type(tl.int64))"
        ),
        "descriptor_atomic_min_type": descriptor("t.atomic_min([0, 0], tl.zeros((8, 16), tl.float32))"),
        "descriptor_atomic_max_type": descriptor("t.atomic_max([0, 0], tl.zeros((8, 16), tl.float32))"),
        **{
            f"descriptor_atomic_{op}_type": descriptor(f"t.atomic_{op}([0, 0], tl.zeros((8, 16), tl.float32))")
            for op in ("and", "or", "xor")
        },
        **{
            f"descriptor_atomic_{op}_shape": descriptor(f"t.atomic_{op}([0, 0], tl.zeros((8, 8), tl.int32))", "k")
            for op in REDUCES
        },
        **{
            f"descriptor_atomic_{op}_offsets": descriptor(f"t.atomic_{op}([0], tl.zeros((8, 16), tl.int32))", "k")
            for op in REDUCES
        },
        **{
            f"descriptor_atomic_{op}_value_type": descriptor(f"t.atomic_{op}([0, 0], tl.zeros((8, 16), tl.int64))", "k")
            for op in REDUCES
        },
        "gather_rows_block": descriptor("t.gather(i, 0)"),
        "gather_one_index": row("t.gather(i)"),
        "descriptor_gather_rank": "t = tl.make_tensor_descriptor(p, shape=[16], "
        "strides=[1], block_shape=[16])\nt.gather(i, 0)",
        "gather_index_rank": row("t.gather(i[:, None], 0)"),
        "gather_few_rows": row("t.gather(tl.arange(0, 4), 0)"),
        "gather_few_columns": "t = tl.make_tensor_descriptor(h, shape=[16, 16], strides=[16, 1], block_shape=[1, 8])\n"
        "t.gather(i, 0)",
        "gather_narrow": "t = tl.make_tensor_descriptor(p, shape=[16, 16], "
        "strides=[16, 1], block_shape=[1, 4])\nt.gather(i, 0)",
        "gather_wide_column": row("t.gather(i, w)"),
        "gather_float_rows": row("t.gather(x, 0)"),
        "gather_long_rows": row("t.gather(i.to(tl.int64), 0)"),
        "gather_scalar_row": row("t.gather(n, 0)"),
        "scatter_rows_block": descriptor("t.scatter(tl.zeros((8, 16), tl.float32), i, 0)"),
        "scatter_one_index": row("t.scatter(tl.zeros((8, 16), tl.float32), i)"),
        "scatter_rank": "t = tl.make_tensor_descriptor(p, shape=[16], strides=[1], block_shape=[16])\n"
        "t.scatter(tl.zeros((8, 16), tl.float32), i, 0)",
        "scatter_index_rank": row("t.scatter(tl.zeros((8, 16), tl.float32), i[:, None], 0)"),
        "scatter_few_rows": row("t.scatter(tl.zeros((4, 16), tl.float32), tl.arange(0, 4), 0)"),
        "scatter_narrow": "t = tl.make_tensor_descriptor(p, shape=[16, 16], strides=[16, 1], block_shape=[1, 4])\n"
        "t.scatter(tl.zeros((8, 4), tl.float32), i, 0)",
        "scatter_shape": row("t.scatter(tl.zeros((16, 16), tl.float32), i, 0)"),
        "scatter_type": row("t.scatter(tl.zeros((8, 16), tl.int32), i, 0)"),
        "scatter_float_rows": row("t.scatter(tl.zeros((8, 16), tl.float32), x, 0)"),
        "scatter_long_rows": row("t.scatter(tl.zeros((8, 16), tl.float32), i.to(tl.int64), 0)"),
    }
)
CASES |= {
    "atomic_max_of_made_half": Case(
        "tl.atomic_max(p.to(tl.pointer_type(HALF)) + i, 1.0)", head='HALF = tl.dtype("fp16")\n'
    ),
    "atomic_min_of_made_half": Case(
        "tl.atomic_min(p.to(tl.pointer_type(HALF)) + i, 1.0)", head='HALF = tl.dtype("fp16")\n'
    ),
}
CASES |= {
    f"descriptor_atomic_{op}_half_old": Case(
        descriptor(f"t.atomic_{op}([0, 0], tl.zeros((8, 16), tl.float16))", "h"), target=("cuda", 80, 32)
    )
    for op in ("min", "max")
}
