"""A libcupti that writes records to the buffers that it is given, as cupti.h has them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

SIZES = {4: 40, 5: 40, 10: 216, 39: 24}
FIELDS = {
    10: {
        "start": ("<u8", 16),
        "end": ("<u8", 24),
        "device_id": ("<u4", 40),
        "stream_id": ("<u4", 48),
        "correlation_id": ("<u4", 92),
        "name": ("<i8", 104),
        "graph_node_id": ("<u8", 144),
    },
    39: {"external_kind": ("<i4", 4), "external_id": ("<u8", 8), "correlation_id": ("<u4", 16)},
    4: {"start": ("<u8", 8), "correlation_id": ("<u4", 32)},
    5: {"start": ("<u8", 8), "correlation_id": ("<u4", 32)},
}
INVALID_KIND, AT_END = 21, 12


class Library:
    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.asked = 0

    def cuptiActivityRegisterCallbacks(self, requested: Any, completed: Any) -> int:
        self.requested, self.completed = requested, completed
        return 0

    def cuptiActivityGetNextRecord(self, buffer: Any, size: Any, record: Any) -> int:
        self.asked += 1
        record = record._obj
        kind = ctypes.c_int.from_address(record.value).value
        if kind not in SIZES:
            return INVALID_KIND
        if record.value + SIZES[kind] >= buffer.value + size.value:
            return AT_END
        record.value += SIZES[kind]
        return 0

    def written(self, record: SimpleNamespace) -> bytes:
        found = np.zeros(SIZES.get(record.kind, 16), np.uint8)
        found[:4].view("<i4")[0] = record.kind
        for name, (form, at) in FIELDS.get(record.kind, {}).items():
            value = getattr(record, name, 0)
            if isinstance(value, str):
                text = self.names.setdefault(value, ctypes.create_string_buffer(value.encode()))
                value = ctypes.addressof(text)
            found[at : at + np.dtype(form).itemsize].view(form)[0] = value
        return found.tobytes()

    def deliver(self, records: Iterable[SimpleNamespace]) -> None:
        """Whole records to each buffer, as many as it holds."""
        rest = [self.written(record) for record in records]
        while rest:
            buffer, size, most = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t()
            self.requested(ctypes.byref(buffer), ctypes.byref(size), ctypes.byref(most))
            assert buffer.value and buffer.value % 8 == 0 and most.value == 0
            part: list[bytes] = []
            valid = 0
            while rest and valid + len(rest[0]) <= size.value:
                part.append(rest.pop(0))
                valid += len(part[-1])
            ctypes.memset(buffer.value, 0xFF, size.value)
            ctypes.memmove(buffer.value, b"".join(part), valid)
            self.completed(None, 0, buffer, size, valid)
