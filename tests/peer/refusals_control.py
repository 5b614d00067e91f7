"""Statements, names, loops, branches and calls that Triton's code generator refuses."""

from __future__ import annotations

from refusal_case import Case

CALLEES = """
from collections import namedtuple
NUMBER = 3
WORD = "a"
FACTOR = tl.constexpr(3)
Pair = namedtuple("Pair", ["a", "b"])

@triton.jit
def add(y, z):
    return y + z
@triton.jit
def nothing(y):
    pass
@triton.jit(noinline=True)
def apart(y):
    return y
@triton.jit
def differs(y):
    if y > 3:
        return y
    return y * 1.5
@triton.jit
def returns_type(y):
    return tl.float32
@triton.jit
def returns_text(y):
    return "a"
@triton.jit
def failing(y):
    return y + nowhere
@triton.must_use_result
@triton.jit
def wanted(y):
    return y
@triton.must_use_result("it is new")
@triton.jit
def wanted_text(y):
    return y
@triton.jit
def over_and_over(y):
    return over_and_over(y)
@triton.constexpr_function
def fails_early(y):
    raise ValueError("no")
@triton.constexpr_function
def twice(y):
    return y * 2
"""

RECORD = """
@tl.core._aggregate
class P:
    y: tl.tensor
    z: tl.constexpr
    @triton.constexpr_function
    def __init__(self, y, z=3):
        self.y = y
        self.z = tl.constexpr(z)
"""


AROUND = """
class around:
    __triton_builtin__ = True
    def __init__(self, y, _semantic=None):
        pass
    def __enter__(self):
        return self
    def __exit__(self, *raised):
        pass
"""

FIELDS = """
@tl.core._aggregate
class F:
    y: tl.tensor
    z: tl.tensor
@tl.core._aggregate
class C:
    y: tl.tensor
    @triton.constexpr_function
    def __init__(self, y):
        self.y = y
        self.y = 3
"""


def called(table: dict[str, str]) -> dict[str, Case]:
    return {name: Case(body, head=CALLEES) for name, body in table.items()}


def kernel(parameters: str, body: str, head: str = "", **given: object) -> Case:
    """A kernel with parameters of its own."""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    return Case(source=f"{CALLEES}{head}\n@triton.jit\ndef kernel({parameters}):\n{lines}", **given)  # type: ignore[arg-type]  # fields of Case


