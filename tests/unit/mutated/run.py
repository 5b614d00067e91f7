"""In a process that may die: `tritonx-opt -t llir` on mutants. Arguments: seed, target, then numbers of mutants, from
standard input; a line of JSON for each: number, seconds of `tritonx-opt`, exit code, and what was said."""

from __future__ import annotations

import io
import json
import sys
import time

from mutants import mutant

from tritonx.tools import opt


def main() -> None:
    seed, target = int(sys.argv[1]), sys.argv[2]
    out = sys.stdout
    for line in sys.stdin:
        number = int(line)
        said, made = io.StringIO(), io.StringIO()
        source = io.BytesIO(mutant(seed, number).encode())  # the first of a seed compiles the kernels that it draws
        start = time.process_time()
        code = opt.run(["--target", target, "-t", "llir"], stdin=source, stdout=made, stderr=said)
        result = (number, time.process_time() - start, code, said.getvalue())
        out.write(json.dumps(result) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
