"""``nvsmi``: what it asks, what it makes of the answer, and its errors. The tool is a script here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonx.testing import NoManagementTool, nvsmi

SCRIPT = """#!/bin/sh
echo "$@" > "{folder}/asked"
{answer}
"""


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole path; ``tool / "asked"`` are the arguments of the last call."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def answers(folder: Path, answer: str) -> None:
    script = folder / "nvidia-smi"
    script.write_text(SCRIPT.format(folder=folder, answer=answer))
    script.chmod(0o755)


def test_numbers_come_in_the_order_of_the_attributes(tool: Path) -> None:
    answers(tool, 'echo "1980, 2619"')
    assert nvsmi(["clocks.max.sm", "clocks.max.memory"]) == [1980, 2619]
    asked = (tool / "asked").read_text()
    assert asked == "-i 0 --query-gpu=clocks.max.sm,clocks.max.memory --format=csv,noheader,nounits\n"


def test_one_attribute(tool: Path) -> None:
    answers(tool, "echo 42")
    assert nvsmi(["temperature.gpu"]) == [42]


def test_without_the_tool(tool: Path) -> None:
    with pytest.raises(NoManagementTool, match="nvidia-smi is not on the path"):
        nvsmi(["clocks.max.sm"])


def test_a_tool_that_fails(tool: Path) -> None:
    answers(tool, 'echo "No devices were found" >&2; exit 6')
    with pytest.raises(NoManagementTool, match="exit code 6: No devices were found"):
        nvsmi(["clocks.max.sm"])


def test_what_is_no_number(tool: Path) -> None:
    answers(tool, 'echo "1980, [N/A]"')
    with pytest.raises(ValueError, match=r"no whole numbers for clocks.max.sm, power.draw: 1980, \[N/A\]"):
        nvsmi(["clocks.max.sm", "power.draw"])
