"""A PTX module executed: the threads of a block together, each instruction for all threads that have reached it.

Of the threads that can go on those at the earliest place in the text run, so that they meet again where control flow
does. Where no thread has met a barrier for long, those of a drawn warp run: a loop may wait for another thread."""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tritonx_testing.emulators.ptx import matrix, scalar, warp
from tritonx_testing.emulators.ptx.access import Memory
from tritonx_testing.emulators.ptx.copy_engine import ENGINE, CopyEngine
from tritonx_testing.emulators.ptx.mbarrier import Barriers
from tritonx_testing.emulators.ptx.memory import (
    LOCAL_WINDOW,
    PARAMETER_BITS,
    PARAMETER_WINDOW,
    SHARED_BASE,
    Segment,
    Space,
    random_bytes,
)
from tritonx_testing.emulators.ptx.text import Instruction, Name, Number, Program, Vector
from tritonx_testing.emulators.ptx.threads import LANES, Fault, Threads

Array = Any
PATIENCE = 20_000
"""Steps of a block between two barriers after which it is in a loop that waits."""
MOST = 400_000
"""Steps of a block."""
DEPTH = 8
"""Calls that are under way at most."""

TOGETHER = frozenset(
    {"shfl", "redux", "vote", "elect", "ldmatrix", "stmatrix", "mma", "bar", "barrier", "wgmma", "setmaxnreg"}
)
"""What all lanes of a warp do at once."""

NOTHING = frozenset({"membar", "nanosleep", "prefetch", "applypriority", "discard", "griddepcontrol", "setmaxnreg"})
"""What changes no value here, where all is done in order."""


