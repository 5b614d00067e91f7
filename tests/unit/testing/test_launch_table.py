"""The table that `benchmarks/gpu_launch.py` makes of measurements."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def gpu_launch(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import gpu_launch  # pyright: ignore[reportMissingImports]

    yield gpu_launch
    del sys.modules["gpu_launch"]


def measured(compiler: str, **forms: tuple[float, float | None]) -> dict[str, Any]:
    return {"compiler": compiler, "forms": {n: {"call": call, "pytorch": part} for n, (call, part) in forms.items()}}


def test_a_line_has_the_ratio_to_the_fastest_peer(gpu_launch: Any, tmp_path: Path) -> None:
    ours = measured("tritonx", plain=(2.0, None), wrapper=(5.0, 2.0), new=(6.0, 2.0))
    peers = [measured("Triton 3.9", plain=(10.0, None), wrapper=(12.0, 2.0), new=(8.0, 2.0)),
             measured("Triton 3.6", plain=(8.0, None), wrapper=(11.0, 2.0))]  # fmt: skip
    lines = gpu_launch.table(ours, peers)
    assert lines[0] == "| µs a call | tritonx | Triton 3.9 | Triton 3.6 | PyTorch's part | ratio | without that part |"
    assert lines[2:] == [
        "| plain | 2.00 | 10.00 | 8.00 |  | 0.25 | 0.25 |",
        "| wrapper | 5.00 | 12.00 | 11.00 | 2.00 | 0.45 | 0.33 |",
        "| new | 6.00 | 8.00 | – | 2.00 | 0.75 | 0.67 |",
    ]
    assert gpu_launch.slower(lines) == ["new"]
    path = tmp_path / "launching.json"
    path.write_text(json.dumps({"title": "Launching", "rows": [["old"]], "machine": "another"}))
    gpu_launch.record(path, lines, "one GPU", "2026-01-02")
    result = json.loads(path.read_text())
    assert (result["title"], result["machine"], result["date"]) == ("Launching", "one GPU", "2026-01-02")
    assert result["columns"][0] == "µs a call" and result["rows"][0] == [
        "plain",
        "2.00",
        "10.00",
        "8.00",
        "",
        "0.25",
        "0.25",
    ]
    assert {len(row) for row in result["rows"]} == {len(result["columns"])}
