// RUN: tritonx-opt %s --target cuda:80 --until ptx | filecheck %s

// A transposition is one trip through shared memory, in vectors on both sides of global memory.
// CHECK-LABEL: .visible .entry transposed(
// CHECK-NOT: .local
// CHECK: ld.global.v4.b32
// CHECK: st.shared
// CHECK: bar.sync
// CHECK-NOT: bar.sync
// CHECK: ld.shared
// CHECK: st.global.v4.b32
// CHECK: ret;
tt.func public @transposed(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %c = arith.constant dense<32> : tensor<32x1xi32>
  %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %rc = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %rr = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %row = arith.muli %rc, %c : tensor<32x1xi32>
  %rb = tt.broadcast %row : tensor<32x1xi32> -> tensor<32x32xi32>
  %cb = tt.broadcast %rr : tensor<1x32xi32> -> tensor<32x32xi32>
  %i = arith.addi %rb, %cb : tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  %v = tt.load %xp : tensor<32x32x!tt.ptr<f32>>
  %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<32x32xf32> -> tensor<32x32xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %yp, %t : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
