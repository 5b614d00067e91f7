// RUN: tritonx-opt %s --target cuda:90 --until ptx | filecheck %s

// A row of 4096 floats in 128 threads: 16 bytes a load and a store, five shuffles for the maximum and five for the sum,
// one reciprocal, nothing in local memory.
// CHECK-LABEL: .visible .entry softmax(
// CHECK-NOT: .local
// CHECK-COUNT-8: ld.global.v4.b32
// CHECK-NOT: ld.global
// CHECK-NOT: shfl.sync
// CHECK: redux.sync.max.s32
// CHECK-NOT: shfl.sync
// CHECK: bar.sync
// CHECK-COUNT-5: shfl.sync.bfly
// CHECK-NOT: shfl.sync
// CHECK-COUNT-8: st.global.v4.b32
// CHECK-NOT: st.global
// CHECK: ret;
tt.func public @softmax(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %columns: i32 {tt.divisibility = 16 : i32}) {
  %0 = arith.constant dense<0xFF800000> : tensor<4096xf32>
  %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %1 = tt.get_program_id x : i32
  %start = arith.muli %1, %columns : i32
  %2 = tt.addptr %x_ptr, %start : !tt.ptr<f32>, i32
  %3 = tt.splat %2 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
  %4 = tt.addptr %3, %i : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
  %5 = tt.splat %columns : i32 -> tensor<4096xi32>
  %6 = arith.cmpi slt, %i, %5 : tensor<4096xi32>
  %x = tt.load %4, %6, %0 : tensor<4096x!tt.ptr<f32>>
  %7 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%8: f32, %9: f32):
    %10 = arith.maxnumf %8, %9 : f32
    tt.reduce.return %10 : f32
  }) : (tensor<4096xf32>) -> f32
  %11 = tt.splat %7 : f32 -> tensor<4096xf32>
  %12 = arith.subf %x, %11 : tensor<4096xf32>
  %e = math.exp %12 : tensor<4096xf32>
  %13 = tt.addptr %out_ptr, %start : !tt.ptr<f32>, i32
  %14 = tt.splat %13 : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
  %15 = tt.addptr %14, %i : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
  %16 = "tt.reduce"(%e) <{axis = 0 : i32}> ({
  ^bb0(%17: f32, %18: f32):
    %19 = arith.addf %17, %18 : f32
    tt.reduce.return %19 : f32
  }) : (tensor<4096xf32>) -> f32
  %20 = tt.splat %16 : f32 -> tensor<4096xf32>
  %21 = arith.divf %e, %20 : tensor<4096xf32>
  tt.store %15, %21, %6 : tensor<4096x!tt.ptr<f32>>
  tt.return
}
