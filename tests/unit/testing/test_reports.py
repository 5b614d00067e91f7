"""The command of the conformance suite: what it writes, that it can be stopped and goes on, and its limits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tritonx.runtime.errors import OutOfResources
from tritonx_testing.conformance import __main__ as command
from tritonx_testing.conformance import isolated
from tritonx_testing.conformance.isolated import Result
from tritonx_testing.conformance.known import known_defects
from tritonx_testing.conformance.record import Record
from tritonx_testing.conformance.reports import Tally, table, write_junit

FEW = "shape/"


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["conformance", "interpreter", *map(str, arguments)])
    before = signal.getsignal(signal.SIGTERM)
    try:
        return command.main(), capsys.readouterr().out
    finally:
        signal.signal(signal.SIGTERM, before)


def tally() -> Tally:
    found = Tally("chip", 5, 4)
    for name, kind, message in (
        ("a/x", "passed", ""), ("a/y", "unsupported", "refused: no such\nthing"),
        ("b/z", "wrong", "1 \x00 != 2 \udc80\uffff<\r"), ("b/w", "skipped", "optional"),
    ):  # fmt: skip
        found.add(Result(name, kind, message), 0.25)
    return found


def test_a_table() -> None:
    expected = """| family | `chip` |
|---|---|
| a | 1 of 2 (1 unsupported) |
| b | 0 of 2 (1 skipped, 1 failed) |
| all | 1 of 4 (1 skipped, 1 unsupported, 1 failed) |"""
    assert table([tally()]) == expected


def test_junit(tmp_path: Path) -> None:
    write_junit(tmp_path / "r.xml", [tally()])
    (suite,) = ElementTree.parse(tmp_path / "r.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", "2")
    (failure,) = suite.iter("failure")
    assert failure.get("type") == "wrong" and failure.text == "1 ? != 2 ??<?"
    assert [case.get("name") for case in suite.iter("testcase")] == ["a/x", "a/y", "b/z", "b/w"]


def test_what_is_recorded_is_not_run_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    record, given = tmp_path / "r.jsonl", ("--in-process", "-k", FEW, "--record")
    code, said = run(monkeypatch, capsys, *given, record)
    lines = record.read_text().splitlines()
    assert code == 0 and len(lines) > 5 and f"(seed {json.loads(lines[0])['seed']})" in said
    record.write_text("\n".join([*lines[:3], lines[3][:20]]))  # stopped while it wrote the fourth
    assert len(Record(record).of("interpreter", json.loads(lines[0])["seed"])) == 3
    ran: list[int] = []
    real = command._here
    monkeypatch.setattr(
        command, "_here", lambda device, chosen, seed: ran.append(len(chosen)) or real(device, chosen, seed)
    )
    code, again = run(monkeypatch, capsys, *given, record)
    assert code == 0 and ran == [len(lines) - 3]
    assert again.split(" in ")[0] == said.split(" in ")[0]
    with pytest.raises(ValueError, match="is of seed"):
        run(monkeypatch, capsys, *given, record, "--seed", "-1")


def test_a_stopped_run_says_how_far_it_came(tmp_path: Path) -> None:
    record = tmp_path / "r.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "tritonx_testing.conformance", "interpreter", "-v", "--record", record],
        stdout=subprocess.PIPE, text=True, env=dict(os.environ),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline().startswith("PASSED ")
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=120)
    left = said.splitlines()[-1]
    assert process.returncode == 130 and "passed" in left and ", stopped with " in left and left.endswith(" left")
    unsaid = record.read_text().count("\n") - said.count("PASSED ")
    assert unsaid in (1, 2)  # the one that was read, and one that was not said any more


def test_a_case_has_a_limit() -> None:
    name = next(case.name for case in command.cases() if case.name.startswith(FEW))
    (result,) = isolated.run("interpreter", [name], 0, seconds=0.01)
    assert (result.name, result.kind, result.message) == (name, "hung", "no result after 0.01 s")


def test_a_device_that_is_not_there_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["conformance", "nonesuch", "cpu:i386", "interpreter", "-k", FEW]
    monkeypatch.setattr(sys, "argv", arguments)
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert command.main() == 1
    finally:
        signal.signal(signal.SIGTERM, before)
    said = capfd.readouterr().out.splitlines()
    assert said[0].startswith("nonesuch: NoBackend: no backend named 'nonesuch' can be used; there are")
    assert said[1].startswith("nonesuch: 0 passed, 0 skipped, 0 unsupported, 0 failed") and " left" in said[1]
    assert said[2].startswith("cpu:i386: ValueError: ") and "unknown CPU target 'cpu:i386'" in said[2]
    assert said[4].startswith("interpreter: ") and " 0 passed" not in said[4] and len(said) == 5


class Small:
    """A target that refuses a case's options, or has little shared memory for its kernel."""

    def __init__(self, options: Exception | None, launch: Exception | None) -> None:
        self.options, self.launch = options, launch

    def unsupported(self, case: object) -> None:
        if self.options is not None:
            raise self.options

    def run(self, case: object, trial: object) -> None:
        assert self.launch is not None
        raise self.launch


@pytest.mark.parametrize(
    ("options", "launch", "kind"),
    [
        (ValueError("num_warps is at most 2, got 4"), None, "unsupported"),
        (None, OutOfResources(40_000, 32_768, "shared memory"), "unsupported"),
        (None, OutOfResources(80_000, 65_536, "shared memory"), "error"),
        (None, OutOfResources(512, 256, "threads"), "error"),
    ],
)
def test_what_a_small_chip_has_not_is_no_failure(
    options: Exception | None, launch: Exception | None, kind: str
) -> None:
    case = next(case for case in command.cases() if case.name.startswith(FEW))
    assert isolated.outcome(case, Small(options, launch), 0)[0] == kind


def test_known_defects_are_not_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = [case.name for case in command.cases() if FEW in case.name]
    file = tmp_path / "known.txt"
    file.write_text(f"# of a chip\n{names[0]}: it never ends\n")
    assert known_defects(file) == {names[0]: "it never ends"}
    code, said = run(monkeypatch, capsys, "--in-process", "-k", FEW, "--known", file, "--table")
    assert code == 0 and f"interpreter: {len(names) - 1} passed, 1 skipped, 0 unsupported, 0 failed" in said
    assert f"| shape | {len(names) - 1} of {len(names)} (1 skipped) |" in said
    file.write_text(names[0])
    with pytest.raises(ValueError, match="does not say what is known"):
        known_defects(file)
