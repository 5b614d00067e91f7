// RUN: tritonx-opt %s -p allocate-shared-memory --target cuda:90 -t ptx | filecheck %s

// What the program computes before it waits for a copy is computed before: the product behind the wait has no use for
// the copy's time otherwise.
// CHECK-LABEL: .visible .entry computed_first(
// CHECK: wgmma.wait_group
// CHECK-COUNT-16: cvt.rn.f16x2.f32
// CHECK-NOT: cvt
// CHECK: mbarrier.try_wait
// CHECK-NOT: cvt
// CHECK: wgmma.mma_async

// What it computes behind the wait stays there.
// CHECK-LABEL: .visible .entry computed_later(
// CHECK: wgmma.wait_group
// CHECK-NOT: cvt
// CHECK: mbarrier.try_wait
// CHECK-COUNT-16: cvt.rn.f16x2.f32
// CHECK: wgmma.mma_async

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#wide = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @computed_first(%n: i32, %p: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : tensor<64x128xf32, #wide>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    %e = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %none = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %s = ttng.warp_group_dot %e, %e, %none : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %h = arith.truncf %s : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    ttng.wait_barrier %bar, %n : !ttg.memdesc<1xi64, #one, #smem, mutable>
    %a = ttg.convert_layout %h : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #wide, kWidth = 2}>>
    %d = ttng.warp_group_dot %a, %b, %zero : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #wide, kWidth = 2}>> * !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> tensor<64x128xf32, #wide>
    %r = tt.splat %p : !tt.ptr<f32> -> tensor<64x128x!tt.ptr<f32>, #wide>
    tt.store %r, %d : tensor<64x128x!tt.ptr<f32>, #wide>
    tt.return
  }

  tt.func public @computed_later(%n: i32, %p: !tt.ptr<f32>) {
    %zero = arith.constant dense<0.0> : tensor<64x128xf32, #wide>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    %e = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %none = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %s = ttng.warp_group_dot %e, %e, %none : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    ttng.wait_barrier %bar, %n : !ttg.memdesc<1xi64, #one, #smem, mutable>
    %h = arith.truncf %s : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %a = ttg.convert_layout %h : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #wide, kWidth = 2}>>
    %d = ttng.warp_group_dot %a, %b, %zero : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #wide, kWidth = 2}>> * !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> tensor<64x128xf32, #wide>
    %r = tt.splat %p : !tt.ptr<f32> -> tensor<64x128x!tt.ptr<f32>, #wide>
    tt.store %r, %d : tensor<64x128x!tt.ptr<f32>, #wide>
    tt.return
  }
}
