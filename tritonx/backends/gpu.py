"""What a GPU backend outside this package imports, beside `tritonx.backends.api`: the machine, thread groups, matrix
units, the emission table and its helpers, stages and what to insert into them, errors, values of parameters.

A ``Machine`` leaves to a backend a thread's position, barriers and, for warps of several lanes, shuffles. All else
has a default that any LLVM target can take, so that a machine says what its chip does better, or otherwise:

* ``legal``: types, the widest vector and integer. The high half of a product is made of halves where no integer is wide
  enough for all of it; ``maximum`` and ``minimum``, which keep NaN, are LLVM's intrinsics, or comparisons in text that
  is made legal.
* ``global_space``, ``shared_space``, ``generic_space``: the target's numbers. ``data_layout``
  has the widths of pointers.
* ``kernel_attributes(threads)``, ``module_tail(threads)``: function attributes and metadata of a kernel, and the end of
  its module, for a block of so many threads; ``parameter`` and ``shared_memory`` write the lines of these.
* ``memory``: `PortableMemory` guards accesses by branches; its atomics have LLVM's scopes, and are loops of
  compare-and-swap where ``smallest_atomic`` and ``float_sums`` say that there is no instruction.
* ``functions`` and ``messages``: `NamedFunctions` of a library, `NoMessages`.
* ``shifts_saturate``, ``orders_zeros``, ``converts_bytes_slowly``, ``bfloat_by_single``, ``paired_extrema``,
  ``combines_three``: what instructions do by themselves; the defaults promise nothing.
* ``convert``, ``dot``, ``local_load``, ``local_store``, ``async_copy``, ``reduce_lanes``, ``swap``, ``both``:
  instructions that few chips have; None or False says that this one has not.

`GpuTarget` and `UnitCosts` say what layouts and schedules may count on. A chip that does not say what registers it
has gets no plan that needs them: no limit is set, nothing is planned to wait in them.

Nothing else of tritonx is promised to stay as it is. ``API_VERSION`` is raised when a change here would break a package
that was written for the previous number; ``Backend.stable_version`` says for which one a backend was written. A name is
imported when it is first asked for, so that a launch may use those that need no compiler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.backends.api import STABLE_VERSION
from tritonx.backends.exports import exporting

if TYPE_CHECKING:
    from tritonx.analysis.shared_budget import largest_buffers as largest_buffers
    from tritonx.analysis.unit_costs import UnitCosts as UnitCosts
    from tritonx.backends.gpu_passes import gpu_stages as gpu_stages
    from tritonx.backends.gpu_passes import layout_passes as layout_passes
    from tritonx.backends.gpu_passes import memory_passes as memory_passes
    from tritonx.backends.gpu_passes import tile_passes as tile_passes
    from tritonx.backends.portable_stages import CannotTranslate as CannotTranslate
    from tritonx.backends.portable_stages import emit_llvm as emit_llvm
    from tritonx.backends.portable_stages import portable_stages as portable_stages
    from tritonx.backends.portable_stages import spirv_stage as spirv_stage
    from tritonx.conversion.gpu_options import GpuOptions as GpuOptions
    from tritonx.conversion.gpu_to_llvm.calls import Signatures as Signatures
    from tritonx.conversion.gpu_to_llvm.calls import call_each as call_each
    from tritonx.conversion.gpu_to_llvm.dot import Rows as Rows
    from tritonx.conversion.gpu_to_llvm.elementwise import call_intrinsic as call_intrinsic
    from tritonx.conversion.gpu_to_llvm.elementwise import emitted as emitted
    from tritonx.conversion.gpu_to_llvm.elementwise import lanewise as lanewise
    from tritonx.conversion.gpu_to_llvm.encodings import type_encoding as type_encoding
    from tritonx.conversion.gpu_to_llvm.function import Emit as Emit
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter as FunctionEmitter
    from tritonx.conversion.gpu_to_llvm.machine import Access as Access
    from tritonx.conversion.gpu_to_llvm.machine import GlobalMemory as GlobalMemory
    from tritonx.conversion.gpu_to_llvm.machine import Machine as Machine
    from tritonx.conversion.gpu_to_llvm.machine import MathFunctions as MathFunctions
    from tritonx.conversion.gpu_to_llvm.machine import Messages as Messages
    from tritonx.conversion.gpu_to_llvm.module import ModuleEmitter as ModuleEmitter
    from tritonx.conversion.gpu_to_llvm.portable_memory import PortableMemory as PortableMemory
    from tritonx.conversion.gpu_to_llvm.portable_memory import guarded as guarded
    from tritonx.conversion.gpu_to_llvm.portable_memory import zero_of as zero_of
    from tritonx.conversion.gpu_to_llvm.portable_parts import NamedFunctions as NamedFunctions
    from tritonx.conversion.gpu_to_llvm.portable_parts import NoMessages as NoMessages
    from tritonx.conversion.gpu_to_llvm.product import DotProduct as DotProduct
    from tritonx.conversion.gpu_to_llvm.shape import positions as positions
    from tritonx.conversion.gpu_to_llvm.table import TABLE as TABLE
    from tritonx.conversion.gpu_to_llvm.threads import ThreadGroup as ThreadGroup
    from tritonx.conversion.gpu_to_llvm.values import Tile as Tile
    from tritonx.conversion.legal import Legal as Legal
    from tritonx.conversion.legalize import Illegal as Illegal
    from tritonx.conversion.legalize import legal_text as legal_text
    from tritonx.conversion.spirv.write import legal_spirv as legal_spirv
    from tritonx.conversion.spirv.write import spirv_data_layout as spirv_data_layout
    from tritonx.conversion.spirv.write import spirv_legal as spirv_legal
    from tritonx.conversion.tile_to_gpu.assign_layouts import AssignLayouts as AssignLayouts
    from tritonx.conversion.tile_to_gpu.matrix_unit import DotLayout as DotLayout
    from tritonx.conversion.tile_to_gpu.matrix_unit import ExplainingUnit as ExplainingUnit
    from tritonx.conversion.tile_to_gpu.matrix_unit import MatrixUnit as MatrixUnit
    from tritonx.conversion.tile_to_gpu.matrix_unit import Product as Product
    from tritonx.conversion.tile_to_gpu.matrix_unit import Threads as Threads
    from tritonx.conversion.tile_to_gpu.matrix_unit import extent_refusal as extent_refusal
    from tritonx.conversion.tile_to_gpu.matrix_unit import has_types as has_types
    from tritonx.conversion.tile_to_gpu.matrix_unit import type_refusal as type_refusal
    from tritonx.conversion.tile_to_gpu.matrix_unit import warps_over as warps_over
    from tritonx.conversion.tile_to_gpu.pipeline import gpu_stage as gpu_stage
    from tritonx.conversion.tile_to_gpu.pipeline import tile_stage as tile_stage
    from tritonx.conversion.tile_to_gpu.target import GpuTarget as GpuTarget
    from tritonx.dialects.tile.enums import CacheModifier as CacheModifier
    from tritonx.dialects.tile.enums import EvictionPolicy as EvictionPolicy
    from tritonx.dialects.tile.enums import MemSemantic as MemSemantic
    from tritonx.dialects.tile.enums import MemSyncScope as MemSyncScope
    from tritonx.dialects.tile.enums import RMWOp as RMWOp
    from tritonx.dialects.tile.enums import RoundingMode as RoundingMode
    from tritonx.ir.contract import Contract as Contract
    from tritonx.ir.dispatch import case as case
    from tritonx.ir.dispatch import case_in as case_in
    from tritonx.ir.failure import PassError as PassError
    from tritonx.ir.failure import PassFailure as PassFailure
    from tritonx.ir.properties import stated_number as stated_number
    from tritonx.layouts.encodings import BlockedEncoding as BlockedEncoding
    from tritonx.layouts.encodings import LinearEncoding as LinearEncoding
    from tritonx.runtime.devices.host_driver import HostDriver as HostDriver
    from tritonx.runtime.devices.host_driver import host_address as host_address
    from tritonx.runtime.errors import NoDevice as NoDevice
    from tritonx.runtime.errors import OutOfResources as OutOfResources
    from tritonx.runtime.errors import TritonError as TritonError
    from tritonx.runtime.isolation.translate import translate as translate
    from tritonx.runtime.launch.copies import on_copies as on_copies
    from tritonx.runtime.launch.descriptor_parameters import FlatParameters as FlatParameters
    from tritonx.runtime.launch.parameter_values import address_of as address_of
    from tritonx.runtime.launch.parameter_values import letter as letter
    from tritonx.runtime.launch.parameter_values import packed as packed
    from tritonx.runtime.launch.spans import Span as Span
    from tritonx.transforms.gpu.accumulate_in_threads import AccumulateInThreads as AccumulateInThreads
    from tritonx.transforms.gpu.allocate_global_scratch import AllocateGlobalScratch as AllocateGlobalScratch
    from tritonx.transforms.gpu.allocate_shared_memory import AllocateSharedMemory as AllocateSharedMemory
    from tritonx.transforms.gpu.decompose_dots import DecomposeDots as DecomposeDots
    from tritonx.transforms.gpu.fuse_operand_loads import FuseOperandLoads as FuseOperandLoads
    from tritonx.transforms.gpu.insert_barriers import InsertBarriers as InsertBarriers
    from tritonx.transforms.gpu.make_room import MakeRoom as MakeRoom
    from tritonx.transforms.gpu.reduce_together import ReduceTogether as ReduceTogether
    from tritonx.transforms.gpu.share_barriers import ShareBarriers as ShareBarriers
    from tritonx.transforms.gpu.split_dots import SplitDots as SplitDots
    from tritonx.transforms.gpu.stage_dot_operands import StageDotOperands as StageDotOperands
    from tritonx.transforms.gpu.unroll_loads import UnrollLoads as UnrollLoads
    from tritonx.transforms.gpu.widen_float8 import WidenFloat8 as WidenFloat8
    from tritonx.transforms.pass_list import Insert as Insert
    from tritonx.transforms.pass_list import inserted as inserted
    from tritonx.transforms.tile.combine import Combine as Combine
    from tritonx.transforms.tile.cse import CommonSubexpressionElimination as CommonSubexpressionElimination
    from tritonx.transforms.tile.dce import DeadCodeElimination as DeadCodeElimination
    from tritonx.transforms.tile.decompose_scaled_dots import DecomposeScaledDots as DecomposeScaledDots
    from tritonx.transforms.tile.fold import Fold as Fold
    from tritonx.transforms.tile.inline import Inline as Inline
    from tritonx.transforms.tile.licm import LoopInvariantCodeMotion as LoopInvariantCodeMotion
    from tritonx.transforms.tile.lift_control_flow import LiftControlFlow as LiftControlFlow
    from tritonx.transforms.tile.reorder_broadcast import ReorderBroadcast as ReorderBroadcast
    from tritonx.transforms.tile.rewrite_descriptors import RewriteDescriptors as RewriteDescriptors
    from tritonx.transforms.tile.simplify_control_flow import SimplifyControlFlow as SimplifyControlFlow
    from tritonx.transforms.tile.unroll import Unroll as Unroll

API_VERSION = STABLE_VERSION

HOMES = {
    "tritonx.analysis.shared_budget": "largest_buffers",
    "tritonx.analysis.unit_costs": "UnitCosts",
    "tritonx.backends.gpu_passes": "gpu_stages layout_passes memory_passes tile_passes",
    "tritonx.backends.portable_stages": "CannotTranslate emit_llvm portable_stages spirv_stage",
    "tritonx.conversion.gpu_options": "GpuOptions",
    "tritonx.conversion.gpu_to_llvm.calls": "Signatures call_each",
    "tritonx.conversion.gpu_to_llvm.dot": "Rows",
    "tritonx.conversion.gpu_to_llvm.elementwise": "call_intrinsic emitted lanewise",
    "tritonx.conversion.gpu_to_llvm.encodings": "type_encoding",
    "tritonx.conversion.gpu_to_llvm.function": "Emit FunctionEmitter",
    "tritonx.conversion.gpu_to_llvm.machine": "Access GlobalMemory Machine MathFunctions Messages",
    "tritonx.conversion.gpu_to_llvm.module": "ModuleEmitter",
    "tritonx.conversion.gpu_to_llvm.portable_memory": "PortableMemory guarded zero_of",
    "tritonx.conversion.gpu_to_llvm.portable_parts": "NamedFunctions NoMessages",
    "tritonx.conversion.gpu_to_llvm.product": "DotProduct",
    "tritonx.conversion.gpu_to_llvm.shape": "positions",
    "tritonx.conversion.gpu_to_llvm.table": "TABLE",
    "tritonx.conversion.gpu_to_llvm.threads": "ThreadGroup",
    "tritonx.conversion.gpu_to_llvm.values": "Tile",
    "tritonx.conversion.legal": "Legal",
    "tritonx.conversion.legalize": "Illegal legal_text",
    "tritonx.conversion.spirv.write": "legal_spirv spirv_data_layout spirv_legal",
    "tritonx.conversion.tile_to_gpu.assign_layouts": "AssignLayouts",
    "tritonx.conversion.tile_to_gpu.matrix_unit": (
        "DotLayout ExplainingUnit MatrixUnit Product Threads extent_refusal has_types type_refusal warps_over"
    ),
    "tritonx.conversion.tile_to_gpu.pipeline": "gpu_stage tile_stage",
    "tritonx.conversion.tile_to_gpu.target": "GpuTarget",
    "tritonx.dialects.tile.enums": "CacheModifier EvictionPolicy MemSemantic MemSyncScope RMWOp RoundingMode",
    "tritonx.ir.contract": "Contract",
    "tritonx.ir.dispatch": "case case_in",
    "tritonx.ir.failure": "PassError PassFailure",
    "tritonx.ir.properties": "stated_number",
    "tritonx.layouts.encodings": "BlockedEncoding LinearEncoding",
    "tritonx.runtime.launch.copies": "on_copies",
    "tritonx.runtime.launch.descriptor_parameters": "FlatParameters",
    "tritonx.runtime.errors": "NoDevice OutOfResources TritonError",
    "tritonx.runtime.devices.host_driver": "HostDriver host_address",
    "tritonx.runtime.isolation.translate": "translate",
    "tritonx.runtime.launch.parameter_values": "address_of letter packed",
    "tritonx.runtime.launch.spans": "Span",
    "tritonx.transforms.gpu.accumulate_in_threads": "AccumulateInThreads",
    "tritonx.transforms.gpu.allocate_global_scratch": "AllocateGlobalScratch",
    "tritonx.transforms.gpu.allocate_shared_memory": "AllocateSharedMemory",
    "tritonx.transforms.gpu.decompose_dots": "DecomposeDots",
    "tritonx.transforms.gpu.fuse_operand_loads": "FuseOperandLoads",
    "tritonx.transforms.gpu.insert_barriers": "InsertBarriers",
    "tritonx.transforms.gpu.make_room": "MakeRoom",
    "tritonx.transforms.gpu.reduce_together": "ReduceTogether",
    "tritonx.transforms.gpu.share_barriers": "ShareBarriers",
    "tritonx.transforms.gpu.split_dots": "SplitDots",
    "tritonx.transforms.gpu.stage_dot_operands": "StageDotOperands",
    "tritonx.transforms.gpu.unroll_loads": "UnrollLoads",
    "tritonx.transforms.gpu.widen_float8": "WidenFloat8",
    "tritonx.transforms.pass_list": "Insert inserted",
    "tritonx.transforms.tile.combine": "Combine",
    "tritonx.transforms.tile.cse": "CommonSubexpressionElimination",
    "tritonx.transforms.tile.dce": "DeadCodeElimination",
    "tritonx.transforms.tile.decompose_scaled_dots": "DecomposeScaledDots",
    "tritonx.transforms.tile.fold": "Fold",
    "tritonx.transforms.tile.inline": "Inline",
    "tritonx.transforms.tile.licm": "LoopInvariantCodeMotion",
    "tritonx.transforms.tile.lift_control_flow": "LiftControlFlow",
    "tritonx.transforms.tile.reorder_broadcast": "ReorderBroadcast",
    "tritonx.transforms.tile.rewrite_descriptors": "RewriteDescriptors",
    "tritonx.transforms.tile.simplify_control_flow": "SimplifyControlFlow",
    "tritonx.transforms.tile.unroll": "Unroll",
}
"""Module → names."""

_TABLE, __getattr__ = exporting(__name__, HOMES)


def __dir__() -> list[str]:
    return sorted(_TABLE)
