"""The functions of the language that a tensor has as methods, one by one for type checkers.

`tensor.__getattr__` finds a method by its mark (`builtin.tensor_method`) and does not import this module, whose imports
would be circles: a test holds the two against each other.
"""

from __future__ import annotations

from tritonx.language import math, standard
from tritonx.language.builtins import atomic, creation, memory, shape
from tritonx.language.builtins.reduce import associative_scan, histogram, reduce
from tritonx.language.sort import flip, sort
from tritonx.language.values.base import base_value


class Methods(base_value):
    """What is called on its first argument: ``x.sum()`` is ``tl.sum(x)``."""

    atomic_add = atomic.atomic_add
    atomic_and = atomic.atomic_and
    atomic_cas = atomic.atomic_cas
    atomic_load = atomic.atomic_load
    atomic_max = atomic.atomic_max
    atomic_min = atomic.atomic_min
    atomic_or = atomic.atomic_or
    atomic_poll = atomic.atomic_poll
    atomic_store = atomic.atomic_store
    atomic_xchg = atomic.atomic_xchg
    atomic_xor = atomic.atomic_xor

    cast = creation.cast

    abs = math.abs
    ceil = math.ceil
    cos = math.cos
    erf = math.erf
    exp = math.exp
    exp2 = math.exp2
    floor = math.floor
    log = math.log
    log2 = math.log2
    rsqrt = math.rsqrt
    sin = math.sin
    sqrt = math.sqrt
    sqrt_rn = math.sqrt_rn

    advance = memory.advance
    store = memory.store

    associative_scan = associative_scan
    histogram = histogram
    reduce = reduce

    broadcast_to = shape.broadcast_to
    expand_dims = shape.expand_dims
    gather = shape.gather
    item = shape.item
    permute = shape.permute
    reshape = shape.reshape
    split = shape.split
    trans = shape.trans
    view = shape.view

    flip = flip
    sort = sort

    argmax = standard.argmax
    argmin = standard.argmin
    cdiv = standard.cdiv
    cumprod = standard.cumprod
    cumsum = standard.cumsum
    max = standard.max
    min = standard.min
    ravel = standard.ravel
    reduce_or = standard.reduce_or
    sigmoid = standard.sigmoid
    softmax = standard.softmax
    sum = standard.sum
    xor_sum = standard.xor_sum
