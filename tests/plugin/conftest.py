"""The plug-in installed into a folder of its own, and Python with that folder on its path."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def _wheel(project: Path, folder: Path) -> Path:
    """The project as a wheel (PEP 427), for machines whose setuptools cannot make one without the network."""
    described = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    stem = f"{described['name'].replace('-', '_')}-{described['version']}"
    entries = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in described["entry-points"].items()
    )
    files = {str(p.relative_to(project)): p.read_text() for p in sorted(project.glob("tritonx_toy/*.py"))}
    files[f"{stem}.dist-info/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {described['name']}\nVersion: {described['version']}\n"
    )
    files[f"{stem}.dist-info/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{stem}.dist-info/entry_points.txt"] = entries
    record = f"{stem}.dist-info/RECORD"
    files[record] = "".join(f"{name},,\n" for name in [*files, record])
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def _module_exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _can_build_wheels() -> bool:
    return any(_module_exists(name) for name in ("setuptools.command.bdist_wheel", "wheel.bdist_wheel"))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that holds nothing but the installed plug-in."""
    work = tmp_path_factory.mktemp("plugin")
    project, site = work / "project", work / "site"
    shutil.copytree(HERE, project, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "test_*"))
    built = project if _can_build_wheels() else _wheel(project, work)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, "--target", str(site), str(built)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Run:
    """``run(arguments, input, folder, **environment)`` with the plug-in of `folder` on the path, and with the tritonx
    that is tested, which need not be the one installed."""

    def run(
        *arguments: str, input: str | None = None, folder: Path = site, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(folder), str(ROOT)])
        cache = {"TRITONX_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": path}
        return subprocess.run(
            [sys.executable, *arguments],
            input=input,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, **cache, **environment},
        )

    return run
