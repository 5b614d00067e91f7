"""How often ptxas is asked and which answer is kept: with a program in ptxas' place that says what it would."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tritonx.backends.nvidia.assembler import assemble as assembler
from tritonx.backends.nvidia.targets import CAPABILITIES
from tritonx.runtime.errors import PTXASError

PTX = ".entry kernel()\n.reqntid 512, 1, 1\n{\n}\n"
STAND_IN = """#!{python}
import sys
text = open(next(a for a in sys.argv if a.endswith(".ptx"))).read()
if ".minnctapersm 3" in text:
    print("ptxas fatal   : (C7602) Insufficient registers (40) to compile instruction at line 9 in function kernel.")
    sys.exit(255)
open(sys.argv[sys.argv.index("-o") + 1], "w").write("code")
print("ptxas info    : 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads")
print("ptxas info    : Used 44 registers")
"""


def take_for_ptxas(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **values: object) -> None:
    """Have the assembler run ``script``, a text for ``str.format`` with these values and the interpreter."""
    stand_in = folder / "ptxas"
    stand_in.write_text(script.format(python=sys.executable, **values))
    os.chmod(stand_in, 0o755)
    monkeypatch.setattr(assembler, "find_ptxas", lambda: str(stand_in))


def test_code_stands_where_it_cannot_be_denser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """512 threads of 44 registers run in twos; for three each may take 40, which one wgmma alone exceeds."""
    take_for_ptxas(STAND_IN, tmp_path, monkeypatch)
    made = assembler.assemble(PTX, CAPABILITIES[90])
    assert (made.cubin, made.registers) == (b"code", 44)


SPILLS = """#!{python}
import sys
open({count!r}, "a").write("asked ")
open(sys.argv[sys.argv.index("-o") + 1], "w").write("code")
print("ptxas info    : 16 bytes stack frame, 80 bytes spill stores, 96 bytes spill loads")
print("ptxas info    : Used {registers} registers")
"""


@pytest.mark.parametrize(("registers", "times"), [(64, 1), (57, 1), (56, 2), (32, 2)])
def test_what_has_all_registers_is_not_asked_for_one_block(
    registers: int, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block of 1024 threads has 64 for each: a kernel that spills with those, or with what is rounded up to those,
    spills for one block too."""
    count = tmp_path / "count"
    take_for_ptxas(SPILLS, tmp_path, monkeypatch, registers=registers, count=str(count))
    made = assembler.assemble(PTX.replace("512", "1024"), CAPABILITIES[90])
    assert (made.registers, made.spills) == (registers, 176)
    assert count.read_text().count("asked") == times


COPIES = PTX.replace("512", "128").replace("{\n", "{\ncp.async.cg.shared.global [%r1], [%rd1], 16;\n")
TOLD = """#!{python}
import sys
text = open(next(a for a in sys.argv if a.endswith(".ptx"))).read()
open({asked!r}, "a").write((text.split(".minnctapersm ")[1].split()[0] if ".minnctapersm" in text else "-") + " ")
open(sys.argv[sys.argv.index("-o") + 1], "w").write("code")
print("ptxas info    : 0 bytes stack frame, {spills} bytes spill stores, 0 bytes spill loads")
print("ptxas info    : Used {registers} registers")
"""