class Block:
    """One block of a grid: its threads, their places in the text, what they wait for."""

    def __init__(
        self,
        program: Program,
        threads: Threads,
        memory: Memory,
        extra: Mapping[str, Callable[[Block, Instruction], None]],
    ) -> None:
        self.program, self.t, self.memory = program, threads, memory
        n = threads.count
        self.at: Array = np.full(n, program.functions[program.kernel].entry)
        self.over: Array = np.zeros(n, bool)
        self.waits: Array = np.full(n, -1)
        """The barrier that a thread waits at."""
        self.calls: Array = np.zeros((n, DEPTH), np.int64)
        self.depth: Array = np.zeros(n, np.int64)
        self.parked: Array = np.zeros(n, bool)
        """Those who wait for the other lanes of their warp where all must come."""
        self.leaders = program.leaders
        self.extra = extra
        self.since = self.steps = 0
        self.barriers = Barriers(threads)
        self.engine = CopyEngine(threads, memory, self.barriers)

    def run(self) -> None:
        while not self.over.all():
            ready = ~self.over & (self.waits < 0) & ~self.parked & ~self.barriers.asleep
            if not ready.any():
                if self.engine.something_arrives():
                    continue
                raise Fault(f"threads wait for ever: {self.waited_for()}")
            self.since += 1
            self.steps += 1
            if self.steps > MOST:
                raise Fault("a block runs without end")
            if self.since > PATIENCE:
                chosen = self.t.random.choice(np.flatnonzero(ready)) // LANES
                ready = ready & (np.arange(self.t.count) // LANES == chosen)
            place = int(self.at[ready].min())
            self.straight(place, ready & (self.at == place))
        self.engine.finish()

    def waited_for(self) -> str:
        """The places of the threads that have not ended."""
        return ", ".join(
            self.program.instructions[p - (w >= 0)].text
            for p, w in set(zip(self.at[~self.over].tolist(), self.waits[~self.over].tolist(), strict=True))
        )

    def gathered(self, place: int, mask: Array) -> Array:
        """Of the threads at ``place``, where all lanes of a warp must come, those whose warp is there; the
        others wait."""
        here = mask | (self.parked & (self.at == place))
        whole = np.repeat((here | self.over).reshape(-1, LANES).all(1), LANES) & here
        self.at[mask] = place
        self.parked[here] = ~whole[here]
        return whole

    def straight(self, place: int, mask: Array) -> None:
        """What the threads of ``mask`` do from ``place`` to the next jump, barrier or place where others may come."""
        instructions = self.program.instructions
        while True:
            i = instructions[place]
            self.t.function = i.function
            if i.opcode in TOGETHER and not (mask := self.gathered(place, mask)).any():
                return
            own = mask
            if i.guard is not None:
                held = self.t.register(i.guard)
                own = mask & (held if i.guard_value else ~held)
            place += 1
            if i.opcode in CONTROL:
                self.at[mask] = place
                if own.any():
                    self.t.mask = own
                    CONTROL[i.opcode](self, i)
                return
            if own.any():
                self.t.mask = own
                self.execute(i)
            if place in self.leaders:
                self.at[mask] = place
                return

    def execute(self, i: Instruction) -> None:
        if (meaning := scalar.TABLE.get(i.opcode)) is not None:
            if not scalar.understood(i.opcode, i.modifiers):
                raise Fault(i.text)
            meaning(self.t, i)
        elif i.opcode in WARP:
            WARP[i.opcode](self, i)
        elif i.opcode in self.extra:
            self.extra[i.opcode](self, i)
        elif i.opcode not in NOTHING:
            raise Fault(f"an instruction that is not known here: {i.text}")

    # ---- control

    def branch(self, i: Instruction) -> None:
        (target,) = i.operands
        assert isinstance(target, Name)
        self.at[self.t.mask] = self.program.labels[i.function, target.text]

    def end(self, i: Instruction) -> None:
        """ret and exit."""
        done = self.t.mask & ((self.depth == 0) | (i.opcode == "exit"))
        back = np.flatnonzero(self.t.mask & ~done)
        self.over |= done
        if len(back):
            self.depth[back] -= 1
            self.at[back] = self.calls[back, self.depth[back]]
            self.give_back(i, back)
        self.release()

    def give_back(self, i: Instruction, back: Array) -> None:
        """The result of a function, as the caller names it."""
        result = self.program.functions[i.function].result
        if result is None:
            return
        made = self.memory.parameters[i.function, result.name]
        for place in set(self.at[back].tolist()):
            call = self.program.instructions[place - 1]
            assert isinstance(call.operands[0], Vector) and isinstance(call.operands[0].parts[0], Name)
            threads = back[self.at[back] == place]
            into = self.memory.parameters.setdefault(
                (call.function, call.operands[0].parts[0].text), np.zeros_like(made)
            )
            into[threads] = made[threads]

    def call(self, i: Instruction) -> None:
        *results, name, given = i.operands if isinstance(i.operands[-1], Vector) else (*i.operands, Vector(()))
        assert isinstance(name, Name) and isinstance(given, Vector)
        function = self.program.functions.get(name.text)
        if function is None:
            return self.call_outside(i, name.text, results)
        for parameter, value in zip(function.parameters, given.parts, strict=True):
            assert isinstance(value, Name)
            passed = self.memory.parameters[i.function, value.text]
            into = self.memory.parameters.setdefault((function.name, parameter.name), np.zeros_like(passed))
            into[self.t.mask] = passed[self.t.mask]
        if (self.depth[self.t.mask] == DEPTH).any():
            raise Fault(f"too many calls: {i.text}")
        where = np.flatnonzero(self.t.mask)
        self.calls[where, self.depth[where]] = self.at[where]
        self.depth[where] += 1
        self.at[where] = function.entry

    def call_outside(self, i: Instruction, name: str, results: Sequence[Any]) -> None:
        """A function of the driver: a message leads nowhere, an assertion that does not hold ends the kernel."""
        if name != "vprintf":
            raise Fault(i.text)
        for result in results[0].parts:
            self.memory.parameters[i.function, result.text] = np.zeros((self.t.count, 8), np.uint8)

    def barrier(self, i: Instruction) -> None:
        """bar.sync and barrier.sync: of the block or of as many threads as are named."""
        if "warp" in i.modifiers:
            return
        if "cluster" in i.modifiers:
            raise Fault(f"blocks do not wait for each other here: {i.text}")
        number = int(self.t.bits(i.operands[0], 32)[self.t.mask][0])
        count = int(self.t.bits(i.operands[1], 32)[self.t.mask][0]) if len(i.operands) > 1 else None
        if count is not None and count % LANES:
            raise Fault(i.text)
        code = number if count is None else number + 100 * count
        if any(w >= 0 and w % 100 == number and w != code for w in set(self.waits.tolist())):
            raise Fault(f"others wait at the barrier for another number of threads: {i.text}")
        self.waits[self.t.mask] = code
        self.release()

    def release(self) -> None:
        """Those for whom enough wait. Threads that have ended count as arrived where all are meant."""
        for code in set(self.waits[self.waits >= 0].tolist()):
            waiting = self.waits == code
            wanted = code // 100 or self.t.count - int(self.over.sum())
            if waiting.sum() == wanted:
                self.waits[waiting] = -1
                self.since = 0

    def trap(self, i: Instruction) -> None:
        raise Fault("a trap")


CONTROL: dict[str, Callable[[Block, Instruction], None]] = {
    "bra": Block.branch, "ret": Block.end, "exit": Block.end, "call": Block.call, "bar": Block.barrier,
    "barrier": Block.barrier, "trap": Block.trap,
}  # fmt: skip


def _address_of_local(block: Block, i: Instruction) -> None:
    """cvta between generic addresses and those of a space."""
    value = block.t.bits(i.operands[1], 64)
    if "local" in i.modifiers:
        value = value + np.uint64(LOCAL_WINDOW) if "to" not in i.modifiers else value - np.uint64(LOCAL_WINDOW)
    elif not {"global", "param"} & set(i.modifiers):
        raise Fault(i.text)
    block.t.write(i.operands[0], "b64", value)


def _policy(block: Block, i: Instruction) -> None:
    """A cache policy has 64 bits whose meaning PTX does not say."""
    block.t.write(i.operands[0], "b64", np.full(block.t.count, block.t.random.integers(1 << 63), np.uint64))


WARP: dict[str, Callable[[Block, Instruction], None]] = {
    "ld": lambda b, i: b.memory.load(i), "st": lambda b, i: b.memory.store(i),
    "atom": lambda b, i: b.memory.atomic(i), "red": lambda b, i: b.memory.atomic(i),
    "cp": lambda b, i: (b.engine if ENGINE & set(i.modifiers) else b.memory).copy(i),
    "fence": lambda b, i: b.engine.fence(i), "mbarrier": lambda b, i: b.barriers.execute(i),
    "tensormap": lambda b, i: b.engine.tensormap(i), "shfl": lambda b, i: warp.shuffle(b.t, i),
    "redux": lambda b, i: warp.reduce(b.t, i), "vote": lambda b, i: warp.vote(b.t, i),
    "elect": lambda b, i: warp.elect(b.t, i), "createpolicy": lambda b, i: _policy(b, i),
    "ldmatrix": lambda b, i: warp.load_matrices(b.t, i, b.memory.shared),
    "stmatrix": lambda b, i: warp.store_matrices(b.t, i, b.memory.shared),
    "mma": lambda b, i: matrix.product(b.t, i), "cvta": _address_of_local,
}  # fmt: skip


def window(start: int, nbytes: int, name: str) -> Segment:
    """Memory of this process."""
    return Segment(start, np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(start)), name)


