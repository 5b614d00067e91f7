"""The text of an encoding as it stands in a `.ttgir`, parents written out in place (for messages, drawings and
tests).
"""

from __future__ import annotations

from collections.abc import Sequence

from tritonx.layouts.encodings import (
    AmdMfmaEncoding,
    AmdWmmaEncoding,
    Bases,
    BlockedEncoding,
    DotOperandEncoding,
    Encoding,
    LinearEncoding,
    NvidiaMmaEncoding,
    NvmmaSharedEncoding,
    PaddedSharedEncoding,
    RotatingSharedEncoding,
    SharedLinearEncoding,
    SliceEncoding,
    SwizzledSharedEncoding,
)


def encoding_text(e: Encoding) -> str:
    """`#ttg.blocked<{...}>` and its like."""
    match e:
        case BlockedEncoding():
            fields = {
                "sizePerThread": _ints(e.size_per_thread),
                "threadsPerWarp": _ints(e.threads_per_warp),
                "warpsPerCTA": _ints(e.warps_per_cta),
                "order": _ints(e.order),
            }
            return _text("blocked", fields, e.cga)
        case SliceEncoding():
            return _text("slice", {"dim": str(e.dim), "parent": encoding_text(e.parent)})
        case NvidiaMmaEncoding():
            fields = {
                "versionMajor": str(e.version_major),
                "versionMinor": str(e.version_minor),
                "warpsPerCTA": _ints(e.warps_per_cta),
            }
            cga = {"CGALayout": _bases(e.cga)} if e.cga else {}
            return _text("nvidia_mma", {**fields, **cga, "instrShape": _ints(e.instr_shape)})
        case DotOperandEncoding():
            width = {"kWidth": str(e.k_width)} if e.k_width else {}
            return _text("dot_op", {"opIdx": str(e.op_idx), "parent": encoding_text(e.parent), **width})
        case LinearEncoding():
            fields = {"register": e.register, "lane": e.lane, "warp": e.warp, "block": e.block}
            return _text("linear", {name: _bases(bases) for name, bases in fields.items()})
        case AmdMfmaEncoding() | AmdWmmaEncoding():
            return _matrix_core_text(e)
        case _:
            return _shared_text(e)


def _matrix_core_text(e: AmdMfmaEncoding | AmdWmmaEncoding) -> str:
    tiles = {"tilesPerWarp": _ints(e.tiles_per_warp)} if set(e.tiles_per_warp) != {1} else {}
    cga = {"CGALayout": _bases(e.cga)} if e.cga else {}
    fields = {"version": str(e.version)}
    if isinstance(e, AmdMfmaEncoding):
        fields |= {"warpsPerCTA": _ints(e.warps_per_cta), "instrShape": _ints(e.instr_shape)}
        fields |= {"isTransposed": _bool(e.is_transposed), **cga, **tiles}
        if e.element_bit_width != 32:
            fields["elementBitWidth"] = str(e.element_bit_width)
        return _text("amd_mfma", fields)
    fields["isTranspose"] = _bool(e.is_transposed)
    if e.tile_bases is None:
        fields |= {"warpsPerCTA": _ints(e.warps_per_cta), **cga, **tiles}
    else:
        register, warp = map(_bases, e.tile_bases)
        fields |= {"ctaLayout": f"{{register = {register}, warp = {warp}}}", **cga}
    if e.instr_shape != (16, 16, 16):
        fields["instrShape"] = _ints(e.instr_shape)
    return _text("amd_wmma", fields)


def _shared_text(e: Encoding) -> str:
    match e:
        case SwizzledSharedEncoding() | RotatingSharedEncoding():
            name = "swizzled_shared" if isinstance(e, SwizzledSharedEncoding) else "amd_rotating_shared"
            fields = {"vec": str(e.vec), "perPhase": str(e.per_phase), "maxPhase": str(e.max_phase)}
            return _text(name, {**fields, "order": _ints(e.order)}, e.cga)
        case NvmmaSharedEncoding():
            fields = {
                "swizzlingByteWidth": str(e.swizzling_byte_width),
                "transposed": _bool(e.transposed),
                "elementBitWidth": str(e.element_bit_width),
            }
            if e.fp4_padded:
                fields["fp4Padded"] = "true"
            if e.cga:
                fields["CGALayout"] = _bases(e.cga)
            elif e.rank != 2:
                fields["rank"] = str(e.rank)
            return _text("nvmma_shared", fields)
        case PaddedSharedEncoding():
            steps = ", ".join(f"{i}:+{p}" for i, p in zip(e.intervals, e.paddings, strict=True))
            if e.offset is not None:
                fields = {"offset": _bases(e.offset), "block": _bases(e.block)}
            else:
                fields = {"order": _ints(e.order or ()), "shape": _ints(e.shape or ())}
                if e.cga:
                    fields["CGALayout"] = _bases(e.cga)
            return f"#ttg.padded_shared<[{steps}] {{{_fields(fields)}}}>"
        case SharedLinearEncoding():
            fields = {"offset": _bases(e.offset)} | ({"block": _bases(e.block)} if e.block else {})
            return f"#ttg.shared_linear<{{{_fields(fields)}}}, alignment = {e.alignment}>"
        case _:
            raise TypeError(f"not an encoding: {e!r}")


def _text(name: str, fields: dict[str, str], cga: Bases = ()) -> str:
    if cga:
        fields = {**fields, "CGALayout": _bases(cga)}
    return f"#ttg.{name}<{{{_fields(fields)}}}>"


def _fields(fields: dict[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in fields.items())


def _ints(values: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, values)) + "]"


def _bases(bases: Bases) -> str:
    return "[" + ", ".join(_ints(basis) for basis in bases) + "]"


def _bool(value: bool) -> str:
    return "true" if value else "false"
