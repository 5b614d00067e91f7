"""`tritonx explain`: everything that is known of a compiled kernel, as facts, as JSON and as one page.

`explain` compiles a source once more, for any target and on any machine, and looks at what the passes did. The facts
(`facts.Facts`) are values; the page is drawn from their JSON and from nothing else, so that a program that reads the
JSON knows all that a page shows.
"""

from __future__ import annotations

from tritonx.explain.report import Report, explain

__all__ = ["Report", "explain"]
