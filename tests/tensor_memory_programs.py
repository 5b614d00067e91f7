"""Programs of `ttg` that use tensor memory, as text: a product, and a tile that goes through tensor memory.

Every level of text reads them."""

from __future__ import annotations

from dataclasses import dataclass, field

WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "i32": 32, "i8": 8, "f8E4M3FN": 8, "f8E5M2": 8}
MEMORY = "#ttng.tensor_memory"


def bases(*found: tuple[int, int]) -> str:
    return "[" + ", ".join(f"[{row}, {column}]" for row, column in found) + "]"


def doubled(first: int, end: int, dim: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    while first < end:
        found.append((first, 0) if dim == 0 else (0, first))
        first *= 2
    return found


def linear(registers: list[tuple[int, int]], lanes: list[tuple[int, int]], warps: list[tuple[int, int]]) -> str:
    return (
        f"#ttg.linear<{{register = {bases(*registers)}, lane = {bases(*lanes)}, warp = {bases(*warps)}, block = []}}>"
    )


def rows_in_lanes(rows: int, columns: int, warps: int = 4, block_n: int | None = None) -> str:
    """A row in each lane, as `32x32b` moves it; of 64 rows half of the columns in each half of the lanes."""
    more = doubled(columns // (warps // 4), columns, 1)
    own = columns // (warps // 4)
    if rows == 128:
        return linear(doubled(1, own, 1), doubled(1, 32, 0), [(32, 0), (64, 0), *more])
    return linear(doubled(1, own // 2, 1), [*doubled(1, 16, 0), (0, own // 2)], [(16, 0), (32, 0), *more])


def shared(element: str, columns: int, *, transposed: bool = False, width: int | None = None) -> str:
    """The layout that a matrix unit reads, of rows of so many elements (columns if it is transposed)."""
    nbytes = columns * WIDTHS[element] // 8
    swizzle = next(w for w in (128, 64, 32, 0) if nbytes >= w) if width is None else width
    said = f"swizzlingByteWidth = {swizzle}, transposed = {str(transposed).lower()}"
    return f"#ttg.nvmma_shared<{{{said}, elementBitWidth = {WIDTHS[element]}}}>"


@dataclass
class Program:
    """The text of a kernel of pointers to row-major arrays, operands first, the result last."""

    warps: int = 4
    aliases: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        self.lines.append(f"    {line}")

    def alias(self, name: str, text: str) -> str:
        self.aliases[name] = text
        return f"#{name}"

    def _pointers(self, name: str, element: str, rows: int, columns: int, layout: str) -> str:
        self.arguments.append(f"%{name}: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}")
        shape = f"{rows}x{columns}"
        parts: list[str] = []
        for dim, size, one in ((1, rows, f"{rows}x1"), (0, columns, f"1x{columns}")):
            of = f"#ttg.slice<{{dim = {dim}, parent = {layout}}}>"
            part = f"%{name}_{dim}"
            self.add(f"{part}r = tt.make_range {{start = 0 : i32, end = {size} : i32}} : tensor<{size}xi32, {of}>")
            self.add(
                f"{part}e = tt.expand_dims {part}r {{axis = {dim} : i32}} : tensor<{size}xi32, {of}> -> "
                f"tensor<{one}xi32, {layout}>"
            )
            value = f"{part}e"
            if dim == 1:
                self.add(f"{part}c = arith.constant dense<{columns}> : tensor<{one}xi32, {layout}>")
                self.add(f"{part}m = arith.muli {part}e, {part}c : tensor<{one}xi32, {layout}>")
                value = f"{part}m"
            self.add(f"{part}b = tt.broadcast {value} : tensor<{one}xi32, {layout}> -> tensor<{shape}xi32, {layout}>")
            parts.append(f"{part}b")
        self.add(f"%{name}o = arith.addi {parts[0]}, {parts[1]} : tensor<{shape}xi32, {layout}>")
        pointers = f"tensor<{shape}x!tt.ptr<{element}>, {layout}>"
        self.add(f"%{name}s = tt.splat %{name} : !tt.ptr<{element}> -> {pointers}")
        self.add(f"%{name}p = tt.addptr %{name}s, %{name}o : {pointers}, tensor<{shape}xi32, {layout}>")
        return pointers

    def load(self, name: str, element: str, rows: int, columns: int, layout: str) -> str:
        """A tile from an array of its own; the value, and its type."""
        pointers = self._pointers(name, element, rows, columns, layout)
        self.add(f"%{name}v = tt.load %{name}p : {pointers}")
        return f"%{name}v"

    def store(self, name: str, value: str, element: str, rows: int, columns: int, layout: str) -> None:
        pointers = self._pointers(name, element, rows, columns, layout)
        self.add(f"tt.store %{name}p, {value} : {pointers}")

    def text(self) -> str:
        aliases = "\n".join(f"#{name} = {text}" for name, text in self.aliases.items())
        said = '"ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"'
        body = "\n".join(self.lines)
        return (
            f"{aliases}\n#smem = #ttg.shared_memory\n"
            f'module attributes {{"ttg.num-warps" = {self.warps} : i32, {said}}} {{\n'
            f"  tt.func public @kernel({', '.join(self.arguments)}) {{\n{body}\n    tt.return\n  }}\n}}\n"
        )


def blocked(warps: int) -> str:
    return (
        "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], "
        f"warpsPerCTA = [{warps}, 1], order = [1, 0]}}>"
    )


@dataclass(frozen=True)
class Product:
    """C = A · B (+ C): ``m`` by ``k`` and ``k`` by ``n``. ``along``: A with M, or B with N, contiguous. ``block_n``:
    the columns of an instruction. ``a_in_tensor_memory``: where A lies."""

    element: str
    m: int
    n: int
    k: int
    result: str = "f32"
    block_m: int = 128
    block_n: int | None = None
    along: tuple[bool, bool] = (False, False)
    a_in_tensor_memory: bool = False
    other: str = ""
    adds: bool = False
    warps: int = 4

    @property
    def name(self) -> str:
        words = [self.element, self.other, f"{self.m}x{self.n}x{self.k}", self.result, f"b{self.block_m}"]
        words += [f"n{self.block_n}"] if self.block_n else []
        words += [word for word, true in zip("mn", self.along, strict=True) if true]
        words += ["t"] * self.a_in_tensor_memory + ["adds"] * self.adds + [f"w{self.warps}"] * (self.warps != 4)
        return "_".join(filter(None, words))

    def text(self) -> str:
        p = Program(self.warps)
        element, other = self.element, self.other or self.element
        plain = p.alias("blocked", blocked(self.warps))
        a_along, b_along = self.along
        in_a = p.alias("a", shared(element, self.m if a_along else self.k, transposed=a_along))
        in_b = p.alias("b", shared(other, self.n if b_along else self.k, transposed=not b_along))
        bar = p.alias("bar", "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>")
        block_n = self.block_n or self.n
        said = f"blockM = {self.block_m}, blockN = {block_n}, colStride = {32 // WIDTHS[self.result]}"
        acc = p.alias("tmem", f"#ttng.tensor_memory_encoding<{said}>")
        rows = p.alias("rows", rows_in_lanes(self.m if self.block_m == 64 else 128, self.n, self.warps))
        a = p.load("x", element, self.m, self.k, plain)
        b = p.load("y", other, self.k, self.n, plain)
        type_a = f"!ttg.memdesc<{self.m}x{self.k}x{element}, {in_a}, #smem>"
        if self.a_in_tensor_memory:
            layout = p.alias("arows", rows_in_lanes(self.m, self.k, self.warps))
            stride = p.alias(
                "tmema", f"#ttng.tensor_memory_encoding<blockM = {self.block_m}, blockN = {self.k}, colStride = 1>"
            )
            tile = f"tensor<{self.m}x{self.k}x{element}"
            p.add(f"%ac = ttg.convert_layout {a} : {tile}, {plain}> -> {tile}, {layout}>")
            type_a = f"!ttg.memdesc<{self.m}x{self.k}x{element}, {stride}, {MEMORY}, mutable>"
            p.add(f"%at = ttng.tmem_alloc %ac : ({tile}, {layout}>) -> {type_a}")
            a = "%at"
        else:
            p.add(f"%as = ttg.local_alloc {a} : (tensor<{self.m}x{self.k}x{element}, {plain}>) -> {type_a}")
            a = "%as"
        type_b = f"!ttg.memdesc<{self.k}x{self.n}x{other}, {in_b}, #smem>"
        p.add(f"%bs = ttg.local_alloc {b} : (tensor<{self.k}x{self.n}x{other}, {plain}>) -> {type_b}")
        type_d = f"!ttg.memdesc<{self.m}x{self.n}x{self.result}, {acc}, {MEMORY}, mutable>"
        tile = f"tensor<{self.m}x{self.n}x{self.result}"
        p.add("%true = arith.constant true")
        p.add("%false = arith.constant false")
        p.add("%c0 = arith.constant 0 : i32")
        p.add(f"%d = ttng.tmem_alloc : () -> {type_d}")
        if self.adds:
            c = p.load("w", self.result, self.m, self.n, plain)
            p.add(f"%wc = ttg.convert_layout {c} : {tile}, {plain}> -> {tile}, {rows}>")
            p.add(f"ttng.tmem_store %wc, %d, %true : {tile}, {rows}> -> {type_d}")
        type_bar = f"!ttg.memdesc<1xi64, {bar}, #smem, mutable>"
        p.add(f"%done = ttg.local_alloc : () -> {type_bar}")
        p.add(f"ttng.init_barrier %done, 1 : {type_bar}")
        p.add("ttng.fence_async_shared {bCluster = false}")
        keeps = "%true" if self.adds else "%false"
        p.add(
            f"ttng.tc_gen5_mma {a}, %bs, %d, {keeps}, %true, %done[%true] {{is_async}} : {type_a}, {type_b}, "
            f"{type_d}, {type_bar}"
        )
        p.add(f"ttng.wait_barrier %done, %c0 : {type_bar}")
        p.add(f"ttng.inval_barrier %done : {type_bar}")
        p.add(f"%out = ttng.tmem_load %d : {type_d} -> {tile}, {rows}>")
        p.add(f"%o = ttg.convert_layout %out : {tile}, {rows}> -> {tile}, {plain}>")
        p.store("z", "%o", self.result, self.m, self.n, plain)
        return p.text()


PRODUCTS = (
    Product("f16", 128, 128, 64),
    Product("bf16", 128, 64, 32, adds=True),
    Product("f16", 128, 256, 32, along=(True, True)),
    Product("f16", 128, 32, 64, along=(True, False), result="f16"),
    Product("bf16", 256, 128, 64, block_n=64),
    Product("f16", 64, 64, 64, block_m=64),
    Product("f16", 64, 128, 32, block_m=64, adds=True),
    Product("f32", 128, 64, 32),
    Product("f8E5M2", 128, 64, 64, other="f8E4M3FN"),
    Product("f8E4M3FN", 128, 128, 128, result="f16"),
    Product("i8", 128, 64, 64, result="i32"),
    Product("f16", 128, 64, 64, a_in_tensor_memory=True),
    Product("f8E4M3FN", 128, 64, 128, a_in_tensor_memory=True),
    Product("f16", 128, 128, 64, warps=8, adds=True),
    Product("f16", 128, 64, 16, along=(False, True)),
)


@dataclass(frozen=True)
class Passage:
    """A tile that is stored to tensor memory in one layout, and loaded in another: ``registers`` and ``lanes`` say
    what each bit adds."""

    name: str
    element: str
    columns: int
    stored: str
    loaded: str
    stride: int = 1
    warps: int = 4
    rows: int = 128

    def text(self) -> str:
        p = Program(self.warps)
        plain = p.alias("blocked", blocked(self.warps))
        into, out = p.alias("into", self.stored), p.alias("out", self.loaded)
        said = f"blockM = {self.rows}, blockN = {self.columns}, colStride = {self.stride}"
        memory = p.alias("tmem", f"#ttng.tensor_memory_encoding<{said}>")
        tile = f"tensor<{self.rows}x{self.columns}x{self.element}"
        type_ = f"!ttg.memdesc<{self.rows}x{self.columns}x{self.element}, {memory}, {MEMORY}, mutable>"
        x = p.load("x", self.element, self.rows, self.columns, plain)
        p.add("%true = arith.constant true")
        p.add(f"%xc = ttg.convert_layout {x} : {tile}, {plain}> -> {tile}, {into}>")
        p.add(f"%t = ttng.tmem_alloc : () -> {type_}")
        p.add(f"ttng.tmem_store %xc, %t, %true : {tile}, {into}> -> {type_}")
        p.add(f"%out = ttng.tmem_load %t : {type_} -> {tile}, {out}>")
        p.add(f"%o = ttg.convert_layout %out : {tile}, {out}> -> {tile}, {plain}>")
        p.store("z", "%o", self.element, self.rows, self.columns, plain)
        return p.text()


WARPS = [(32, 0), (64, 0)]
AS_ROWS = rows_in_lanes(128, 64)
AS_MMA = linear([(0, 1), (8, 0), *doubled(8, 64, 1), (16, 0)], [(0, 2), (0, 4), *doubled(1, 8, 0)], WARPS)
"""`16x256b`: as `mma` has its results."""
AS_HALVES = linear([*doubled(2, 64, 1), (16, 0)], [(8, 0), (0, 1), *doubled(1, 8, 0)], WARPS)
"""`16x64b`."""
AS_QUARTERS = linear([(8, 0), *doubled(4, 64, 1), (16, 0)], [(0, 1), (0, 2), *doubled(1, 8, 0)], WARPS)
"""`16x128b`."""
ANY_ORDER = linear([(0, 4), (0, 1), (0, 32), (0, 2), (0, 8), (0, 16)], doubled(1, 32, 0), WARPS)
NARROW_MMA = linear([(0, 1), (0, 2), (8, 0), *doubled(16, 64, 1), (16, 0)], [(0, 4), (0, 8), *doubled(1, 8, 0)], WARPS)
PASSAGES = (
    Passage("rows", "f32", 64, AS_ROWS, AS_ROWS),
    Passage("mma", "f32", 64, AS_ROWS, AS_MMA),
    Passage("halves", "f32", 64, AS_HALVES, AS_QUARTERS),
    Passage("quarters", "i32", 64, AS_QUARTERS, AS_MMA),
    Passage("any order", "f32", 64, ANY_ORDER, AS_ROWS),
    Passage("packed", "f16", 64, AS_ROWS, AS_ROWS),
    Passage("packed by the instruction", "bf16", 64, AS_ROWS, AS_ROWS, stride=2),
    Passage("bytes", "i8", 64, AS_ROWS, AS_ROWS),
    Passage("wide", "f32", 256, rows_in_lanes(128, 256), rows_in_lanes(128, 256)),
    Passage("eight warps", "f32", 64, rows_in_lanes(128, 64, 8), rows_in_lanes(128, 64, 8), warps=8),
    Passage("half of the rows", "f32", 64, rows_in_lanes(64, 64), rows_in_lanes(64, 64), rows=64),
)
