// RUN: tritonx-opt %s --target hip:gfx942 --option num_warps=1 --until llir | filecheck %s

// What no instruction of the machine does better is written by the shared rules: a conversion from f64 towards zero.
// CHECK-LABEL: define amdgpu_kernel void @towards_zero(
// CHECK: [[NEAREST:%.+]] = fptrunc double [[X:%.+]] to float
// CHECK-NEXT: [[BACK:%.+]] = fpext float [[NEAREST]] to double
// CHECK: fcmp ogt double
// CHECK: sub i32
tt.func public @towards_zero(%p: !tt.ptr<f64>, %out: !tt.ptr<f32>) {
  %x = tt.load %p : !tt.ptr<f64>
  %y = tt.fp_to_fp %x, rounding = rtz : f64 -> f32
  tt.store %out, %y : !tt.ptr<f32>
  tt.return
}
