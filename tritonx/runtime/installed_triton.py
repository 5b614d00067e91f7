"""Files of a Triton that is installed beside tritonx: its wheel has the vendors' device libraries and tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path


def folders(*parts: str) -> Iterator[Path]:
    """Where a folder of the package ``triton`` may be; none of them need exist. Nothing is imported.

    The path is searched here, since ``triton`` may mean tritonx (`tritonx.compat`); an editable installation is where
    its finder says."""
    roots = [Path(entry, "triton") for entry in sys.path]
    try:
        spec = find_spec("triton")
    except ValueError:  # a module without a spec has taken the name
        spec = None
    if spec is not None:
        roots += map(Path, spec.submodule_search_locations or ())
    for root in roots:
        yield root.joinpath(*parts)
