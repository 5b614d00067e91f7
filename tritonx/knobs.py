"""Triton's module ``triton.knobs``: importing it gives ``tritonx.runtime.knobs`` itself, so that settings are one."""

import sys

from tritonx.runtime import knobs

sys.modules[__name__] = knobs
