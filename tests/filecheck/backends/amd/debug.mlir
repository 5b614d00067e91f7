// RUN: tritonx-opt %s --target hip:gfx942 -t llvm | filecheck %s
// RUN: tritonx-opt %s --target hip:gfx1100 -t llvm | filecheck %s
// REQUIRES: ockl
// RUN: tritonx-opt %s --target hip:gfx942 -t amdgcn | filecheck %s --check-prefix OBJECT

// A message is begun, given its format and up to seven words at a time, the last of which ends it; what fails is named
// by file, line and function on standard error before the wave traps. The runtime is told that the kernel calls it.

// CHECK-DAG: addrspace(4) constant {{.*}} c"pid (%u, %u, %u) idx (%3u) x: (operand 0) %f\0A\00"
// CHECK-DAG: addrspace(4) constant {{.*}} c"here.py:7: talk: Assertion `positive` failed\0A\00"
// CHECK-LABEL: @talk(
// CHECK: %[[a:.*]] = call i64 @__ockl_printf_begin(i64 0)
// CHECK: bitcast double %{{.*}} to i64
// CHECK: %[[b:.*]] = call i64 @__ockl_printf_append_string_n(i64 %[[a]], ptr {{.*}}, i64 46, i32 0)
// CHECK: call i64 @__ockl_printf_append_args(i64 %[[b]], i32 5, {{.*}}, i32 1)
// CHECK: br i1
// CHECK: %[[c:.*]] = call i64 @__ockl_fprintf_stderr_begin()
// CHECK: call i64 @__ockl_fprintf_append_string_n(i64 %[[c]], ptr {{.*}}, i64 46, i32 1)
// CHECK: call void @llvm.trap()
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
