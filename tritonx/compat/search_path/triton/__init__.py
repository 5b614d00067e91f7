"""Stands for Triton on the path: importing it puts tritonx in its place. See `tritonx.compat`."""

import importlib
import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("tritonx") is None:  # the parent found it by a path that was not inherited
    sys.path.append(str(Path(__file__).resolve().parents[4]))

importlib.import_module("tritonx.compat").install()
sys.modules[__name__] = importlib.import_module("tritonx")
