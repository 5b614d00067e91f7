"""What the Triton wheel makes of `kernels_hopper.py`, without a device: a script, in its own process.

python hopper_oracle.py DIRECTORY NAME...     writes NAME.ttgir and NAME.ptx for each, and NAME.json, which says what it
                                              was compiled with; prints those it fails on
"""

import json
import sys
from pathlib import Path

import kernels_hopper
import triton
from text_oracle import source_of, target_of


def main(directory: Path, names: list[str]) -> None:
    cases = {case.name: case for case in kernels_hopper.CASES}
    for name in names:
        case = cases[name]
        target = target_of("cuda:90")
        try:
            made = triton.compile(source_of(case), target=target, options=case.options)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[-200:]}")
            continue
        for stage in ("ttgir", "ptx"):
            (directory / f"{name}.{stage}").write_text(made.asm[stage])
        given = {"kernel": case.fn.__name__, "signature": case.signature, "constants": case.constants}
        (directory / f"{name}.json").write_text(json.dumps(given, default=str))


if __name__ == "__main__":
    if sys.argv[1] == "names":
        print("\n".join(case.name for case in kernels_hopper.CASES))
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
