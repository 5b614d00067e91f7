// RUN: tritonx-opt %s -p "allocate-global-scratch" | filecheck %s

// CHECK: ttg.global_scratch_memory_alignment = 256 : i32
// CHECK-SAME: ttg.global_scratch_memory_size = 768 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Each starts at a multiple of its alignment behind those before it, in loops and branches too; none are shared.
  // CHECK-LABEL: @kernel
  // CHECK: ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32, ttg.global_scratch_memory_offset = 0 : i32}
  // CHECK: ttg.global_scratch_alloc {alignment = 8 : i32, nbytes = 20 : i32, ttg.global_scratch_memory_offset = 128 : i32}
  // CHECK: ttg.global_scratch_alloc {alignment = 256 : i32, nbytes = 384 : i32, ttg.global_scratch_memory_offset = 256 : i32}
  tt.func public @kernel(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %b = ttg.global_scratch_alloc {alignment = 8 : i32, nbytes = 20 : i32} : !tt.ptr<i8>
      tt.call @callee(%b) : (!tt.ptr<i8>) -> ()
    }
    %c = ttg.global_scratch_alloc {alignment = 256 : i32, nbytes = 384 : i32} : !tt.ptr<i8>
    tt.call @callee(%c) : (!tt.ptr<i8>) -> ()
    tt.return
  }

  // A function that is called has its own above those of its callers.
  // CHECK-LABEL: tt.func private @callee
  // CHECK: ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32, ttg.global_scratch_memory_offset = 640 : i32}
  tt.func private @callee(%p: !tt.ptr<i8>) attributes {noinline = true} {
    %a = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    tt.return
  }
}
