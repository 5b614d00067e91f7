"""Programs whose launches Triton refuses, or does not: each is a module that both packages run, as ``T`` and ``tl``.

``steps()`` gives what is done one after the other; `launch` compiles a kernel and runs nothing.
"""

from __future__ import annotations

PROGRAMS: dict[str, str] = {
    "annotated_global": """
W: tl.constexpr = 4
@T.jit
def kernel(n):
    a = n + W
def steps():
    yield lambda: launch(kernel, 3)
""",
    "changed_constexpr": """
W = tl.constexpr(4)
@T.jit
def kernel(n):
    a = n + W
def steps():
    yield lambda: launch(kernel, 3)
    globals()["W"] = tl.constexpr(8)
    yield lambda: launch(kernel, 3)
    globals()["W"] = tl.constexpr(4)
    yield lambda: launch(kernel, 3)
""",
    "changed_text": """
W = tl.constexpr("a")
@T.jit
def kernel(n):
    tl.static_assert(W != "")
def steps():
    yield lambda: launch(kernel, 3)
    globals()["W"] = tl.constexpr("b")
    yield lambda: launch(kernel, 3)
""",
    "changed_of_callee": """
W = tl.constexpr(4)
@T.jit
def inner(n):
    return n + W
@T.jit
def kernel(n):
    a = inner(n)
def steps():
    yield lambda: launch(kernel, 3)
    globals()["W"] = tl.constexpr(5)
    yield lambda: launch(kernel, 3)
""",
    "conflict": """
W = tl.constexpr(4)
@T.jit
def inner(n):
    return n + W
@T.jit
def kernel(n):
    a = inner(n) + W
def steps():
    yield lambda: inner.cache_key and 'ok'
    globals()["W"] = tl.constexpr(5)
    yield lambda: launch(kernel, 3)
""",
    "conflict_of_callees": """
W = tl.constexpr(4)
@T.jit
def one(n):
    return n + W
@T.jit
def two(n):
    return n - W
@T.jit
def kernel(n):
    a = one(n) + two(n)
def steps():
    yield lambda: one.cache_key and 'ok'
    globals()["W"] = tl.constexpr(5)
    yield lambda: two.cache_key and 'ok'
    yield lambda: launch(kernel, 3)
""",
    "closure": """
def make(W):
    @T.jit
    def kernel(n):
        a = n + W
    def change():
        nonlocal W
        W = tl.constexpr(9)
    return kernel, change
kernel, change = make(tl.constexpr(4))
def steps():
    yield lambda: launch(kernel, 3)
    change()
    yield lambda: launch(kernel, 3)
""",
    "not_constexpr": """
W = 4
@T.jit
def kernel(n):
    a = n + W
def steps():
    yield lambda: launch(kernel, 3)
""",
    "undefined": """
@T.jit
def kernel(n):
    a = n + W
def steps():
    yield lambda: launch(kernel, 3)
""",
    "deleted": """
W = tl.constexpr(4)
@T.jit
def kernel(n):
    a = n + W
def steps():
    yield lambda: launch(kernel, 3)
    del globals()["W"]
    yield lambda: launch(kernel, 3)
""",
    "default_argument": """
W = tl.constexpr(4)
@T.jit
def kernel(n, m: tl.constexpr = W):
    a = n + m
def steps():
    yield lambda: launch(kernel, 3)
    globals()["W"] = tl.constexpr(8)
    yield lambda: launch(kernel, 3)
""",
    "hidden_by_parameter": """
W = tl.constexpr(4)
@T.jit
def kernel(n, W: tl.constexpr):
    a = n + W
def steps():
    yield lambda: launch(kernel, 3, W=4)
    globals()["W"] = tl.constexpr(8)
    yield lambda: launch(kernel, 3, W=4)
""",
    "hidden_by_local": """
W = tl.constexpr(4)
@T.jit
def kernel(n):
    W = 3
    a = n + W
def steps():
    yield lambda: launch(kernel, 3)
    globals()["W"] = tl.constexpr(8)
    yield lambda: launch(kernel, 3)
""",
    "builtin_shadowed": """
max = tl.constexpr(4)
@T.jit
def kernel(n):
    a = n + max
def steps():
    yield lambda: launch(kernel, 3)
    globals()["max"] = tl.constexpr(8)
    yield lambda: launch(kernel, 3)
""",
    "list": """
W = tl.constexpr([4, 5])
@T.jit
def kernel(n):
    a = n + W[0]
def steps():
    yield lambda: launch(kernel, 3)
    W.value[0] = 8
    yield lambda: launch(kernel, 3)
""",
    "tuple": """
W = tl.constexpr((4, 5))
@T.jit
def kernel(n):
    a = n + W[0]
def steps():
    yield lambda: launch(kernel, 3)
    globals()["W"] = tl.constexpr((6, 5))
    yield lambda: launch(kernel, 3)
""",
    "dtype": """
W = tl.float32
@T.jit
def kernel(n):
    a = n.to(W)
def steps():
    yield lambda: launch(kernel, 3)
    globals()["W"] = tl.float16
    yield lambda: launch(kernel, 3)
""",
    "plain_function": """
def helper(n):
    return n
@T.jit
def kernel(n):
    a = helper(n)
def steps():
    yield lambda: launch(kernel, 3)
""",
    "unknown_keyword": """
@T.jit
def kernel(n):
    a = n
def steps():
    yield lambda: launch(kernel, 3, nothing=4)
""",
    "deprecated_keywords": """
@T.jit
def kernel(n):
    a = n
def steps():
    yield lambda: launch(kernel, 3, device=0)
    yield lambda: launch(kernel, 3, stream=0)
    yield lambda: kernel.run(3, grid=(1,), warmup=True, stream=None)
    yield lambda: launch(kernel, 3, device_type="cuda")
""",
    "options": """
@T.jit
def kernel(n):
    a = n
def steps():
    for warps in (3, -1, 0):
        yield lambda: launch(kernel, 3, num_warps=warps)
    yield lambda: launch(kernel, 3, num_warps=None, num_stages=None)
    yield lambda: str(launch(kernel, 3, num_warps=None).metadata == launch(kernel, 3).metadata)
""",
    "hooks": """
@T.jit
def kernel(n):
    a = n
def steps():
    for hook in (3, None, "a", []):
        yield lambda: kernel.add_pre_run_hook(hook)
    yield lambda: kernel.add_pre_run_hook(lambda n, **options: None)
    yield lambda: launch(kernel, 3)
    yield lambda: T.jit(3)
    yield lambda: T.jit("kernel")
""",
    "debug": """
@T.jit
def kernel(n):
    a = n
def steps():
    yield lambda: str(launch(kernel, 3).metadata.debug)
    with T.knobs.runtime.scope():
        T.knobs.runtime.debug = True
        yield lambda: str(launch(kernel, 3).metadata.debug)
        yield lambda: str(launch(kernel, 3, debug=False).metadata.debug)
    yield lambda: str(launch(kernel, 3, debug=True).metadata.debug)
""",
    "sources": """
from {package}.compiler import ASTSource, IRSource
def steps():
    yield lambda: T.compile(3)
    yield lambda: T.compile(None)
    yield lambda: T.compile("nowhere.ttir")
    yield lambda: IRSource("nowhere.ttir", None, None)
""",
    "host_helpers": """
from {package} import testing
from {package}.backends.nvidia.compiler import ptx_get_version
def steps():
    yield lambda: tl.dtype("float7")
    yield lambda: tl.dtype(3)
    yield lambda: tl.dtype([])
    for version in ("9.0", "8.5", 12, None):
        yield lambda: ptx_get_version(version)
    yield lambda: testing.do_bench(lambda: None, return_mode="most")
    yield lambda: testing.assert_close(3, 1)
    yield lambda: testing.assert_close(3.0, 1.0, atol=1.5, err_msg="here:")
    yield lambda: testing.assert_close(3.0, 1.0, atol=lambda dtype: 2.0)
    yield lambda: T.set_allocator(3)
""",
    "called_outside": """
@T.jit
def kernel(n):
    a = n
def steps():
    yield lambda: kernel(3)
""",
    "reinterpret": """
def steps():
    yield lambda: T.reinterpret(3, tl.float32)
""",
    "unused_result": """
@T.jit
def reshaped(n):
    tl.arange(0, 4).to(tl.float32)
    tl.trans(tl.zeros((4, 4), tl.float32))
@T.jit
def summed(n):
    tl.sum(tl.arange(0, 4))
@T.jit
def moved(p):
    block = tl.make_block_ptr(p, (4,), (1,), (0,), (4,), (0,))
    tl.advance(block, (1,))
    block.advance((1,))
def steps():
    yield lambda: launch(reshaped, 3)
    yield lambda: launch(summed, 3)
    yield lambda: launch(moved, Pointer())
""",
    "meta_conflict": """
@T.autotune(configs=[T.Config({"B": 1}), T.Config({"B": 2})], key=[], do_bench=lambda f, quantiles: (f(), [1, 1, 1])[1])
@T.jit
def kernel(n, B: tl.constexpr):
    a = n + B
def steps():
    yield lambda: kernel[(1,)](3, B=4)
""",
    "prune": """
def make(**prune):
    @T.autotune([T.Config({"B": 1}), T.Config({"B": 2})], [], prune, do_bench=lambda f, quantiles: [1, 1, 1])
    @T.jit
    def kernel(n, B: tl.constexpr):
        a = n + B
    return kernel
def steps():
    yield lambda: make(early_config_prune=lambda c, n, **k: [])[(1,)](3)
    yield lambda: make(perf_model=lambda **k: 1, top_k=2.5)[(1,)](3)
""",
    "no_configs": """
@T.autotune(configs=[], key=[])
@T.jit
def kernel(n):
    a = n
def steps():
    yield lambda: str(kernel.configs[0])
""",
    "errors": """
def steps():
    def r(e):
        def f(): raise e
        return f
    yield r(errors.OutOfResources(2, 1, "shared memory"))
    yield r(errors.PTXASError("no"))
    yield r(errors.PTXASError())
    yield r(errors.AutotunerError("x"))
    yield r(errors.InterpreterError("x"))
    import pickle
    yield r(pickle.loads(pickle.dumps(errors.OutOfResources(2, 1, "shared memory"))))
""",
    "changed_type": """
W = tl.constexpr(1)
@T.jit
def kernel(n):
    a = n + W
def steps():
    yield lambda: launch(kernel, 3)
    globals()["W"] = tl.constexpr(1.0)
    yield lambda: launch(kernel, 3)
""",
    "preload": """
@T.jit
def kernel(n):
    a = n
def steps():
    yield lambda: kernel.preload('{"name": "other", "constant_keys": [], "constant_vals": []}')
""",
    "builtin_called": """
W = tl.constexpr(4)
@T.jit
def kernel(n):
    a = max(n, W)
def steps():
    yield lambda: launch(kernel, 3)
    globals()["max"] = min
    yield lambda: launch(kernel, 3)
""",
    "enumeration": """
KIND = tl.constexpr(tl.PropagateNan.ALL)
@T.jit
def kernel(n):
    a = tl.minimum(n.to(tl.float32), 1.0, propagate_nan=KIND)
def steps():
    yield lambda: launch(kernel, 3)
    globals()["KIND"] = tl.constexpr(tl.PropagateNan.NONE)
    yield lambda: launch(kernel, 3)
""",
}
