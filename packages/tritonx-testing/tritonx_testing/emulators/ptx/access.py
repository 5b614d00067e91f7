"""ld, st, atom, red and cp.async of a block (PTX ISA 9.0, section 9.7.9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tritonx_testing.emulators.ptx.memory import LOCAL_WINDOW, PARAMETER_BITS, Space
from tritonx_testing.emulators.ptx.numbers import narrowed
from tritonx_testing.emulators.ptx.text import Address, Instruction, Name, Operand, Vector
from tritonx_testing.emulators.ptx.threads import TYPES, Fault, Threads

Array = Any
SPACES = ("global", "shared", "local", "param", "const")


@dataclass
class Memory:
    """What the threads of a block reach. ``local`` has a row of bytes for each; ``parameters`` the arguments and
    results of functions, by function and name, a row for each thread, and ``places`` says where those of the kernel lie
    for who names them by address. Copies by cp.async happen when they are waited for."""

    t: Threads
    everywhere: Space
    shared: Space
    local: Array
    parameters: dict[tuple[str, str], Array]
    places: dict[int, tuple[str, str]]
    issued: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    groups: list[list[Callable[[], None]]] = field(default_factory=list[list[Callable[[], None]]])

    # ---- places

    def space_of(self, i: Instruction) -> str:
        return next((m.partition("::")[0] for m in i.modifiers if m.partition("::")[0] in SPACES), "generic")

    def load_bytes(self, i: Instruction, address: Address, nbytes: int, mask: Array) -> Array:
        """A row of bytes for each thread of ``mask``."""
        space = self.space_of(i)
        if space == "param":
            if not isinstance(address.base, Name):
                return np.stack([self.argument(int(a), nbytes, i)[n] for n, a in self.t.placed(address)])
            return self.parameter(i, address)[mask, address.offset : address.offset + nbytes]
        places = self.t.address(address)[mask]
        if space == "shared":
            return self.shared.load(places, nbytes, i.text)
        if space == "local":
            return self.own(places, nbytes, mask, i.text)
        own = (places >= LOCAL_WINDOW) if space == "generic" else np.zeros(len(places), bool)
        out = np.empty((len(places), nbytes), np.uint8)
        if own.any():
            out[own] = self.own(places[own] - LOCAL_WINDOW, nbytes, _part(mask, own), i.text)
        out[~own] = self.everywhere.load(places[~own], nbytes, i.text)
        return out

    def store_bytes(self, i: Instruction, address: Address, content: Array, mask: Array) -> None:
        space = self.space_of(i)
        nbytes = content.shape[1]
        if space == "param":
            self.parameter(i, address, address.offset + nbytes)[mask, address.offset : address.offset + nbytes] = (
                content
            )
            return
        places = self.t.address(address)[mask]
        if space == "shared":
            return self.shared.store(places, content, i.text)
        own = np.full(len(places), space == "local")
        if space == "generic":
            own = places >= LOCAL_WINDOW
        if own.any():
            offset = places[own] - (LOCAL_WINDOW if space == "generic" else 0)
            rows = np.flatnonzero(_part(mask, own))
            self.within(offset, nbytes, i.text)
            self.local[rows[:, None], offset[:, None] + np.arange(nbytes)] = content[own]
        self.everywhere.store(places[~own], content[~own], i.text)

    def own(self, offset: Array, nbytes: int, mask: Array, text: str) -> Array:
        self.within(offset, nbytes, text)
        return self.local[np.flatnonzero(mask)[:, None], offset[:, None] + np.arange(nbytes)]

    def within(self, offset: Array, nbytes: int, text: str) -> None:
        if (offset < 0).any() or (offset + nbytes > self.local.shape[1]).any() or (offset % nbytes).any():
            raise Fault(f"{text}: beside a thread's own memory")

    def argument(self, address: int, nbytes: int, i: Instruction) -> Array:
        """So many bytes of the kernel's parameter that lies there, a row for each thread."""
        place = address >> PARAMETER_BITS << PARAMETER_BITS
        if place not in self.places:
            raise Fault(f"{i.text}: no parameter at {address:#x}")
        return self.parameters[self.places[place]][:, address - place : address - place + nbytes]

    def parameter(self, i: Instruction, address: Address, needed: int = 0) -> Array:
        assert isinstance(address.base, Name)
        key = i.function, address.base.text
        found = self.parameters.get(key)
        if found is None or found.shape[1] < needed:
            wider = np.zeros((self.t.count, max(needed, 64)), np.uint8)
            if found is not None:
                wider[:, : found.shape[1]] = found
            found = self.parameters[key] = wider
        return found

    # ---- instructions

    def hinted(self, i: Instruction) -> tuple[Operand, Operand]:
        """The two operands of an access, behind which a cache policy stands where the instruction says so."""
        first, second, *policy = i.operands
        if len(policy) != ("L2::cache_hint" in i.modifiers):
            raise Fault(f"{i.text}: a cache policy stands with .L2::cache_hint")
        for each in policy:
            self.t.bits(each, 64)
        return first, second

    def load(self, i: Instruction) -> None:
        target, address = self.hinted(i)
        assert isinstance(address, Address)
        parts = target.parts if isinstance(target, Vector) else (target,)
        dtype, width = TYPES[i.type]
        rows = self.load_bytes(i, address, width // 8 * len(parts), self.t.mask)
        values = np.ascontiguousarray(rows).view(dtype).reshape(len(rows), len(parts))
        for number, part in enumerate(parts):
            whole = np.zeros(self.t.count, dtype)
            whole[self.t.mask] = values[:, number]
            self.t.write(part, i.type, whole)

    def store(self, i: Instruction) -> None:
        address, source = self.hinted(i)
        assert isinstance(address, Address)
        parts = source.parts if isinstance(source, Vector) else (source,)
        width = TYPES[i.type][1]
        columns = [self.t.bits(p, width)[self.t.mask] for p in parts]
        content = np.ascontiguousarray(np.stack(columns, 1)).view(np.uint8).reshape(len(columns[0]), -1)
        self.store_bytes(i, address, content, self.t.mask)

    def atomic(self, i: Instruction) -> None:
        """Threads come one after the other, in any order. What is said of order and scope is said truly by that. Each
        element of a vector or a pair is atomic by itself."""
        returns = i.opcode == "atom"
        address = i.operands[1 if returns else 0]
        assert isinstance(address, Address)
        operation = next(m for m in i.modifiers if m in OPERATIONS)
        dtype, width = TYPES[i.type.removesuffix("x2")]
        given = [self.elements(o, i.type) for o in i.operands[2 if returns else 1 :]]
        count = given[0].shape[1]
        old = np.zeros((self.t.count, count), dtype)
        for thread in self.t.random.permutation(np.flatnonzero(self.t.mask)):
            alone = np.zeros(self.t.count, bool)
            alone[thread] = True
            before = self.load_bytes(i, address, width // 8 * count, alone).view(dtype).reshape(-1)
            after = [OPERATIONS[operation](x, *(g[thread, n] for g in given)) for n, x in enumerate(before)]
            self.store_bytes(i, address, np.asarray(after, dtype).view(np.uint8).reshape(1, -1), alone)
            old[thread] = before
        if returns:
            target = i.operands[0]
            parts = target.parts if isinstance(target, Vector) else (target,)
            for number, part in enumerate(parts):
                if i.type.endswith("x2"):
                    pair = np.ascontiguousarray(old[:, 2 * number : 2 * number + 2]).view(np.uint32)[:, 0]
                    self.t.write(part, "b32", pair)
                else:
                    self.t.write(part, i.type, old[:, number])

    def elements(self, operand: Any, kind: str) -> Array:
        """threads × elements of a register or of a vector of them, each with one element or with a pair."""
        parts = operand.parts if isinstance(operand, Vector) else (operand,)
        if kind.endswith("x2"):
            dtype = TYPES[kind.removesuffix("x2")][0]
            words = np.stack([self.t.bits(p, 32) for p in parts], 1)
            return np.ascontiguousarray(words.astype(np.uint32)).view(dtype)
        return np.stack([self.t.read(p, kind) for p in parts], 1)

    # ---- cp.async

    def copy(self, i: Instruction) -> None:
        """cp.async: ``commit_group``, ``wait_group``, ``wait_all``, or a copy of 4, 8 or 16 bytes, which are not read
        and zero where the last operand, a predicate, is true."""
        if "commit_group" in i.modifiers:
            self.groups.append(self.issued)
            self.issued = []
        elif "wait_group" in i.modifiers or "wait_all" in i.modifiers:
            if "wait_all" in i.modifiers:
                self.groups.append(self.issued)
                self.issued = []
            left = int(self.t.bits(i.operands[0], 32)[0]) if "wait_group" in i.modifiers else 0
            while len(self.groups) > left:
                for effect in self.groups.pop(0):
                    effect()
        else:
            self.issued.append(self._copy(i))

    def _copy(self, i: Instruction) -> Callable[[], None]:
        nbytes = int(self.t.bits(i.operands[2], 32)[0])
        if nbytes not in ((16,) if "cg" in i.modifiers else (4, 8, 16)):
            raise Fault(i.text)
        mask = self.t.mask.copy()
        target, source = (self.t.address(o) for o in i.operands[:2])
        reads = mask & ~self.t.predicate(i.operands[3]) if len(i.operands) > 3 else mask

        def effect() -> None:
            content = np.zeros((self.t.count, nbytes), np.uint8)
            content[reads] = self.everywhere.load(source[reads], nbytes, i.text)
            self.shared.store(target[mask], content[mask], i.text)

        return effect


def _part(mask: Array, chosen: Array) -> Array:
    out = np.zeros_like(mask)
    out[np.flatnonzero(mask)[chosen]] = True
    return out


def _sum(a: Any, b: Any) -> Any:
    if a.dtype.kind in "iu":
        return a + b
    return narrowed(np.asarray([a], np.float64) + np.asarray([b], np.float64), a.dtype)[0]


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": _sum, "min": min, "max": max, "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    "exch": lambda a, b: b, "cas": lambda a, b, c: c if a == b else a,
}  # fmt: skip
