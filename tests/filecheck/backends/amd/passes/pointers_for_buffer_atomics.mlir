// RUN: tritonx-opt %s -p pointers-for-buffer-atomics | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @atomics
  // CHECK: %[[p:.*]] = tt.splat %p : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #
  // CHECK: %[[q:.*]] = tt.addptr %[[p]], %offsets
  // CHECK: tt.atomic_rmw add, acq_rel, gpu, %[[q]], %v, %m
  // CHECK: tt.addptr
  // CHECK: tt.atomic_cas acq_rel, gpu, %{{.*}}, %v, %v
  // CHECK-NOT: amdg
  tt.func public @atomics(%p: !tt.ptr<i32>, %offsets: tensor<256xi32, #blocked>, %v: tensor<256xi32, #blocked>, %m: tensor<256xi1, #blocked>) {
    %a = amdg.buffer_atomic_rmw add, acq_rel, gpu, %v, %p[%offsets], %m : tensor<256xi32, #blocked>
    %b = amdg.buffer_atomic_cas acq_rel, gpu, %v, %v, %p[%offsets] : tensor<256xi32, #blocked>
    tt.return
  }
}
