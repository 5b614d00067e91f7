// RUN: tritonx-opt %s --target cuda:90 --until ptx | filecheck %s

// fp32 functions are the special-function unit's; packed halves stay packed; no calls are left.
// CHECK-LABEL: .visible .entry functions(
// CHECK-NOT: .local
// CHECK-NOT: call.uni
// CHECK-DAG: ex2.approx.f32
// CHECK-DAG: sqrt.approx.ftz.f32
// CHECK-DAG: div.full.f32
// CHECK-DAG: fma.rn.f16x2
// CHECK: ret;
tt.func public @functions(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %h: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %xp : tensor<1024x!tt.ptr<f32>>
  %e = math.exp %v : tensor<1024xf32>
  %s = math.sqrt %v : tensor<1024xf32>
  %d = arith.divf %e, %s : tensor<1024xf32>
  tt.store %xp, %d : tensor<1024x!tt.ptr<f32>>
  %hs = tt.splat %h : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %hp = tt.addptr %hs, %r : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %w = tt.load %hp : tensor<1024x!tt.ptr<f16>>
  %q = math.fma %w, %w, %w : tensor<1024xf16>
  tt.store %hp, %q : tensor<1024x!tt.ptr<f16>>
  tt.return
}
