"""A process that makes the LLVM text of jobs, for `same_text.py`.

    python -m tritonx.compat -m structural.texts < jobs

For each line of JSON of standard input (`job.py`) one of standard output: ``text`` and ``metadata``, or what was in the
way. Stages behind the LLVM text do not run, and nothing is read from or written to the cache."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .job import Job
from .worker import Sources, options_of, reason, serve, source_of, target_of

LAST = "llir"
"""The stage that gives the LLVM text, in every backend that has one."""


def texts(job: Job, sources: Sources, root: str) -> dict[str, str]:
    """``root``, the compiler's package, is left out of the texts: they may name files of the library."""
    from tritonx.backends.api import Compilation, run_stages
    from tritonx.backends.registry import parse_target

    backend, _ = parse_target(job.target)
    target = target_of(job.target)
    options = options_of(job)
    module = source_of(job, sources).make_module(target, options)
    compilation = Compilation(target, options)
    stages = list(backend.stages(target, options))
    names = [stage.name for stage in stages]
    asm = run_stages(module, tuple(stages[: names.index(LAST) + 1]), compilation)
    return {"text": str(asm[LAST]).replace(root, ""), "metadata": shown(compilation.metadata).replace(root, "")}


def shown(metadata: Mapping[str, Any]) -> str:
    return "\n".join(f"{name} = {value!r}" for name, value in sorted(metadata.items()))


def answer(job: Job, sources: Sources, root: str) -> dict[str, str]:
    try:
        return texts(job, sources, root)
    except (Exception, SystemExit) as error:
        return {"error": reason(error).replace(root, "")}


def main() -> None:
    import tritonx

    root = str(Path(tritonx.__file__).parent)
    serve(lambda job, sources: answer(job, sources, root))


if __name__ == "__main__":
    main()
