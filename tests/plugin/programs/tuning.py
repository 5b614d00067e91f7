"""Run with the plug-in on the path: what the tuner tries, and what the chip's author says of that."""

from __future__ import annotations

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx.runtime.tuning.report import LEFT_OUT, MERGED


@tritonx.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def main() -> None:
    chosen = [(4, 1), (4, 2), (0, 1)]
    configs = [tritonx.Config({"BLOCK": 32, "copies": copies}, num_warps=warps) for copies, warps in chosen]
    tuned = tritonx.autotune(configs, key=["n"], propose=True, warmup=1, rep=2)(double)
    x, y = np.arange(100, dtype=np.int32), np.full(100, 77, np.int32)
    tuned[lambda meta: (tritonx.cdiv(100, meta["BLOCK"]),)](x, y, 100)
    assert (y == 2 * x).all()
    tried = {(c.config.kwargs["copies"], c.config.num_warps): c for c in tuned.report.tried}
    assert tried[4, 2].fate == MERGED and tried[0, 1].fate == LEFT_OUT, tried
    assert "every load is waited for" in tried[0, 1].reason, tried
    measured = sorted({copies for (copies, _), each in tried.items() if each.runs})
    assert measured == [2, 4, 8], tried
    assert tuned.best_config.kwargs["copies"] in measured


if __name__ == "__main__":
    main()
    print("all right")
