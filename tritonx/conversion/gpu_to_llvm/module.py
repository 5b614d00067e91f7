"""The state of writing one module: its functions, globals, declarations and metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.analysis.registers import Pressure, RegisterFile, words
from tritonx.analysis.written import written_arguments
from tritonx.conversion.gpu_options import GpuOptions
from tritonx.conversion.gpu_to_llvm import global_scratch, regions
from tritonx.conversion.gpu_to_llvm.control import emit_blocks
from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.legal_types import check_types
from tritonx.conversion.gpu_to_llvm.machine import Machine
from tritonx.conversion.gpu_to_llvm.numbers import GpuNumbers
from tritonx.conversion.gpu_to_llvm.partitions import Partitions
from tritonx.conversion.gpu_to_llvm.threads import ThreadGroup
from tritonx.conversion.gpu_to_llvm.types import is_held, llvm_type
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.launch_shape import check_launch_shape
from tritonx.conversion.line_info import LineInfo
from tritonx.conversion.llvm_writer import Module
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.tile import TensorDescType
from tritonx.dialects.tile.descriptor import DESCRIPTOR
from tritonx.ir.failure import PassError
from tritonx.ir.origin import Origin
from tritonx.ir.properties import stated_number
from tritonx.ir.region_records import Regions
from tritonx.ir.types import encoding_of, type_of
from tritonx.transforms.gpu.allocate_global_scratch import ALIGNMENT, SIZE

KERNEL_BARRIER = 1
"""The barrier of the kernel's own warps where other groups of warps run beside them."""


@dataclass(frozen=True)
class DescriptorParameter:
    """A parameter of a kernel that is a descriptor: ``number`` says which of its source's descriptors it is, where
    `rewrite-descriptors` has left it; ``is_written`` whether blocks may be written through it."""

    function: tile.FuncOp
    type: TensorDescType
    number: int | None
    is_written: bool


