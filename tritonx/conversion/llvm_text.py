"""LLVM's spelling of what an op holds as a number, for the emitters of GPUs and of hosts."""

from __future__ import annotations

from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS

ICMP_PREDICATES: tuple[str, ...] = tuple(CMPI_COMPARISON_OPERATIONS)
"""The word after ``icmp`` for each predicate of ``arith.cmpi``: its text has LLVM's words."""

FCMP_PREDICATES: tuple[str, ...] = tuple(CMPF_COMPARISON_OPERATIONS)
"""The word after ``fcmp`` for each predicate of ``arith.cmpf``."""
