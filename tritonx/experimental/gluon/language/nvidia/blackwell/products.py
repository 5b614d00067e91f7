"""Products of the fifth-generation tensor cores (`tcgen05.mma`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.constexpr_function import constexpr_function

if TYPE_CHECKING:
    from tritonx.experimental.gluon.semantics import GluonSemantics


def _listed(values: object) -> list[object] | None:
    found = unwrap(values)
    return None if found is None else [*found]


@builtin
def tcgen05_mma(
    a: object,
    b: object,
    acc: object,
    *,
    use_acc: object = True,
    pred: object = True,
    multicast: object = False,
    mbarriers: object = None,
    mbarrier_preds: object = None,
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Begin ``acc = a @ b + acc`` if ``pred`` is true, without the sum where ``use_acc`` is false. ``acc`` is in tensor
    memory, ``b`` in shared memory, ``a`` in either. ``mbarriers`` whose predicate is true are told when it is done;
    without any `tcgen05_commit` tells one."""
    _semantic.tensor_core_product(
        a, b, acc, use_acc, pred, unwrap(multicast), _listed(mbarriers), _listed(mbarrier_preds)
    )


@builtin
def tcgen05_mma_scaled(
    a: object,
    b: object,
    acc: object,
    a_scale: object,
    b_scale: object,
    a_type: object,
    b_type: object,
    *,
    use_acc: object = True,
    pred: object = True,
    multicast: object = False,
    mbarriers: object = None,
    mbarrier_preds: object = None,
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """As `tcgen05_mma`, of operands with scales in tensor memory. ``a_type`` and ``b_type`` are `e2m1`, `e4m3` or
    `e5m2`. No code is generated for it."""
    _semantic.scaled_tensor_core_product(
        (a, b, acc),
        (a_scale, b_scale),
        (unwrap(a_type), unwrap(b_type)),
        use_acc,
        pred,
        unwrap(multicast),
        _listed(mbarriers),
        _listed(mbarrier_preds),
    )


@builtin
def tcgen05_commit(
    barrier: shared_memory_descriptor,
    pred: object = True,
    descs: object = (),
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Have ``barrier`` arrived at once when the products and copies that the thread began so far are done, if ``pred``
    is true. ``descs`` are operands that are multicast, of which there are none here."""
    _semantic.commit_products(barrier, pred, _listed(descs) or [])


@constexpr_function
def tcgen05_mma_barrier_count(smems: object, multicast: object, two_ctas: object) -> int:
    """How many blocks of a cluster commit a product of the operands ``smems``, which each reads from blocks that the
    layouts say. Raises AssertionError for more than four operands, or those of different clusters.

    >>> tcgen05_mma_barrier_count([], True, False)
    1
    """
    found = [*unwrap(smems)]
    assert len(found) <= 4, f"a product has up to four operands in shared memory, got {len(found)}"
    if not found or not unwrap(multicast):
        return 1
    layouts: list[list[list[int]]] = [each.layout.cga_layout for each in found]
    bits = len(layouts[0])
    assert all(len(each) == bits for each in layouts), "the operands lie in clusters of different sizes"
    shared = [sum(1 << bit for bit, basis in enumerate(each) if any(basis)) for each in layouts]
    step = 2 if unwrap(two_ctas) else 1
    return sum(any(block & moved == 0 for moved in shared) for block in range(0, 1 << bits, step))
