"""Cases that a device is known to get wrong by itself, with what shows that: a file beside the backend."""

from __future__ import annotations

from pathlib import Path


def known_defects(path: Path) -> dict[str, str]:
    """Name of a case → what is known, of a file with ``name: what`` a line; lines that begin with # are remarks. Raises
    ``ValueError`` for a line that says nothing."""
    found: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, _, what = line.partition(": ")
        if not what.strip():
            raise ValueError(f"{path}: {line!r} does not say what is known of the case")
        found[name] = what.strip()
    return found