def execute(
    program: Program,
    grid: tuple[int, int, int],
    arguments: Sequence[bytes],
    segments: Sequence[Segment],
    shared: int,
    seed: int,
    extra: Mapping[str, Callable[[Block, Instruction], None]] | None = None,
) -> None:
    """Run the kernel of ``program`` over ``grid``. ``arguments`` are the bytes of its parameters, ``segments`` the
    global memory it may reach, ``shared`` the bytes of shared memory that its blocks are given."""
    random = np.random.default_rng(seed)
    kernel = program.functions[program.kernel]
    addresses, constants, own = _variables(program)
    places = {PARAMETER_WINDOW + (n << PARAMETER_BITS): (kernel.name, p.name) for n, p in enumerate(kernel.parameters)}
    addresses |= {name: place for place, (_, name) in places.items()}
    size = max(shared, 1) + sum(v.nbytes for v in program.variables.values() if v.space == "shared")
    everywhere = Space([*segments, *constants])
    for number in range(grid[0] * grid[1] * grid[2]):
        x, y, z = number % grid[0], number // grid[0] % grid[1], number // grid[0] // grid[1]
        threads = Threads(
            program.threads, _special(program.threads, (x, y, z), grid, program.cluster), addresses, random
        )
        space = Space([Segment(SHARED_BASE, random_bytes(random, size), "shared memory")])
        local = random_bytes(random, program.threads * own).reshape(program.threads, own)
        memory = Memory(threads, everywhere, space, local, {}, places)
        for parameter, value in zip(kernel.parameters, arguments, strict=True):
            row = np.frombuffer(value.ljust(parameter.nbytes, b"\0"), np.uint8)
            memory.parameters[kernel.name, parameter.name] = np.broadcast_to(row, (program.threads, len(row))).copy()
        with np.errstate(all="ignore"), contextlib.suppress(StopIteration):
            Block(program, threads, memory, extra or {}).run()


