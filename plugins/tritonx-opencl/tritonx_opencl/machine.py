"""What OpenCL says of a thread's program: work items, sub-groups and barriers, its functions, its scopes.

Functions of OpenCL C are called by their names in the Itanium ABI's mangling, as LLVM's SPIR-V target wants it."""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.backends.gpu import (
    FunctionEmitter,
    Machine,
    MemSyncScope,
    NamedFunctions,
    NoMessages,
    PortableMemory,
    spirv_data_layout,
    spirv_legal,
)

TRIPLE = "spirv64v1.4-unknown-unknown"
EXTENSIONS = "+SPV_EXT_shader_atomic_float_add,+SPV_EXT_shader_atomic_float_min_max"
LOCAL_FENCE, GLOBAL_FENCE = 1, 2
"""CLK_LOCAL_MEM_FENCE and CLK_GLOBAL_MEM_FENCE."""
CONVERGENT = "convergent nounwind"
PURE = "nounwind memory(none)"
_CODES = {"half": "Dh", "float": "f", "double": "d", "i32": "i", "i64": "l"}

_SAME = (
    "exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh "
    "erf erfc cbrt pow lgamma tgamma hypot"
)
_FURTHER = "floor ceil trunc rint round fma sqrt rsqrt copysign"


def mangled(name: str, elems: list[str]) -> str:
    return f"@_Z{len(name)}{name}{''.join(_CODES[e] for e in elems)}"


FUNCTIONS = NamedFunctions(
    mangled,
    {**{name: name for name in _SAME.split()}, "rem": "fmod"},
    {**{name: name for name in _FURTHER.split()}, "abs": "fabs"},
    frozenset(_CODES),
)


class Messages(NoMessages):
    """OpenCL prints, and has no assertions."""

    def print_line(self, f: FunctionEmitter, text: str, values: list[tuple[str, str, bool]]) -> None:
        symbol = f.module.declare("i32", "@printf", ["ptr addrspace(2)", "..."])
        arguments = "".join(f", {type_} {name}" for name, type_, _ in values)
        string = f.module.string(text, space=2)
        f.inst(f"call i32 (ptr addrspace(2), ...) {symbol}(ptr addrspace(2) {string}{arguments})")


@dataclass(frozen=True)
class OpenCLMachine(Machine):
    """``warp_size`` lanes, as many as a sub-group has work items or one."""

    warp_size: int  # pyright: ignore[reportIncompatibleVariableOverride]  # a field here, an attribute there
    memory = PortableMemory(
        {MemSyncScope.GPU: "device", MemSyncScope.CTA: "workgroup"}, 32, frozenset({"float", "double"}), True
    )
    """Polls modify: behind loops of atomic loads, Intel's vectoriser for CPUs (2026.2) leaves out all lanes but one."""
    functions = FUNCTIONS
    messages = Messages()
    triple = TRIPLE
    data_layout = spirv_data_layout(TRIPLE)
    legal = spirv_legal()
    kernel_convention = "spir_kernel"
    generic_space, global_space, shared_space = 4, 1, 3
    """LLVM's SPIR-V target: Generic, CrossWorkgroup, Workgroup."""

    def kernel_attributes(self, threads: int) -> list[str]:
        lanes = ["!intel_reqd_sub_group_size !1"] if self.warp_size > 1 else []
        return ["nounwind", "!reqd_work_group_size !0", *lanes]

    def module_tail(self, threads: int) -> list[str]:
        return [f"!0 = !{{i32 {threads}, i32 1, i32 1}}", f"!1 = !{{i32 {self.warp_size}}}"]

    # ---- the thread's position

    def thread_id(self, f: FunctionEmitter) -> str:
        """Which work items make a sub-group is the implementation's affair, so threads are numbered by sub-group."""
        if self.warp_size == 1:
            return _position(f, "@_Z12get_local_idj", 0)
        group = f.call("i32", "@_Z16get_sub_group_idv", attributes=PURE)
        lane = f.call("i32", "@_Z22get_sub_group_local_idv", attributes=PURE)
        return f.inst(f"add i32 {f.inst(f'mul i32 {group}, {self.warp_size}')}, {lane}")

    def program_id(self, f: FunctionEmitter, axis: int) -> str:
        return _position(f, "@_Z12get_group_idj", axis)

    def num_programs(self, f: FunctionEmitter, axis: int) -> str:
        return _position(f, "@_Z14get_num_groupsj", axis)

    # ---- threads talking to each other

    def barrier(self, f: FunctionEmitter) -> None:
        f.call("void", "@_Z7barrierj", ("i32", str(LOCAL_FENCE | GLOBAL_FENCE)), attributes=CONVERGENT)

    def local_barrier(self, f: FunctionEmitter) -> None:
        f.call("void", "@_Z7barrierj", ("i32", str(LOCAL_FENCE)), attributes=CONVERGENT)

    def warp_barrier(self, f: FunctionEmitter) -> None:
        if self.warp_size > 1:
            f.call("void", "@_Z17sub_group_barrierj", ("i32", str(LOCAL_FENCE)), attributes=CONVERGENT)

    def shuffle_xor(self, f: FunctionEmitter, value: str, mask: int, equal: int = 0) -> str:
        return f.call("i32", "@_Z21sub_group_shuffle_xorij", ("i32", value), ("i32", str(mask)), attributes=CONVERGENT)

    def shuffle_index(self, f: FunctionEmitter, value: str, lane: str) -> str:
        return f.call("i32", "@_Z17sub_group_shuffleij", ("i32", value), ("i32", lane), attributes=CONVERGENT)


def _position(f: FunctionEmitter, symbol: str, axis: int) -> str:
    return f.inst(f"trunc i64 {f.call('i64', symbol, ('i32', str(axis)), attributes=PURE)} to i32")
