"""Global memory in PTX: guarded vector accesses with cache and eviction hints, and atomics.

An unguarded access without hints is an LLVM load or store, which LLVM may move and merge. Everything else is inline
assembly: PTX ISA 9.0, "ld", "st", "atom" and "red". LLVM drops the ordering and the scope of ``atomicrmw`` for this
target without a word, so atomics are always assembly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.backends.nvidia.emit import cache_hints as hints
from tritonx.backends.nvidia.emit.vector_atomics import ordered_together, summed_together
from tritonx.conversion.float_order import extreme, orders
from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.dialects.tile.enums import CacheModifier, EvictionPolicy, MemSemantic, MemSyncScope, RMWOp

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_SEM = {
    MemSemantic.RELAXED: "relaxed",
    MemSemantic.ACQUIRE: "acquire",
    MemSemantic.RELEASE: "release",
    MemSemantic.ACQUIRE_RELEASE: "acq_rel",
}
_SCOPE = {MemSyncScope.GPU: "gpu", MemSyncScope.CTA: "cta", MemSyncScope.SYSTEM: "sys"}


def _words(access: Access) -> tuple[int, int]:
    """(bits of one register, number of registers) that carry an access of up to 128 bits."""
    total = access.width * bits(access.elem)
    word = min(32, total) if bits(access.elem) < 64 else 64
    return word, total // word


def _letter(word: int) -> str:
    return {8: "h", 16: "h", 32: "r", 64: "l"}[word]


def _to_words(f: FunctionEmitter, access: Access, value: str, word: int, count: int) -> list[str]:
    """``value`` of the access's type as ``count`` integers of ``word`` bits (an 8-bit one travels in 16)."""
    if access.elem == "i1":
        value = f.inst(f"zext {access.type} {value} to {access.type.replace('i1', 'i8')}")
    elem = "i8" if access.elem == "i1" else access.elem
    type_ = elem if access.width == 1 else f"<{access.width} x {elem}>"
    if elem.startswith("ptr"):
        target = "i64" if access.width == 1 else f"<{access.width} x i64>"
        value, type_ = f.inst(f"ptrtoint {type_} {value} to {target}"), target
    shape = f"i{word}" if count == 1 else f"<{count} x i{word}>"
    if type_ != shape:
        value = f.inst(f"bitcast {type_} {value} to {shape}")
    words = [value] if count == 1 else [f.inst(f"extractelement {shape} {value}, i32 {i}") for i in range(count)]
    if word == 8:
        words = [f.inst(f"zext i8 {w} to i16") for w in words]
    return words


def _registers(first: int, count: int) -> str:
    """The operands of an assembly text from number ``first`` on, as PTX writes ``count`` registers."""
    names = ", ".join(f"${i}" for i in range(first, first + count))
    return names if count == 1 else f"{{{names}}}"


def _asm(f: FunctionEmitter, text: str, constraints: str, operands: list[str], register: int, count: int) -> list[str]:
    """Assembly that gives ``count`` integers of ``register`` bits."""
    result = f"i{register}" if count == 1 else "{ " + ", ".join([f"i{register}"] * count) + " }"
    called = f.inst(f'call {result} asm sideeffect "{text}", "{constraints}"({", ".join(operands)})')
    return [called] if count == 1 else [f.inst(f"extractvalue {result} {called}, {i}") for i in range(count)]


def _from_words(f: FunctionEmitter, access: Access, words: list[str], word: int) -> str:
    if word == 8:
        words = [f.inst(f"trunc i16 {w} to i8") for w in words]
    shape = f"i{word}" if len(words) == 1 else f"<{len(words)} x i{word}>"
    value = f.pack(f"i{word}", words)
    elem = "i8" if access.elem == "i1" else access.elem
    type_ = elem if access.width == 1 else f"<{access.width} x {elem}>"
    if elem.startswith("ptr"):
        between = "i64" if access.width == 1 else f"<{access.width} x i64>"
        if shape != between:
            value = f.inst(f"bitcast {shape} {value} to {between}")
        value = f.inst(f"inttoptr {between} {value} to {type_}")
    elif shape != type_:
        value = f.inst(f"bitcast {shape} {value} to {type_}")
    if access.elem == "i1":
        zero = "0" if access.width == 1 else "zeroinitializer"
        value = f.inst(f"icmp ne {type_} {value}, {zero}")
    return value


def _plain(access: Access) -> bool:
    hinted = access.cache != CacheModifier.NONE or access.evict != EvictionPolicy.NORMAL or access.policy is not None
    return not hinted and access.elem != "i1"


