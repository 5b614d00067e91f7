// RUN: tritonx-opt %s --target cuda:90 --option num_warps=1 --until ptx | filecheck %s

// One warp needs no shared memory and no barrier.
// CHECK-LABEL: .visible .entry largest(
// CHECK-NOT: .local
// CHECK-NOT: bar.sync
// CHECK-NOT: st.shared
// CHECK: redux.sync.max.s32
// CHECK-NOT: bar.sync
// CHECK-NOT: st.shared
// CHECK: ret;
tt.func public @largest(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<i32>) {
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %range : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %v = tt.load %xp : tensor<128x!tt.ptr<i32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.maxsi %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<128xi32>) -> i32
  tt.store %out, %s : !tt.ptr<i32>
  tt.return
}