def _variables(program: Program) -> tuple[dict[str, int], list[Segment], int]:
    """Where each variable lies, the module's constants, and the bytes of a thread's own memory."""
    addresses, constants, own, shared = dict[str, int](), list[Segment](), 0, SHARED_BASE
    for name, variable in program.variables.items():
        if variable.space == "local":
            own = -(-own // variable.align) * variable.align
            addresses[name] = own
            own += variable.nbytes
        elif variable.space == "shared":
            addresses[name] = shared = -(-shared // variable.align) * variable.align
            shared += variable.nbytes
        else:
            data = np.zeros(variable.nbytes + variable.align, np.uint8)
            start = -(-data.ctypes.data // variable.align) * variable.align
            held = data[start - data.ctypes.data :][: variable.nbytes]
            held[:] = np.frombuffer(variable.content, np.uint8)
            addresses[name] = start
            constants.append(Segment(start, held, name))
    return addresses, constants, own


def _special(count: int, block: tuple[int, int, int], grid: tuple[int, int, int], cluster: int) -> dict[str, Any]:
    """Clusters lie along x. Their blocks run one after another: what one would wait for of another is a fault."""
    thread = np.arange(count)
    found: dict[str, Any] = {"%tid.x": thread, "%ntid.x": count, "%laneid": thread % LANES, "%warpid": thread // LANES}
    found |= {"%globaltimer": time.perf_counter_ns, "%clock64": time.perf_counter_ns, "%smid": block[0] % 4}
    for axis, at, extent in zip("xyz", block, grid, strict=True):
        found |= {f"%ctaid.{axis}": at, f"%nctaid.{axis}": extent}
        found |= {f"%clusterid.{axis}": at, f"%nclusterid.{axis}": extent}
    found |= {"%clusterid.x": block[0] // cluster, "%nclusterid.x": grid[0] // cluster}
    found |= {"%cluster_ctarank": block[0] % cluster, "%cluster_nctarank": cluster}
    for axis in "yz":
        found |= {f"%tid.{axis}": 0, f"%ntid.{axis}": 1}
    return found


__all__ = ["Block", "Fault", "Number", "execute", "window"]
