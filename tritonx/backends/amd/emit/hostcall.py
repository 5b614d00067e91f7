"""Calls of services in the host process, by the buffer that HIP's runtime gives a kernel which reads its address.

The buffer is a pool of packets, each a header and 64 payloads of eight words, one a lane. A wave takes a packet from
the stack of free ones, its lanes write their payloads, and one lane writes the header, puts the packet on the stack of
ready ones and signals the host. A thread of the runtime serves it, writes answers into the payloads and clears a bit of
the header, for which the wave waits; then the packet is free again. Stacks are linked lists: a word holds a packet's
index in its low bits and a counter above them, so that a head that was taken and put back in the meantime is told
apart.

The layout is an interface of HIP's runtime and ROCm's device libraries, the same since ROCm 3.5; of the fields that
newer versions add none is used."""

from __future__ import annotations

from collections.abc import Callable

from tritonx.conversion.llvm_writer import Module, Writer

SYMBOL = "@tx.hostcall"
WORDS = 7
"""What a message carries beside its descriptor."""
PRINTF = 2
"""The number of the service that formats messages."""

_BUFFER_ARGUMENT = 80
"""The offset of the buffer's address in the implicit arguments of code object version 5 and later."""
_HEADERS, _PAYLOADS, _DOORBELL, _FREE, _READY, _INDEX_MASK = 0, 8, 16, 24, 32, 40
_NEXT, _ACTIVE_LANES, _SERVICE, _CONTROL, _HEADER_SIZE = 0, 8, 16, 20, 24
_PAYLOAD_SIZE, _LANE_SIZE = 4096, 64
_SIGNAL_VALUE, _SIGNAL_MAILBOX, _SIGNAL_EVENT = 8, 16, 24
_INTERRUPT = 1
"""The message of ``s_sendmsg`` that raises the host's interrupt."""


def define(module: Module) -> str:
    """Put the function ``i64 (i64 descriptor, i64 × 7)`` into the module, once; returns its symbol. It gives the first
    word of the answer, and has to be called by the lanes that send the message, together."""
    if SYMBOL in module.definitions:
        return SYMBOL
    w = Writer(module)
    _write(w)
    parameters = ", ".join(f"i64 %a{k}" for k in range(WORDS + 1))
    head = f"define internal i64 {SYMBOL}({parameters}) noinline convergent nounwind {{"
    return module.define(SYMBOL, "\n".join([head, "entry:", *w.lines, "}"]))


def _write(w: Writer) -> None:
    implicit = w.call("ptr addrspace(4)", "@llvm.amdgcn.implicitarg.ptr")
    buffer = w.inst(f"load ptr addrspace(1), ptr addrspace(4) {_at(w, implicit, _BUFFER_ARGUMENT, space=4)}")
    headers = w.inst(f"load ptr addrspace(1), ptr addrspace(1) {_at(w, buffer, _HEADERS)}")
    payloads = w.inst(f"load ptr addrspace(1), ptr addrspace(1) {_at(w, buffer, _PAYLOADS)}")
    mask = w.inst(f"load i64, ptr addrspace(1) {_at(w, buffer, _INDEX_MASK)}")
    lane = _lane(w)
    active = w.call("i64", "@llvm.amdgcn.ballot.i64", ("i1", "true"))
    leader = w.inst(f"icmp eq i32 {lane}, {_first_lane(w, lane)}")
    packet = _uniform(w, _by_leader(w, leader, "take", lambda: _take(w, _at(w, buffer, _FREE), headers, mask)))
    index = w.inst(f"and i64 {packet}, {mask}")
    header = _element(w, headers, index, _HEADER_SIZE)
    mine = _element(w, _element(w, payloads, index, _PAYLOAD_SIZE), w.inst(f"zext i32 {lane} to i64"), _LANE_SIZE)
    for k in range(WORDS + 1):
        w.line(f"store i64 %a{k}, ptr addrspace(1) {_at(w, mine, 8 * k)}")

    def send() -> str:
        w.line(f"store i64 {active}, ptr addrspace(1) {_at(w, header, _ACTIVE_LANES)}")
        w.line(f"store i32 {PRINTF}, ptr addrspace(1) {_at(w, header, _SERVICE)}")
        w.line(f"store i32 1, ptr addrspace(1) {_at(w, header, _CONTROL)}")
        _put(w, _at(w, buffer, _READY), header, packet)
        _signal(w, w.inst(f"load ptr addrspace(1), ptr addrspace(1) {_at(w, buffer, _DOORBELL)}"))
        return "0"

    def release() -> str:
        count = w.inst(f"add i64 {mask}, 1")
        again = w.inst(f"add i64 {packet}, {count}")
        empty = w.inst(f"icmp eq i64 {again}, 0")
        _put(w, _at(w, buffer, _FREE), header, w.inst(f"select i1 {empty}, i64 {count}, i64 {again}"))
        return "0"

    _by_leader(w, leader, "send", send)
    _wait(w, _at(w, header, _CONTROL))
    answer = w.inst(f"load i64, ptr addrspace(1) {mine}")
    _by_leader(w, leader, "release", release)
    w.line(f"ret i64 {answer}")


def _at(w: Writer, pointer: str, offset: int, space: int = 1) -> str:
    return w.inst(f"getelementptr i8, ptr addrspace({space}) {pointer}, i64 {offset}") if offset else pointer


def _element(w: Writer, pointer: str, index: str, size: int) -> str:
    return w.inst(f"getelementptr i8, ptr addrspace(1) {pointer}, i64 {w.inst(f'mul i64 {index}, {size}')}")


