// RUN: not tritonx-opt %s --target hip:gfx942 --until llir 2>&1 | filecheck %s

// CHECK: a launch on this target has no global scratch memory
// CHECK: ttg.global_scratch_alloc
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @scratch() {
    %p = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    tt.return
  }
}
