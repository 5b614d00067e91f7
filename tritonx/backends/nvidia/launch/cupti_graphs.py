"""Which launch put a kernel into a CUDA graph.

CUPTI calls back for each node that is made, in the thread that makes it: while a stream is captured, in the middle of
the launch. The number that the thread has pushed then is the node's. An executable graph has copies of the nodes; for
each copy CUPTI calls back too, both as made and as copied, and the copy gets the number of its original. Records of
kernels that a graph launches name the copy.

CUPTI has one subscriber in a process. Where another one is, and for graphs that were made before, nothing is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class ResourceData(Protocol):
    """What a callback is given. ``resource_descriptor`` is the address of a ``CUpti_GraphData``."""

    resource_descriptor: int


class Graph(Protocol):
    """The attributes of ``CUpti_GraphData`` that are read: addresses of nodes."""

    node: int
    original_node: int


class GraphReader(Protocol):
    """The package's class of it."""

    def from_ptr(self, ptr: int, /) -> Graph: ...


class Domains(Protocol):
    RESOURCE: int


class Callbacks(Protocol):
    GRAPHNODE_CREATED: int
    GRAPHNODE_CLONED: int


class Package(Protocol):
    """What is used of ``cupti.cupti``."""

    GraphData: GraphReader
    CallbackDomain: Domains
    CallbackIdResource: Callbacks

    def subscribe(self, callback: Callable[[object, int, int, ResourceData], None], userdata: object, /) -> int: ...
    def unsubscribe(self, subscriber: int, /) -> object: ...
    def enable_callback(self, enable: int, subscriber: int, domain: int, cbid: int, /) -> object: ...
    def get_graph_node_id(self, node: int, /) -> int: ...
    def activity_pop_external_correlation_id(self, kind: int, /) -> int: ...
    def activity_push_external_correlation_id(self, kind: int, number: int, /) -> object: ...


UNKNOWN = 0
"""The number of copies of nodes that were made before."""


class GraphNodes:
    """``kind`` is the kind of the numbers; ``report`` is told what went wrong: nothing is raised into a launch."""

    def __init__(self, cupti: Package, kind: int, report: Callable[[str], None]) -> None:
        self._cupti, self._kind, self._report = cupti, kind, report
        self._numbers: dict[int, int] = {}
        self._subscriber: int | None = None
        self.reason = "it was made before the session began"
        """Why a node may be unknown."""
        try:
            self._ids = cupti.CallbackIdResource
            self._subscriber = cupti.subscribe(self._told, None)
            for each in (self._ids.GRAPHNODE_CREATED, self._ids.GRAPHNODE_CLONED):
                cupti.enable_callback(1, self._subscriber, cupti.CallbackDomain.RESOURCE, each)
        except Exception as error:  # the package's own error, of whatever class its version has
            self.reason = f"CUPTI cannot be subscribed to: {error}"
            self.close()

    @property
    def is_told(self) -> bool:
        """Whether nodes that are made are known."""
        return self._subscriber is not None

    def number_of(self, node: int) -> int:
        """What was pushed when the node, by its id, was made, or `UNKNOWN`."""
        return self._numbers.get(node, UNKNOWN)

    def numbers(self) -> set[int]:
        """Of all nodes."""
        return {*self._numbers.values()} - {UNKNOWN}

    def close(self) -> None:
        subscriber, self._subscriber = self._subscriber, None
        if subscriber is not None:
            try:
                self._cupti.unsubscribe(subscriber)
            except Exception as error:  # likewise
                self._report(f"CUPTI cannot be unsubscribed from: {error}")

    def _told(self, userdata: object, domain: int, callback: int, data: ResourceData) -> None:
        try:
            self._note(callback, data)
        except Exception as error:  # likewise
            self._report(f"a node of a CUDA graph could not be read: {type(error).__name__}: {error}")

    def _note(self, callback: int, data: ResourceData) -> None:
        graph = self._cupti.GraphData.from_ptr(data.resource_descriptor)
        node = self._cupti.get_graph_node_id(graph.node)
        if callback == self._ids.GRAPHNODE_CLONED:
            original = self._cupti.get_graph_node_id(graph.original_node)
            self._numbers[node] = self._numbers.get(original, UNKNOWN)
        elif callback == self._ids.GRAPHNODE_CREATED:
            self._numbers.setdefault(node, self._pushed())

    def _pushed(self) -> int:
        """The number on top of this thread's stack."""
        try:
            number = self._cupti.activity_pop_external_correlation_id(self._kind)
        except Exception:  # the stack is empty
            return UNKNOWN
        self._cupti.activity_push_external_correlation_id(self._kind, number)
        return number
