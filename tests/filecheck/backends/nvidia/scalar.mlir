// RUN: tritonx-opt %s --target cuda:90 --option num_warps=1 --until llir | filecheck %s

// A conversion from f64 towards zero has an instruction here.
// CHECK-LABEL: define ptx_kernel void @towards_zero(
// CHECK: call float @llvm.nvvm.d2f.rz(double
tt.func public @towards_zero(%p: !tt.ptr<f64>, %out: !tt.ptr<f32>) {
  %x = tt.load %p : !tt.ptr<f64>
  %y = tt.fp_to_fp %x, rounding = rtz : f64 -> f32
  tt.store %out, %y : !tt.ptr<f32>
  tt.return
}

// An index of 64 bits is cut to fewer, a number of fewer is extended.
// CHECK-LABEL: define ptx_kernel void @indices(
// CHECK: [[INDEX:%.+]] = sext i32 {{%.+}} to i64
// CHECK: trunc i64 [[INDEX]] to i16
tt.func public @indices(%n: i32, %out: !tt.ptr<i16>) {
  %i = arith.index_cast %n : i32 to index
  %s = arith.index_cast %i : index to i16
  tt.store %out, %s : !tt.ptr<i16>
  tt.return
}

// Roundings to whole numbers are LLVM's functions everywhere.
// CHECK-LABEL: define ptx_kernel void @whole(
// CHECK: call float @llvm.rint.f32
// CHECK: call float @llvm.trunc.f32
// CHECK: call float @llvm.round.f32
tt.func public @whole(%x: f32, %out: !tt.ptr<f32>) {
  %a = math.roundeven %x : f32
  %b = math.trunc %a : f32
  %c = math.round %b : f32
  tt.store %out, %c : !tt.ptr<f32>
  tt.return
}

// Integers become bf16 by one instruction.
// CHECK-LABEL: define ptx_kernel void @from_integer(
// CHECK: sitofp i32 {{%.+}} to bfloat
tt.func public @from_integer(%n: i32, %out: !tt.ptr<bf16>) {
  %x = arith.sitofp %n : i32 to bf16
  tt.store %out, %x : !tt.ptr<bf16>
  tt.return
}
