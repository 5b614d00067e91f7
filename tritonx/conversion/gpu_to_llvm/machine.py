"""What differs between GPU vendors when a thread's program is written: the methods of one small object.

The emitters of this package are the same for every vendor. Where an instruction is needed that LLVM IR has no
portable way to say (a shuffle, a barrier, a guarded access, a matrix instruction), they ask the ``Machine``. A
backend derives from it and names three parts by subject: accesses to memory, math functions, messages. Every method
returns the text of an LLVM operand, having written the lines that compute it to ``f``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation, SSAValue

    from tritonx.conversion.gpu_to_llvm.calls import Signatures
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
    from tritonx.conversion.gpu_to_llvm.loop_vectors import LoopBody
    from tritonx.conversion.gpu_to_llvm.product import DotProduct
    from tritonx.conversion.gpu_to_llvm.transfer import SharedRegisters
    from tritonx.dialects.gpu_layout import LocalAllocOp, LocalStoreOp
    from tritonx.dialects.tile import FuncOp, TargetPolicy
from tritonx.conversion.data_layout import pointer_bits
from tritonx.conversion.gpu_to_llvm.types import CONSTANT, GENERIC, GLOBAL, SHARED
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.legal import Legal
from tritonx.ir.properties import stated_number


@dataclass(frozen=True)
class Access:
    """How one vector access to global memory is to be made.

    ``width`` elements of LLVM type ``elem`` from one address; ``bytes_aligned`` is what the analysis proved about it.
    ``cache`` and ``evict`` are the numbers of ``tritonx.dialects.tile.enums``; ``policy`` is what a target's attribute
    says in their place, to be read by the machine that knows it.

    >>> Access("float", 4, 16).width
    4
    """

    elem: str
    width: int
    bytes_aligned: int
    cache: int = 1
    evict: int = 1
    volatile: bool = False
    policy: TargetPolicy | None = None

    @property
    def type(self) -> str:
        return self.elem if self.width == 1 else f"<{self.width} x {self.elem}>"


class GlobalMemory(Protocol):
    """Guarded accesses to global memory. A module of functions may be one."""

    def load(self, f: FunctionEmitter, pointer: str, access: Access, mask: str | None, other: str | None) -> str:
        """A guarded load: with ``mask`` (i1) false memory is not touched and the result is ``other`` (zero if None)."""
        ...

    def store(self, f: FunctionEmitter, pointer: str, value: str, access: Access, mask: str | None) -> None: ...

    def atomic_width(self, kind: int, elem: str) -> int:
        """How many neighbours one read-modify-write takes at most, each of them atomic by itself."""
        ...

    def atomic(
        self,
        f: FunctionEmitter,
        kind: int,
        pointer: str,
        value: str,
        access: Access,
        sem: int,
        scope: int,
        mask: str | None,
    ) -> str:
        """A read-modify-write of ``access``; ``kind``, ``sem`` and ``scope`` are the numbers of the enums. Returns the
        old value.
        """
        ...

    def compare_and_swap(
        self,
        f: FunctionEmitter,
        pointer: str,
        compare: str,
        value: str,
        elem: str,
        sem: int,
        scope: int,
        mask: str | None,
    ) -> str: ...

    def atomic_load(self, f: FunctionEmitter, pointer: str, elem: str, sem: int, scope: int, mask: str | None) -> str:
        """One element, read as one; anything where ``mask`` is false."""
        ...

    def atomic_store(
        self, f: FunctionEmitter, pointer: str, value: str, elem: str, sem: int, scope: int, mask: str | None
    ) -> None: ...

    def poll(self, f: FunctionEmitter, pointer: str, elem: str, scope: int) -> str:
        """One element, read relaxed in a loop that ends by what is read."""
        ...

    def acquire(self, f: FunctionEmitter, scope: int) -> None:
        """Makes this thread's relaxed atomic loads so far acquire."""
        ...


class MathFunctions(Protocol):
    """The math functions that are not LLVM's own, and the device library's."""

    def function(self, f: FunctionEmitter, name: str, operands: list[Tile]) -> Tile | None:
        """The math function ``name`` (``exp``, ``exp2``, ``log``, ``sin``, ``sqrt``, ``erf``, …) of tiles of f32 or
        f64, or None where LLVM's own will do.
        """
        ...

    def library_signatures(self) -> Signatures:
        """The functions of the device library that the target lists; a call of any other may be of anything."""
        ...

    def extern(self, f: FunctionEmitter, symbol: str, operands: list[Tile], result: str) -> Tile | None:
        """The device-library function ``symbol`` on tiles, with results of LLVM type ``result``; None if there is
        none.
        """
        ...


