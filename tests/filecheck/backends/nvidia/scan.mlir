// RUN: tritonx-opt %s --target cuda:90 --until ptx | filecheck %s

// 1024 elements on 4 warps: a scan in registers, 5 shuffles in each
// of the two runs of four, the warps' totals through shared memory.
// CHECK-LABEL: .visible .entry running(
// CHECK-NOT: .local
// CHECK-COUNT-10: shfl.sync.bfly
// CHECK-NOT: shfl.sync.bfly
// CHECK: st.shared
// CHECK: bar.sync
// CHECK: ld.shared
// CHECK: st.global.v4.b32
// CHECK: ret;
tt.func public @running(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %r : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
  %v = tt.load %xp : tensor<1024x!tt.ptr<i32>>
  %s = "tt.scan"(%v) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.scan.return %c : i32
  }) : (tensor<1024xi32>) -> tensor<1024xi32>
  tt.store %xp, %s : tensor<1024x!tt.ptr<i32>>
  tt.return
}
