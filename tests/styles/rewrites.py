"""Every rewriting, by name: what `variants` draws from. Each says in its docstring what it makes of what."""

from __future__ import annotations

from tests.styles import rewrites_blocks as blocks
from tests.styles import rewrites_indices as indices
from tests.styles import rewrites_launch as launch
from tests.styles import rewrites_loops as loops
from tests.styles import rewrites_masks as masks
from tests.styles.sites import Rewriting

_FUNCTIONS = (
    # hints
    indices.no_assumptions, indices.assumptions, indices.unmarked, indices.marked_contiguous,
    # offsets and pointers
    indices.commuted, indices.comparisons_turned,
    indices.scaled_before_expanding, indices.scaled_after_expanding, indices.expanded_by_name,
    indices.shifted_and_back, indices.remainder_by_quotient, indices.quotient_in_two_steps,
    indices.blocks_counted_by_hand, indices.wide_program_ids, indices.wide_ranges, indices.named_terms,
    indices.names_replaced, launch.bases_in_front, loops.sums_of_pointers_split,
    # masks
    masks.masks_in_front, masks.masks_in_place, masks.chosen_for_masks, masks.other_as_integer, masks.unmasked_if_even,
    # loops
    loops.stepping_by_blocks, loops.counting_blocks, loops.while_loops, loops.triton_ranges,
    loops.pointers_recomputed, loops.pointers_advanced, blocks.block_pointers, blocks.descriptors,
    # spelling
    masks.transposed_by_name, masks.transposed_by_attribute, masks.cast_by_name, masks.reduced_dims_kept,
    masks.filled_with_zeros, masks.cache_hints, masks.products_added, masks.products_accumulated,
    # launch and helpers
    launch.constant_strides, launch.constant_unit_strides, launch.constant_sizes, launch.unknown_unit_strides,
    launch.wide_strides, launch.one_axis_by_rows, launch.one_axis_by_columns, launch.one_axis_in_groups,
    launch.axes_swapped, launch.persistent, launch.helpers_made, launch.helpers_inlined,
)  # fmt: skip

REWRITINGS: dict[str, Rewriting] = {
    **{function.__name__: function for function in _FUNCTIONS},
    "sums_to_the_left": indices.sums_to_the_left,
    "sums_to_the_right": indices.sums_to_the_right,
    "sums_in_any_order": indices.sums_in_any_order,
}
