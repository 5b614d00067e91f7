"""Goes through variants of all kernels, or of some: compiles them by tritonx and by Triton for a target without a GPU,
and lists where tritonx is worse than Triton, or than at its own best variant, without a reason.

    PYTHONPATH=. python -m tests.styles [CASE ...] [--seed N] [--count N] [--target cuda:90] [--peer FOLDER]
                                        [--cache FOLDER] [--json FILE] [--runs]

The peer is the installed Triton, or the one in ``--peer``, which ``pip install --target FOLDER triton`` made. A line of
JSON is written for each variant; what the file has already is not compiled again, so that a run may be stopped and go
on. ``--runs`` compares results in the interpreter with the original's instead, for which nothing else is needed. The
exit status is 1 if something is worse without a reason, or differs.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from tests.styles.cases import CASES
from tests.styles.comparing import compare
from tests.styles.program import Case
from tests.styles.running import difference
from tests.styles.variants import COUNT, variants_of


def run(cases: list[Case], given: argparse.Namespace) -> int:
    """Results in the interpreter."""
    total, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            for variant in variants_of(case, given.seed, given.count):
                total += 1
                rng = np.random.default_rng([given.seed, total])
                if said := difference(case, variant.program, rng, Path(folder)):
                    wrong += 1
                    print(f"{variant.title}: {said}", flush=True)
    print(f"{total} variants of {len(cases)} kernels run, {wrong} differ")
    return bool(wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--target", default="cuda:90")
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "tritonx-styles")
    parser.add_argument("--dump", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--runs", action="store_true")
    given = parser.parse_args()
    cases = [case for case in CASES if not given.cases or case.title in given.cases]
    return run(cases, given) if given.runs else compare(cases, given)


if __name__ == "__main__":
    raise SystemExit(main())
