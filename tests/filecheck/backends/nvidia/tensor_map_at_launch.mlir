// RUN: tritonx-opt %s --target cuda:90 -t ptx | filecheck %s

// Each map is a parameter behind the function's, and the memory of a launch behind them. The copies name them where they
// are; nothing is left of what only the launch computes.
// CHECK-LABEL: .visible .entry copies(
// CHECK: .param .u32 copies_param_1
// CHECK-NEXT: .param .u32 copies_param_2
// CHECK-NEXT: .param .align 64 .b8 copies_param_3[128]
// CHECK-NEXT: .param .align 64 .b8 copies_param_4[128]
// CHECK-NEXT: .param .u64 .ptr .global .align 1 copies_param_5
// CHECK-NEXT: )
// CHECK-NOT: div
// CHECK-NOT: tensormap.replace
// CHECK: mov.b64 [[SECOND:%rd[0-9]+]], copies_param_4;
// CHECK: cvta.param.u64 [[TO:%rd[0-9]+]], [[SECOND]];
// CHECK: mov.b64 [[FIRST:%rd[0-9]+]], copies_param_3;
// CHECK: cvta.param.u64 [[FROM:%rd[0-9]+]], [[FIRST]];
// CHECK: cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [[[FROM]], {{.*}}
// CHECK: cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [[[TO]], {{.*}}
#block = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, rank = 1}>
#smem = #ttg.shared_memory
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copies(%p: !tt.ptr<f16>, %n: i32, %k: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    %m = arith.divsi %n, %k : i32
    %a = ttng.tensormap_at_launch %p, [%m], [%one] : <f16>, <tensor<256xf16, #block>>
    %b = ttng.tensormap_at_launch %p, [%k], [%one] : <f16>, <tensor<256xf16, #block>>
    %g = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    %byte = arith.constant 1 : i8
    tt.store %g, %byte : !tt.ptr<i8>
    %s = ttg.local_alloc : () -> !ttg.memdesc<256xf16, #block, #smem, mutable>
    ttng.async_tma_copy_local_to_global %a[%zero] %s : !tt.tensordesc<tensor<256xf16, #block>>, !ttg.memdesc<256xf16, #block, #smem, mutable>
    ttng.async_tma_copy_local_to_global %b[%n] %s : !tt.tensordesc<tensor<256xf16, #block>>, !ttg.memdesc<256xf16, #block, #smem, mutable>
    tt.return
  }
}
