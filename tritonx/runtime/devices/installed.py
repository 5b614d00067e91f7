"""Folders of installed packages that have the vendors' libraries and tools. Nothing is imported to find them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path


def folders(package: str) -> list[Path]:
    """Those of a package; none where it is not installed."""
    try:
        spec = find_spec(package)
    except ValueError:  # a module without a spec has taken the name
        spec = None
    return [] if spec is None else [Path(root) for root in spec.submodule_search_locations or ()]


def triton_folders(*parts: str) -> list[Path]:
    """Where a folder inside an installed Triton may be; none of them need exist.

    The path is searched here, since ``triton`` may mean tritonx (`tritonx.compat`); an editable installation is where
    its finder says."""
    roots = [Path(entry, "triton") for entry in sys.path] + folders("triton")
    return [root.joinpath(*parts) for root in roots]


def having(candidates: Iterable[Path], *names: str) -> list[str]:
    """Those of the folders that have a file of one of these names, each once and in order."""
    found = [str(folder) for folder in candidates if any((folder / name).is_file() for name in names)]
    return list(dict.fromkeys(found))
