"""Data flow is followed in a recursion's order, however deep it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from tritonx.ir.data_flow import sources_first

Graph = Mapping[int, Sequence[int]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Each node's sources are nodes of lower numbers."""
    return {n: draw(st.lists(st.integers(0, n - 1), max_size=3)) if n else [] for n in range(draw(st.integers(1, 12)))}


def recursive(graph: Graph, roots: Sequence[int]) -> list[int]:
    found: list[int] = []

    def visit(node: int) -> None:
        if node not in found:
            for source in graph[node]:
                visit(source)
            found.append(node)

    for root in roots:
        visit(root)
    return found


@given(graphs(), st.data())
def test_the_order_is_that_of_the_recursion(graph: Graph, data: st.DataObject) -> None:
    roots = data.draw(st.lists(st.sampled_from(sorted(graph)), max_size=3))
    assert list(sources_first(roots, graph.__getitem__)) == recursive(graph, roots)


def test_chains_may_be_longer_than_pythons_stack() -> None:
    assert list(sources_first((100_000,), lambda n: (n - 1,) if n else ())) == list(range(100_001))


def test_a_cycle_ends_where_it_began() -> None:
    assert list(sources_first((0,), {0: (1,), 1: (2,), 2: (0,)}.__getitem__)) == [2, 1, 0]
