"""LLVM's spelling of what an op holds as a number, for the emitters of GPUs and of hosts."""

from __future__ import annotations

from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS

from tritonx.dialects.tile.enums import MemSemantic, RMWOp

ICMP_PREDICATES: tuple[str, ...] = tuple(CMPI_COMPARISON_OPERATIONS)
"""The word after ``icmp`` for each predicate of ``arith.cmpi``: its text has LLVM's words."""

FCMP_PREDICATES: tuple[str, ...] = tuple(CMPF_COMPARISON_OPERATIONS)
"""The word after ``fcmp`` for each predicate of ``arith.cmpf``."""

RMW_OPERATIONS: dict[int, str] = {operation: operation.name.lower() for operation in RMWOp}
"""The word after ``atomicrmw`` for each operation of ``tt.atomic_rmw``: the enum has LLVM's names."""

MEMORY_ORDERS: dict[int, str] = {
    MemSemantic.RELAXED: "monotonic",
    MemSemantic.ACQUIRE: "acquire",
    MemSemantic.RELEASE: "release",
    MemSemantic.ACQUIRE_RELEASE: "acq_rel",
}

FAILURE_ORDERS = {"monotonic": "monotonic", "acquire": "acquire", "release": "monotonic", "acq_rel": "acquire"}
"""The order of a ``cmpxchg`` that did not store, which may not release, from that of one that did."""
