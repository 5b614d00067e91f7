"""device_print and device_assert by the service of HIP's runtime that HIP's own printf is made of (``hostcall``).

A message is a series of packets with one descriptor: the first says where it goes, the next ones bring the format with
its final zero, eight bytes a word, and then the arguments, 64 bits each. A descriptor says whether a packet begins or
ends the message and how many words it has; the host's answer to the first one adds the message's number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tritonx.backends.amd.emit import hostcall
from tritonx.conversion.gpu_to_llvm.types import bits

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_BEGIN, _END, _COUNT, _COUNT_MASK = 1, 2, 5, 7 << 5
"""The bits of a descriptor."""
_OUTPUT, _ERROR = 0, 1
"""Where a message goes."""


def print_line(f: FunctionEmitter, text: str, values: list[tuple[str, str, bool]]) -> None:
    _message(f, _OUTPUT, text, [_word(f, *value) for value in values])


def assert_(f: FunctionEmitter, failed: str, message: str, file: str, line: int, function: str) -> None:
    """The message goes to standard error; then the wave traps."""
    with f.where(failed):
        text = f"{file}:{line}: {function}: Assertion `{message}` failed\n".replace("%", "%%")
        _message(f, _ERROR, text, [])
        f.line(f"call void {f.module.declare('void', '@llvm.trap', [])}()")


def _message(f: FunctionEmitter, where: int, text: str, arguments: Sequence[str]) -> None:
    descriptor = _send(f, str(_BEGIN | 1 << _COUNT), [str(where)])
    packets = [_pieces(_words(text)), _pieces(arguments)]
    rest = [words for part in packets for words in part]
    for number, words in enumerate(rest, 1):
        kept = f.inst(f"and i64 {descriptor}, {~(_COUNT_MASK | _BEGIN | _END)}")
        stated = len(words) << _COUNT | (_END if number == len(rest) else 0)
        descriptor = _send(f, f.inst(f"or i64 {kept}, {stated}"), words)


def _pieces(words: Sequence[str]) -> list[Sequence[str]]:
    return [words[first : first + hostcall.WORDS] for first in range(0, len(words), hostcall.WORDS)]


def _words(text: str) -> list[str]:
    """The bytes with their final zero."""
    data = text.encode() + b"\0"
    return [
        str(int.from_bytes(data[at : at + 8], "little", signed=len(data) >= at + 8)) for at in range(0, len(data), 8)
    ]


def _send(f: FunctionEmitter, descriptor: str, words: Sequence[str]) -> str:
    """One packet; gives the descriptor of the next one."""
    given = [descriptor, *words, *["0"] * (hostcall.WORDS - len(words))]
    return f.inst(f"call i64 {hostcall.define(f.module)}({', '.join(f'i64 {word}' for word in given)})")


def _word(f: FunctionEmitter, name: str, elem: str, signed: bool) -> str:
    """A value as an argument's 64 bits."""
    if elem == "double":
        return f.inst(f"bitcast double {name} to i64")
    if bits(elem) == 64:
        return name
    return f.inst(f"{'sext' if signed else 'zext'} {elem} {name} to i64")
