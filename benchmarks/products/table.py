"""All cases, by name."""

from __future__ import annotations

from products.attention import ATTENTION
from products.case import Builder
from products.fused import FUSED
from products.matmuls import DECODING, PRODUCTS
from products.quantised import QUANTISED

CASES: dict[str, Builder] = {**PRODUCTS, **FUSED, **QUANTISED, **DECODING, **ATTENTION}
