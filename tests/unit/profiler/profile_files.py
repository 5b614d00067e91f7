"""A profile as it is in a file, with numbers that are easy to work out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DEVICES = {
    "CUDA": {
        "0": {"arch": "100", "bus_width": 5120, "clock_rate": 1000000, "memory_clock_rate": 1000000, "num_sms": 50},
    }
}


def node(name: str, metrics: dict[str, Any], *children: Any) -> dict[str, Any]:
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": list(children)}


def kernel(name: str, count: int, nanoseconds: int, **more: Any) -> dict[str, Any]:
    return node(name, {"count": count, "time (ns)": nanoseconds, "device_id": "0", "device_type": "CUDA", **more})


def write(path: Path, scale: int = 1) -> str:
    """A tree of 6 µs, of which half is the product's."""
    zeros = {"count": 0, "time (ns)": 0, "flops8": 0, "flops16": 0, "bytes": 0}
    product = kernel("product", 3, 3000 * scale, flops16=2.4e8, bytes=1200)
    copy = kernel("copy", 1, 1000 * scale, bytes=640_000)
    asked = node("__proton_launch_metadata:product", {}, kernel("counting", 1, 10**9))
    step = node("/home/me/model.py:12@step", {"cpu_time (ns)": 9000}, product, asked, node("nothing", {}))
    tree = node("ROOT", zeros, node("layer", {}, step, copy), kernel("copy", 4, 2000 * scale, bytes=0))
    path.write_text(json.dumps([tree, DEVICES]))
    return str(path)
