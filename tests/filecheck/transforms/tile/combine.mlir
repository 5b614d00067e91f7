// RUN: tritonx-opt %s -p "combine,dce" | filecheck %s

// i64 offsets add up modulo 2^64 whatever the order; i32 ones only where the sum is known to fit.
// CHECK-LABEL: @pointers
// CHECK: %[[S:.*]] = arith.addi %a, %b : i64
// CHECK-NEXT: %[[P:.*]] = tt.addptr %p, %[[S]] : !tt.ptr<f32>, i64
// CHECK-NEXT: tt.store %[[P]]
// CHECK-NEXT: %[[Q:.*]] = tt.addptr %p, %c : !tt.ptr<f32>, i32
// CHECK-NEXT: %[[R:.*]] = tt.addptr %[[Q]], %d : !tt.ptr<f32>, i32
// CHECK-NEXT: tt.store %[[R]]
// CHECK-NEXT: %[[C7:.*]] = arith.constant 7 : i32
// CHECK-NEXT: %[[T:.*]] = tt.addptr %p, %[[C7]]
// CHECK-NEXT: tt.store %[[T]]
tt.func public @pointers(%p: !tt.ptr<f32>, %a: i64, %b: i64, %c: i32, %d: i32, %v: f32) {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %0 = tt.addptr %p, %a : !tt.ptr<f32>, i64
  %1 = tt.addptr %0, %b : !tt.ptr<f32>, i64
  tt.store %1, %v : !tt.ptr<f32>
  %2 = tt.addptr %p, %c : !tt.ptr<f32>, i32
  %3 = tt.addptr %2, %d : !tt.ptr<f32>, i32
  tt.store %3, %v : !tt.ptr<f32>
  %4 = tt.addptr %p, %c3 : !tt.ptr<f32>, i32
  %5 = tt.addptr %4, %c4 : !tt.ptr<f32>, i32
  tt.store %5, %v : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: @sums
// CHECK: %[[C:.*]] = arith.constant 12 : i32
// CHECK-NEXT: arith.addi %x, %[[C]]
tt.func public @sums(%x: i32, %p: !tt.ptr<i32>) {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %a = arith.addi %x, %c5 : i32
  %b = arith.addi %a, %c7 : i32
  tt.store %p, %b : !tt.ptr<i32>
  tt.return
}

// A remainder that is written by a quotient; of other factors, or of another dividend, it is none.
// CHECK-LABEL: @remainders
// CHECK-NEXT: %[[R:.*]] = arith.remsi %x, %y : i32
// CHECK-NEXT: tt.store %p, %[[R]]
// CHECK-NEXT: %[[U:.*]] = arith.remui %x, %y : i32
// CHECK-NEXT: tt.store %p, %[[U]]
// CHECK-NEXT: tt.return
// CHECK-LABEL: @no_remainders
// CHECK-NOT: arith.remsi
tt.func public @remainders(%x: i32, %y: i32, %z: i32, %p: !tt.ptr<i32>) {
  %q = arith.divsi %x, %y : i32
  %m = arith.muli %q, %y : i32
  %r = arith.subi %x, %m : i32
  tt.store %p, %r : !tt.ptr<i32>
  %uq = arith.divui %x, %y : i32
  %um = arith.muli %y, %uq : i32
  %ur = arith.subi %x, %um : i32
  tt.store %p, %ur : !tt.ptr<i32>
  tt.return
}

tt.func public @no_remainders(%x: i32, %y: i32, %z: i32, %p: !tt.ptr<i32>) {
  %q = arith.divsi %x, %y : i32
  %m = arith.muli %q, %y : i32
  %other = arith.subi %z, %m : i32
  tt.store %p, %other : !tt.ptr<i32>
  %om = arith.muli %q, %z : i32
  %o = arith.subi %x, %om : i32
  tt.store %p, %o : !tt.ptr<i32>
  tt.return
}

// Integers wrap in either order; the addend may come first.
// CHECK-LABEL: @integer_dots
// CHECK: %[[A:.*]] = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>
// CHECK-NEXT: %[[B:.*]] = tt.dot %a, %b, %[[A]], inputPrecision = tf32
// CHECK-NEXT: tt.store %p, %[[B]]
tt.func public @integer_dots(%a: tensor<16x32xi8>, %b: tensor<32x16xi8>, %c: tensor<16x16xi32>, %p: tensor<16x16x!tt.ptr<i32>>) {
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %d = tt.dot %a, %b, %zero, inputPrecision = tf32 : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>
  %e = arith.addi %c, %d : tensor<16x16xi32>
  %f = tt.dot %a, %b, %zero, inputPrecision = tf32 : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>
  %g = arith.addi %f, %e : tensor<16x16xi32>
  tt.store %p, %g : tensor<16x16x!tt.ptr<i32>>
  tt.return
}

// A number may stand on either side.
// CHECK-LABEL: @sums_of_numbers_first
// CHECK: %[[C:.*]] = arith.constant 12 : i32
// CHECK-NEXT: arith.addi %x, %[[C]]
// CHECK-NEXT: tt.store
// CHECK-NEXT: tt.store %p, %x
tt.func public @sums_of_numbers_first(%x: i32, %p: !tt.ptr<i32>) {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %m5 = arith.constant -5 : i32
  %a = arith.addi %c5, %x : i32
  %b = arith.addi %c7, %a : i32
  tt.store %p, %b : !tt.ptr<i32>
  %c = arith.addi %x, %c5 : i32
  %d = arith.addi %m5, %c : i32
  tt.store %p, %d : !tt.ptr<i32>
  tt.return
}

// CHECK-LABEL: @dots
// CHECK: tt.dot %a, %b, %c, inputPrecision = tf32
// CHECK-NOT: arith.addf
// CHECK: tt.dot %a, %b, %{{.*}}, inputPrecision = tf32 {maxNumImpreciseAcc = 32 : i32}
// CHECK: arith.addf
tt.func public @dots(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>, %p: tensor<16x16x!tt.ptr<f32>>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot %a, %b, %zero, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %s = arith.addf %c, %d : tensor<16x16xf32>
  tt.store %p, %s : tensor<16x16x!tt.ptr<f32>>
  %e = tt.dot %a, %b, %zero, inputPrecision = tf32 {maxNumImpreciseAcc = 32 : i32} : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %t = arith.addf %e, %c : tensor<16x16xf32>
  tt.store %p, %t : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: @selects
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK-NEXT: %[[L:.*]] = tt.load %p, %m, %[[ONE]]
// CHECK-NEXT: tt.store %p, %[[L]]
// CHECK: %[[K:.*]] = tt.load %p, %m :
// CHECK: arith.select %n, %[[K]]
tt.func public @selects(%p: tensor<16x!tt.ptr<f32>>, %m: tensor<16xi1>, %n: tensor<16xi1>) {
  %l = tt.load %p, %m : tensor<16x!tt.ptr<f32>>
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %s = arith.select %m, %l, %one : tensor<16xi1>, tensor<16xf32>
  tt.store %p, %s : tensor<16x!tt.ptr<f32>>
  %k = tt.load %p, %m : tensor<16x!tt.ptr<f32>>
  %t = arith.select %n, %k, %one : tensor<16xi1>, tensor<16xf32>
  tt.store %p, %t : tensor<16x!tt.ptr<f32>>
  tt.return
}

// What the select takes instead may not exist yet where the load is.
// CHECK-LABEL: @too_early
// CHECK: tt.load %p, %m :
// CHECK: scf.for
// CHECK: arith.select
tt.func public @too_early(%p: tensor<16x!tt.ptr<f32>>, %m: tensor<16xi1>, %n: i32, %i: tensor<16xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l = tt.load %p, %m : tensor<16x!tt.ptr<f32>>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %i) -> (tensor<16xf32>) : i32 {
    %s = arith.select %m, %l, %a : tensor<16xi1>, tensor<16xf32>
    %t = arith.addf %s, %a : tensor<16xf32>
    scf.yield %t : tensor<16xf32>
  }
  tt.store %p, %r : tensor<16x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: @masks
// CHECK: %[[L:.*]] = tt.load %p :
// CHECK-NEXT: tt.store %p, %[[L]] :
// CHECK-NEXT: tt.store %p, %o :
// CHECK-NEXT: tt.return
tt.func public @masks(%p: tensor<16x!tt.ptr<f32>>, %o: tensor<16xf32>) {
  %yes = arith.constant dense<true> : tensor<16xi1>
  %no = arith.constant dense<false> : tensor<16xi1>
  %l = tt.load %p, %yes, %o : tensor<16x!tt.ptr<f32>>
  tt.store %p, %l, %yes : tensor<16x!tt.ptr<f32>>
  tt.store %p, %l, %no : tensor<16x!tt.ptr<f32>>
  %k = tt.load %p, %no, %o : tensor<16x!tt.ptr<f32>>
  tt.store %p, %k : tensor<16x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: @sum_of_product
// CHECK: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
// CHECK-NEXT: tt.dot %a, %b, %[[Z]] : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
// CHECK-NOT: tt.reduce
tt.func public @sum_of_product(%a: tensor<16x32xf32>, %b: tensor<32x16xf32>, %p: tensor<16x16x!tt.ptr<f32>>) {
  %ae = tt.expand_dims %a {axis = 2 : i32} : tensor<16x32xf32> -> tensor<16x32x1xf32>
  %be = tt.expand_dims %b {axis = 0 : i32} : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %ab = tt.broadcast %ae : tensor<16x32x1xf32> -> tensor<16x32x16xf32>
  %bb = tt.broadcast %be : tensor<1x32x16xf32> -> tensor<16x32x16xf32>
  %m = arith.mulf %ab, %bb : tensor<16x32x16xf32>
  %s = "tt.reduce"(%m) <{axis = 1 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tt.reduce.return %z : f32
  }) : (tensor<16x32x16xf32>) -> tensor<16x16xf32>
  tt.store %p, %s : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// A block without its leading dims; not one of which the whole is used too, or that drops another dim.
// CHECK-LABEL: @blocks
// CHECK-DAG: tt.descriptor_load %d[%i, %i, %i] evictionPolicy = evict_last : !tt.tensordesc<tensor<1x8x16xf16>> -> tensor<8x16xf16>
// CHECK-DAG: %[[W:.*]] = tt.descriptor_load %d[%i, %i, %i] : !tt.tensordesc<tensor<1x8x16xf16>> -> tensor<1x8x16xf16>
// CHECK-DAG: tt.reshape %[[W]]
// CHECK-DAG: %[[E:.*]] = tt.descriptor_load %e[%i, %i, %i]
// CHECK: tt.reshape %[[E]]
tt.func public @blocks(%d: !tt.tensordesc<tensor<1x8x16xf16>>, %e: !tt.tensordesc<tensor<8x1x16xf16>>, %i: i32) -> (tensor<8x16xf16>, tensor<8x16xf16>, tensor<1x8x16xf16>, tensor<8x16xf16>) {
  %v = tt.descriptor_load %d[%i, %i, %i] evictionPolicy = evict_last : !tt.tensordesc<tensor<1x8x16xf16>> -> tensor<1x8x16xf16>
  %x = tt.reshape %v : tensor<1x8x16xf16> -> tensor<8x16xf16>
  %w = tt.descriptor_load %d[%i, %i, %i] : !tt.tensordesc<tensor<1x8x16xf16>> -> tensor<1x8x16xf16>
  %y = tt.reshape %w : tensor<1x8x16xf16> -> tensor<8x16xf16>
  %u = tt.descriptor_load %e[%i, %i, %i] : !tt.tensordesc<tensor<8x1x16xf16>> -> tensor<8x1x16xf16>
  %z = tt.reshape %u : tensor<8x1x16xf16> -> tensor<8x16xf16>
  tt.return %x, %y, %w, %z : tensor<8x16xf16>, tensor<8x16xf16>, tensor<1x8x16xf16>, tensor<8x16xf16>
}
