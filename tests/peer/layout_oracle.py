"""Asks the Triton wheel for layouts; run as a script in a process of its own, because it aborts on what it dislikes.

stdin: a JSON list of [kind, arguments, shape]; stdout: a JSON list of {register, lane, warp, block} bases, or of
booleans for `same_shared` queries (whether two shared encodings, given as text, place every element alike).
"""

import json
import os
import sys
import tempfile


def main() -> None:
    from triton._C.libtriton import amd, gluon_ir, ir, nvidia

    context = ir.context()
    for loader in (ir, nvidia, amd):
        (loader.load_dialects)(context)
    builder = gluon_ir.GluonOpBuilder(context)

    def encode(kind, args):
        match kind:
            case "blocked":
                return builder.get_blocked_layout(*args)
            case "slice":
                return builder.get_slice_layout(args[0], encode(*args[1]))
            case "nvidia_mma":
                return builder.get_mma_layout(*args)
            case "dot_op":
                return builder.get_dot_operand_layout(args[0], encode(*args[1]), args[2])
            case "amd_mfma":
                return builder.get_amd_mfma_layout(*args)
            case "amd_wmma":
                return builder.get_amd_wmma_layout(*args)
            case "linear":
                return builder.get_distributed_linear_layout(*args)
        raise ValueError(kind)

    def bases(layout, shape):
        if not hasattr(layout, "reg_bases"):  # the wheel hands simple layouts back as they are
            raise ValueError(f"no bases in {layout}")
        return {
            "register": layout.reg_bases,
            "lane": layout.lane_bases,
            "warp": layout.warp_bases,
            "block": layout.block_bases,
        }

    def same_shared(left, right, shape, element):
        box = "x".join(map(str, shape)) + f"x{element}"
        left_type, right_type = f"!ttg.memdesc<{box}, #left, #smem>", f"!ttg.memdesc<{box}, #right, #smem>"
        order = ", ".join(map(str, range(len(shape))))
        text = f"""
#left = {left}
#right = {right}
#smem = #ttg.shared_memory
module attributes {{"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32}} {{
tt.func @f(%a: {left_type}) {{
  %b = ttg.memdesc_trans %a {{order = array<i32: {order}>}} : {left_type} -> {right_type}
  tt.return
}}
}}
"""
        with tempfile.NamedTemporaryFile("w", suffix=".mlir", delete=False) as file:
            file.write(text)
        try:
            ir.parse_mlir_module(file.name, context)
            return True
        except RuntimeError:
            return False
        finally:
            os.unlink(file.name)

    answers = []
    for kind, args, shape in json.load(sys.stdin):
        if kind == "same_shared":
            answers.append(same_shared(*args[:2], shape, args[2]))
        else:
            answers.append(bases(builder.to_linear_layout(encode(kind, args), shape), shape))
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
