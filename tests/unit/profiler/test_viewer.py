"""The viewer: what it computes and prints of a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.profiler.profile_files import write
from tritonx.profiler import viewer
from tritonx.profiler.errors import BadProfile, MissingPackage
from tritonx.profiler.specs import max_flops

ROOT = Path(__file__).parents[3]


@pytest.fixture
def file(tmp_path: Path) -> str:
    return write(tmp_path / "a.hatchet")


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert viewer.main(arguments) == 0
    return capsys.readouterr().out.splitlines()


def test_inclusive_and_derived_metrics(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "-m", "time/us,avg_time/ns,gbyte/s,gflop16/s,time/%", file) == [
        "6.000 750.000 106.867 40000.000 100.000 ROOT",
        "├─ 4.000 1000.000 160.300 60000.000 66.667 layer",
        "│  ├─ 3.000 1000.000 0.400 80000.000 50.000 /home/me/model.py:12@step",
        "│  │  └─ 3.000 1000.000 0.400 80000.000 50.000 product",
        "│  └─ 1.000 1000.000 640.000 nan 16.667 copy",
        "└─ 2.000 500.000 0.000 nan 33.333 copy",
    ]


def test_exclusive_metrics_and_the_share_of_the_peak(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """16,384 operations on 8 bits, 50 multiprocessors, 1 GHz: 409.6 TFLOP/s in 16 bits; 5120 bits: 1.28 TB/s."""
    lines = shown(capsys, "-m", "util,cpu_time/us,count", file)
    assert lines[3:] == ["│  │  └─ 0.195 nan 3.000 product", "│  └─ 0.500 nan 1.000 copy", "└─ 0.000 nan 4.000 copy"]
    assert lines[2] == "│  ├─ nan 9.000 3.000 /home/me/model.py:12@step"


def test_parts_of_the_tree(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    included = shown(capsys, "-m", "count", "-i", ".*step", file)
    assert [line.rpartition(" ")[2] for line in included] == ["ROOT", "layer", "/home/me/model.py:12@step", "product"]
    excluded = shown(capsys, "-m", "count", "-e", "layer", file)
    assert excluded == ["8.000 ROOT", "└─ 4.000 copy"]
    assert shown(capsys, "-m", "time/us", "-t", "3", file) == [
        "6.000 ROOT",
        "└─ 4.000 layer",
        "   └─ 3.000 /home/me/model.py:12@step",
        "      └─ 3.000 product",
    ]
    assert shown(capsys, "-m", "count", "-d", "2", file) == ["8.000 ROOT", "├─ 4.000 layer", "└─ 4.000 copy"]


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("full", "/home/me/model.py:12@step"),
        ("file_function_line", "model.py:12@step"),
        ("function_line", "12@step"),
        ("file_function", "model.py@step"),
    ],
)
def test_forms_of_names(file: str, capsys: pytest.CaptureFixture[str], form: str, name: str) -> None:
    assert shown(capsys, "-m", "count", "-f", form, file)[2] == f"│  ├─ 3.000 {name}"


def test_sorted_kernels(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "-m", "time/us", "--print-sorted", file)
    assert [line.split() for line in lines[7:]] == [["product", "3.0"], ["copy", "2.0"], ["copy", "1.0"]]


def test_the_difference_of_two_files(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = write(tmp_path / "b.hatchet", scale=3)
    lines = shown(capsys, "-m", "time/us", "-diff", other, file)
    assert (lines[0], lines[1], lines[-1]) == ("12.000 ROOT", "├─ 8.000 layer", "└─ 4.000 copy")


def test_metrics_are_listed(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "-l", file)
    at = lines.index("Available exclusive metrics:")
    assert lines[1:at] == ["- count", "- time", "- flops8", "- flops16", "- bytes"] and "- cpu_time" in lines[at:]


@pytest.mark.parametrize(
    ("metric", "text"),
    [("warmth", "Metric warmth is not found"), ("time/h", "Unsupported unit h"), ("flop64/s", "Metric flops64")],
)
def test_metrics_that_do_not_exist(file: str, capsys: pytest.CaptureFixture[str], metric: str, text: str) -> None:
    assert viewer.main(["-m", metric, file]) == 1
    assert text in capsys.readouterr().err


def test_files_that_are_no_profiles(tmp_path: Path) -> None:
    for content, text in (("{", "no profile"), ("{}", "no list"), ("[]", "no list"), ("[1]", "no list")):
        (tmp_path / "bad").write_text(content)
        with pytest.raises(BadProfile, match=text):
            viewer.load(str(tmp_path / "bad"))
    with pytest.raises(BadProfile, match="cannot be read"):
        viewer.load(str(tmp_path / "absent"))
    with pytest.raises(BadProfile, match="both include and exclude"):
        viewer.parse(["time"], "", include="a", exclude="b")


def test_hatchets_frames(file: str) -> None:
    try:
        frame, inclusive, exclusive, devices = viewer.read(file)
    except MissingPackage as error:
        assert "llnl-hatchet" in str(error)
        return
    assert inclusive == ["count", "time (ns)", "flops8", "flops16", "bytes"] and "device_id" in exclusive
    assert frame.dataframe["time (ns) (inc)"].iloc[0] == 6000 and devices["CUDA"]["0"]["arch"] == "100"


PROGRAM = """
import sys
import numpy as np, tritonx, tritonx.language as tl
import tritonx.profiler as proton

