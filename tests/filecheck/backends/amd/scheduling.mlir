// RUN: tritonx-opt %s --target hip:gfx942 -t llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#turned = #ttg.linear<{register = [[2, 0], [1, 0]], lane = [[4, 0], [8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]], block = []}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // What Triton's pipelines put around products: priorities, fences for the scheduler, a barrier of half the waves.
  // CHECK-LABEL: @hints(
  // CHECK: call void @llvm.amdgcn.s.setprio(i16 1)
  // CHECK: call void @llvm.amdgcn.sched.barrier(i32 0)
  // CHECK: br i1 %{{.*}}, label %[[meet:.*]], label %[[met:.*]]
  // CHECK: [[meet]]:
  // CHECK: @llvm.amdgcn.s.barrier()
  // CHECK: br label %[[met]]
  tt.func public @hints(%n: i32) {
    %zero = arith.constant 0 : i32
    %c = arith.cmpi sgt, %n, %zero : i32
    rocdl.s.setprio 1
    rocdl.sched.barrier 0
    amdg.cond_barrier %c
    amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<attention>}
    tt.return
  }

  // Registers change places; no shared memory, nothing crosses a lane.
  // CHECK-LABEL: @transposed(
  // CHECK-NOT: addrspace(3)
  // CHECK-NOT: ds.bpermute
  // CHECK: ret void
  tt.func public @transposed(%base: !tt.ptr<f16>) {
    %p = tt.splat %base : !tt.ptr<f16> -> tensor<64x16x!tt.ptr<f16>, #blocked>
    %q = tt.splat %base : !tt.ptr<f16> -> tensor<64x16x!tt.ptr<f16>, #turned>
    %x = tt.load %p : tensor<64x16x!tt.ptr<f16>, #blocked>
    %y = amdg.in_thread_transpose %x : tensor<64x16xf16, #blocked> -> tensor<64x16xf16, #turned>
    tt.store %q, %y : tensor<64x16x!tt.ptr<f16>, #turned>
    tt.return
  }
}
