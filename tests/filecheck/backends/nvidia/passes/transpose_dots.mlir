// RUN: tritonx-opt %s -p 'transpose-dots{target="cuda:90" num_warps=4}' | filecheck %s

// B has N contiguous, which the unit does not read of 32 bits: it becomes A, which comes in registers. The loop carries
// the transposed sum, and what behind it reads the sum gets it turned back.
// CHECK-LABEL: @rows
// CHECK: %[[SUMS:.*]] = scf.for %{{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (tensor<64x128xf32>)
// CHECK-DAG: %[[B:.*]] = tt.trans %b {{.*}} : tensor<32x64xf32> -> tensor<64x32xf32>
// CHECK-DAG: %[[A:.*]] = tt.trans %a {{.*}} : tensor<128x32xf32> -> tensor<32x128xf32>
// CHECK: %[[D:.*]] = tt.dot %[[B]], %[[A]], %[[S]], inputPrecision = tf32
// CHECK-NOT: tt.trans
// CHECK: scf.yield %[[D]]
// CHECK: tt.trans %[[SUMS]] {{.*}} : tensor<64x128xf32> -> tensor<128x64xf32>
tt.func public @rows(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %l = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %m1 = tt.expand_dims %m {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %k0 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k1 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %l0 = tt.expand_dims %l {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %w = arith.constant dense<1024> : tensor<128x1xi32>
  %v = arith.constant dense<1024> : tensor<32x1xi32>
  %mw = arith.muli %m1, %w : tensor<128x1xi32>
  %kv = arith.muli %k1, %v : tensor<32x1xi32>
  %mb = tt.broadcast %mw : tensor<128x1xi32> -> tensor<128x32xi32>
  %kb = tt.broadcast %k0 : tensor<1x32xi32> -> tensor<128x32xi32>
  %ai = arith.addi %mb, %kb : tensor<128x32xi32>
  %kc = tt.broadcast %kv : tensor<32x1xi32> -> tensor<32x64xi32>
  %lc = tt.broadcast %l0 : tensor<1x64xi32> -> tensor<32x64xi32>
  %bi = arith.addi %kc, %lc : tensor<32x64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x32x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %ai : tensor<128x32x!tt.ptr<f32>>, tensor<128x32xi32>
  %yp = tt.addptr %ys, %bi : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
  %total = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<128x64xf32>) : i32 {
    %a = tt.load %xp : tensor<128x32x!tt.ptr<f32>>
    %b = tt.load %yp : tensor<32x64x!tt.ptr<f32>>
    %d = tt.dot %a, %b, %sum, inputPrecision = tf32 : tensor<128x32xf32> * tensor<32x64xf32> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %zw = tt.broadcast %mw : tensor<128x1xi32> -> tensor<128x64xi32>
  %zl = tt.broadcast %l0 : tensor<1x64xi32> -> tensor<128x64xi32>
  %zi = arith.addi %zw, %zl : tensor<128x64xi32>
  %zs = tt.splat %z : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %zp = tt.addptr %zs, %zi : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %zp, %total : tensor<128x64x!tt.ptr<f32>>
  tt.return
}

// B is computed: the threads have it, and turn it as they store it. So does one of 8 bits stay, of which no thread could
// load the words that it multiplies.
// CHECK-LABEL: @computed
// CHECK-NOT: tt.trans
// CHECK: tt.return
tt.func public @computed(%x: tensor<128x32x!tt.ptr<f32>>, %y: tensor<32x64x!tt.ptr<f16>>, %z: tensor<32x64x!tt.ptr<i8>>, %o: tensor<128x64x!tt.ptr<f32>>, %p: tensor<128x64x!tt.ptr<i32>>, %w: tensor<128x32x!tt.ptr<i8>>) {
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %none = arith.constant dense<0> : tensor<128x64xi32>
  %a = tt.load %x : tensor<128x32x!tt.ptr<f32>>
  %h = tt.load %y : tensor<32x64x!tt.ptr<f16>>
  %b = arith.extf %h : tensor<32x64xf16> to tensor<32x64xf32>
  %d = tt.dot %a, %b, %zero, inputPrecision = tf32 : tensor<128x32xf32> * tensor<32x64xf32> -> tensor<128x64xf32>
  tt.store %o, %d : tensor<128x64x!tt.ptr<f32>>
  %q = tt.load %w : tensor<128x32x!tt.ptr<i8>>
  %r = tt.load %z : tensor<32x64x!tt.ptr<i8>>
  %e = tt.dot %q, %r, %none : tensor<128x32xi8> * tensor<32x64xi8> -> tensor<128x64xi32>
  tt.store %p, %e : tensor<128x64x!tt.ptr<i32>>
  tt.return
}
