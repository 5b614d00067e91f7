"""Measuring and checking kernels: Triton's ``triton.testing``.

What tests backends is `tritonx_testing`, a distribution of its own (``packages/tritonx-testing``)."""

from typing import TYPE_CHECKING

from tritonx.runtime.devices.benchmark import quantiles as _quantile
from tritonx.runtime.devices.benchmark import summarize as _summarize_statistics  # Triton's name, which libraries call
from tritonx.runtime.refusals import refusing
from tritonx.testing.bench import NoGraphs, do_bench, do_bench_cudagraph
from tritonx.testing.compare import assert_close
from tritonx.testing.limits import get_dram_gbps, get_max_simd_tflops, get_max_tensorcore_tflops
from tritonx.testing.profiled import NoKernels, cuda_graph_without_gc, do_bench_cudagraph_proton, do_bench_proton
from tritonx.testing.reports import Benchmark, Mark, perf_report
from tritonx.testing.smi import NoManagementTool, nvsmi, set_gpu_clock
from tritonx.testing.vendor_products import cublas

__all__ = [
    "Benchmark",
    "Mark",
    "NoGraphs",
    "NoKernels",
    "NoManagementTool",
    "_quantile",
    "_summarize_statistics",
    "assert_close",
    "cublas",
    "cuda_graph_without_gc",
    "do_bench",
    "do_bench_cudagraph",
    "do_bench_cudagraph_proton",
    "do_bench_proton",
    "get_dram_gbps",
    "get_max_simd_tflops",
    "get_max_tensorcore_tflops",
    "nvsmi",
    "perf_report",
    "set_gpu_clock",
]

if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = refusing(__name__, {"cuda_memcheck": "run the vendor's sanitizer on the whole program"})
