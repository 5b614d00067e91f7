"""Searches that are interrupted, made by two processes at once, or find records that are none."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tritonx.runtime.config import Config
from tritonx.runtime.errors import Foreseen, OutOfResources
from tritonx.runtime.tuning.records import Record, Records
from tritonx.runtime.tuning.report import Tried
from tritonx.runtime.tuning.search import search

SEED = int(os.environ["TRITONX_SEED"])
CONFIGS = [Config({"BLOCK": 1 << i}, num_warps=w) for i in range(4) for w in (1, 2)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))
    return tmp_path


class Interrupted(BaseException):
    pass


def times_of(tried: Sequence[Tried]) -> dict[Config, list[float]]:
    return {each.config: [*each.times] for each in tried}


class Launches:
    in_flight = 2

    def __init__(self, most: int = 1 << 30, impossible: Sequence[Config] = ()) -> None:
        self.most = most
        self.impossible = impossible
        self.entered: list[Config] = []
        self.begun: list[Config] = []

    def begin(self, config: Config) -> None:
        self.begun.append(config)

    def on_host(self) -> bool:
        return False

    def times(self, config: Config, count: int) -> Sequence[float]:
        if config not in self.entered:
            if len(self.entered) == self.most:
                raise Interrupted
            self.entered.append(config)
        if config in self.impossible:
            raise OutOfResources(2, 1, "shared memory")
        return [1.0 + CONFIGS.index(config)] * count

    def refuses(self, config: Config, error: Exception) -> bool:
        return isinstance(error, OutOfResources)


def records(*parts: str) -> Records:
    return Records("kernel", parts or ("one",))


@pytest.mark.parametrize("after", range(1, len(CONFIGS)))
def test_an_interrupted_search_goes_on(after: int) -> None:
    first = Launches(most=after, impossible=CONFIGS[1:2])
    with pytest.raises(Interrupted):
        search(first, CONFIGS, records=records())
    again = Launches(impossible=CONFIGS[1:2])
    found = times_of(search(again, CONFIGS, records=records()))
    assert min(found, key=lambda c: found[c][0]) == CONFIGS[0]
    assert set(again.begun) == set(CONFIGS[after:])
    assert set(first.entered) | set(again.entered) == set(CONFIGS)
    assert CONFIGS[1] not in again.entered or after < 2
    assert found == times_of(search(Launches(), CONFIGS, records=records()))


def test_one_that_is_added_is_measured_and_no_other() -> None:
    search(Launches(), CONFIGS[:-1], records=records())
    again = Launches()
    search(again, CONFIGS, records=records())
    assert again.begun == CONFIGS[-1:]


def test_other_devices_and_keys_have_their_own() -> None:
    search(Launches(), CONFIGS, records=records("one"))
    again = Launches()
    search(again, CONFIGS, records=records("two"))
    assert again.begun == CONFIGS


def test_what_was_only_foreseen_is_not_kept() -> None:
    """Another compiler may find room; and where nothing else runs, it is tried."""

    class Foreseeing(Launches):
        def times(self, config: Config, count: int) -> Sequence[float]:
            raise Foreseen(2, 1, "registers")

    search(Foreseeing(), CONFIGS, records=records())
    assert all(records().get(config) is None for config in CONFIGS)


def _cut(text: bytes, draw: random.Random) -> bytes:
    return text[: draw.randrange(len(text))]


def _flip(text: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(text.index(b"content"), len(text))
    return text[:at] + bytes([text[at] ^ (1 << draw.randrange(7))]) + text[at + 1 :]


DAMAGES: list[Callable[[bytes, random.Random], bytes]] = [
    _cut,
    _flip,
    lambda *_: b"",
    lambda *_: b"\xff\xfe\x00",
    lambda *_: b"[1, 2]",
    lambda *_: json.dumps({"sha256": "0", "content": "{}"}).encode(),
    lambda *_: b"[" * 100_000,
    lambda text, draw: draw.randbytes(len(text)),
]


@pytest.mark.parametrize("damage", range(len(DAMAGES)))
def test_what_is_no_record_is_measured_again(damage: int, folder: Path) -> None:
    draw = random.Random(f"{SEED} {damage}")
    search(Launches(), CONFIGS, records=records())
    files = sorted(folder.rglob("*.record*.json"))
    assert len(files) == len(CONFIGS)
    chosen = draw.sample(files, 3)
    for file in chosen:
        file.write_bytes(DAMAGES[damage](file.read_bytes(), draw))
    damaged = [config for config in CONFIGS if records().get(config) is None]
    assert len(damaged) == 3
    again = Launches()
    search(again, CONFIGS, records=records())
    assert again.begun == damaged
    assert all(records().get(config) for config in CONFIGS)


def test_another_configurations_record_is_none(folder: Path) -> None:
    records().put(CONFIGS[0], Record((1.0,)))
    (file,) = folder.rglob("*.record*.json")
    other = file.with_name(records()._file(CONFIGS[1]))
    other.write_bytes(file.read_bytes())
    assert records().get(CONFIGS[1]) is None
    assert records().get(CONFIGS[0]) == Record((1.0,))


PROGRAM = """
import os, sys
import numpy as np
import tritonx, tritonx.language as tl

log, most = sys.argv[1], int(sys.argv[2])
measured = []

def bench(call, quantiles):
    call()
    if len(measured) == most:
        os._exit(7)
    measured.append(kernel_blocks[-1])
    with open(log, "a") as file:
        file.write(f"{os.getpid()} {kernel_blocks[-1]}\\n")
    return [float(kernel_blocks[-1])] * 3

kernel_blocks = []

@tritonx.autotune([tritonx.Config({"BLOCK": 16 << i}) for i in range(6)], key=["n"], do_bench=bench, cache_results=True)
@tritonx.jit
def kernel(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, at + 1, mask=at < n)

launch = kernel.fn.run
def run(*args, **options):
    kernel_blocks.append(options["BLOCK"])
    return launch(*args, **options)
kernel.fn.run = run

x = np.zeros(8, np.int32)
kernel[(1,)](x, 8)
assert kernel.best_config.kwargs == {"BLOCK": 16}, kernel.best_config
assert x.tolist() == list(range(1, 9))
"""


def start(folder: Path, most: int) -> subprocess.Popen[bytes]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "TRITONX_CACHE_DIR": str(folder / "cache"), "TRITONX_TUNING_WORKERS": "0"}
    return subprocess.Popen([sys.executable, str(program), str(folder / "log"), str(most)], env=environment)


def measured(folder: Path) -> list[int]:
    return [int(line.split()[1]) for line in (folder / "log").read_text().splitlines()]


def test_a_process_that_died_is_gone_on_with(tmp_path: Path) -> None:
    most = 1 + SEED % 5
    assert start(tmp_path, most).wait(120) == 7
    assert start(tmp_path, 100).wait(120) == 0
    assert sorted(measured(tmp_path)) == [16 << i for i in range(6)]


def test_two_processes_at_once(tmp_path: Path) -> None:
    both = [start(tmp_path, 100) for _ in range(2)]
    assert [process.wait(120) for process in both] == [0, 0]
    assert set(measured(tmp_path)) == {16 << i for i in range(6)}
    assert start(tmp_path, 0).wait(120) == 0  # what is there is enough: the first measurement would end it
