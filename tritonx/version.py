"""The version of this distribution, and that of the Triton whose language and host interface it offers."""

from __future__ import annotations

import os

VERSION = "0.1.0"
"""What pip calls tritonx: pyproject.toml reads it from here."""

TRITON_VERSION = os.environ.get("TRITONX_REPORTED_VERSION", "3.6.0")
"""What libraries that import Triton by name branch on. ``TRITONX_REPORTED_VERSION`` overrides it."""
