"""Which tests reach which blocks of the source, measured once and kept.

``measure`` runs tests on a copy of the tree whose sources have probes (blocks.py) and appends what each test reached to
a file of JSON lines; ``Reach`` reads it. A test file is measured again when it, or the data that it runs, has changed.
A change of the source alone does not make a measurement worthless: blocks keep their names, and a test that is
chosen for a block that it no longer reaches costs time and nothing else.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from blocks import PROBE, instrumented  # pyright: ignore[reportImplicitRelativeImport]

BYTES = 1 << 16
"""More than there are blocks."""
DATA = {
    "tests/test_filecheck.py": "tests/filecheck",
    "tests/language/test_conformance.py": "packages/tritonx-testing/tritonx_testing/conformance",
}
PROBE_MODULE = f"""
import mmap, os
hit = bytearray({BYTES})
if name := os.environ.get("MUTATION_PROBES"):
    with open(name, "r+b") as file:
        hit = mmap.mmap(file.fileno(), {BYTES})
"""
IMPORT = """
import contextlib, importlib, sys
for name in sys.argv[1:]:
    with contextlib.suppress(Exception):
        importlib.import_module(name)
"""
CASES = """

_outcome = outcome
def outcome(case, device, seed, arrangement=None):
    import os, sys, time
    if "MUTATION_CASES" not in os.environ:
        return _outcome(case, device, seed, arrangement)
    sys.path.append(os.environ["MUTATION_CASES"])
    from reach_plugin import recorded
    with recorded(f"tests/language/test_conformance.py::test_conformance[{case.name}-{sys.argv[2]}]"):
        return _outcome(case, device, seed, arrangement)
"""
"""The cases of the suite run in one process for all: they are told apart there."""


@dataclass
class Reach:
    """What has been measured: of each test its seconds, whether it passed and the numbers of its blocks."""

    path: Path
    seed: int = 0
    """What ``TRITONX_SEED`` was: other draws of the sampled tests may reach other things."""
    names: dict[str, int] = field(default_factory=dict)
    tests: dict[str, dict[str, Any]] = field(default_factory=dict)
    imported: set[str] = field(default_factory=set)
    """The blocks that run when their modules are imported: no test's own, whoever imports them first."""
    complete: dict[str, str] = field(default_factory=dict)
    """Digests by test file."""

    @staticmethod
    def read(path: Path) -> Reach:
        reach = Reach(path)
        for line in path.read_text().splitlines() if path.exists() else ():
            record = json.loads(line)
            if "names" in record:
                reach.seed = record["seed"]
                reach.names = {name: number for number, name in enumerate(record["names"])}
            elif "imported" in record:
                reach.imported.update(record["imported"])
            elif "complete" in record:
                reach.complete[record["complete"]] = record["digest"]
            else:
                reach.tests.setdefault(record.pop("test"), {}).update(record, known=len(reach.names))
        for test in reach.tests.values():
            test["blocks"] = blocks = zlib.decompress(base64.b85decode(test["blocks"])) if "blocks" in test else b""
            test["total"] = sum(blocks)
        return reach

    def append(self, record: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            print(json.dumps(record), file=file)

    def ordered(self, blocks: Iterable[str]) -> list[str]:
        """The tests that pass without a mutant and reach one of ``blocks``, those that say most for their time first:
        in turns from each file; the quicker and the less else it reaches, the sooner."""
        files = {name.partition(":")[0] for name in blocks}
        around = {number for name, number in self.names.items() if name.partition(":")[0] in files}
        numbers = {self.names.get(name, BYTES) for name in blocks}
        own = {name: self._reached(name, numbers, around) for name, test in self.tests.items() if test.get("passed")}
        by_file: dict[str, list[str]] = {}
        for test in sorted((t for t in own if own[t]), key=lambda t: self._price(t, own[t])):
            by_file.setdefault(test.partition("::")[0], []).append(test)
        turns = max(map(len, by_file.values()), default=0)
        return [tests[turn] for turn in range(turns) for tests in by_file.values() if turn < len(tests)]

    def importing(self, root: Path, path: str) -> list[str]:
        """The tests that pass without a mutant in files that import the module at ``path``, the quickest first."""
        module = ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")
        files = {test.partition("::")[0] for test in self.tests}
        chosen = {file for file in files if (root / file).exists() and module in imports(root / file)}
        own = [t for t, record in self.tests.items() if t.partition("::")[0] in chosen and record.get("passed")]
        return sorted(own, key=lambda test: self.tests[test]["seconds"])

    def _reached(self, test: str, numbers: set[int], around: set[int]) -> float:
        """How many of the blocks; of blocks that are newer than the measurement a hundredth of those ``around``."""
        record = self.tests[test]
        blocks = record["blocks"]
        found = sum(blocks[n] for n in numbers if n < len(blocks))
        if found or all(n < record["known"] for n in numbers):
            return found
        return sum(blocks[n] for n in around if n < len(blocks)) / 100

    def _price(self, test: str, own: float) -> float:
        record = self.tests[test]
        return (0.1 + record["seconds"]) * record["total"] / own


@cache
def imports(path: Path) -> frozenset[str]:
    """The modules that a file imports, and whatever it imports from one, by their full names."""
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    return frozenset(found)


def digest(root: Path, test_file: str) -> str:
    paths = [root / test_file]
    if test_file in DATA:
        paths += sorted(path for path in (root / DATA[test_file]).rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths if path.suffix != ".pyc")).hexdigest()


