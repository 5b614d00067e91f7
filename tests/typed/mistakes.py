"""What pyright finds wrong in kernels: the rule stands behind each line with a mistake."""

# pyright: basic
# ruff: noqa: F841, RUF059  # what stands for its mistake alone

import tritonx
import tritonx.language as tl


@tritonx.jit
def helper(x, BLOCK: tl.constexpr):
    return x + tl.arange(0, BLOCK)


@tritonx.jit(noinline=True)
def other(x, y=1):
    return x + y


@tritonx.jit
def kernel(p, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    m = at < n
    x = tl.load(p + at, mask=m)
    tl.load(p + at, maks=m)  # reportCallIssue
    tl.foo(x)  # reportAttributeAccessIssue
    tl.store(p + at)  # reportCallIssue
    tl.dot(x)  # reportCallIssue
    tl.sum(x, axes=1)  # reportCallIssue
    tl.math.expp(x)  # reportAttributeAccessIssue
    tl.core.addd(x, x)  # reportAttributeAccessIssue
    x.summ()  # reportAttributeAccessIssue
    x.sum(axes=0)  # reportCallIssue
    x.to()  # reportCallIssue
    y = x + "a"  # reportOperatorIssue
    a, b, c = tl.split(x)  # reportAssignmentType
    helper(x)  # reportCallIssue
    helper(x, BLOCKS=4)  # reportCallIssue reportCallIssue
    other(x, 1, 2)  # reportCallIssue
    tl.arange(BLOCK)  # reportCallIssue
    for i in tl.range(0, n, num_stage=3):  # reportCallIssue
        x += i
    tl.make_tensor_descriptor(p, [n], [1], [BLOCK]).laod([0])  # reportAttributeAccessIssue


tritonx.gti()  # reportAttributeAccessIssue
tritonx.jit(kernel.fn, noinlne=True)  # reportCallIssue
tritonx.Config({"BLOCK": 4}, num_wraps=4)  # reportCallIssue
tritonx.autotune(configs=[])  # reportCallIssue
tritonx.next_power_of_2("8")  # reportArgumentType
tritonx.testing.do_benchmark(kernel)  # reportAttributeAccessIssue
