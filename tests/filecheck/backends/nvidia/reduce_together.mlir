// RUN: tritonx-opt %s --target cuda:90 --until ptx | filecheck %s

// A maximum and a sum of two arrays: all is loaded before either is waited for, the maximum takes the instruction for a
// whole warp and the sum five shuffles, and both are exchanged behind one barrier.
// CHECK-LABEL: .visible .entry two(
// CHECK-COUNT-4: ld.global.v4
// CHECK: max.f32
// CHECK: add.f32
// CHECK: redux.sync.max
// CHECK-NOT: redux
// CHECK-COUNT-5: shfl.sync.bfly
// CHECK-NOT: shfl.sync.bfly
// CHECK-COUNT-2: st.shared
// CHECK-COUNT-1: bar.sync
// CHECK-NOT: bar.sync
// CHECK-COUNT-2: ld.shared
// CHECK: ret;
tt.func public @two(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>) {
  %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %xp : tensor<1024x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %w = tt.load %yp : tensor<1024x!tt.ptr<f32>>
  %m = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<1024xf32>) -> f32
  %s = "tt.reduce"(%w) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<1024xf32>) -> f32
  %sum = arith.addf %m, %s : f32
  tt.store %out, %sum : !tt.ptr<f32>
  tt.return
}
