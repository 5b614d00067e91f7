"""Copies of the working tree, in which mutants are put in place: one for each worker, so that none disturbs another."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def copy_of_the_tree(folder: Path) -> Path:
    """Every file that git knows or would add, as it is now."""
    for name in _names():
        source, target = ROOT / name, folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return folder


def _names() -> list[str]:
    """Where there is no git: every file that is in no hidden folder and not compiled."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        said = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return [name for name in said.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        every = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.suffix != ".pyc")
        return [str(path) for path in every if not any(part.startswith(".") for part in path.parts[:-1])]


def replace(path: Path, text: str) -> None:
    """Write ``text`` so that no compiled file of the text before is taken for it."""
    path.write_text(text)
    for compiled in path.parent.joinpath("__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()
