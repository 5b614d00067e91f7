// RUN: tritonx-opt %s -p allocate-shared-memory --target cuda:90 -t ptx | filecheck %s

// A row that all four warps have is copied by the first one; the instruction has a guard, since a branch would stand
// among products. Where a mask is false zeros are written, as a predicate says. A tile of which every thread has its own
// part has no guard.
// CHECK-LABEL: .visible .entry copies(
// CHECK: setp.eq.b32 [[FIRST:%p[0-9]+]], {{%r[0-9]+}}, 0;
// CHECK: @[[FIRST]] cp.async.ca.shared.global [{{%r[0-9]+}}], [{{%rd[0-9]+}}], 8;
// CHECK: @[[FIRST]] cp.async.ca.shared.global [{{%r[0-9]+}}], [{{%rd[0-9]+}}], 8, {{%p[0-9]+}};
// CHECK-NOT: @
// CHECK: cp.async.cg.shared.global [{{%r[0-9]+.*}}], [{{%rd[0-9]+.*}}], 16;
// CHECK: cp.async.commit_group;
// CHECK: ret;

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#tile = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copies(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %on: i1) {
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #row>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #row>
    %q = tt.addptr %p, %i : tensor<64x!tt.ptr<f32>, #row>, tensor<64xi32, #row>
    %m = tt.splat %on : i1 -> tensor<64xi1, #row>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64xf32, #plain, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64xf32, #plain, #smem, mutable>
    %s = ttg.async_copy_global_to_local %q, %a : tensor<64x!tt.ptr<f32>, #row> -> <64xf32, #plain, #smem, mutable>
    %t = ttg.async_copy_global_to_local %q, %b mask %m : tensor<64x!tt.ptr<f32>, #row> -> <64xf32, #plain, #smem, mutable>
    %c = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #tile, #smem, mutable>
    %j = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %c32 = arith.constant dense<32> : tensor<32x1xi32, #blocked>
    %r0 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<32x1xi32, #blocked>
    %r1 = arith.muli %r0, %c32 : tensor<32x1xi32, #blocked>
    %r2 = tt.broadcast %r1 : tensor<32x1xi32, #blocked> -> tensor<32x32xi32, #blocked>
    %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x32xi32, #blocked>
    %j1 = tt.broadcast %j0 : tensor<1x32xi32, #blocked> -> tensor<32x32xi32, #blocked>
    %o = arith.addi %r2, %j1 : tensor<32x32xi32, #blocked>
    %z = tt.splat %y : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #blocked>
    %w = tt.addptr %z, %o : tensor<32x32x!tt.ptr<f16>, #blocked>, tensor<32x32xi32, #blocked>
    %u = ttg.async_copy_global_to_local %w, %c : tensor<32x32x!tt.ptr<f16>, #blocked> -> <32x32xf16, #tile, #smem, mutable>
    %g = ttg.async_commit_group tokens %s, %t, %u
    %h = ttg.async_wait %g {num = 0 : i32}
    tt.return
  }
}
