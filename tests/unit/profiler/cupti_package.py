"""A module in the place of ``cupti.cupti``, whose library writes records of what a device would do."""

from __future__ import annotations

import ctypes
import itertools
import os
import random
import time
from threading import local
from types import ModuleType, SimpleNamespace
from typing import Any

import tritonx.profiler as proton
from tests.unit.profiler.cupti_library import Library

RNG = random.Random(int(os.environ["TRITONX_SEED"]))


class GraphData(ctypes.Structure):
    """``CUpti_GraphData`` as cupti.h has it, and the attributes that the package's class has for it."""

    _fields_ = (
        ("graph", ctypes.c_void_p),
        ("original_graph", ctypes.c_void_p),
        ("node", ctypes.c_void_p),
        ("original_node", ctypes.c_void_p),
        ("node_type", ctypes.c_int),
        ("dependency", ctypes.c_void_p),
        ("graph_exec", ctypes.c_void_p),
    )

    @classmethod
    def from_ptr(cls, ptr: int, readonly: bool = False) -> GraphData:
        return cls.from_address(ptr)


class NotSupported(RuntimeError):
    """The package's error."""


class Cupti(ModuleType):
    """The part of ``cupti.cupti`` 13.0.1 that is used, with what a device would do: kernels, captures, graphs."""

    ActivityKind = SimpleNamespace(DRIVER=4, RUNTIME=5, CONCURRENT_KERNEL=10, EXTERNAL_CORRELATION=39)
    ExternalCorrelationKind = SimpleNamespace(CUSTOM0=3)
    CallbackDomain = SimpleNamespace(RESOURCE=3)
    CallbackIdResource = SimpleNamespace(GRAPHNODE_CREATED=13, GRAPHNODE_CLONED=20)
    GraphData = GraphData

    def __init__(self, subscribed: bool = False) -> None:
        super().__init__("cupti.cupti")
        self.library = Library()
        self.others_subscribed = subscribed
        self.of_thread = local()
        self.waiting: list[Any] = []
        self.callback: Any = None
        self.enabled: set[tuple[int, int]] = set()
        self.ids: dict[int, int] = {}
        self.count = itertools.count(1000)
        self.capturing: list[tuple[int, str]] | None = None
        self.lost = 0

    @property
    def pushed(self) -> list[int]:
        """This thread's."""
        return self.of_thread.__dict__.setdefault("pushed", [])

    @pushed.setter
    def pushed(self, numbers: list[int]) -> None:
        self.of_thread.pushed = numbers

    def activity_enable(self, kind: int) -> None: ...

    def activity_disable(self, kind: int) -> None: ...

    def get_timestamp(self) -> int:
        return time.perf_counter_ns()

    def activity_push_external_correlation_id(self, kind: int, number: int) -> None:
        self.pushed.append(number)

    def activity_pop_external_correlation_id(self, kind: int) -> int:
        if not self.pushed:
            raise NotSupported("CUPTI_ERROR_QUEUE_EMPTY")
        return self.pushed.pop()

    def subscribe(self, callback: Any, userdata: object) -> int:
        if self.others_subscribed:
            raise NotSupported("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED")
        assert self.callback is None
        self.callback, self.userdata = callback, userdata
        return 77

    def unsubscribe(self, subscriber: int) -> None:
        assert subscriber == 77
        self.callback = None
        self.enabled.clear()

    def enable_callback(self, enable: int, subscriber: int, domain: int, cbid: int) -> None:
        assert (enable, subscriber) == (1, 77)
        self.enabled.add((domain, cbid))

    def get_graph_node_id(self, node: int) -> int:
        return self.ids[node]

    def activity_flush_all(self, forced: int) -> None:
        ready = len(self.waiting) if forced else RNG.randrange(len(self.waiting) + 1)
        self.library.deliver(self.waiting[:ready])
        del self.waiting[:ready]

    # ---- the device

    def tell(self, callback: int, node: int, original: int = 0) -> None:
        if self.callback is not None and (3, callback) in self.enabled:
            data = GraphData(node=node, original_node=original)
            self.callback(self.userdata, 3, callback, SimpleNamespace(resource_descriptor=ctypes.addressof(data)))

    def new_node(self) -> int:
        node = next(self.count) << 12
        self.ids[node] = next(self.count)
        return node

    def kernel(self, name: str) -> None:
        if self.capturing is None:
            self.waiting += self.records([(0, name)])
        else:
            node = self.new_node()
            self.tell(13, node)
            self.capturing.append((node, name))

    def kernel_of_another_thread(self, name: str) -> None:
        """Of one that has pushed no number; clocks agree within microseconds."""
        time.sleep(1e-4)
        pushed, self.pushed = self.pushed, []
        found = self.records([(0, name)])
        call = SimpleNamespace(kind=4, correlation_id=found[0].correlation_id, start=time.perf_counter_ns())
        self.waiting += RNG.sample([*found, call], 2)
        self.pushed = pushed
        time.sleep(1e-4)

    def instantiated(self, nodes: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """CUPTI tells of each copy as made and as copied."""
        made: list[tuple[int, str]] = []
        for original, name in nodes:
            made.append((self.new_node(), name))
            for callback in RNG.sample((13, 20), 2):
                self.tell(callback, made[-1][0], original)
        return made

    def launch_graph(self, nodes: list[tuple[int, str]]) -> None:
        self.waiting += self.records([(self.ids[node], name) for node, name in nodes])

    def records(self, kernels: list[tuple[int, str]]) -> list[Any]:
        """Of one call."""
        correlation, now = next(self.count), time.perf_counter_ns()
        found = [
            SimpleNamespace(
                kind=10, correlation_id=correlation, start=now, end=now + 5, name=name, device_id=0, stream_id=7,
                graph_node_id=node,
            )
            for node, name in kernels
        ]  # fmt: skip
        if self.pushed:
            external = {"external_kind": 3, "external_id": self.pushed[-1]}
            found.append(SimpleNamespace(kind=39, correlation_id=correlation, **external))
        return RNG.sample(found, len(found))


def counts(session: int | None) -> dict[str, int]:
    return counted(proton.data.get(session)[0])


def counted(node: Any, above: str = "") -> dict[str, int]:
    found: dict[str, int] = {}
    for child in node["children"]:
        path = f"{above}{child['frame']['name']}"
        if child["metrics"].get("count"):
            found[path] = child["metrics"]["count"]
        found |= counted(child, f"{path}/")
    return found
