// RUN: tritonx-opt %s --target hip:gfx942 -t llvm | filecheck %s
// RUN: tritonx-opt %s --target hip:gfx1100 -t llvm | filecheck %s
// RUN: tritonx-opt %s --target hip:gfx942 -t amdgcn | filecheck %s --check-prefix OBJECT

// A message is begun (33: begins, one word), then come its format in words of eight bytes, seven at a time (224), and its
// arguments; the last packet ends it (2). What fails is named by file, line and function on standard error (1) before the
// wave traps. The runtime is told that the kernel asks for its service.

// CHECK-LABEL: @talk(
// CHECK: %[[a:.*]] = call i64 @tx.hostcall(i64 33, i64 0, i64 0,
// CHECK: %[[kept:.*]] = and i64 %[[a]], -228
// CHECK: %[[text:.*]] = or i64 %[[kept]], 192
// CHECK: call i64 @tx.hostcall(i64 %[[text]], i64 3203507564216346992,
// CHECK: or i64 %{{.*}}, 162
// CHECK: br i1
// CHECK: call i64 @tx.hostcall(i64 33, i64 1, i64 0,
// CHECK: or i64 %{{.*}}, 194
// CHECK: call void @llvm.trap()
// CHECK: define internal i64 @tx.hostcall(
// CHECK: @llvm.amdgcn.s.sendmsg(i32 1,
// OBJECT: s_trap
// OBJECT: .value_kind: hidden_hostcall_buffer
tt.func public @talk(%p: !tt.ptr<f32>) {
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %a = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %b = tt.addptr %a, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %v = tt.load %b : tensor<128x!tt.ptr<f32>>
  tt.print " x: " {hex = false, isSigned = array<i32: 1, 1>} : %v, %r : tensor<128xf32>, tensor<128xi32>
  %z = arith.constant dense<0.0> : tensor<128xf32>
  %c = arith.cmpf oge, %v, %z : tensor<128xf32>
  tt.assert %c, "positive" : tensor<128xi1> loc("here.py":7:3)
  tt.return
}