class ModuleEmitter(Module):
    """Writes a ``ttg`` module as LLVM text.

    ``table`` maps op classes to emitters; ``machine`` is what the vendor supplies; ``line_info``, if there is one, says
    where in the source instructions come from.
    """

    shared_symbol = "@shared_memory"

    def __init__(
        self,
        module: ModuleOp,
        machine: Machine,
        options: GpuOptions,
        table: Mapping[type[Operation], Emit],
        line_info: LineInfo | None = None,
    ) -> None:
        super().__init__()
        self.op = module
        self.machine = machine
        self.options = options
        self.numbers = GpuNumbers(machine, fuse=options.enable_fp_fusion)
        self.table = table
        self.line_info = line_info
        self.attributes: dict[str, str] = {}
        self.functions: dict[str, tile.FuncOp] = {
            op.sym_name.data: op for op in module.body.block.ops if isinstance(op, tile.FuncOp)
        }
        check_launch_shape(module, num_ctas=options.num_ctas)
        own = self._attribute("ttg.num-warps") or options.num_warps
        self.num_warps = self._attribute("ttg.total-num-warps") or own
        # Warps of other groups (partitions) run beside the kernel's own, which then have a barrier of their own.
        self.group = ThreadGroup(own, barrier=None if own == self.num_warps else KERNEL_BARRIER)
        self.shared_bytes = self._attribute("ttg.shared") or 0
        self.global_scratch_bytes = self._attribute(SIZE)
        self.blocks_per_program = self._attribute("ttg.num-ctas") or 1
        self.launch_registers = self._attribute("ttg.maxnreg") or None
        self.regions = Regions.of(module, options.instrumentation_mode, self.num_warps)
        self._foreign: list[Operation] = []
        self._pressure: dict[Block, Pressure] = {}

    def type(self, type_: Attribute) -> str:
        """The LLVM type of a scalar, of one element of a tile, or of where a buffer starts."""
        return llvm_type(type_, self.machine.space)

    def _attribute(self, name: str) -> int:
        return stated_number(self.op.attributes, name) or 0

    @cached_property
    def axis_info(self) -> AxisFacts:
        return analyze_axes(self.op)

    def has_room(self, op: Operation, whole: SSAValue) -> bool:
        """Whether a thread has registers for all elements of ``whole`` at ``op``, beside what it holds across it."""
        limit = self.machine.lane_registers(self.num_warps * self.machine.warp_size)
        if limit is None:
            return True
        block = op.parent
        assert block is not None
        if block not in self._pressure:
            self._pressure[block] = Pressure(block)
        held = self._pressure[block].across(op) + words(type_of(whole))
        return held + RegisterFile.working <= limit

    def call(self, f: FunctionEmitter, callee: str, arguments: list[Tile], results: list[Attribute]) -> list[Tile]:
        """A call of a function that was not inlined; tiles travel in their wide form."""
        types = [Tile(self.type(t), f.registers(t)) for t in results]
        struct = "{ " + ", ".join(t.type for t in types) + " }" if types else "void"
        given = [*(f"{a.type} {f.wide(a)}" for a in arguments), *regions.arguments(f)]
        if self.global_scratch_bytes:
            given.append(f"{f.global_} {global_scratch.base(f)}")
        operands = ", ".join(given)
        if not types:
            f.line(f"call void @{callee}({operands})")
            return []
        called = f.inst(f"call {struct} @{callee}({operands})")
        return [Tile.wide(t.elem, t.n, f.inst(f"extractvalue {struct} {called}, {i}")) for i, t in enumerate(types)]

    # ---- where the text comes from

    def foreign(self, op: Operation) -> int:
        """Note that code which is not ours is passed on for ``op``; its number for a ``!srcloc``."""
        self._foreign.append(op)
        return len(self._foreign)

    def origin(self) -> Origin:
        """Of the text that ``emit`` returned."""
        kernels = [op for op in self.functions.values() if op.is_kernel]
        return Origin(kernels[0] if kernels else None, tuple(self._foreign))

    # ---- functions

    def emit(self) -> str:
        """The whole module as LLVM text."""
        check_types(self.op, self.machine.legal)
        helpers = self.definitions
        bodies = {f"@{name}": self.function(op) for name, op in self.functions.items()}
        self.definitions = {**bodies, **helpers}
        machine = self.machine
        head = [f'target datalayout = "{machine.data_layout}"', f'target triple = "{machine.triple}"', ""]
        if self.shared_bytes or any(self.shared_symbol in body for body in bodies.values()):
            head.append(machine.shared_memory(self.shared_symbol, self.shared_bytes))
        groups = [f"attributes {name} = {{ {text} }}" for name, text in self.attributes.items()]
        lines = [] if self.line_info is None else self.line_info.metadata()
        return self.print(head, [*groups, *machine.module_tail(self.num_warps * machine.warp_size), *lines])

    def launch_metadata(self) -> dict[str, object]:
        """What a launch must know of the module: bytes of shared memory, warps and their size, a block's
        bytes of global scratch memory, what is measured."""
        return {
            "shared": self.shared_bytes,
            "num_warps": self.num_warps,
            "warp_size": self.machine.warp_size,
            "global_scratch_size": self.global_scratch_bytes,
            "global_scratch_align": self._attribute(ALIGNMENT) or 1,
            **({} if self.regions is None else self.regions.metadata()),
        }

    def descriptor_parameters(self) -> list[DescriptorParameter]:
        """The kernel's parameters that are descriptors of blocks with a layout."""
        found: list[DescriptorParameter] = []
        for op in self.functions.values():
            if not op.is_kernel:
                continue
            attributes = op.arg_attrs or (None,) * len(op.function_type.inputs)
            for index, (type_, given) in enumerate(zip(op.function_type.inputs, attributes, strict=True)):
                if isinstance(type_, TensorDescType) and encoding_of(type_.block_type) is not None:
                    number = given.data.get(DESCRIPTOR) if given is not None else None
                    number = number.value.data if isinstance(number, IntegerAttr) else None
                    written = index in written_arguments(self.op, op.sym_name.data)
                    found.append(DescriptorParameter(op, type_, number, written))
        return found

    def function(self, op: tile.FuncOp) -> str:
        f = FunctionEmitter(self, self.group)
        f.symbol = op.sym_name.data
        blocks = list(op.body.blocks)
        if not blocks:
            raise PassError(op, f"function {f.symbol} has no body")
        for type_ in (*op.function_type.inputs, *op.function_type.outputs):
            if isinstance(type_, MemDescType):
                raise PassError(op, f"no function takes or returns shared memory: {type_}", "let it be inlined")
        f.is_kernel = op.is_kernel
        origin = "" if self.line_info is None else self.line_info.function(op)
        parameters = self._parameters(op, f)
        for number, block in enumerate(blocks):
            f.labels[block] = "body" if number == 0 else f.new_label("block")
        if op.is_kernel and self.num_warps != self.group.warps:
            f.partitions = Partitions(f)
        first = f.labels[blocks[0]]
        if op.is_kernel and self.regions is not None:
            f.label("begin")
            regions.begin(f)
            f.branch(first)
            first = "begin"
        emit_blocks(f, blocks)
        entry = [] if f.partitions is None else f.partitions.finish()
        attributes, convention, result = "", "internal", "void"
        if op.is_kernel:
            convention = self.machine.kernel_convention
            attributes = " " + " ".join(self.machine.kernel_attributes(self.num_warps * self.machine.warp_size))
        else:
            results = op.function_type.outputs.data
            if results:
                result = "{ " + ", ".join(Tile(self.type(t), f.registers(t)).type for t in results) + " }"
            attributes = " noinline"
        text = [f"define {convention} {result} @{f.symbol}({', '.join(parameters)}){attributes}{origin} {{", "entry:"]
        text += [*self.machine.begin(f), *regions.variables(f), *entry, *f.threads.prologue]
        return "\n".join([*text, f"  br label %{first}", *f.lines, "}", ""])

    def _parameters(self, op: tile.FuncOp, f: FunctionEmitter) -> list[str]:
        attributes = op.arg_attrs.data if op.arg_attrs is not None else [None] * len(op.body.blocks[0].args)
        out: list[str] = []
        for i, (arg, attrs) in enumerate(zip(op.body.blocks[0].args, attributes, strict=True)):
            name = f"%arg{i}"
            if not is_held(arg.type):
                raise PassError(op, f"no target has registers for {arg.type}")
            elem = self.type(arg.type)
            tile_ = Tile.wide(elem, f.registers(arg.type), name)
            known: dict[str, Attribute] = {} if attrs is None else dict(attrs.data)
            out.append(self.machine.parameter(elem, name, known) if f.is_kernel else f"{tile_.type} {name}")
            f.set(arg, tile_)
        out += regions.parameters(f)
        if f.is_kernel:
            out += self.machine.launch_parameters(op)
        if self.global_scratch_bytes:
            pointer, name = f.global_, global_scratch.PARAMETER
            out.append(self.machine.parameter(pointer, name, {}) if f.is_kernel else f"{pointer} {name}")
        return out
