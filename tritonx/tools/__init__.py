"""Commands, and Triton's ``triton.tools``."""

from tritonx.runtime.refusals import refusing

__getattr__ = refusing(__name__, {"LinearLayout": "``tritonx.layouts.linear.LinearLayout`` has another interface"})
