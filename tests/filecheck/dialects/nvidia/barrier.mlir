// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Barriers in shared memory, fences, clusters.

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @barrier(%b: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %n: i32, %c: i1, %m: !ttg.memdesc<128x64xf16, #nv, #smem, mutable>) {
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.barrier_expect %b, 49152, %c : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.barrier_expect %b, 49152 {note}, %c : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.arrive_barrier %b, 2 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.arrive_barrier %b, 2, %c : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.wait_barrier %b, %n : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.wait_barrier %b, %n, %c : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.wait_barrier %b, %n, %c deps %m, %m : !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    ttng.inval_barrier %b : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_copy_mbarrier_arrive %b {noIncrement} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.cluster_arrive {relaxed = true}
    ttng.cluster_wait
    ttng.fence_mbarrier_init_release_cluster
    ttng.cluster_barrier
    ttng.cluster_barrier {relaxed = true}
    tt.return
  }
}

// CHECK: #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// CHECK-NEXT: #smem = #ttg.shared_memory
// CHECK-NEXT: #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-NEXT: tt.func @barrier(%b: !ttg.memdesc<1xi64, #shared, #smem, mutable>, %n: i32, %c: i1, %m: !ttg.memdesc<128x64xf16, #shared1, #smem, mutable>) {
// CHECK-NEXT: ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: ttng.barrier_expect %b, 49152, %c : !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: ttng.barrier_expect %b, 49152 {note}, %c : !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: ttng.arrive_barrier %b, 2 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: ttng.arrive_barrier %b, 2, %c : !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: ttng.wait_barrier %b, %n : !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: ttng.wait_barrier %b, %n, %c : !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: ttng.wait_barrier %b, %n, %c deps %m, %m : !ttg.memdesc<1xi64, #shared, #smem, mutable>, !ttg.memdesc<128x64xf16, #shared1, #smem, mutable>, !ttg.memdesc<128x64xf16, #shared1, #smem, mutable>
// CHECK-NEXT: ttng.inval_barrier %b : !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: ttng.async_copy_mbarrier_arrive %b {noIncrement} : !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: ttng.fence_async_shared {bCluster = false}
// CHECK-NEXT: ttng.cluster_arrive {relaxed = true}
// CHECK-NEXT: ttng.cluster_wait
// CHECK-NEXT: ttng.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttng.cluster_barrier
// CHECK-NEXT: ttng.cluster_barrier {relaxed = true}
// CHECK-NEXT: tt.return