CASES: dict[str, Case] = {
    **called(
        {
            "name_unknown": "n + nowhere",
            "name_global": "n + NUMBER",
            "name_global_text": "tl.static_print(WORD)",
            "name_deleted": "del n",
            "name_python_builtin": "sorted(n)",
            "plain_function": "Pair._make(n, n, n)",
            "attribute_unknown": "tl.nowhere(n)",
            "attribute_of_tensor": "x.nowhere",
            "assign_attribute": "x.y = 3",
            "assign_element": "x[0] = 3",
            "assign_tuple_element": "y = (1, 2)\ny[0] = 3",
            "assign_twice": "y = z = n",
            "assign_starred": "y, *z = (1, 2, 3)",
            "assign_unpack_few": "y, z = (n,)",
            "assign_unpack_many": "y, z = (n, n, n)",
            "assign_unpack_tensor": "y, z = n",
            "assign_constexpr_twice": "y: tl.constexpr = 3\ny: tl.constexpr = 4",
            "assign_text": "y = 'a'",
            "assign_list": "y = [1, 2]\ny.append(3)",
            "assign_dict": "y = {1: 2}",
            "assign_set": "y = {1, 2}",
            "assign_lambda": "y = lambda z: z",
            "assign_walrus": "(y := n)",
            "augmented_element": "x[0] += 1",
            "augmented_power": "n **= n",
            "comprehension_nested": "y = [z + t for z in (1, 2) for t in (1, 2)]",
            "comprehension_range": "y = [z for z in range(3)]",
            "comprehension_of_tensor": "y = [z for z in n]",
            "comprehension_set": "y = {z for z in (1, 2)}",
            "generator": "y = tuple(z for z in (1, 2))",
            "compare_chain": "y = 0 < n < 3",
            "compare_in": "y = n in (1, 2)",
            "compare_not_in": "y = n not in (1, 2)",
            "matrix_product": "y = a @ a",
            "unary_of_tuple": "y = -(1, 2)",
            "unary_of_text": "y = -'a'",
            "unary_not_tuple": "y = ~(1, 2)",
            "if_block": "if i > 3:\n    tl.store(p, 1.0)",
            "if_block_2d": "if v > 3:\n    tl.store(p, 1.0)",
            "if_text": "if 'a':\n    tl.store(p, 1.0)",
            "if_float": "if 1.5:\n    tl.store(p, 1.0)",
            "if_tuple": "if (1, 2):\n    tl.store(p, 1.0)",
            "if_dtype": "if tl.float32:\n    tl.store(p, 1.0)",
            "if_expression_text": "y = 1 if 'a' else 2",
            "if_expression_float": "y = 1 if 1.5 else 2",
            "if_expression_types": "y = 1 if n > 3 else 2.0",
            "if_expression_shapes": "y = i if n > 3 else n",
            "if_expression_block": "y = 1 if i > 3 else 2",
            "if_expression_tuple": "y = (1, 2) if n > 3 else (3, 4)",
            "if_type_in_then": "y = n\nif n > 3:\n    y = 1.5",
            "if_type_in_else": "y = n\nif n > 3:\n    y = n + 1\nelse:\n    y = 1.5",
            "if_shape_in_then": "y = n\nif n > 3:\n    y = i",
            "if_types_of_new": "if n > 3:\n    y = 1.5\nelse:\n    y = 1\ntl.store(k, y)",
            "if_class_of_new": "if n > 3:\n    y = (1, 2)\nelse:\n    y = 1\ntl.store(k, y)",
            "if_constexpr_changed": "y: tl.constexpr = 3\nif n > 3:\n    y = 4\ntl.static_assert(y == 4)",
            "if_one_side": "if n > 3:\n    y = n\ntl.store(k, y)",
            "return_in_loop": "for y in range(n):\n    if n > 3:\n        return",
            "return_in_while": "y = n\nwhile y > 3:\n    if n > 3:\n        return\n    y -= 1",
            "returns_differ": "y = differs(n)",
            "returns_type": "y = returns_type(n)",
            "returns_text": "y = returns_text(n)",
            "nested_function": "def inner(y):\n    return y",
            "nested_function_same": "def inner(n):\n    return n",
            "unary_of_dtype": "y = -tl.float32",
            "tuple_times_tuple": "y = (1, 2) * (3, 4)",
            "nested_class": "class C:\n    pass",
            "loop_type": "y = n\nfor z in range(n):\n    y = y * 1.5",
            "loop_shape": "y = n\nfor z in range(n):\n    y = y + i",
            "loop_class": "y = n\nfor z in range(n):\n    y = (y, y)",
            "loop_tuple": "y = (n, n)\nfor z in range(n):\n    y = (n, n, n)",
            "loop_constexpr": "y: tl.constexpr = 3\nfor z in range(n):\n    y = n",
            "loop_dtype": "y = tl.float32\nfor z in range(n):\n    y = tl.float16",
            "loop_none": "y = None\nfor z in range(n):\n    y = n",
            "loop_to_none": "y = n\nfor z in range(n):\n    y = None",
            "loop_parameter": "for z in range(n):\n    N = n",
            "loop_else": "for z in range(n):\n    pass\nelse:\n    pass",
            "loop_of_tensor": "for z in i:\n    pass",
            "loop_of_number": "for z in n:\n    pass",
            "loop_of_list_call": "for z in list((1, 2)):\n    pass",
            "loop_of_enumerate": "for z in enumerate((1, 2)):\n    pass",
            "loop_of_zip": "for y, z in zip((1, 2), (3, 4)):\n    pass",
            "loop_of_function": "for z in add(n, n):\n    pass",
            "loop_float_end": "for z in range(s):\n    pass",
            "loop_float_start": "for z in range(1.5, n):\n    pass",
            "loop_float_step": "for z in range(0, n, s):\n    pass",
            "loop_block_end": "for z in range(i):\n    pass",
            "loop_block_start": "for z in range(i, n):\n    pass",
            "loop_block_step": "for z in range(0, n, i):\n    pass",
            "loop_pointer_end": "for z in range(p):\n    pass",
            "loop_no_bounds": "for z in range():\n    pass",
            "loop_target_tuple": "for y, z in range(n):\n    pass",
            "loop_async": "while_ = n\nfor z in tl.range(n, nothing=3):\n    pass",
            "loop_break": "for z in range(n):\n    break",
            "loop_continue": "for z in range(n):\n    continue",
            "while_else": "y = n\nwhile y > 3:\n    y -= 1\nelse:\n    pass",
            "while_type": "y = n\nwhile y > 3:\n    y = y * 1.5",
            "while_block": "y = i\nwhile y > 3:\n    y = y - 1",
            "while_true": "while True:\n    pass",
            "while_break": "y = n\nwhile y > 3:\n    break",
            "static_range_runtime": "for z in tl.static_range(n):\n    pass",
            "static_range_runtime_end": "for z in tl.static_range(0, n):\n    pass",
            "static_range_runtime_step": "for z in tl.static_range(0, 4, n):\n    pass",
            "static_range_float": "for z in tl.static_range(1.5):\n    pass",
            "static_range_zero_step": "for z in tl.static_range(0, 4, 0):\n    pass",
            "static_assert_false": "tl.static_assert(N == 4)",
            "static_assert_message": "tl.static_assert(N == 4, 'no')",
            "static_assert_bad_message": "tl.static_assert(N == 4, nowhere)",
            "static_assert_runtime": "tl.static_assert(n == 4)",
            "static_assert_number": "tl.static_assert(3)",
            "static_assert_nothing": "tl.static_assert()",
            "static_assert_many": "tl.static_assert(True, 'a', 'b')",
            "static_assert_keyword": "tl.static_assert(cond=True)",
            "fstring_tensor": "tl.static_print(f'{n}')",
            "fstring_format": "tl.static_print(f'{n:>5}')",
            "fstring_elsewhere": "tl.device_print(f'{n}', n)",
            "with_tensor": "with n:\n    pass",
            "with_return": "with tl.async_task([0]):\n    return",
            "try": "try:\n    y = n\nfinally:\n    pass",
            "raise": "raise ValueError('a')",
            "import": "import math",
            "import_from": "from math import sqrt",
            "global": "global NUMBER\nNUMBER = 3",
            "yield": "yield n",
            "match": "match n:\n    case 3:\n        pass",
            "slice_step_runtime": "y = (1, 2, 3)[n]",
            "tuple_index_range": "y = (1, 2)[5]",
            "tuple_index_text": "y = (1, 2)['a']",
            "tuple_index_float": "y = (1, 2)[1.5]",
            "tuple_index_runtime": "y = (1, 2)[n]",
            "tuple_times_runtime": "y = (1, 2) * n",
            "tuple_plus_number": "y = (1, 2) + 3",
            "tuple_attribute": "y = (1, 2).nowhere",
            "noinline_block": "apart(i)",
            "noinline_pointer_block": "apart(p + i)",
            "call_missing": "add(n)",
            "call_many": "add(n, n, n)",
            "call_keyword": "add(n, q=3)",
            "call_twice": "add(n, n, y=3)",
            "call_starred_tensor": "add(*n)",
            "call_starred_keywords": "add(**{'y': 1})",
            "call_tensor": "n(3)",
            "call_number": "(3)(n)",
            "call_text": "'a'(n)",
            "call_builtin_many": "tl.abs(n, n, n)",
            "call_builtin_keyword": "tl.abs(n, nothing=3)",
            "call_builtin_missing": "tl.store(p)",
            "call_failing": "failing(n)",
            "call_recursive": "y = over_and_over(n)",
            "call_unused": "wanted(n)",
            "call_unused_text": "wanted_text(n)",
            "call_constexpr_failing": "y = fails_early(3)",
            "call_constexpr_runtime": "y = twice(n)\ntl.static_assert(y == 3)",
            "call_int_of_tensor": "y = int(n)",
            "call_float_of_tensor": "y = float(n)",
            "call_len_of_scalar": "y = len(n)",
            "call_len_of_number": "y = len(3)",
            "call_range": "y = range(n)",
            "call_isinstance": "tl.static_assert(isinstance(n, tl.block_type))",
            "call_getattr": "y = getattr(n, 'nowhere')",
            "call_sum_of_list": "y = sum([1, 2])",
            "call_kernel_launch": "add[(1,)](n, n)",
            "constexpr_divided_by_zero": "y = N // 0",
            "constexpr_attribute": "y = N.nowhere",
            "constexpr_text_added": "y = N + 'a'",
            "constexpr_called": "y = N(3)",
            "record_missing": "y = Pair(n)",
            "print_unknown": "print(n, end='')",
            "bytes": "y = b'a'",
            "complex": "y = 3j",
            "ellipsis": "y = ...",
            "formatted_type": "tl.static_assert(False, f'{i}')",
            "dtype_called": "y = tl.float32(3)",
            "dtype_unknown": "y = n.to(tl.float7)",
            "to_nothing": "y = n.to(None)",
            "num_stages_runtime": "for z in tl.range(0, n, num_stages=n):\n    pass",
            "return_with_loop": "for z in range(n):\n    return",
        }
    ),
    "noinline_kernel_block": Case("y = apart(v)", head=CALLEES),
    "constexpr_not_specialized": Case(
        source=CALLEES + "\n@triton.jit(do_not_specialize=['N'])\ndef kernel(n, N: tl.constexpr):\n    y = n + N\n",
        signature={"n": "i32", "N": "constexpr"},
    ),
    "starred_parameters": kernel("*args", "y = 3", signature={}, constants={}),
    "keyword_parameters": kernel("n, **kwargs", "y = n", signature={"n": "i32"}, constants={}),
    "keyword_only": kernel("n, *, m", "y = n + m", signature={"n": "i32", "m": "i32"}, constants={}),
    "default_twice": kernel(
        "n, N: tl.constexpr = NUMBER", "N: tl.constexpr = 3", signature={"n": "i32", "N": "constexpr"}
    ),
    "return_mismatch": kernel(
        "n", "if n > 3:\n    return 1\nelse:\n    return 1.5", signature={"n": "i32"}, constants={}
    ),
    "signature_unknown_type": kernel("n", "y = n", signature={"n": "i7"}, constants={}),
    "signature_missing": kernel("n, m", "y = n + m", signature={"n": "i32"}, constants={}),
    "signature_number": kernel("n", "y = n", signature={3: "i32"}, constants={}),
    "constants_list": kernel("n, N: tl.constexpr", "y = n", signature={"n": "i32", "N": "constexpr"}, constants={1: 3}),
    "kernel_name": Case(
        source="\ndef f(n):\n    y = n\nf.__qualname__ = f.__name__ = 'a-b'\nkernel = triton.jit(f)\n",
        signature={"n": "i32"},
        constants={},
    ),
    "kernel_repr": Case(
        source="\n@triton.jit(repr=lambda proxy: 'not a name')\ndef kernel(n):\n    y = n\n",
        signature={"n": "i32"},
        constants={},
    ),
    "with_return_builtin": Case("with around(n):\n    return", head=AROUND),
    "with_unknown_builtin": Case("with around(n) as (y, z):\n    pass", head=AROUND),
    **{
        f"fields_{name}": Case(f"y = {made}", head=FIELDS)
        for name, made in (
            ("many", "F(n, n, n)"),
            ("twice", "F(n, y=n)"),
            ("missing", "F(n)"),
            ("unknown", "F(n, n, q=3)"),
            ("replaced_number", "tl.aggregate_replace(n, y=3)"),
            ("replaced_unknown", "tl.aggregate_replace(F(n, n), q=3)"),
        )
    },
    "fields_set": Case("y = F(n, n)\ny.y = 3", head=FIELDS),
    "fields_changed": Case("y = C(n)", head=FIELDS),
    "fields_base": Case("y = n", head="class Base:\n    pass\n@tl.core._aggregate\nclass F(Base):\n    y: tl.tensor\n"),
    "record_missing_field": Case(
        "y = Q(n)", head=RECORD.replace("class P", "class Q").replace("        self.z = tl.constexpr(z)\n", "")
    ),
    "record_unknown_field": Case("y = P(n)", head=RECORD + "        self.t = y\n"),
    "record_wrong_type": Case("y = P(3)", head=RECORD.replace("self.y = y", "self.y = 'a'")),
    "record_set": Case("y = P(n)\ny.z = 3", head=RECORD),
    "record_in_loop": Case("y = P(n)\nfor z in range(n):\n    y = P(y.y * 1.5)", head=RECORD),
    "record_in_branch": Case("if n > 3:\n    y = P(n, 3)\nelse:\n    y = P(n, 4)", head=RECORD),
    "record_index": Case("y = P(n)[0]", head=RECORD),
    "record_added": Case("y = P(n) + 3", head=RECORD),
    "record_argument_many": Case("y = P(n, 3, 4)", head=RECORD),
    "record_argument_none": Case("y = P()", head=RECORD),
}
