// RUN: tritonx-opt %s --target cuda:90 --option num_warps=1 --until llir | filecheck %s

// Whether a value is in a bin is decided at the value's own width, unsigned; only then is it made a 32-bit index.
// CHECK-LABEL: define ptx_kernel void @wide(
// CHECK-NOT: trunc i64 {{.*}} to i32
// CHECK: icmp ult i64 {{.*}}, 32
// CHECK-NEXT: trunc i64 {{.*}} to i32
// CHECK: atomicrmw add
tt.func public @wide(%x: !tt.ptr<i64>, %out: !tt.ptr<i32>) {
  %range = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %xs = tt.splat %x : !tt.ptr<i64> -> tensor<32x!tt.ptr<i64>>
  %xp = tt.addptr %xs, %range : tensor<32x!tt.ptr<i64>>, tensor<32xi32>
  %v = tt.load %xp : tensor<32x!tt.ptr<i64>>
  %h = tt.histogram %v : tensor<32xi64> -> tensor<32xi32>
  %os = tt.splat %out : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %op = tt.addptr %os, %range : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  tt.store %op, %h : tensor<32x!tt.ptr<i32>>
  tt.return
}

// Bins of another width, and more of them than the values can tell apart.
// CHECK-LABEL: define ptx_kernel void @narrow(
// CHECK: zext i8 {{.*}} to i32
// CHECK-NEXT: icmp ult i32 {{.*}}, 512
// CHECK: atomicrmw add
// CHECK: trunc i32 {{.*}} to i16
tt.func public @narrow(%x: !tt.ptr<i8>, %out: !tt.ptr<i16>) {
  %range = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %xs = tt.splat %x : !tt.ptr<i8> -> tensor<32x!tt.ptr<i8>>
  %xp = tt.addptr %xs, %range : tensor<32x!tt.ptr<i8>>, tensor<32xi32>
  %v = tt.load %xp : tensor<32x!tt.ptr<i8>>
  %h = tt.histogram %v : tensor<32xi8> -> tensor<512xi16>
  %bins = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %os = tt.splat %out : !tt.ptr<i16> -> tensor<512x!tt.ptr<i16>>
  %op = tt.addptr %os, %bins : tensor<512x!tt.ptr<i16>>, tensor<512xi32>
  tt.store %op, %h : tensor<512x!tt.ptr<i16>>
  tt.return
}
