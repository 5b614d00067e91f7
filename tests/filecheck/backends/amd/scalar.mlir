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

// Integers become bf16 by way of f32: it is given no more digits than it holds. What is too large for f16 is beyond f32's
// digits too.
// CHECK-LABEL: define amdgpu_kernel void @from_integer(
// CHECK: and i32 {{%.+}}, -256
// CHECK: [[FOLDED:%.+]] = select i1
// CHECK-NEXT: sitofp i32 [[FOLDED]] to bfloat
// CHECK: sitofp i32 %{{.+}} to half
tt.func public @from_integer(%n: i32, %out: !tt.ptr<bf16>, %other: !tt.ptr<f16>) {
  %x = arith.sitofp %n : i32 to bf16
  tt.store %out, %x : !tt.ptr<bf16>
  %y = arith.sitofp %n : i32 to f16
  tt.store %other, %y : !tt.ptr<f16>
  tt.return
}

// A power of two is one instruction, which flushes subnormal results; an exponential, of a product with log2(e), keeps
// them.
// CHECK-LABEL: define amdgpu_kernel void @powers(
// CHECK: call float @llvm.amdgcn.exp2.f32(float [[X:%.+]])
// CHECK: [[POWER:%.+]] = fmul float [[X]], 0x3FF7154760000000
// CHECK: call float @llvm.exp2.f32(float [[POWER]])
tt.func public @powers(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %x = tt.load %p : !tt.ptr<f32>
  %y = math.exp2 %x : f32
  %z = math.exp %x : f32
  %s = arith.addf %y, %z : f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}
