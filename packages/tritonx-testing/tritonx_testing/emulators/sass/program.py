"""PTX of a warp each of whose threads has some bytes of an array, and computes with them."""

from __future__ import annotations

_TEXT = """.version 8.7
.target {target}
.address_size 64
.visible .entry kernel(.param .u64 out)
.reqntid 32, 1, 1
{{
	.reg .b16 %rs<4>;
	.reg .b32 %r<99>;
	.reg .b64 %rd<4>;
	ld.param.b64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, {size};
	add.s64 %rd3, %rd1, %rd2;
{body}
	ret;
}}
"""


def of_a_warp(target: str, size: int, *lines: str) -> str:
    """``%rd3`` is the address of a thread's ``size`` bytes; `%rs1` to `%rs3` and from `%r2` on registers are free."""
    return _TEXT.format(target=target, size=size, body="\n".join(f"\t{line}" for line in lines))
