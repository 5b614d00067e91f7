"""Where the package ``triton`` lies that means tritonx."""

from __future__ import annotations

from pathlib import Path


def search_path() -> str:
    """The folder that makes ``import triton`` mean tritonx when it is on a process's path.

    >>> import os
    >>> os.path.isfile(os.path.join(search_path(), "triton", "__init__.py"))
    True
    """
    return str(Path(__file__).resolve().parent / "search_path")
