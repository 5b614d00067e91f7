// RUN: tritonx-opt %s --target cuda:80 --option pipeline=false --until ptx | filecheck %s

// A product over a loop: each step of 64×64×32 goes through shared memory to 16 instructions of the matrix unit a warp.
// CHECK-LABEL: .visible .entry matmul(
// CHECK-NOT: .local
// CHECK-COUNT-4: st.shared.v4.b32
// CHECK: bar.sync
// CHECK-COUNT-16: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT: mma.sync
// CHECK: bra
// CHECK-NOT: fma.rn.f32
// CHECK-COUNT-4: st.global.v4.b32
// CHECK-NOT: st.global
// CHECK: ret;
tt.func public @matmul(%a_ptr: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b_ptr: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c_ptr: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) {
  %total = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %0 = arith.constant 0 : i32
  %1 = arith.constant 32 : i32
  %2 = arith.constant dense<32> : tensor<64x32xi32>
  %m = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %3 = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %4 = tt.splat %K : i32 -> tensor<64x1xi32>
  %5 = arith.muli %3, %4 : tensor<64x1xi32>
  %6 = tt.splat %a_ptr : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  %7 = tt.addptr %6, %5 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  %8 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %9 = tt.broadcast %7 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
  %10 = tt.broadcast %8 : tensor<1x32xi32> -> tensor<64x32xi32>
  %a = tt.addptr %9, %10 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %11 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %12 = tt.splat %stride : i32 -> tensor<32x1xi32>
  %13 = arith.muli %11, %12 : tensor<32x1xi32>
  %14 = tt.splat %b_ptr : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
  %15 = tt.addptr %14, %13 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
  %16 = tt.expand_dims %m {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %17 = tt.broadcast %15 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
  %18 = tt.broadcast %16 : tensor<1x64xi32> -> tensor<32x64xi32>
  %b = tt.addptr %17, %18 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  %19 = arith.muli %1, %stride : i32
  %20 = tt.splat %19 : i32 -> tensor<32x64xi32>
  %total_1, %a_1, %b_1 = scf.for %_ = %0 to %K step %1 iter_args(%total_2 = %total, %a_2 = %a, %b_2 = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>)  : i32 {
    %21 = tt.load %a_2 : tensor<64x32x!tt.ptr<f16>>
    %22 = tt.load %b_2 : tensor<32x64x!tt.ptr<f16>>
    %total_3 = tt.dot %21, %22, %total_2, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %a_3 = tt.addptr %a_2, %2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %b_3 = tt.addptr %b_2, %20 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %total_3, %a_3, %b_3 : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  %23 = tt.splat %stride : i32 -> tensor<64x1xi32>
  %24 = arith.muli %3, %23 : tensor<64x1xi32>
  %25 = tt.splat %c_ptr : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  %26 = tt.addptr %25, %24 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  %27 = tt.broadcast %26 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  %28 = tt.broadcast %16 : tensor<1x64xi32> -> tensor<64x64xi32>
  %29 = tt.addptr %27, %28 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %30 = arith.truncf %total_1 : tensor<64x64xf32> to tensor<64x64xf16>
  tt.store %29, %30 : tensor<64x64x!tt.ptr<f16>>
  tt.return
}
