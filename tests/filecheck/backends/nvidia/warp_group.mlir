// RUN: tritonx-opt %s -p allocate-shared-memory --target cuda:90 -t ptx | filecheck %s

// A with K contiguous, B with N contiguous: four instructions of 16 ks. A's corners are 32 bytes apart, B's 16 rows of
// 128 bytes. B's leading stride is from 64 columns to the next 64, its stride from 8 ks to the next 8.
// The corners are found by additions of 64 bits, which are one uniform instruction each.
// CHECK-LABEL: .visible .entry product(
// CHECK-COUNT-2: bfe.u32 {{%r[0-9]+}}, {{%r[0-9]+}}, 4, 14;
// CHECK-COUNT-6: add.s64
// CHECK-NOT: or.b32
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{.*}}, 1, 1, 0, 1;
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: ret;

// With C zero its registers are not read by the first instruction.
// CHECK-LABEL: .visible .entry from_zero(
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{.*}}, 0, 1, 1, 0, 1;
// CHECK-COUNT-3: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{.*}}, 1, 1, 1, 0, 1;

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%x: f32, %p: !tt.ptr<f32>) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    %c = tt.splat %x : f32 -> tensor<64x128xf32, #mma>
    %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> tensor<64x128xf32, #mma>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<64x128x!tt.ptr<f32>, #mma>
    tt.store %q, %d : tensor<64x128x!tt.ptr<f32>, #mma>
    tt.return
  }

  tt.func public @from_zero(%p: !tt.ptr<f32>) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    %c = arith.constant dense<0.0> : tensor<64x128xf32, #mma>
    %d = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> tensor<64x128xf32, #mma>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<64x128x!tt.ptr<f32>, #mma>
    tt.store %q, %d : tensor<64x128x!tt.ptr<f32>, #mma>
    tt.return
  }
}
