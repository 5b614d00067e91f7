"""The codes that gfx90a has for itself: the emulator reads its instructions with the tables of its successors.

"CDNA 2" and "CDNA 4" ISA, "Instruction Formats". The products of matrices have the names of those with the same types
and extents; a product with a sum that is rounded twice is read as the one that is rounded once, which no successor has
otherwise. LLVM takes the former in divisions of integers and halves alone, which correct what it leaves."""

from __future__ import annotations

PROCESSOR = "gfx90a"

V_MAD_F32, V_FMA_F32 = 0xD1C1, 0xD1CB
"""In three operands, and a result of its own (VOP3)."""
V_MAC_F32, V_FMAC_F32 = 0x16, 0x3B
"""With the sum in the destination, in seven bits (VOP2); gfx950 has a product of bfloats at the former."""

_PRODUCTS = {
    0xD3D4: "V_MFMA_I32_32X32X8_I8",
    0xD3D5: "V_MFMA_I32_16X16X16_I8",
    0xD3E6: "V_MFMA_F32_32X32X8_BF16",
    0xD3E7: "V_MFMA_F32_16X16X16_BF16",
}
"""Of codes that are other products on its successors, or none."""
_V_MFMA_F32_16X16X16_F16 = 0xD3CD
"""A product with a code on all of them, as which the emulator reads the fields of those."""


def product_of(code: int) -> str | None:
    """The product that the upper half of a dword names here and not on successors, or nothing.

    >>> product_of(0xD3E7), product_of(0xD3CD)
    ('V_MFMA_F32_16X16X16_BF16', None)
    """
    return _PRODUCTS.get(code)


def readable(code: int) -> int:
    """The upper half of an instruction's first dword, by which a successor's table has its fields.

    >>> [hex(readable(code)) for code in (0xD3E7, 0xD1C1, 0x2C0A, 0x0201)]
    ['0xd3cd', '0xd1c1', '0x2c0a', '0x201']
    """
    return _V_MFMA_F32_16X16X16_F16 if code in _PRODUCTS else code


def rounded_once(code: int) -> int:
    """The same of a product with a sum, which is executed instead.

    >>> [hex(rounded_once(code)) for code in (0xD1C1, 0x2C0A, 0x0201)]
    ['0xd1cb', '0x760a', '0x201']
    """
    if code == V_MAD_F32:
        return V_FMA_F32
    return V_FMAC_F32 << 9 | code & 0x1FF if code >> 9 == V_MAC_F32 else code
