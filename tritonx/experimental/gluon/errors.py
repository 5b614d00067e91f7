"""What Gluon lacks."""

from __future__ import annotations

from tritonx.runtime.errors import TritonError


class NoGluon(TritonError, NotImplementedError):
    """A name of Gluon was used that tritonx does not have yet; it says which.

    >>> from tritonx.experimental.gluon.language.nvidia import rubin
    >>> rubin.tcgen05_mma()
    Traceback (most recent call last):
        ...
    tritonx.experimental.gluon.errors.NoGluon: tritonx does not have tritonx.experimental.gluon...rubin.tcgen05_mma
    """
