"""Every rule of the axis analysis on every operand kind: the claims as a table, and numbers to hold them against.

A claim that gets weaker makes code slower and nothing wrong, so that only a table notices it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tritonx.analysis.axis_info import analyze_axes
from tritonx.analysis.axis_value import LARGEST, AxisInfo, Sign
from tritonx.ir.text import parse_module

N = 16
TILE = f"tensor<{N}xi32>"
HEAD = (
    "%x16: i32 {tt.divisibility = 16 : i32, tt.negative = 1 : i32}, %x: i32 {tt.negative = 1 : i32}, "
    "%n: i32 {tt.divisibility = 16 : i32}, %flag: i1"
) + "".join(f", %{element}: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}" for element in ("i8", "f32", "f64"))
PRELUDE = f"""
%pid = tt.get_program_id x : i32
%m16 = tt.splat %x16 : i32 -> {TILE}
%any = tt.splat %x : i32 -> {TILE}
%n16 = tt.splat %n : i32 -> {TILE}
%id = tt.splat %pid : i32 -> {TILE}
%r0 = tt.make_range {{start = 0 : i32, end = {N} : i32}} : {TILE}
%r4 = tt.make_range {{start = 4 : i32, end = {N + 4} : i32}} : {TILE}
%c0 = arith.constant dense<0> : {TILE}
%c1 = arith.constant dense<1> : {TILE}
%c3 = arith.constant dense<3> : {TILE}
%c4 = arith.constant dense<4> : {TILE}
%-4 = arith.constant dense<-4> : {TILE}
%row = arith.addi %m16, %r0 : {TILE}
%tile = arith.addi %n16, %r0 : {TILE}
%runs = arith.divui %r0, %c4 : {TILE}
%steps = arith.muli %r4, %c4 : {TILE}
%mask = arith.cmpi slt, %r0, %c4 : {TILE}
%zero = arith.constant dense<0.0> : tensor<{N}xf32>
""".replace("%-4", "%n4")
KINDS = ("m16", "any", "id", "r0", "r4", "c0", "c1", "c3", "c4", "n4", "row", "runs", "steps", "n16", "tile")
OPS = (
    "addi subi muli divsi divui remsi remui shli shrsi shrui andi ori xori maxsi minsi maxui minui"
    " slt sle sgt sge ult ule ugt uge eq ne"
).split()
COMPARISONS = OPS[OPS.index("slt") :]
POINTER = "!tt.ptr<{}>"
ALIGNED = 16 * 12345
"""What the pointers are."""


def _tensor(shape: str, element: str = "i32") -> str:
    return f"tensor<{shape}x{element}>"


def _reshape(old: str, new: str, order: str = "") -> str:
    return f"tt.reshape A {order}: {_tensor(old)} -> {_tensor(new)}"


def _pointers(element: str) -> str:
    tile = _tensor("16", POINTER.format(element))
    return f"""A_b = tt.splat %{element} : {POINTER.format(element)} -> {tile}
        R = tt.addptr A_b, A : {tile}, {TILE}"""


ROWS = f"""A_e = tt.expand_dims A {{axis = 0 : i32}} : {TILE} -> tensor<1x16xi32>
R = tt.broadcast A_e : tensor<1x16xi32> -> tensor<4x16xi32>"""
COLUMNS = f"""A_c = tt.expand_dims A {{axis = 1 : i32}} : {TILE} -> tensor<16x1xi32>
R = tt.broadcast A_c : tensor<16x1xi32> -> tensor<16x12xi32>"""
FORMS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray] | None]] = {
    "extsi": (f"R = arith.extsi A : {TILE} to tensor<16xi64>", lambda x: x),
    "extui": (f"R = arith.extui A : {TILE} to tensor<16xi64>", lambda x: x & 0xFFFFFFFF),
    "trunci i16": (f"R = arith.trunci A : {TILE} to tensor<16xi16>", lambda x: ((x + 2**15) & 0xFFFF) - 2**15),
    "trunci i3": (f"R = arith.trunci A : {TILE} to tensor<16xi3>", lambda x: ((x + 4) & 7) - 4),
    "index": (f"R = arith.index_cast A : {TILE} to tensor<16xindex>", lambda x: x),
    "bitcast": (f"R = tt.bitcast A : {TILE} -> tensor<16xf32>", None),
    "expand": (f"R = tt.expand_dims A {{axis = 0 : i32}} : {TILE} -> tensor<1x16xi32>", lambda x: x[None]),
    "rows": (ROWS, lambda x: np.broadcast_to(x, (4, N))),
    "columns": (COLUMNS, lambda x: np.broadcast_to(x[:, None], (N, 12))),
    "trans": (
        COLUMNS.replace("R =", "A_t =")
        + "\nR = tt.trans A_t {order = array<i32: 1, 0>} : tensor<16x12xi32> -> tensor<12x16xi32>",
        lambda x: np.broadcast_to(x, (12, N)),
    ),
    "reshape 4x4": ("R = " + _reshape("16", "4x4"), lambda x: x.reshape(4, 4)),
    "reshape 16x1": ("R = " + _reshape("16", "16x1"), lambda x: x.reshape(N, 1)),
    "reshape 1x2x8": ("R = " + _reshape("16", "1x2x8"), lambda x: x.reshape(1, 2, 8)),
    "reshape 1x16x1": ("R = " + _reshape("16", "1x16x1"), lambda x: x.reshape(1, N, 1)),
    "reshape 8x2x1": ("R = " + _reshape("16", "8x2x1"), lambda x: x.reshape(8, 2, 1)),
    "reorder": ("R = " + _reshape("16", "2x8", "allow_reorder "), lambda x: x[::-1].reshape(2, 8)),
    "rows 64": (
        ROWS.replace("R =", "A_r =") + f"\nR = {_reshape('4x16', '64').replace('A ', 'A_r ')}",
        lambda x: np.tile(x, 4),
    ),
    "join": (f"R = tt.join A, %r4 : {TILE} -> tensor<16x2xi32>", lambda x: np.stack([x, np.arange(N) + 4], 1)),
    "join itself": (f"R = tt.join A, A : {TILE} -> tensor<16x2xi32>", lambda x: np.stack([x, x], 1)),
    "split": (
        f"A_2 = {_reshape('16', '8x2')}\nR, A_o = tt.split A_2 : tensor<8x2xi32> -> tensor<8xi32>",
        lambda x: x[::2],
    ),
    "cat": (f"R = tt.cat A, %r4 : {TILE} -> tensor<32xi32>", lambda x: np.concatenate([np.arange(N) + 4, x])),
    "select": (f"R = arith.select %flag, A, %r4 : {TILE}", lambda x: x),
    "select other": (f"R = arith.select %flag, %steps, A : {TILE}", lambda x: x),
    "select by mask": (
        f"R = arith.select %mask, A, %r4 : tensor<16xi1>, {TILE}",
        lambda x: np.where(np.arange(N) < 4, x, np.arange(N) + 4),
    ),
    "pointers i8": (_pointers("i8"), lambda x: ALIGNED + x),
    "pointers f32": (_pointers("f32"), lambda x: ALIGNED + 4 * x),
    "pointers f64": (_pointers("f64"), lambda x: ALIGNED + 8 * x),
    "address": (
        _pointers("f32").replace("R =", "A_q =")
        + f"\nR = tt.ptr_to_int A_q : {_tensor('16', '!tt.ptr<f32>')} -> tensor<16xi64>",
        lambda x: ALIGNED + 4 * x,
    ),
    "address i8": (
        _pointers("i8").replace("R =", "A_q =")
        + f"\nR = tt.ptr_to_int A_q : {_tensor('16', '!tt.ptr<i8>')} -> tensor<16xi64>",
        lambda x: ALIGNED + x,
    ),
    "pointer of i8": (
        f"A_i = arith.extsi A : {TILE} to tensor<16xi64>\n"
        f"R = tt.int_to_ptr A_i : tensor<16xi64> -> {_tensor('16', '!tt.ptr<i8>')}",
        lambda x: x,
    ),
    "pointer of f32": (
        f"A_i = arith.extsi A : {TILE} to tensor<16xi64>\n"
        f"R = tt.int_to_ptr A_i : tensor<16xi64> -> {_tensor('16', '!tt.ptr<f32>')}",
        lambda x: x,
    ),
    "pointer as f64": (
        _pointers("f32").replace("R =", "A_q =")
        + f"\nR = tt.bitcast A_q : {_tensor('16', '!tt.ptr<f32>')} -> {_tensor('16', '!tt.ptr<f64>')}",
        lambda x: ALIGNED + 4 * x,
    ),
    "pointer as i32": (
        _pointers("f32").replace("R =", "A_q =")
        + f"\nR = tt.bitcast A_q : {_tensor('16', '!tt.ptr<f32>')} -> {_tensor('16', '!tt.ptr<i32>')}",
        lambda x: ALIGNED + 4 * x,
    ),
    "load": (
        _pointers("f32").replace("R =", "A_q =") + f"\nR = tt.load A_q : {_tensor('16', '!tt.ptr<f32>')}",
        lambda x: x % 1021,
    ),
    "load masked": (
        _pointers("f32").replace("R =", "A_q =") + f"\nR = tt.load A_q, %mask, %zero : {_tensor('16', '!tt.ptr<f32>')}",
        lambda x: np.where(np.arange(N) < 4, x % 1021, 0),
    ),
    "sitofp": (f"R = arith.sitofp A : {TILE} to tensor<16xf32>", lambda x: x),
    "stated D": (f"R = arith.addi A, %c0 {{tt.divisibility = dense<8> : tensor<1xi32>}} : {TILE}", None),
    "stated C": (f"R = arith.addi A, %c0 {{tt.contiguity = dense<8> : tensor<1xi32>}} : {TILE}", None),
    "stated K": (f"R = arith.addi A, %c0 {{tt.constancy = dense<[2]> : tensor<1xi32>}} : {TILE}", None),
    "stated, one": (f"R = arith.addi A, %c0 {{tt.constancy = 8 : i32}} : {TILE}", None),
    "stated, two": (f"R = arith.addi A, %c0 {{tt.constancy = dense<8> : tensor<2xi32>}} : {TILE}", None),
}
"""Ops on one tile ``A`` that give ``R``: their text, and the numbers; pointers count in bytes."""


@dataclass(frozen=True)
class Inputs:
    """What the scalars are; ``n`` is a size."""

    x16: int
    x: int
    pid: int
    n: int

    def tiles(self) -> dict[str, np.ndarray]:
        r0 = np.arange(N, dtype=np.int64)
        full = {"m16": self.x16, "any": self.x, "id": self.pid, "n16": self.n}
        full.update({"c0": 0, "c1": 1, "c3": 3, "c4": 4, "n4": -4})
        tiles = {name: np.full(N, value, dtype=np.int64) for name, value in full.items()}
        made = {"row": self.x16 + r0, "tile": self.n + r0, "runs": r0 // 4, "steps": (r0 + 4) * 4}
        return {**tiles, "r0": r0, "r4": r0 + 4, **made}


def text() -> str:
    lines = [f"%{op}_{a}_{b} = arith.{spelled(op)} %{a}, %{b} : {TILE}" for op in OPS for a in KINDS for b in KINDS]
    lines += [form.replace("A", f"%{a}").replace("R", f"%{name}") for a, name, form in _forms()]
    return f"tt.func public @f({HEAD}) {{\n{PRELUDE}\n" + "\n".join(lines) + "\ntt.return\n}\n"


def _forms() -> Iterator[tuple[str, str, str]]:
    """Kind, what the result is called, and the text; what lies between has names of its own."""
    for number, (form, _) in enumerate(FORMS.values()):
        for a in KINDS:
            inner = re.sub(r"A_(\w)", rf"%form{number}_{a}_\1", form)
            yield a, f"form{number}_{a}", inner


def spelled(op: str) -> str:
    return f"cmpi {op}," if op in COMPARISONS else op


def claims() -> dict[tuple[str, ...], AxisInfo]:
    """By op and operand kinds."""
    module = parse_module(text())
    facts = analyze_axes(module)
    named = {r.name_hint: facts.of(r) for op in module.walk() for r in op.results if r.name_hint}
    forms = {(name, a): named[f"form{number}_{a}"] for number, name in enumerate(FORMS) for a in KINDS}
    return {**forms, **{(op, a, b): named[f"{op}_{a}_{b}"] for op in OPS for a in KINDS for b in KINDS}}


def shown(info: AxisInfo) -> str:
    """Contiguity, divisibility, constancy, each where it is not 1; the constant; ``+`` where it is not negative,
    ``p`` where it is presumed not to be."""
    numbers = [("C", info.contiguity), ("D", info.divisibility), ("K", info.constancy)]
    parts = [f"{name}{'.'.join('0' if k == LARGEST else str(k) for k in n)}" for name, n in numbers if set(n) != {1}]
    constant = [] if info.constant is None else [f"={info.constant}"]
    sign = {Sign.NON_NEGATIVE: "+", Sign.PRESUMED: "p"}.get(info.sign, "")
    return "".join([*parts, *constant, sign]) or "-"


def table() -> str:
    found = claims()

    def row(title: str, cells: Iterator[str]) -> str:
        return (title.ljust(16) + " ".join(cell.ljust(9) for cell in cells)).rstrip()

    lines: list[str] = []
    for op in OPS:
        lines.append(row(op, iter(KINDS)))
        lines += [row("  " + a, (shown(found[op, a, b]) for b in KINDS)) for a in KINDS]
    lines.append(row("", iter(KINDS)))
    lines += [row(name, (shown(found[name, a]) for a in KINDS)) for name in FORMS]
    return "\n".join(lines) + "\n"


def _unsigned(x: np.ndarray) -> np.ndarray:
    return x & 0xFFFFFFFF


def _wrapped(x: np.ndarray) -> np.ndarray:
    return ((x + 2**31) & 0xFFFFFFFF) - 2**31


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.sign(x) * np.sign(y) * (abs(x) // abs(y))


MEANING: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "addi": lambda x, y: x + y,
    "subi": lambda x, y: x - y,
    "muli": lambda x, y: x * y,
    "divsi": _quotient,
    "divui": lambda x, y: _unsigned(x) // _unsigned(y),
    "remsi": lambda x, y: x - _quotient(x, y) * y,
    "remui": lambda x, y: _unsigned(x) % _unsigned(y),
    "shli": lambda x, y: x << y,
    "shrsi": lambda x, y: x >> y,
    "shrui": lambda x, y: _unsigned(x) >> y,
    "andi": lambda x, y: x & y,
    "ori": lambda x, y: x | y,
    "xori": lambda x, y: x ^ y,
    "maxsi": np.maximum,
    "minsi": np.minimum,
    "maxui": lambda x, y: np.maximum(_unsigned(x), _unsigned(y)),
    "minui": lambda x, y: np.minimum(_unsigned(x), _unsigned(y)),
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
    "ult": lambda x, y: _unsigned(x) < _unsigned(y),
    "ule": lambda x, y: _unsigned(x) <= _unsigned(y),
    "ugt": lambda x, y: _unsigned(x) > _unsigned(y),
    "uge": lambda x, y: _unsigned(x) >= _unsigned(y),
    "eq": np.equal,
    "ne": np.not_equal,
}


def computed(op: str, x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray | None:
    """The op's numbers, as i32 has them where there are two tiles; None where they do not exist."""
    if y is None:
        meaning = FORMS[op][1]
        return None if meaning is None else meaning(x)
    if op[:3] in ("div", "rem") and (y == 0).any():
        return None
    if op[:2] == "sh" and ((y < 0) | (y > 31)).any():
        return None
    return _wrapped(MEANING[op](x, y).astype(np.int64))
