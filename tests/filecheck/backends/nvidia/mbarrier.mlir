// RUN: tritonx-opt %s -p allocate-shared-memory --target cuda:90 -t ptx | filecheck %s

// One thread makes a barrier, says how many bytes it waits for and arrives; every thread waits.
// CHECK-LABEL: .visible .entry barriers(
// CHECK-DAG: setp.eq.b32 [[FIRST:%p[0-9]+]], %r{{[0-9]+}}, 0;
// CHECK: @{{%p[0-9]+}} mbarrier.init.shared::cta.b64 [{{.*}}], 3;
// CHECK: @{{%p[0-9]+}} mbarrier.arrive.expect_tx.shared::cta.b64 _, [{{.*}}], 4096;
// CHECK: cp.async.mbarrier.arrive.noinc.shared::cta.b64 [{{.*}}];
// CHECK: mbarrier.try_wait.parity.shared::cta.b64 complete, [{{.*}}], {{%r[0-9]+}};
// CHECK-NEXT: @!complete bra.uni WAIT;
// CHECK: @!{{%p[0-9]+}} bra.uni DONE;
// CHECK: mbarrier.try_wait.parity.shared::cta.b64 complete
// CHECK: @{{%p[0-9]+}} mbarrier.arrive.shared::cta.b64 _, [{{.*}}], 2;
// CHECK: fence.proxy.async.shared::cta;
// CHECK: fence.proxy.async.shared::cluster;
// CHECK: barrier.cluster.arrive.relaxed.aligned;
// CHECK: barrier.cluster.wait.aligned;
// CHECK: fence.mbarrier_init.release.cluster;
// CHECK: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
// CHECK: @{{%p[0-9]+}} mbarrier.inval.shared::cta.b64 [{{.*}}];
// CHECK: ret;

#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @barriers(%phase: i32, %on: i1) {
    %true = arith.constant true
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bars, #smem, mutable>
    ttng.init_barrier %bar, 3 : !ttg.memdesc<1xi64, #bars, #smem, mutable>
    ttng.barrier_expect %bar, 4096, %on : !ttg.memdesc<1xi64, #bars, #smem, mutable>
    ttng.async_copy_mbarrier_arrive %bar {noIncrement} : !ttg.memdesc<1xi64, #bars, #smem, mutable>
    ttng.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #bars, #smem, mutable>
    ttng.wait_barrier %bar, %phase, %on : !ttg.memdesc<1xi64, #bars, #smem, mutable>
    ttng.arrive_barrier %bar, 2, %true : !ttg.memdesc<1xi64, #bars, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.fence_async_shared {bCluster = true}
    ttng.cluster_arrive {relaxed = true}
    ttng.cluster_wait
    ttng.fence_mbarrier_init_release_cluster
    ttng.cluster_barrier
    ttng.inval_barrier %bar : !ttg.memdesc<1xi64, #bars, #smem, mutable>
    tt.return
  }
}
