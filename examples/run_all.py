"""``make demo``: every example on the best device found."""

from __future__ import annotations

import sys

import cumsum
import flash_attention
import histogram
import layer_norm
import matmul
import numpy as np
import softmax
import vector_add
from harness import Device, report

EXAMPLES = (vector_add, softmax, layer_norm, matmul, flash_attention, cumsum, histogram)


def main() -> int:
    device = Device()
    rng = np.random.default_rng()
    wrong = [example.__name__ for example in EXAMPLES if not report(example.case(device, rng), device)]
    if wrong:
        print(f"wrong results: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