def _i64(name: str | None) -> list[str]:
    """An operand that may be absent."""
    return [] if name is None else [f"i64 {name}"]


def async_copy(
    f: FunctionEmitter,
    capability: int,
    target: str,
    source: str,
    nbytes: int,
    mask: str | None,
    cache: int,
    by: str | None,
) -> bool:
    """``cp.async`` (8.0 and later); where a mask is false it reads nothing and fills with zeros.

    That is told by a predicate (``ignore-src``): for a source size that is 0 there, ptxas makes the number of the mask
    and a predicate of the number again. Where some threads only copy, the instruction has a guard: a branch would be
    one in the middle of products."""
    if capability < 80:
        return False
    level = "cg" if nbytes == 16 and cache != CacheModifier.CA else "ca"
    if mask is None and by is None:
        types, values = ["ptr addrspace(3)", "ptr addrspace(1)"], [target, source]
        symbol = f.module.declare("void", f"@llvm.nvvm.cp.async.{level}.shared.global.{nbytes}", types)
        f.line(f"call void {symbol}({', '.join(f'{t} {v}' for t, v in zip(types, values, strict=True))})")
        return True
    predicates = [f"i1 {by}"] if by is not None else []
    guard, ignored = ("@$2 " if predicates else ""), ""
    if mask is not None:
        ignored = f", ${2 + len(predicates)}"
        predicates.append(f"i1 {f.inst(f'xor i1 {mask}, true')}")
    text = f"{guard}cp.async.{level}.shared.global [$0], [$1], {nbytes}{ignored};"
    operands = ", ".join([f"ptr addrspace(3) {target}", f"ptr addrspace(1) {source}", *predicates])
    f.line(f'call void asm sideeffect "{text}", "r,l{",b" * len(predicates)},~{{memory}}"({operands})')
    return True


_RMW = {
    RMWOp.AND: "and.b",
    RMWOp.OR: "or.b",
    RMWOp.XOR: "xor.b",
    RMWOp.ADD: "add.u",
    RMWOp.MAX: "max.s",
    RMWOp.MIN: "min.s",
    RMWOp.UMAX: "max.u",
    RMWOp.UMIN: "min.u",
    RMWOp.XCHG: "exch.b",
}
_FLOAT_RMW = {RMWOp.FADD: "add", RMWOp.MAX: "max", RMWOp.MIN: "min"}
_FLOATS = {"float": ".f32", "double": ".f64", "half": ".noftz.f16", "bfloat": ".noftz.bf16"}


def _atomic_words(f: FunctionEmitter, elem: str, names: list[str]) -> tuple[int, list[str]]:
    width = bits(elem)
    if elem.startswith("i"):
        return width, names
    return width, [f.inst(f"bitcast {elem} {x} to i{width}") for x in names]


def _by_swap(
    f: FunctionEmitter, kind: RMWOp, pointer: str, value: str, elem: str, sem: int, scope: int, mask: str | None
) -> str:
    """What the chip has no instruction for on floats of 16 bits: a loop of compare-and-swap."""
    start, loop, done = f.new_label("try"), f.new_label("retry"), f.new_label("swapped")
    before = f.block
    f.line(f"br i1 {mask if mask is not None else 'true'}, label %{start}, label %{done}")
    f.label(start)
    given = f.inst(f"bitcast {elem} {value} to i16")
    first = f.inst(f"load volatile i16, ptr addrspace(1) {pointer}, align 2")
    f.branch(loop)
    f.label(loop)
    expected, found = f.name(), f.name()
    f.line(f"{expected} = phi i16 [ {first}, %{start} ], [ {found}, %{loop} ]")
    if orders(kind, elem):
        new = extreme(f.inst, kind, elem, expected, given)
    else:
        total = f.inst(f"fadd {elem} {f.inst(f'bitcast i16 {expected} to {elem}')}, {value}")
        new = f.inst(f"bitcast {elem} {total} to i16")
    text = f"atom.{_SEM[MemSemantic(sem)]}.{_SCOPE[MemSyncScope(scope)]}.global.cas.b16 $0, [$1+0], $2, $3;"
    f.line(
        f'{found} = call i16 asm sideeffect "{text}", "=h,l,h,h,~{{memory}}"'
        f"(ptr addrspace(1) {pointer}, i16 {expected}, i16 {new})"
    )
    f.line(f"br i1 {f.inst(f'icmp eq i16 {found}, {expected}')}, label %{done}, label %{loop}")
    f.label(done)
    word = f.inst(f"phi i16 [ poison, %{before} ], [ {found}, %{loop} ]")
    return f.inst(f"bitcast i16 {word} to {elem}")


