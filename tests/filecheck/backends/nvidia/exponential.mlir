// RUN: tritonx-opt %s --target cuda:90 --until ptx | filecheck %s

// Where an exponential is rounded to 16 bits in the end, it is a square: no predicates for subnormal numbers.
// CHECK-LABEL: .visible .entry narrow(
// CHECK-NOT: ex2.approx.f32
// CHECK: ex2.approx.ftz.f32 [[ROOT:%[a-z0-9]+]],
// CHECK-NOT: ex2.approx.f32
// CHECK: mul.{{(rn.)?}}f32 {{%[a-z0-9]+}}, [[ROOT]], [[ROOT]];
// CHECK-NOT: ex2.approx.f32
// CHECK: ret;
tt.func public @narrow(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %h: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %v = tt.load %xp : tensor<128x!tt.ptr<f32>>
  %e = math.exp %v : tensor<128xf32>
  %t = arith.truncf %e : tensor<128xf32> to tensor<128xf16>
  %hs = tt.splat %h : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>>
  %hp = tt.addptr %hs, %r : tensor<128x!tt.ptr<f16>>, tensor<128xi32>
  tt.store %hp, %t : tensor<128x!tt.ptr<f16>>
  tt.return
}
