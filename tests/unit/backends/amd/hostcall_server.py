"""``python hostcall_server.py (own|ockl)``: 400 calls of the host's service from two threads, through a buffer of three
packets; prints (service, descriptor, lanes, words) of each as JSON. ``ockl`` runs the function of ROCm's library
instead of the emission's, made for this machine in the same way."""

# pyright: basic
from __future__ import annotations

import ctypes
import json
import re
import struct
import sys
import threading
import time

import llvmlite.binding as llvm

from tritonx.backends.amd import device_library
from tritonx.backends.amd.emit import hostcall
from tritonx.conversion.llvm_writer import Module

PACKETS, CALLS = 3, 400

STUBS = """
define i32 @host.mbcnt.lo(i32 %a, i32 %b) { ret i32 0 }
define i32 @host.mbcnt.hi(i32 %a, i32 %b) { ret i32 0 }
define i32 @host.readfirstlane.i32(i32 %a) { ret i32 %a }
define i64 @host.ballot.i64(i1 %a) { ret i64 1 }
define void @host.s.sleep(i32 %a) { ret void }
define void @host.s.sendmsg(i32 %a, i32 %b) { ret void }
@implicit = global [256 x i8] zeroinitializer, align 16
define ptr @host.implicitarg.ptr() { ret ptr @implicit }
"""


def own() -> tuple[str, str]:
    module = Module()
    symbol = hostcall.define(module)
    return module.print([]), symbol


def of_library() -> tuple[str, str]:
    text = str(llvm.parse_bitcode(device_library.path("ockl.bc").read_bytes()))
    kept = []
    for name in ("__ockl_hostcall_internal", "__ockl_hsa_signal_add"):
        found = re.search(rf"^define [^\n]*@{name}\(.*?^}}", text, re.M | re.S)
        assert found is not None
        kept.append(re.sub(r"#\d+|, ![a-z.]+ ![0-9]+|linkonce_odr hidden|local_unnamed_addr", "", found[0]))
    used = "\n".join(kept).replace("__ockl_lane_u32()", "host.mbcnt.lo(i32 0, i32 0)")
    used = re.sub(r'asm sideeffect "", "=v,0"\((i32 %\w+)\)', r"@host.readfirstlane.i32(\1)", used)
    types = "\n".join(line for line in text.splitlines() if re.match(r"%\S+ = type", line))
    arguments = ", ".join(f"i64 %a{k}" for k in range(8))
    made = f"""define i64 @run({arguments}) {{
  %p = load ptr, ptr getelementptr (i8, ptr @implicit, i64 80)
  %r = call <2 x i64> @__ockl_hostcall_internal(ptr %p, i32 2, {arguments})
  %x = extractelement <2 x i64> %r, i64 0
  ret i64 %x
}}"""
    return "\n".join((types, used, made)), "@run"


def for_host(text: str) -> str:
    text = "\n".join(line for line in text.splitlines() if not re.match(r"declare .*@llvm\.amdgcn", line))
    text = re.sub(
        r"addrspacecast ptr (?:addrspace\(1\) )?(%\w+) to ptr(?: addrspace\(1\))?", r"bitcast ptr \1 to ptr", text
    )
    text = re.sub(r" addrspace\(\d\)", "", text).replace("@llvm.amdgcn.", "@host.").replace('syncscope("one-as") ', "")
    return text.replace("define internal", "define")


def main() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_all_targets()
    text, symbol = own() if sys.argv[1] == "own" else of_library()
    module = llvm.parse_assembly(STUBS + for_host(text))
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 8)(engine.get_function_address(symbol[1:]))

    mask = 3  # of the lowest power of two above the number of packets
    headers, payloads = ctypes.create_string_buffer(24 * 4), ctypes.create_string_buffer(4096 * 4)
    signal, buffer = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
    struct.pack_into("<QQQQQQ", buffer, 0, *map(ctypes.addressof, (headers, payloads, signal)), mask + 1, 0, mask)
    for k in range(PACKETS):  # the free ones, each with a counter above its index so that 0 ends a stack
        struct.pack_into("<Q", headers, 24 * k, mask + 1 + k + 1 if k + 1 < PACKETS else 0)
    implicit = engine.get_global_value_address("implicit")
    ctypes.c_uint64.from_address(implicit + 80).value = ctypes.addressof(buffer)

    seen: list[list[int]] = []
    stop = threading.Event()
    ready = ctypes.c_uint64.from_buffer(buffer, 32)
    exchange = _exchanger()

    def serve() -> None:
        while not stop.is_set():
            packet = exchange(ctypes.addressof(ready), 0)
            if not packet:
                time.sleep(0.0002)
            while packet:
                at = packet & mask
                following, lanes, service, control = struct.unpack_from("<QQII", headers, 24 * at)
                assert control & 1
                words = struct.unpack_from("<8q", payloads, 4096 * at)
                seen.append([service, words[0], lanes, *words[1:]])
                struct.pack_into("<q", payloads, 4096 * at, words[0] * 3)
                struct.pack_into("<I", headers, 24 * at + 20, control & ~1)
                packet = following

    wrong: list[int] = []

    def work(first: int) -> None:
        for number in range(first, CALLS, 2):
            answer = call(number, *(number * 10 + k for k in range(7)))
            if answer != number * 3:
                wrong.append(number)

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    workers = [threading.Thread(target=work, args=(first,)) for first in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    stop.set()
    server.join()
    assert not wrong, wrong
    assert ctypes.c_uint64.from_buffer(signal, 8).value == CALLS, "each packet rings the doorbell"
    print(json.dumps(seen))


def _exchanger():
    """An atomic exchange of 64 bits in memory."""
    module = llvm.parse_assembly(
        "define i64 @exchange(ptr %p, i64 %v) { %r = atomicrmw xchg ptr %p, i64 %v seq_cst\n ret i64 %r }"
    )
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64)(
        engine.get_function_address("exchange")
    )
    return lambda address, value, keep=engine: function(address, value)


main()
