"""Runs the cases of the refusal table through the front end of one package, Triton's wheel or tritonx.

    python refusal_runner.py triton FILE [case ...]     writes a line [case, outcome] to FILE for each case

For Triton an outcome names the sites (`refusal_sites`) that the exception and those behind it were raised at. No GPU is
asked for: a driver that only names a target stands in for one."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from refusal_case import Case
from refusal_cases import CASES  # beside this file
from refusal_sites import Site, site_of, sites  # beside this file


@dataclass(frozen=True)
class Outcome:
    """``error`` is "" where the package takes the case, else the class of the exception; ``sites`` are where it, and
    the exceptions that led to it, were raised."""

    error: str
    text: str = ""
    sites: Sequence[str] = ()
    bases: Sequence[str] = ()


ENDED = Outcome("the end of the process")
"""An assertion of C++, which a wheel has in places where others raise."""


class FakeDriver:
    """A device that is not there: what compiling asks of one."""

    def __init__(self, target: object):
        self.target = target

    def get_current_target(self) -> object:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


def outcomes(package: str, names: Iterable[str]) -> Iterator[tuple[str, Outcome]]:
    """What a package makes of the cases named, one after the other."""
    root = Path(importlib.import_module(package).__file__ or "").parent
    found = sites(root) if package == "triton" else []
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            yield name, _outcome(package, name, CASES[name], Path(folder), root, found)


def outcomes_apart(package: str, names: Sequence[str], folder: Path | None = None) -> dict[str, Outcome]:
    """The same in a process of its own, with the package found in ``folder``. A case that ends the process has the
    outcome `ENDED`, and the others are run in a new one."""
    path = [str(folder)] if folder else []
    path += [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    known: dict[str, Outcome] = {}
    with TemporaryDirectory() as work:
        settings = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "TRITON_CACHE_DIR": f"{work}/cache"}
        while len(known) < len(names):
            left = names[len(known) :]
            told = Path(work, f"told_{len(known)}")
            command = [sys.executable, __file__, package, str(told), *left]
            ended = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
            lines = told.read_text().splitlines() if told.exists() else []
            known |= {name: Outcome(**fields) for name, fields in map(json.loads, lines)}
            if len(known) < len(names):
                assert lines or ended.returncode < 0, ended.stderr[-2000:]
                known[names[len(known)]] = ENDED
    return known


def _outcome(package: str, name: str, case: Case, folder: Path, root: Path, found: list[Site]) -> Outcome:
    try:
        _run(package, name, case, folder)
    except Exception as error:
        raised = [s for e in _chain(error) for s in _sites_of(e, root, found)]
        bases = tuple(c.__name__ for c in type(error).__mro__)
        return Outcome(type(error).__name__, str(error), tuple(dict.fromkeys(raised)), bases)
    return Outcome("")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _sites_of(error: BaseException, root: Path, found: list[Site]) -> list[str]:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return []
    file = Path(trace.tb_frame.f_code.co_filename)
    site = site_of(found, str(file.relative_to(root)), trace.tb_lineno) if file.is_relative_to(root) else None
    return [] if site is None else [site]


def _run(package: str, name: str, case: Case, folder: Path) -> None:
    path = folder / f"{name}_of_{package}.py"
    path.write_text(re.sub(r"\btriton\b", package, case.program()))
    target = importlib.import_module(f"{package}.backends.compiler").GPUTarget(*case.target)
    if package == "triton":
        importlib.import_module("triton").runtime.driver.set_active(FakeDriver(target))
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = module_from_spec(spec)
    sys.modules[path.stem] = made
    try:
        spec.loader.exec_module(made)
        if hasattr(made, "host"):
            made.host()
        else:
            compiler = importlib.import_module(f"{package}.compiler")
            source = compiler.ASTSource(made.kernel, case.signature, dict(case.constants))
            _front_end(package, source, target, case.options)
    finally:
        del sys.modules[path.stem]


def _front_end(package: str, source: Any, target: Any, given: dict[str, Any]) -> None:
    backend = importlib.import_module(f"{package}.compiler").make_backend(target)
    ir = importlib.import_module(f"{package}._C.libtriton").ir
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    options = backend.parse_options(dict(given))
    functions = backend.get_codegen_implementation(options)
    source.make_ir(target, options, functions, backend.get_module_map(), context)


def main() -> None:
    package, told, *names = sys.argv[1:]
    with open(told, "w") as file:
        for name, outcome in outcomes(package, names or list(CASES)):
            print(json.dumps([name, asdict(outcome)]), file=file, flush=True)


if __name__ == "__main__":
    main()
