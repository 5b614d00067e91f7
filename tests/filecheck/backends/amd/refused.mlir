// RUN: not tritonx-opt %s --target hip:gfx942 --until llir 2>&1 | filecheck %s

// LLVM has no assembler for AMDGCN here: an error with the op rather than the end of the process.
// CHECK: error: {{.*}}inline assembly
tt.func public @negated(%p: !tt.ptr<i32>) {
  %v = tt.load %p : !tt.ptr<i32>
  %e = tt.elementwise_inline_asm "v_not_b32 $0, $1" {constraints = "=v,v", packed_element = 1 : i32, pure = true} %v : i32 -> i32
  tt.store %p, %e : !tt.ptr<i32>
  tt.return
}