@tritonx.jit(launch_metadata=lambda grid, metadata, args: {"name": metadata.name, "bytes": 32})
def double(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * 2)

assert proton.start("other") is None
with proton.scope(sys.argv[1]):
    double[(1,)](np.zeros(8, np.float32), BLOCK=8)
proton.activate(0)
assert proton.data.get(0)
EXIT
"""


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT), *sys.path])
    return subprocess.run(
        [sys.executable, "-m", "tritonx.profiler.proton", *arguments], cwd=folder, capture_output=True, text=True,
        timeout=100, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("ending", "status"), [("", 0), ("sys.exit(3)", 3), ("raise ValueError", 1), ("exit('no')", 1)]
)
def test_the_command_profiles_a_program(tmp_path: Path, ending: str, status: int) -> None:
    program = PROGRAM.replace("EXIT", ending)
    (tmp_path / "program.py").write_text(program)
    done = command(tmp_path, "-n", "profile", "-k", "triton", "program.py", "mine")
    assert done.returncode == status, done.stderr
    root, _ = json.loads((tmp_path / "profile.hatchet").read_text())
    [mine] = root["children"]
    assert mine["frame"]["name"] == "mine" and mine["children"][0]["metrics"]["bytes"] == 32
    assert not (tmp_path / "other.hatchet").exists()


def test_the_command_profiles_pytest(tmp_path: Path) -> None:
    body = PROGRAM.replace("EXIT", "").replace("sys.argv[1]", "'mine'")
    text = "def test_it():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    imports = "import numpy as np, tritonx, tritonx.language as tl\n"
    (tmp_path / "test_mine.py").write_text(imports + text)
    done = command(tmp_path, "-d", "trace", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py")
    assert done.returncode == 0, done.stdout + done.stderr
    events = json.loads((tmp_path / "proton.chrome_trace").read_text())["traceEvents"]
    assert {e["name"] for e in events if e["ph"] == "X"} == {"mine", "double"}


def test_the_commands_mistakes(tmp_path: Path) -> None:
    done = command(tmp_path, "-m", "sometimes", "program.py")
    assert done.returncode == 2 and "mode 'sometimes' is not known" in done.stderr
    assert command(tmp_path).returncode == 2


def test_peaks_are_the_data_sheets() -> None:
    """At the clocks in kHz that the drivers of an RTX 4090, an H100 PCIe and an H200 report."""
    for arch, units, clock, expected in (
        ("89", 128, 2_625_000, 330.3),
        ("90", 114, 1_755_000, 1513),
        ("90", 132, 1_980_000, 1979),
    ):
        assert max_flops("CUDA", arch, 8, units, clock) / 1e12 == pytest.approx(expected, rel=2e-3)
