// RUN: tritonx-opt %s -p allocate-shared-memory --target cuda:90 -t ptx | filecheck %s

// A block of 128x128 f16 is two boxes of 64 columns, one swizzle width each: the first two of four warps copy one.
// CHECK-LABEL: .visible .entry copies(
// CHECK: .param .align 64 .b8 copies_param_0[128]
// CHECK: elect.sync
// CHECK: setp.lt.u32 {{%p[0-9]+}}, {{%r[0-9]+}}, 2;
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [{{.*}}], [{{%rd[0-9]+}}, {{{%r[0-9]+}}, {{%r[0-9]+}}}], [{{.*}}];
// CHECK-NOT: mbarrier::complete_tx
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [{{%rd[0-9]+}}, {{{%r[0-9]+}}, {{%r[0-9]+}}}], [{{.*}}];
// CHECK: cp.async.bulk.commit_group;
// CHECK: cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group
// CHECK: cp.async.bulk.commit_group;
// CHECK: cp.async.bulk.wait_group.read 1;
// CHECK: cp.async.bulk.wait_group 0;
// CHECK: ret;

#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copies(%d: !tt.tensordesc<tensor<128x128xf16, #shared>>, %x: i32, %y: i32, %on: i1) {
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bars, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<128x128xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%x, %y] %m, %bar, %on : !tt.tensordesc<tensor<128x128xf16, #shared>>, !ttg.memdesc<1xi64, #bars, #smem, mutable> -> !ttg.memdesc<128x128xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_local_to_global %d[%x, %y] %m : !tt.tensordesc<tensor<128x128xf16, #shared>>, !ttg.memdesc<128x128xf16, #shared, #smem, mutable>
    ttng.async_tma_reduce add, %d[%x, %y] %m : !tt.tensordesc<tensor<128x128xf16, #shared>>, !ttg.memdesc<128x128xf16, #shared, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }
}