def _lane(w: Writer) -> str:
    below = w.call("i32", "@llvm.amdgcn.mbcnt.lo", ("i32", "-1"), ("i32", "0"))
    return w.call("i32", "@llvm.amdgcn.mbcnt.hi", ("i32", "-1"), ("i32", below))


def _first_lane(w: Writer, value: str) -> str:
    return w.call("i32", "@llvm.amdgcn.readfirstlane.i32", ("i32", value))


def _uniform(w: Writer, word: str) -> str:
    """64 bits of the first active lane."""
    low = _first_lane(w, w.inst(f"trunc i64 {word} to i32"))
    high = _first_lane(w, w.inst(f"trunc i64 {w.inst(f'lshr i64 {word}, 32')} to i32"))
    shifted = w.inst(f"shl i64 {w.inst(f'zext i32 {high} to i64')}, 32")
    return w.inst(f"or i64 {shifted}, {w.inst(f'zext i32 {low} to i64')}")


def _by_leader(w: Writer, leader: str, stem: str, body: Callable[[], str]) -> str:
    """What ``body`` gives in the leading lane, 0 in the others."""
    inside, after, before = w.new_label(stem), w.new_label("after"), w.block
    w.branch_if(leader, inside, after)
    w.label(inside)
    value = body()
    last = w.block
    w.enter(after)
    return w.inst(f"phi i64 [ 0, %{before} ], [ {value}, %{last} ]")


def _take(w: Writer, stack: str, headers: str, mask: str) -> str:
    """The head of a stack, as soon as there is one that is free."""
    first = w.inst(f"load atomic i64, ptr addrspace(1) {stack} acquire, align 8")
    before, loop, done = w.block, w.new_label("pop"), w.new_label("popped")
    head, seen = w.name(), w.name()
    w.branch(loop)
    w.label(loop)
    w.lines.append(f"  {head} = phi i64 [ {first}, %{before} ], [ {seen}, %{loop} ]")
    top = _element(w, headers, w.inst(f"and i64 {head}, {mask}"), _HEADER_SIZE)
    following = w.inst(f"load atomic i64, ptr addrspace(1) {_at(w, top, _NEXT)} monotonic, align 8")
    found = w.inst(f"cmpxchg ptr addrspace(1) {stack}, i64 {head}, i64 {following} acquire monotonic, align 8")
    w.lines.append(f"  {seen} = extractvalue {{ i64, i1 }} {found}, 0")
    w.line("call void @llvm.amdgcn.s.sleep(i32 1)")
    w.branch_if(w.inst(f"extractvalue {{ i64, i1 }} {found}, 1"), done, loop)
    w.label(done)
    w.module.declare("void", "@llvm.amdgcn.s.sleep", ["i32 immarg"])
    return head


def _put(w: Writer, stack: str, header: str, packet: str) -> None:
    """Make a packet the head of a stack."""
    first = w.inst(f"load atomic i64, ptr addrspace(1) {stack} monotonic, align 8")
    before, loop, done = w.block, w.new_label("push"), w.new_label("pushed")
    head, seen = w.name(), w.name()
    w.branch(loop)
    w.label(loop)
    w.lines.append(f"  {head} = phi i64 [ {first}, %{before} ], [ {seen}, %{loop} ]")
    w.line(f"store i64 {head}, ptr addrspace(1) {_at(w, header, _NEXT)}")
    found = w.inst(f"cmpxchg ptr addrspace(1) {stack}, i64 {head}, i64 {packet} release monotonic, align 8")
    w.lines.append(f"  {seen} = extractvalue {{ i64, i1 }} {found}, 0")
    w.branch_if(w.inst(f"extractvalue {{ i64, i1 }} {found}, 1"), done, loop)
    w.label(done)


def _signal(w: Writer, doorbell: str) -> None:
    """Add one to an HSA signal, and interrupt the host if it waits for that."""
    w.inst(f"atomicrmw add ptr addrspace(1) {_at(w, doorbell, _SIGNAL_VALUE)}, i64 1 release, align 8")
    mailbox = w.inst(f"load i64, ptr addrspace(1) {_at(w, doorbell, _SIGNAL_MAILBOX)}")
    loud, done = w.new_label("interrupt"), w.new_label("signalled")
    w.branch_if(w.inst(f"icmp ne i64 {mailbox}, 0"), loud, done)
    w.label(loud)
    event = w.inst(f"load i32, ptr addrspace(1) {_at(w, doorbell, _SIGNAL_EVENT)}")
    address = w.inst(f"inttoptr i64 {mailbox} to ptr addrspace(1)")
    number = w.inst(f"zext i32 {event} to i64")
    w.line(f"store atomic i64 {number}, ptr addrspace(1) {address} release, align 8")
    w.module.declare("void", "@llvm.amdgcn.s.sendmsg", ["i32 immarg", "i32"])
    low = w.inst(f"and i32 {_first_lane(w, event)}, 255")
    w.line(f"call void @llvm.amdgcn.s.sendmsg(i32 {_INTERRUPT}, i32 {low})")
    w.enter(done)


def _wait(w: Writer, control: str) -> None:
    """Until the host has cleared the first bit."""
    loop, done = w.new_label("wait"), w.new_label("served")
    w.enter(loop)
    seen = _first_lane(w, w.inst(f"load atomic i32, ptr addrspace(1) {control} acquire, align 4"))
    w.module.declare("void", "@llvm.amdgcn.s.sleep", ["i32 immarg"])
    w.line("call void @llvm.amdgcn.s.sleep(i32 1)")
    w.branch_if(w.inst(f"icmp eq i32 {w.inst(f'and i32 {seen}, 1')}, 0"), done, loop)
    w.label(done)
