"""One suite of kernels that every backend must run right, shipped for the authors of backends.

    python -m tritonx_testing.conformance mychip            # every case on that backend's device
    python -m tritonx_testing.conformance mychip -k reduce  # those whose name contains a text
    python -m tritonx_testing.conformance mychip:v2         # compile every case for that target; no device is needed
    TRITONX_CONFORMANCE=full ...                            # every combination, not the covering set
    python -m tritonx_testing.conformance mychip --random 500  # instead, so many kernels that are drawn

A case is a kernel in the language with random arguments and NumPy's answer. Names are
``family/what-dtype-shape-warps``, families are those of the ops. Integers, bits, rounding to nearest, minima, sums of
whole numbers and everything that only moves data are compared exactly; the tables in ``functions`` and ``dot`` bound
the error of the rest. Outputs are poisoned before the launch and have a guard behind them.

``cases()`` lists the suite, ``find(device)`` gives something to run it on, ``check(case, device, seed)`` runs one.
"""

from tritonx_testing.conformance import isolated
from tritonx_testing.conformance.case import Case, Mismatch, Output, Part, Tolerance, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.device import Device, check, find, names
from tritonx_testing.conformance.suite import FAMILIES, cases

__all__ = [
    "FAMILIES",
    "Case",
    "Cover",
    "Device",
    "Mismatch",
    "Output",
    "Part",
    "Tolerance",
    "Trial",
    "cases",
    "check",
    "find",
    "isolated",
    "names",
]
