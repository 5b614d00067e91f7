// RUN: tritonx-opt %s --target cuda:90 --until ptx | filecheck %s

// 1024 elements on 4 warps: 7 additions in registers, 5 shuffles in a warp, one exchange through shared memory with one
// barrier, and no local memory.
// CHECK-LABEL: .visible .entry sum(
// CHECK-NOT: .local
// CHECK-COUNT-5: shfl.sync.bfly
// CHECK-NOT: shfl.sync.bfly
// CHECK: st.shared
// CHECK: bar.sync
// CHECK-NOT: bar.sync
// CHECK: ld.shared
// CHECK: st.global
// CHECK: ret;
tt.func public @sum(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>) {
  %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %xp : tensor<1024x!tt.ptr<f32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<1024xf32>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}
