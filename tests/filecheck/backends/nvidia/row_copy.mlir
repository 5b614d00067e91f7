// RUN: tritonx-opt %s -p allocate-shared-memory --target cuda:100 -t ptx | filecheck %s

// Each of four warps holds four indices in two registers' groups: one lane of it issues two instructions a column of boxes.
// CHECK-LABEL: .visible .entry rows(
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [{{%r[0-9]+}}], [{{%rd[0-9]+}}, {{{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}}}], [{{%r[0-9]+}}];
// CHECK-COUNT-3: tile::gather4
// CHECK-NOT: tile::gather4
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [{{%rd[0-9]+}}, {{{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}}}], [{{%r[0-9]+}}];
// CHECK-COUNT-3: tile::scatter4
// CHECK-NOT: tile::scatter4
// CHECK: cp.async.bulk.commit_group;
// CHECK: cp.async.bulk.wait_group 0;
// CHECK: ret;

#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#rows = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0]}>}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @rows(%d: !tt.tensordesc<tensor<1x128xf16, #shared>>, %i: i32, %y: i32, %on: i1) {
    %x = tt.splat %i : i32 -> tensor<32xi32, #rows>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bars, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x128xf16, #shared, #smem, mutable>
    ttng.async_tma_gather %d[%x, %y] %m, %bar, %on : !tt.tensordesc<tensor<1x128xf16, #shared>>, tensor<32xi32, #rows>, i32, !ttg.memdesc<1xi64, #bars, #smem, mutable>, !ttg.memdesc<32x128xf16, #shared, #smem, mutable>, i1
    ttng.async_tma_scatter %d[%x, %y] %m : !tt.tensordesc<tensor<1x128xf16, #shared>>, tensor<32xi32, #rows>, i32, !ttg.memdesc<32x128xf16, #shared, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }
}
