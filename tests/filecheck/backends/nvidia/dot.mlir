// RUN: tritonx-opt %s --target cuda:80 --until ptx | filecheck %s
// RUN: tritonx-opt %s --target cuda:75 --until ptx | filecheck %s --check-prefix TURING

// 64×64×32 on 4 warps: operands through shared memory, read by ldmatrix (the second one transposed), multiplied by the
// matrix unit; nothing in local memory.
// CHECK-LABEL: .visible .entry product(
// CHECK-NOT: .local
// CHECK: st.shared
// CHECK: bar.sync
// CHECK: ldmatrix.sync.aligned
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT: fma.rn.f32
// CHECK: ret;

// TURING-LABEL: .visible .entry product(
// TURING: ldmatrix.sync.aligned
// TURING: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
tt.func public @product(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c32 = arith.constant dense<32> : tensor<64x1xi32>
  %c64m = arith.constant dense<64> : tensor<64x1xi32>
  %c64k = arith.constant dense<64> : tensor<32x1xi32>
  %m = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %mc = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %nr = tt.expand_dims %m {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %kc = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %kr = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %xr = arith.muli %mc, %c32 : tensor<64x1xi32>
  %xrb = tt.broadcast %xr : tensor<64x1xi32> -> tensor<64x32xi32>
  %krb = tt.broadcast %kr : tensor<1x32xi32> -> tensor<64x32xi32>
  %xi = arith.addi %xrb, %krb : tensor<64x32xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %xi : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %a = tt.load %xp : tensor<64x32x!tt.ptr<f16>>
  %yr = arith.muli %kc, %c64k : tensor<32x1xi32>
  %yrb = tt.broadcast %yr : tensor<32x1xi32> -> tensor<32x64xi32>
  %nrb = tt.broadcast %nr : tensor<1x64xi32> -> tensor<32x64xi32>
  %yi = arith.addi %yrb, %nrb : tensor<32x64xi32>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %yp = tt.addptr %ys, %yi : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  %b = tt.load %yp : tensor<32x64x!tt.ptr<f16>>
  %c = tt.dot %a, %b, %zero : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
  %or = arith.muli %mc, %c64m : tensor<64x1xi32>
  %orb = tt.broadcast %or : tensor<64x1xi32> -> tensor<64x64xi32>
  %onb = tt.broadcast %nr : tensor<1x64xi32> -> tensor<64x64xi32>
  %oi = arith.addi %orb, %onb : tensor<64x64xi32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %oi : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %op, %c : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
