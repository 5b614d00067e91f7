"""Every op of the language on every dtype and every edge value, one answer everywhere.

One table (``table``) lists the ops as expressions of the language; ``operands`` makes the values: for an op of two
operands every pair of edges. ``run`` executes a kernel of all ops of one signature in the interpreter and on a device,
and compares the results bit for bit; functions whose error is documented are compared within it. What hardware
legitimately does otherwise is in ``differences``, with the reason.

    python -m tritonx_testing.differential cuda
"""

from __future__ import annotations

from tritonx_testing.differential.run import Failure, compare_group, reference
from tritonx_testing.differential.table import Group, Operation, groups

__all__ = ["Failure", "Group", "Operation", "compare_group", "groups", "reference"]