def measure(scratch: Path, folders: Sequence[str], files: Sequence[str], reach_path: Path, seed: int) -> Reach:
    """What the tests of ``files`` reach in ``folders`` of ``scratch``, which afterwards has probes in them.
    The tests draw by ``seed``, where nothing has been measured yet."""
    reach = Reach.read(reach_path)
    digests = {file: digest(scratch, file) for file in files}
    missing = [file for file in files if reach.complete.get(file) != digests[file]]
    if not missing:
        return reach
    put_probes(scratch, folders, reach.names)
    seed = reach.seed or seed
    reach.append({"names": list(reach.names), "seed": seed})
    reach.append({"imported": imported(scratch, folders, list(reach.names))})
    while missing:
        _one_pytest(scratch, {file: digests[file] for file in missing}, reach_path, seed)
        complete = Reach.read(reach_path).complete
        rest = [file for file in missing if complete.get(file) != digests[file]]
        if rest == missing:  # the first ends the process
            reach.append({"complete": rest.pop(0), "digest": digests[missing[0]]})
        missing = rest
    return Reach.read(reach_path)


def put_probes(scratch: Path, folders: Sequence[str], names: dict[str, int]) -> None:
    """``names`` grows by the blocks that it has not."""
    for path in (path for folder in folders for path in sorted((scratch / folder).rglob("*.py"))):
        own = str(path.relative_to(scratch))
        path.write_text(instrumented(path.read_text(), own, lambda name: names.setdefault(name, len(names))))
    assert len(names) < BYTES
    (scratch / "tritonx" / f"{PROBE}.py").write_text(PROBE_MODULE)
    cases = scratch / "packages/tritonx-testing/tritonx_testing/conformance/isolated.py"
    if cases.exists():
        cases.write_text(cases.read_text() + CASES)


def imported(scratch: Path, folders: Sequence[str], names: Sequence[str]) -> list[str]:
    """Those of ``names`` that importing every module of ``folders`` reaches; ``scratch`` has probes."""
    paths = [path.relative_to(scratch).with_suffix("") for name in folders for path in (scratch / name).rglob("*.py")]
    modules = [".".join(path.parts).removesuffix(".__init__") for path in sorted(paths) if path.name != "__main__"]
    with tempfile.NamedTemporaryFile() as probes:
        probes.write(bytes(BYTES))
        probes.flush()
        environment = {**os.environ, "PYTHONPATH": python_path(scratch), "MUTATION_PROBES": probes.name}
        subprocess.run([sys.executable, "-c", IMPORT, *modules], cwd=scratch, env=environment, check=True)
        hit = Path(probes.name).read_bytes()
    return [name for number, name in enumerate(names) if hit[number]]


def _one_pytest(scratch: Path, digests: dict[str, str], reach_path: Path, seed: int) -> None:
    with tempfile.TemporaryDirectory(prefix="reach") as folder:
        probes, files, cache = Path(folder) / "probes", Path(folder) / "digests", Path(folder) / "cache"
        probes.write_bytes(bytes(BYTES))
        files.write_text(json.dumps(digests))
        cache.mkdir()
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join([python_path(scratch), str(Path(__file__).parent)]),
            "MUTATION_PROBES": str(probes), "MUTATION_REACH": str(reach_path.absolute()),
            "MUTATION_DIGESTS": str(files), "TRITONX_CACHE_DIR": str(cache), "TRITONX_HOME": str(cache),
            "TRITONX_SEED": str(seed),
        }  # fmt: skip
        options = ["-q", "--tb=no", "-p", "no:cacheprovider", "-p", "reach_plugin"]
        subprocess.run([sys.executable, "-m", "pytest", *options, *digests], cwd=scratch, env=environment, check=False)


def python_path(scratch: Path) -> str:
    return os.pathsep.join(map(str, (scratch, *sorted(scratch.glob("packages/*")), *sorted(scratch.glob("plugins/*")))))
