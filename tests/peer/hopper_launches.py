"""Which arguments each kernel of `kernels_hopper.py` is launched with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.peer.described_blocks import copy_blocks, groups_of_rows, rows_of_described_blocks
from tests.peer.hopper_launch import Described, Launch
from tests.peer.hopper_products import attention, gradients, product, two_products

LAUNCHES = {
    "rows_of_described_blocks": rows_of_described_blocks,
    "groups_of_rows": groups_of_rows,
    "copy_blocks": copy_blocks,
    "two_products": two_products,
    "attention_of_blocks": attention,
    "attention_keys": gradients,
    "attention_queries": gradients,
    "matmul": product,
    "product_of_blocks": product,
    "gathered_product": product,
    "specialized_product": product,
    "persistent_product": product,
    "product_device_descriptors": product,
    "specialized_device_descriptors": product,
    "persistent_device_descriptors": product,
}


def launch_of(described: Path, seed: Any, *, small: bool = False) -> Launch:
    """Of the kernel that a file of `hopper_oracle.py` describes."""
    case = Described(**json.loads(described.read_text()))
    rng = np.random.default_rng(seed)
    return LAUNCHES[case.kernel](case, rng, small=small)
