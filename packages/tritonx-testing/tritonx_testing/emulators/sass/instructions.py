"""What the instructions compute, as far as they are seen in straight programs of integers.

NVIDIA describes none of this: names and operands are nvdisasm's, the meaning is what they are used for. That it is
right is known by the programs that a GPU ran with the same results (docs/history/measurements.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from tritonx_testing.emulators.ptx.scalar import COMPARISONS, JOINED, looked_up
from tritonx_testing.emulators.sass.operands import LANES, LONG, WORD, Array, NotKnown, Threads, signed

Meaning = Callable[[Threads, Sequence[str], Sequence[str]], None]
"""Of the threads, the words behind the instruction's name, and its operands."""


def _refuse_unless(known: bool, words: Sequence[str], operands: Sequence[str]) -> None:
    if not known:
        raise NotKnown(f"{'.'.join(words)} {', '.join(operands)}")


def _results(operands: Sequence[str]) -> tuple[list[str], list[str]]:
    """Predicates among the results, and the other operands."""
    made, rest = list[str](), list(operands[1:])
    while rest and re.fullmatch(r"U?P[T\d]", rest[0]):
        made.append(rest.pop(0))
    return made, [operands[0], *rest]


def move(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    _refuse_unless(list(words) in ([], ["64"]), words, o)
    if words:
        t.write_pair(o[0], t.pair(o[-1]))
    else:
        t.write(o[0], t.word(o[-1]))


def load_constant(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    count = {"": 1, "64": 2, "128": 4}.get(".".join(words), 0)
    found = re.fullmatch(r"c\[0x0\]\[0x([0-9a-f]+)\]", o[1])
    _refuse_unless(bool(count) and found is not None, words, o)
    for n in range(count):
        t.write(o[0], np.full(t.count, t.constant(int(found[1], 16) + 4 * n, 4), WORD), n)


def special(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    """One block is all there is, alone in its cluster."""
    _refuse_unless((not words and o[1] == "SR_TID.X") or o[1].startswith(("SR_CTAID", "SR_CgaCtaId")), words, o)
    t.write(o[0], np.arange(t.count, dtype=WORD) if o[1] == "SR_TID.X" else np.zeros(t.count, WORD))


def clear(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    _refuse_unless(not words and o[1] == "SRZ", words, o)
    t.write_pair(o[0], np.zeros(t.count, LONG))


def select(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    _refuse_unless(list(words) in ([], ["64"]), words, o)
    read, write = (t.pair, t.write_pair) if words else (t.word, t.write)
    write(o[0], np.where(t.predicate(o[3]), read(o[1]), read(o[2])))


def two_halves(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    """A sum of halves with nothing in front: a constant."""
    _refuse_unless(list(o[1:3]) == ["-RZ", "RZ"] and set(words) <= {"MMA"}, words, o)
    high, low = (int(np.float16(float(x)).view(np.uint16)) for x in o[3:5])
    t.write(o[0], np.full(t.count, high << 16 | low, WORD))


def permute(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    """Bytes of two words, or their signs."""
    _refuse_unless(not words, words, o)
    eight = np.stack([t.word(o[n]) >> WORD(8 * i) & WORD(255) for n in (1, 3) for i in range(4)])
    made = np.zeros(t.count, WORD)
    for i in range(4):
        which = t.word(o[2]) >> WORD(4 * i) & WORD(15)
        byte = eight[(which & WORD(7)).astype(int), np.arange(t.count)]
        sign = np.where(byte & WORD(128), WORD(255), WORD(0))
        made |= np.where(which & WORD(8), sign, byte).astype(WORD) << WORD(8 * i)
    t.write(o[0], made)


def add_three(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    carries, (target, *sources) = _results(o)
    extended = list(words) == ["X"]
    _refuse_unless(extended or (not words and len(sources) == 3), words, o)
    total = sum((t.word(s).astype(LONG) if extended else t.addend(s) for s in sources[:3]), np.zeros(t.count, LONG))
    for carry in sources[3:]:
        total = total + t.predicate(carry).astype(LONG)
    _refuse_unless(all(c in ("PT", "UPT") for c in carries[1:]), words, o)
    for carry in carries[:1]:
        t.write_predicate(carry, total >> LONG(32) != 0)
    t.write(target, total & LONG(0xFFFFFFFF))


def add_two(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    if list(words) == ["64"]:
        return t.write_pair(o[0], t.pair(o[1]) + t.pair(o[2]))
    a, b = t.word(o[1]), t.word(o[2])
    if list(words) == ["16x2"]:
        return t.write(o[0], a + b & WORD(0xFFFF) | (a >> WORD(16)) + (b >> WORD(16)) << WORD(16))
    _refuse_unless(not words, words, o)
    t.write(o[0], a + b)


def multiply_add(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    a, b = t.word(o[1]), t.word(o[2])
    if words and words[0] in ("WIDE", "HI"):
        _refuse_unless(len(o) == 4 and list(words[1:]) in ([], ["U32"]), words, o)
        whole = a.astype(LONG) * b if words[1:] else (signed(a).astype(np.int64) * signed(b)).view(LONG)
        total = whole + t.pair(o[3])
        return t.write_pair(o[0], total) if words[0] == "WIDE" else t.write(o[0], total >> LONG(32))
    extended = list(words) == ["X"]
    known = extended or set(words) <= {"IADD", "MOV", "SHL", "U32"}
    _refuse_unless(known and len(o) == 4 + extended and not o[0].startswith("P"), words, o)
    t.write(o[0], a * b + t.word(o[3]) + (t.predicate(o[4]).astype(WORD) if extended else WORD(0)))


def shifted_sum(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    """A number shifted to the left, or what is shifted out of it, and another."""
    carries, (target, *s) = _results(o)
    kind, extended = [w for w in words if w != "X"], "X" in words
    if not kind:
        a = (t.word(s[0].lstrip("-")) << WORD(int(s[2], 0))).astype(LONG)
        total = (LONG(1 << 32) - a if s[0].startswith("-") else a) + t.addend(s[1])
        _refuse_unless(len(s) == 3 and not extended, words, o)
    else:
        _refuse_unless(kind in (["HI"], ["HI", "SX32"]) and len(s) == 4 - ("SX32" in kind) + extended, words, o)
        a = t.word(s[0])
        long = signed(a).astype(np.int64).view(LONG) if "SX32" in kind else t.word(s[2]).astype(LONG) << LONG(32) | a
        by = LONG(int(s[2] if "SX32" in kind else s[3], 0))
        total = (long << by >> LONG(32)) + t.word(s[1])
        total = total + t.predicate(s[-1]).astype(LONG) if extended else total
    for carry in carries:
        t.write_predicate(carry, total >> LONG(32) != 0)
    t.write(target, total & LONG(0xFFFFFFFF))


def logic(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    found = [o[0]] if re.fullmatch(r"U?P[T\d]", o[0]) else []
    target, a, b, c, table, more = o[len(found) :]
    _refuse_unless(list(words) in (["LUT"], ["LUT", "PAND"]) and more in ("!PT", "!UPT"), words, o)
    made = looked_up(t.word(a), t.word(b), t.word(c), int(table, 0))
    for predicate in found:
        t.write_predicate(predicate, made != 0)
    t.write(target, made)


def predicate_logic(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    _refuse_unless(list(words) == ["LUT"], words, o)
    sources = [t.predicate(p) for p in o[2:5]]
    made = [looked_up(*sources, int(table, 0)) for table in o[5:7]]
    for name, value in zip(o, made, strict=False):
        t.write_predicate(name, value)


def shift(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    """Of a word, or of two as one."""
    low, by, high = (t.word(x) for x in o[1:4])
    kind, wraps = ".".join(w for w in words if w != "W"), "W" in words
    long = high.astype(LONG) << LONG(32) | low
    bits = 64 if "64" in kind else 32
    by = by & WORD(bits - 1) if wraps else np.minimum(by, WORD(32 if bits == 32 else 63))
    if kind in ("L.U32", "L.U64.HI"):
        made = long << by.astype(LONG) >> LONG(32 if kind.endswith("HI") else 0) & LONG(0xFFFFFFFF)
    elif kind in ("R.U32.HI", "R.S32.HI") and o[1] == "RZ":
        wide = high.astype(LONG) if kind == "R.U32.HI" else signed(high).astype(np.int64)
        made = (wide >> by.astype(wide.dtype)).view(LONG) & LONG(0xFFFFFFFF)
    elif kind == "R.U32.HI" and o[1] == o[3] and wraps:
        made = long >> by.astype(LONG) & LONG(0xFFFFFFFF)
    else:
        _refuse_unless(kind in ("R.U64", "R.S64"), words, o)
        wide = long if kind == "R.U64" else long.view(np.int64)
        made = (wide >> by.astype(wide.dtype)).view(LONG) & LONG(0xFFFFFFFF)
    t.write(o[0], made)


def extended_sign(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    _refuse_unless(list(words) in ([], ["U32"]) and o[2].startswith("0x"), words, o)
    by = 32 - int(o[2], 0)
    left = t.word(o[1]) << WORD(by)
    t.write(o[0], left >> WORD(by) if words else (left.view(np.int32) >> np.int32(by)).view(WORD))


def absolute(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    _refuse_unless(not words, words, o)
    a = t.word(o[1])
    t.write(o[0], np.where(signed(a) < 0, ~a + WORD(1), a))


def compare(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    """Where it is extended these are the upper words, and a predicate says what the lower ones gave."""
    joins = [w.lower() for w in words if w.lower() in JOINED]
    _refuse_unless(len(joins) == 1 and set(words[1:]) <= {joins[0].upper(), "U32", "U64", "S64", "EX"}, words, o)
    if "U64" in words or "S64" in words:
        a, b = (t.pair(x) if "U64" in words else t.pair(x).view(np.int64) for x in o[2:4])
    else:
        a, b = (t.word(x) if "U32" in words else signed(t.word(x)) for x in o[2:4])
    compared = words[0].lower()
    made = COMPARISONS[compared](a, b)
    if "EX" in words:
        equal, strict = a == b, {"le": "lt", "ge": "gt"}.get(compared, compared)
        made = np.where(equal, t.predicate(o[5]), COMPARISONS[strict](a, b))
    _refuse_unless(len(o) == 5 + ("EX" in words), words, o)
    first, second = (JOINED[joins[0]](value, t.predicate(o[4])) for value in (made, ~made))
    t.write_predicate(o[0], first)
    t.write_predicate(o[1], second)


def extremum_of(t: Threads, words: Sequence[str], values: Sequence[Array], least: str) -> Array:
    """The least where the predicate holds; of words, or of two numbers of 16 bits each."""
    kind = ".".join(w for w in words if w != "S32")
    types = {"": np.int32, "U32": WORD, "RELU": np.int32, "S16x2": np.int16, "U16x2": np.uint16}
    _refuse_unless(kind in types, words, [least])
    each = [np.ascontiguousarray(v).view(types[kind]).reshape(t.count, -1) for v in values]
    smaller, made = t.predicate(least)[:, None], each[0]
    for other in each[1:]:
        made = np.where(smaller, np.minimum(made, other), np.maximum(made, other))
    made = np.maximum(made, 0) if kind == "RELU" else made
    return np.ascontiguousarray(made.astype(types[kind])).view(WORD).reshape(-1)


def extremum(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    made, (target, *sources) = _results(o)
    _refuse_unless(all(p == "PT" for p in made), words, o)
    t.write(target, extremum_of(t, words, [t.word(s) for s in sources[:-1]], sources[-1]))


def extremum_of_sum(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    made, (target, a, b, c, least) = _results(o)
    _refuse_unless(all(p == "PT" for p in made), words, o)
    t.write(target, extremum_of(t, words, [t.word(a) + t.word(b), t.word(c)], least))


def predicates_to_register(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    _refuse_unless(not words and o[1] == "PR", words, o)
    wanted = int(o[3], 0)
    made = t.word(o[2]) & WORD(~wanted & 0xFFFFFFFF)
    for i in (i for i in range(7) if wanted >> i & 1):
        made = made | np.where(t.predicate(f"P{i}"), WORD(1 << i), WORD(0))
    t.write(o[0], made)


def register_to_predicates(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    _refuse_unless(not words and o[0] == "PR", words, o)
    for i in (i for i in range(7) if int(o[2], 0) >> i & 1):
        t.write_predicate(f"P{i}", t.word(o[1]) & WORD(1 << i) != 0)


def shuffle(t: Threads, words: Sequence[str], o: Sequence[str]) -> None:
    _refuse_unless(list(words) in (["IDX"], ["BFLY"]) and o[0] == "PT" and o[4] == "0x1f", words, o)
    threads, by = np.arange(t.count), t.word(o[3]).astype(int) & LANES - 1
    lane = by if words[0] == "IDX" else threads % LANES ^ by
    t.write(o[1], t.word(o[2])[threads // LANES * LANES + lane])


TABLE: dict[str, Meaning] = {
    "MOV": move, "R2UR": move, "LDC": load_constant, "LDCU": load_constant, "S2R": special, "S2UR": special,
    "CS2R": clear, "SEL": select, "HFMA2": two_halves, "PRMT": permute, "IADD3": add_three, "IADD": add_two,
    "VIADD": add_two, "IMAD": multiply_add, "LEA": shifted_sum, "LOP3": logic, "PLOP3": predicate_logic, "SHF": shift,
    "SGXT": extended_sign, "IABS": absolute, "ISETP": compare, "VIMNMX": extremum, "VIMNMX3": extremum,
    "IMNMX": extremum, "VIADDMNMX": extremum_of_sum, "P2R": predicates_to_register, "R2P": register_to_predicates,
    "SHFL": shuffle,
}  # fmt: skip
"""Those of the uniform datapath have the same names behind a U."""