@pytest.mark.parametrize(
    ("ptx", "shared", "registers", "spills", "asked"),
    [
        (COPIES, 122880, 72, 0, "1"),
        (COPIES, 98304, 72, 0, "2"),
        (COPIES, 65536, 72, 0, "-"),  # three blocks: a thread of 128 may not take all registers
        (COPIES.replace("128", "256"), 122880, 72, 0, "1"),
        (COPIES.replace("128", "512"), 122880, 64, 0, "-"),
        (PTX.replace("512", "128"), 122880, 72, 0, "-"),  # copies nothing
        (COPIES.replace("{\n", ".maxnreg 64\n{\n"), 122880, 64, 0, "-"),
        (COPIES.replace("{\n", "{\n.reg .b32 %r<701>;\n"), 122880, 72, 0, "-"),  # large ones take what there is
        (COPIES, 122880, 255, 16, "1 -"),  # the usual way may spill less
    ],
)
def test_what_copies_ahead_is_told_of_few_blocks(
    ptx: str, shared: int, registers: int, spills: int, asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where shared memory has room for so few that each thread may take all registers."""
    log = tmp_path / "asked"
    take_for_ptxas(TOLD, tmp_path, monkeypatch, asked=str(log), spills=spills, registers=registers)
    assert assembler.assemble(ptx, CAPABILITIES[90], shared=shared).registers == registers
    assert log.read_text().split() == asked.split()


@pytest.mark.parametrize(
    ("live", "virtual", "code", "asked"),
    [
        (590, 700, "", "- 1"),
        (610, 700, "", "1"),
        (610, 700, "wgmma.mma_async;", "- 1"),
        (10, 5001, "", "1"),
        (10, 5001, "wgmma.mma_async;", "1"),
    ],
)
def test_what_takes_far_more_registers_is_told_of_one_block_first(
    live: int, virtual: int, code: str, asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ptxas falls back on 32 otherwise, and is asked again."""
    names = " ".join(f"%r{n}" for n in range(live))
    ptx = PTX.replace("512", "128").replace("{\n", f"{{\n.reg .b32 %r<{virtual}>;\n{code}{names}\n{names}\n")
    log = tmp_path / "asked"
    take_for_ptxas(TOLD, tmp_path, monkeypatch, asked=str(log), spills=80, registers=32)
    assembler.assemble(ptx, CAPABILITIES[90])
    assert log.read_text().split() == asked.split()


LIMITED = """#!{python}
import sys
limited = ".maxnreg" in open(next(a for a in sys.argv if a.endswith(".ptx"))).read()
open({count!r}, "a").write("asked ")
open(sys.argv[sys.argv.index("-o") + 1], "w").write("code")
print("ptxas info    : 16 bytes stack frame, %d bytes spill stores, 0 bytes spill loads" % ({spills} if limited else 8))
print("ptxas info    : Used %d registers" % ({limit} if limited else 255))
"""


@pytest.mark.parametrize(
    ("limit", "spills", "kept"),
    [(248, 20_000, True), (248, 1_000, True), (248, 40, False), (240, 1_000, False), (72, 20_000, False)],
)
def test_a_limit_of_nearly_all_registers_is_not_dropped(
    limit: int, spills: int, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven registers more save little of 20,000 bytes; all of them may save any number, and seven may save a few."""
    count = tmp_path / "count"
    take_for_ptxas(LIMITED, tmp_path, monkeypatch, limit=limit, spills=spills, count=str(count))
    ptx = PTX.replace("512, 1, 1\n", f"32, 1, 1\n.maxnreg {limit}\n")
    made = assembler.assemble(ptx, CAPABILITIES[90], may_drop_limit=True)
    assert made.spills == (spills if kept else 8)
    assert (count.read_text().count("asked") == 1) == kept


NARROW = """#!{python}
import sys
if ".maxnreg" in open(next(a for a in sys.argv if a.endswith(".ptx"))).read():
    print("ptxas fatal   : (C7602) Insufficient registers (128) to compile instruction at line 9 in function kernel.")
    sys.exit(255)
open(sys.argv[sys.argv.index("-o") + 1], "w").write("code")
print("ptxas info    : 0 bytes stack frame, 8 bytes spill stores, 0 bytes spill loads")
print("ptxas info    : Used 255 registers")
"""


def test_a_limit_that_one_instruction_exceeds_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gradient of mamba's, 128×256 in 256 threads: its wgmma alone has 128 registers of results."""
    take_for_ptxas(NARROW, tmp_path, monkeypatch)
    ptx = PTX.replace("512, 1, 1\n", "256, 1, 1\n.maxnreg 128\n")
    assert assembler.assemble(ptx, CAPABILITIES[90], may_drop_limit=True).registers == 255
    with pytest.raises(PTXASError, match="C7602"):
        assembler.assemble(ptx, CAPABILITIES[90])


SERIALISED = """#!{python}
import sys
dense = ".minnctapersm 2" in open(next(a for a in sys.argv if a.endswith(".ptx"))).read()
open(sys.argv[sys.argv.index("-o") + 1], "w").write("code")
if dense and {serialises}:
    print("ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized")
print("ptxas info    : 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads")
print("ptxas info    : Used %d registers" % (128 if dense else 137))
"""


@pytest.mark.parametrize(("serialises", "registers"), [(False, 128), (True, 137)])
def test_a_second_block_serialises_no_products(
    serialises: bool, registers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_for_ptxas(SERIALISED, tmp_path, monkeypatch, serialises=serialises)
    ptx = PTX.replace("512", "256").replace("{\n", "{\nwgmma.mma_async;\n")
    assert assembler.assemble(ptx, CAPABILITIES[90]).registers == registers