class Messages(Protocol):
    """What a kernel says while it runs."""

    def print_line(self, f: FunctionEmitter, text: str, values: list[tuple[str, str, bool]]) -> None:
        """A device printf: ``text`` has one ``%`` conversion for each of (operand, LLVM type, signed)."""
        ...

    def assert_(self, f: FunctionEmitter, failed: str, message: str, file: str, line: int, function: str) -> None:
        """Stop the program with ``message`` where ``failed`` (i1) holds."""
        ...


class Machine(ABC):
    """The vendor's side of the emission of one kernel."""

    triple: str
    data_layout: str
    kernel_convention: str = "ccc"
    """LLVM's name of the calling convention of kernels."""
    warp_size: int
    memory: GlobalMemory
    functions: MathFunctions
    messages: Messages
    """`portable_memory` and `portable_parts` have what any LLVM target can do of these three."""
    legal: Legal = Legal()
    """What the text may hold for whatever compiles it."""
    generic_space: int = 0
    global_space: int = 1
    shared_space: int = 3
    """What the target's LLVM calls the address spaces that a generic pointer, and one into global and a block's shared
    memory, is of. ``data_layout`` says how many bits such a pointer has; in global memory each has 64."""
    has_global_scratch: bool = False
    """Whether a launch provides `ttg.global_scratch_alloc`'s memory; the kernel's last parameter says where it is."""
    shifts_saturate: int = 0
    """Up to which width of values a shift by the width or more leaves 0, or the sign, as the language says."""
    orders_zeros: bool = False
    """Whether the instructions of LLVM's `maxnum` and `minnum` take -0 for less than 0; `maximumnum` is emitted if
    not."""
    kept_in_loops: tuple[type[Operation], ...] = ()
    """Ops that run beside their loop: an assembler does not gain by unrolling it where it knows the trip
    count."""
    converts_bytes_slowly: bool = False
    """Whether an instruction that converts a byte to a float takes longer than moving its bits and a subtraction."""
    picks_bytes: bool = False
    """Whether there is an instruction for ``pick_bytes`` that LLVM does not find by itself."""
    holds_vectors_whole: bool = False
    """Whether a vector of equal elements takes a register for each in blocks behind the one that makes it."""

    @property
    def bfloat_by_single(self) -> bool:
        """Whether integers become bf16 by way of f32."""
        return True

    @property
    def paired_extrema(self) -> frozenset[str]:
        """The 16-bit LLVM types of which one instruction compares two pairs."""
        return frozenset()

    def space(self, space: int) -> int:
        """The number of an address space of the IR; one that has no name there is the target's own. What is constant is
        global memory that a kernel only reads: a target's constant space is another one."""
        named = {
            GENERIC: self.generic_space,
            GLOBAL: self.global_space,
            SHARED: self.shared_space,
            CONSTANT: self.global_space,
        }
        return named.get(space, space)

    def pointer_bits(self, space: int) -> int:
        """Bits of a pointer into an address space of the target's."""
        return pointer_bits(self.data_layout, space)

    @property
    def scope_of_tiles(self) -> str:
        """What is said of accesses to tiles in shared memory (``, !alias.scope …``): that they are apart from
        asynchronous copies that are under way; nothing where LLVM does not take them for the same."""
        return ""

    # ---- the frame of a kernel

    def parameter(self, type_: str, name: str, attributes: Mapping[str, Attribute]) -> str:
        """One parameter of a kernel's ``define`` line, with its LLVM attributes."""
        divisibility = stated_number(attributes, "tt.divisibility")
        if not type_.startswith("ptr") or divisibility is None:
            return f"{type_} {name}"
        return f"{type_} align {min(divisibility, 16)} {name}"

    def launch_parameters(self, function: FuncOp) -> list[str]:
        """A kernel's parameters behind those of its function, which a launch has something to pass for by itself."""
        return []

    def begin(self, f: FunctionEmitter) -> list[str]:
        """Lines that a function begins with, run by all threads of the block."""
        return []

    def end(self, f: FunctionEmitter) -> None:
        """Written where a function returns, for the kernel's own warps."""
        return None

    def kernel_attributes(self, threads: int) -> list[str]:
        """Function attributes, and metadata, of a kernel that runs with ``threads`` threads."""
        return ["nounwind"]

    def module_tail(self, threads: int) -> list[str]:
        """Lines (metadata, flags) that end the module of a kernel that runs with ``threads`` threads."""
        return []

    def shared_memory(self, symbol: str, nbytes: int) -> str:
        """The definition of the global that is the block's shared memory, of ``nbytes`` bytes in all."""
        size = max(nbytes, 16)
        return f"{symbol} = internal addrspace({self.shared_space}) global [{size} x i8] undef, align 16"

    def lane_registers(self, threads: int) -> int | None:
        """Registers that each of so many threads of a block may have; None where accesses are not planned by it."""
        return None

    # ---- the thread's position

    @abstractmethod
    def thread_id(self, f: FunctionEmitter) -> str: ...

    def thread_id_anew(self, f: FunctionEmitter) -> str:
        """``thread_id`` in a register of its own, so that what is made of it is computed again where it is needed, and
        not kept; the same where nothing hides that it is.
        """
        return self.thread_id(f)

    def uniform(self, f: FunctionEmitter, value: str) -> str:
        """``value`` (i32), known to be equal in all lanes of a warp, in a form that the vendor's compiler knows to be
        so.
        """
        return value

    def opaque(self, f: FunctionEmitter, type_: str, value: str) -> str:
        """`value`, of which LLVM is not to know how it was made; the same name where nothing hides that."""
        return value

    def copied_within(self, f: FunctionEmitter, elem: str, value: str, body: LoopBody) -> str:
        """A loop-invariant ``value`` in a register that the loop's body sets, so that LLVM keeps in the body what is
        made of it; the same name where nothing does that.
        """
        return value

    @abstractmethod
    def program_id(self, f: FunctionEmitter, axis: int) -> str: ...

    @abstractmethod
    def num_programs(self, f: FunctionEmitter, axis: int) -> str: ...

    def nanoseconds(self, f: FunctionEmitter) -> str | None:
        """The clock of the device in nanoseconds, i64, read here; None where a target has none."""
        return None

    def clock(self, f: FunctionEmitter, *, nanoseconds: bool) -> str | None:
        """A clock, i64, read between the accesses to memory in front of it and those behind it: of cycles of the
        multiprocessor, or of nanoseconds, the same on all of them; None where a target has none."""
        return None

    def processor_number(self, f: FunctionEmitter) -> str | None:
        """The number of the multiprocessor (i32) that runs the block; None where a target does not say."""
        return None

    def cluster_rank(self, f: FunctionEmitter) -> str:
        """The number of this block in its cluster."""
        return "0"

    # ---- registers that groups of warps share out

    def set_registers(self, f: FunctionEmitter, count: int, *, more: bool) -> None:
        """Let each thread hold ``count`` registers, which is ``more`` than before or not; nothing where a machine gives
        all threads of a kernel the same."""
        return None

    # ---- threads talking to each other

    @abstractmethod
    def barrier(self, f: FunctionEmitter) -> None:
        """All threads of the block; their accesses to memory before it are visible after it."""

    def barrier_to_release(self, f: FunctionEmitter, scope: int) -> None:
        """As ``barrier``, where one of the threads then releases in ``scope`` what all have done: a target's own
        ``barrier`` where its releases take effect for what others of the block have made visible (cumulativity)."""
        f.threads.barrier()

    def local_barrier(self, f: FunctionEmitter) -> None:
        """As ``barrier``, but only accesses to shared memory need be visible."""
        self.barrier(f)

    def warp_barrier(self, f: FunctionEmitter) -> None:
        """All lanes of the warp; their accesses to shared memory before it are visible to each other after it."""
        self.local_barrier(f)

    def keep_order(self, f: FunctionEmitter) -> None:
        """The vendor's scheduler moves no instruction across this place; nothing where it keeps registers few by
        itself.
        """
        return None

    # Warps of one lane have no shuffles; any other machine says how.

    def shuffle_xor(self, f: FunctionEmitter, value: str, mask: int, equal: int = 0) -> str:
        """``value`` (i32) of the lane whose number differs in ``mask``, and perhaps in bits of ``equal``: lanes that
        differ there alone hold the same."""
        raise NotImplementedError

    def shuffle_index(self, f: FunctionEmitter, value: str, lane: str) -> str:
        """``value`` (i32) of lane ``lane`` (i32)."""
        raise NotImplementedError

    def reduce_lanes(self, f: FunctionEmitter, op: type[Operation], value: str, elem: str) -> str | None:
        """``value`` of LLVM type ``elem`` of all lanes of the warp, combined by ``op`` (of ``arith``), in every lane;
        None where one instruction does not do it.
        """
        return None

    def swaps(self, mask: int) -> bool:
        """Whether there is an instruction for ``swap`` between lanes whose numbers differ in ``mask``."""
        return False

    def swap(self, f: FunctionEmitter, first: str, second: str, mask: int) -> tuple[str, str]:
        """Two words (i32) after the lower of two lanes whose numbers differ in ``mask``, a power of two, has given its
        ``second`` for the ``first`` of the upper one."""
        raise NotImplementedError

    def pick_bytes(self, f: FunctionEmitter, low: str, high: str, chosen: Sequence[int]) -> str:
        """The word of four bytes, the lowest first, of two words (i32): 0 to 3 are bytes of ``low``, 4 to 7 of
        ``high``."""
        raise NotImplementedError

    def reads_both(self, mask: int) -> bool:
        """Whether ``both`` costs less than two shuffles between lanes whose numbers differ in ``mask``."""
        return False

    def both(self, f: FunctionEmitter, value: str, mask: int) -> tuple[str, str]:
        """``value`` (i32) of the lower and of the upper of two lanes whose numbers differ in ``mask``, a power of
        two."""
        raise NotImplementedError

    def across_rows(self, f: FunctionEmitter) -> tuple[Callable[[str], str], ...]:
        """The end of a reduction over all lanes of a warp, once each row of 16 has its own result, where that can be
        done without shuffles: moves (i32 → i32), after each of which a lane combines what it has with what came, and a
        last one that gives every lane the result."""
        return ()

    def combines_three(self, how: type[Operation], elem: str) -> bool:
        """Whether one instruction does an op twice, with three elements of an LLVM type."""
        return False

    def divides_reductions(self) -> bool:
        """Whether lanes had better divide up the many results of a reduction than compute each of them in every lane:
        two shuffles and some selections for each result, instead of one shuffle for each bit of the lane's number."""
        return False

    # ---- shared memory and matrix instructions

    def async_copy(
        self, f: FunctionEmitter, target: str, source: str, nbytes: int, mask: str | None, cache: int, by: str | None
    ) -> bool:
        """Start copying 4, 8 or 16 bytes to shared memory, zeros where ``mask`` is false, in the threads in which
        ``by`` (i1) holds, or in all; False where there is no such instruction.
        """
        return False

    def async_commit(self, f: FunctionEmitter) -> None:
        """Close a group of the copies started since the last one; nothing where there are no such copies."""
        return None

    def async_wait(self, f: FunctionEmitter, pending: int) -> None:
        """Wait until at most ``pending`` of this thread's groups are still under way."""
        return None

    # ---- arithmetic that has no portable spelling

    def convert(self, f: FunctionEmitter, tile: Tile, source: str, target: str, rounding: int | None) -> Tile | None:
        """A floating-point conversion between the IR's formats by name (``f32``, ``bf16``, ``f8E4M3FN``, …) by an
        instruction of the machine; None where that of `conversion.scalar` is right. ``rounding`` is the enum's number,
        None for the default."""
        return None

    def to_integer(self, f: FunctionEmitter, tile: Tile, target: str, *, signed: bool) -> Tile | None:
        """Floats truncated to integers of LLVM's type ``target``, saturating and 0 for NaN, by an instruction of the
        machine; None where LLVM's own code is right."""
        return None

    def dot(self, f: FunctionEmitter, product: DotProduct) -> bool:
        """Emit the matrix instructions for a product if the layout of its result is one of the vendor's; False if it is
        not.
        """
        return False

    def local_load(self, f: FunctionEmitter, type_: Attribute, memory: SSAValue) -> SharedRegisters | None:
        """How a special instruction loads a tile of ``type_`` from a buffer (ldmatrix, ds_read_tr); None where there is
        none for their layouts.
        """
        return None

    def local_store(self, f: FunctionEmitter, op: LocalAllocOp | LocalStoreOp) -> bool:
        """A special instruction for a ``ttg.local_store``/``local_alloc`` with a value (stmatrix); False where there
        is none.
        """
        return False
