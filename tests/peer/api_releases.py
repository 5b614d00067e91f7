"""``python tests/peer/api_releases.py FOLDER...``: docs/releases.md, the names that not every release of Triton has.

Each folder is one that ``pip install --no-deps --target FOLDER triton==VERSION`` has made; the installed Triton is the
first release."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs" / "releases.md"

INTRODUCTION = """# Names that not every release of Triton has

Of Triton's public modules, read from the wheels and from tritonx by `python tests/peer/api_releases.py`; do not edit by
hand. What tritonx has of them it has at every [level](levels.md); what each name of 3.6 is here is said in
[Triton's names](triton/README.md). What is not here is mostly of Triton's own compiler and launcher, and its
translator to Gluon.
"""

TELL = """
import json, sys
sys.path.insert(0, sys.argv[1])
import triton
from api_inventory import rows
print(json.dumps([triton.__version__, {row.name: row.state for row in rows()}]))
"""


def names(folder: str) -> tuple[str, dict[str, str]]:
    """(version, name → its state here) of the Triton in ``folder``, of the installed one for an empty string."""
    path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-W", "ignore", "-c", TELL, str(Path(__file__).parent)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    version, found = json.loads(done.stdout.splitlines()[-1])
    return version, found


def is_here(name: str) -> bool:
    """Whether tritonx has what Triton calls so."""
    parts = name.split(".")[1:]
    found: object = import_module("tritonx")
    for number, part in enumerate(parts, 1):
        if not hasattr(found, part):
            try:
                found = import_module(".".join(["tritonx", *parts[:number]]))
            except (ImportError, AttributeError):
                return False
        else:
            found = getattr(found, part)
    return True


def page(folders: Sequence[str]) -> str:
    """The page for the installed Triton and those in the folders, the oldest first."""
    releases = [names(folder) for folder in ("", *folders)]
    every = sorted({name for _, found in releases for name in found})
    versions = [".".join(version.split(".")[:2]) for version, _ in releases]
    lines = [f"| name | {' | '.join(versions)} | here |", "|---|" + "---|" * (len(versions) + 1)]
    for name in every:
        has = [name in found for _, found in releases]
        if not all(has):
            states = {found[name] for _, found in releases if name in found}
            here = "yes" if states == {"same"} else "yes, another" if is_here(name) else "no"
            lines.append(f"| `{name}` | {' | '.join('yes' if each else '' for each in has)} | {here} |")
    counts = [f"{len(found):,} ({version})" for version, (_, found) in zip(versions, releases, strict=True)]
    return "\n".join([INTRODUCTION, f"Names of each release: {', '.join(counts)}.", "", *lines, ""])


if __name__ == "__main__":
    DOCS.write_text(page(sys.argv[1:]))
    print(f"wrote {DOCS}")