@dataclass(frozen=True)
class NvidiaMemory:
    """Accesses to global memory by PTX's guarded instructions, for one compute capability."""

    capability: int

    def load(self, f: FunctionEmitter, pointer: str, access: Access, mask: str | None, other: str | None) -> str:
        """A load of ``access``; where ``mask`` is false nothing is read and the result is ``other``, zero by
        default."""
        if mask is None and _plain(access):
            volatile = "volatile " if access.volatile else ""
            return f.inst(f"load {volatile}{access.type}, ptr addrspace(1) {pointer}, align {access.bytes_aligned}")
        word, count = _words(access)
        letter = _letter(word)
        register = 16 if word == 8 else word
        modifiers = ".volatile" if access.volatile else ""
        modifiers += ".global"
        policy = None if access.volatile else hints.created(f, access, self.capability)
        if not access.volatile:
            modifiers += hints.modifiers(access, hints.LOAD_CACHE, self.capability)
        vector = f".v{count}" if count > 1 else ""
        hint = "" if policy is None else f", ${count + 1}"
        instruction = f"ld{modifiers}{vector}.b{word} {_registers(0, count)}, [${count}+0]{hint};"
        operands = [f"ptr addrspace(1) {pointer}", *_i64(policy)]
        inputs = count + len(operands)
        constraints = ",".join([f"={letter}"] * count + ["l"] * len(operands))
        if mask is not None:
            rest = ["0"] * count if other is None else _to_words(f, access, other, word, count)
            moves = "".join(
                f"mov.u{register} ${i}, {'0x0' if rest[i] == '0' else f'${inputs + 1 + i}'};\\0A\\09"
                for i in range(count)
            )
            instruction = f"{moves}@${inputs} {instruction}"
            constraints += ",b"
            operands.append(f"i1 {mask}")
            if any(r != "0" for r in rest):
                constraints += f",{letter}" * count
                operands += [f"i{register} {r}" for r in rest]
            # An output that is written before the address is read must not share its register.
            constraints = constraints.replace(f"={letter}", f"=&{letter}")
        return _from_words(f, access, _asm(f, instruction, constraints, operands, register, count), word)

    def store(self, f: FunctionEmitter, pointer: str, value: str, access: Access, mask: str | None) -> None:
        if mask is None and _plain(access):
            f.line(f"store {access.type} {value}, ptr addrspace(1) {pointer}, align {access.bytes_aligned}")
            return
        word, count = _words(access)
        register = 16 if word == 8 else word
        words = _to_words(f, access, value, word, count)
        modifiers = ".global" + hints.modifiers(access, hints.STORE_CACHE, self.capability)
        policy = hints.created(f, access, self.capability)
        vector = f".v{count}" if count > 1 else ""
        hint = "" if policy is None else f", ${count + 1}"
        guard = f"@${count + 1 + bool(hint)} " if mask is not None else ""
        letters = ["l"] + [_letter(word)] * count + ["l"] * bool(hint) + (["b"] if mask is not None else [])
        constraints = ",".join(letters)
        operands = [f"ptr addrspace(1) {pointer}", *(f"i{register} {w}" for w in words), *_i64(policy)]
        if mask is not None:
            operands.append(f"i1 {mask}")
        text = f"{guard}st{modifiers}{vector}.b{word} [$0+0], {_registers(1, count)}{hint};"
        f.line(f'call void asm sideeffect "{text}", "{constraints},~{{memory}}"({", ".join(operands)})')

    def atomic_width(self, kind: int, elem: str) -> int:
        if RMWOp(kind) is RMWOp.FADD:
            return summed_together(self.capability, elem)
        return ordered_together(self.capability, elem) if orders(RMWOp(kind), elem) else 1

    def _swaps(self, operation: RMWOp, access: Access) -> bool:
        """Whether a loop of compare-and-swap makes an atomic: the chip adds no bf16 before 9.0, and orders floats of 16
        bits in vectors alone."""
        if orders(operation, access.elem):
            return access.width == 1
        return operation is RMWOp.FADD and access.elem == "bfloat" and self.capability < 90

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
        """``atom``, guarded by ``mask``; the old value (undefined where the guard is false)."""
        operation, elem = RMWOp(kind), access.elem
        if self._swaps(operation, access):
            return _by_swap(f, operation, pointer, value, elem, sem, scope, mask)
        if operation is RMWOp.FADD or orders(operation, elem):
            suffix = _FLOAT_RMW[operation] + _FLOATS[elem]
        else:
            if bits(elem) < 32:
                raise TypeError(f"atomic {operation.name.lower()} on {bits(elem)} bits")
            suffix = f"{_RMW[operation]}{bits(elem)}"
        word, count = _words(access)
        if access.width == 2 and orders(operation, elem):  # of one pair there is the sum alone
            word, count = 16, 2
        if access.width > 1 and count > 1:
            suffix = f"{suffix[: suffix.rindex('.')]}.v{count}{suffix[suffix.rindex('.') :]}"
        if access.width > 1 and bits(elem) < word:
            suffix += "x2"
        words = _to_words(f, access, value, word, count)
        guard, operands = ("", []) if mask is None else (f"@${2 * count + 1} ", [f"i1 {mask}"])
        order = f"{_SCOPE[MemSyncScope(scope)]}.{_SEM[MemSemantic(sem)]}"
        old, new = _registers(0, count), _registers(count + 1, count)
        text = f"{guard}atom.global.{order}.{suffix} {old}, [${count}+0], {new};"
        letter = _letter(word)
        constraints = ",".join(
            [f"={letter}"] * count + ["l"] + [letter] * count + ["b"] * len(operands) + ["~{memory}"]
        )
        arguments = [f"ptr addrspace(1) {pointer}", *(f"i{word} {w}" for w in words), *operands]
        return _from_words(f, access, _asm(f, text, constraints, arguments, word, count), word)

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
    ) -> str:
        width, (expected, new) = _atomic_words(f, elem, [compare, value])
        letter = _letter(width)
        guard, operands = ("", []) if mask is None else ("@$4 ", [f"i1 {mask}"])
        order = f"{_SEM[MemSemantic(sem)]}.{_SCOPE[MemSyncScope(scope)]}"
        text = f"{guard}atom.global.{order}.cas.b{width} $0, [$1+0], $2, $3;"
        constraints = f"={letter},l,{letter},{letter}" + (",b" if mask is not None else "") + ",~{memory}"
        arguments = ", ".join([f"ptr addrspace(1) {pointer}", f"i{width} {expected}", f"i{width} {new}", *operands])
        old = f.inst(f'call i{width} asm sideeffect "{text}", "{constraints}"({arguments})')
        return old if elem.startswith("i") else f.inst(f"bitcast i{width} {old} to {elem}")

    def atomic_load(self, f: FunctionEmitter, pointer: str, elem: str, sem: int, scope: int, mask: str | None) -> str:
        """``ld`` with an order; 0 where ``mask`` is false."""
        access = Access(elem, 1, bits(elem) // 8)
        word, _ = _words(access)
        register, letter = max(word, 16), _letter(word)
        text = f"ld.{_SEM[MemSemantic(sem)]}.{_SCOPE[MemSyncScope(scope)]}.global.b{word} $0, [$1+0];"
        operands = [f"ptr addrspace(1) {pointer}"]
        if mask is not None:
            text = f"mov.u{register} $0, 0x0;\\0A\\09@$2 {text}"
            operands.append(f"i1 {mask}")
        # Under a mask the output is written before the address is read, so that they must not share a register.
        constraints = f"=&{letter},l{',b' if mask is not None else ''},~{{memory}}"
        return _from_words(f, access, _asm(f, text, constraints, operands, register, 1), word)

    def atomic_store(
        self, f: FunctionEmitter, pointer: str, value: str, elem: str, sem: int, scope: int, mask: str | None
    ) -> None:
        access = Access(elem, 1, bits(elem) // 8)
        word, _ = _words(access)
        (new,) = _to_words(f, access, value, word, 1)
        guard, operands = ("", []) if mask is None else ("@$2 ", [f"i1 {mask}"])
        text = f"{guard}st.{_SEM[MemSemantic(sem)]}.{_SCOPE[MemSyncScope(scope)]}.global.b{word} [$0+0], $1;"
        constraints = f"l,{_letter(word)}{',b' if mask is not None else ''},~{{memory}}"
        arguments = ", ".join([f"ptr addrspace(1) {pointer}", f"i{max(word, 16)} {new}", *operands])
        f.line(f'call void asm sideeffect "{text}", "{constraints}"({arguments})')

    def poll(self, f: FunctionEmitter, pointer: str, elem: str, scope: int) -> str:
        return self.atomic_load(f, pointer, elem, MemSemantic.RELAXED, scope, None)

    def acquire(self, f: FunctionEmitter, scope: int) -> None:
        """An acquire alone is a fence of 9.0 and later (PTX ISA 9.0, "membar / fence")."""
        f.line(f'call void asm sideeffect "fence.acq_rel.{_SCOPE[MemSyncScope(scope)]};", "~{{memory}}"()')
