"""A sealed folder as a wheel: a package that pip installs, whose folder `TRITONX_SEALED=package:NAME` names.

See the binary distribution format of the Python packaging user guide."""

from __future__ import annotations

import base64
import hashlib
import io
import keyword
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tritonx.runtime.compiling.sealed import COMPILER, MANIFEST
from tritonx.runtime.compiling.sealed_files import INDEX
from tritonx.runtime.store.cache_entries import MARK
from tritonx.tools import command
from tritonx.version import VERSION

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?")
_MODE = 0o644 << 16
_DATE = (1980, 1, 1, 0, 0, 0)
"""Of every file, so that two wheels of the same folder are the same."""


def parse(text: str) -> tuple[str, str]:
    """The package and its version of ``NAME==VERSION``. Raises `Mistake`."""
    name, _, version = text.partition("==")
    if not _NAME.fullmatch(name) or not _VERSION.fullmatch(version):
        raise command.Mistake(f"--wheel {text}: expected NAME==VERSION, as in my_kernels==1.0")
    if keyword.iskeyword(name) or name in sys.stdlib_module_names or name == "tritonx":
        raise command.Mistake(f"--wheel {text}: {name} is Python's or tritonx's own name; a package needs another")
    return name, version


def write(folder: Path, name: str, version: str, where: Path) -> Path:
    """Write the wheel into the folder ``where``; its path. It needs the tritonx that wrote the sealed folder. Files of
    the folder that `tritonx seal` did not write are left out."""
    info = f"{name}-{version}.dist-info"
    files = {f"{name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
             for path in sorted(_written(folder))}  # fmt: skip
    files[f"{name}/__init__.py"] = (
        f'"""Kernels that `tritonx seal` compiled: TRITONX_SEALED=package:{name}"""\n'.encode()
    )
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: tritonx=={VERSION}\n"
    ).encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: tritonx seal\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = [f"{path},sha256={_digest(content)},{len(content)}" for path, content in files.items()]
    files[f"{info}/RECORD"] = "".join(f"{row}\n" for row in [*rows, f"{info}/RECORD,,"]).encode()
    made = where / f"{name}-{version}-py3-none-any.whl"
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, _DATE)
            entry.external_attr, entry.compress_type = _MODE, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    command.write(made, held.getvalue(), "--wheel")
    return made


def _written(folder: Path) -> Iterator[Path]:
    """The files of a sealed folder: its members' entries, and what says which there are."""
    yield from (path for name in (MANIFEST, COMPILER, INDEX) if (path := folder / name).is_file())
    for mark in folder.glob(f"*/{MARK}"):
        yield from (path for path in mark.parent.rglob("*") if path.is_file())


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
