// RUN: tritonx-opt %s --target cuda:90 -t llvm | filecheck %s

// The old values of four elements a thread, which 16 lanes of the first warp own: one slot a lane, the next register 16
// slots on, so that they fill the 64 slots that scratch memory has and no two share one. Every thread reads those of
// its elements.
// CHECK-LABEL: define ptx_kernel void @of_each_register(
// CHECK: and i1
// CHECK: [[LANE:%v[0-9]+]] = and i32 {{%v[0-9]+}}, 15
// CHECK: br label %body
// CHECK: [[S0:%v[0-9]+]] = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 [[LANE]]
// CHECK-NEXT: [[B1:%v[0-9]+]] = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 [[LANE]]
// CHECK-NEXT: [[S1:%v[0-9]+]] = getelementptr inbounds i32, ptr addrspace(3) [[B1]], i32 16
// CHECK-NEXT: [[B2:%v[0-9]+]] = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 [[LANE]]
// CHECK-NEXT: [[S2:%v[0-9]+]] = getelementptr inbounds i32, ptr addrspace(3) [[B2]], i32 32
// CHECK-NEXT: [[B3:%v[0-9]+]] = getelementptr inbounds i32, ptr addrspace(3) @shared_memory, i32 [[LANE]]
// CHECK-NEXT: [[S3:%v[0-9]+]] = getelementptr inbounds i32, ptr addrspace(3) [[B3]], i32 48
// CHECK: store i32 {{%v[0-9]+}}, ptr addrspace(3) [[S0]], align 4
// CHECK-NEXT: store i32 {{%v[0-9]+}}, ptr addrspace(3) [[S1]], align 4
// CHECK-NEXT: store i32 {{%v[0-9]+}}, ptr addrspace(3) [[S2]], align 4
// CHECK-NEXT: store i32 {{%v[0-9]+}}, ptr addrspace(3) [[S3]], align 4
// CHECK: barrier.cta.sync
// CHECK-NEXT: load i32, ptr addrspace(3) [[S0]], align 4
// CHECK-NEXT: load i32, ptr addrspace(3) [[S1]], align 4
// CHECK-NEXT: load i32, ptr addrspace(3) [[S2]], align 4
// CHECK-NEXT: load i32, ptr addrspace(3) [[S3]], align 4

// Two registers hold one element: it is written once, by lane and warp, and read once.
// CHECK-LABEL: define ptx_kernel void @of_copies_in_registers(
// CHECK: getelementptr inbounds i32, ptr addrspace(3) @shared_memory
// CHECK-COUNT-1: store i32 {{%v[0-9]+}}, ptr addrspace(3)
// CHECK: barrier.cta.sync
// CHECK-COUNT-1: load i32, ptr addrspace(3)
// CHECK-NOT: load i32, ptr addrspace(3)
// CHECK: ret void
#four = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
#slice = #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @of_each_register(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #four>
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #four>
    %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<i32>, #four>, tensor<64xi32, #four>
    %os = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #four>
    %oo = tt.addptr %os, %r : tensor<64x!tt.ptr<i32>, #four>, tensor<64xi32, #four>
    %old = tt.atomic_rmw add, relaxed, gpu, %pp, %r : (tensor<64x!tt.ptr<i32>, #four>, tensor<64xi32, #four>) -> tensor<64xi32, #four>
    tt.store %oo, %old : tensor<64x!tt.ptr<i32>, #four>
    tt.return
  }
  tt.func public @of_copies_in_registers(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
    %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #slice>
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>, #slice>
    %pp = tt.addptr %ps, %r : tensor<16x!tt.ptr<i32>, #slice>, tensor<16xi32, #slice>
    %os = tt.splat %o : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>, #slice>
    %oo = tt.addptr %os, %r : tensor<16x!tt.ptr<i32>, #slice>, tensor<16xi32, #slice>
    %old = tt.atomic_rmw add, relaxed, gpu, %pp, %r : (tensor<16x!tt.ptr<i32>, #slice>, tensor<16xi32, #slice>) -> tensor<16xi32, #slice>
    tt.store %oo, %old : tensor<16x!tt.ptr<i32>, #slice>
    tt.return
  }
}
