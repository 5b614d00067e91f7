"""The cases of the conformance suite: every combination, and the covering set."""

from __future__ import annotations

from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.suite import FAMILIES, cases


def test_all_combinations_have_names_of_their_own() -> None:
    """Two of one name raise."""
    full = cases(Cover(full=True))
    assert len(full) > 10 * len(cases(Cover(full=False)))
    assert {case.name.partition("/")[0] for case in full} == set(FAMILIES)
