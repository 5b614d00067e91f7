// RUN: tritonx-opt %s -p "fold,dce" | filecheck %s

// Constants are folded, kept once and at the top; identities give the operand.
// CHECK-LABEL: @integers
tt.func public @integers(%x: i32, %p: !tt.ptr<i32>) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant 48 : i32
  // CHECK-NEXT: %[[S:.*]] = arith.addi %x, %[[C]] : i32
  // CHECK-NEXT: tt.store %p, %[[S]]
  // CHECK-NEXT: tt.store %p, %x
  // CHECK-NEXT: tt.store %p, %[[C]]
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %c3 = arith.constant 3 : i32
  %c48 = arith.muli %c16, %c3 : i32
  %a = arith.addi %x, %c0 : i32
  %b = arith.muli %a, %c1 : i32
  %s = arith.addi %b, %c48 : i32
  tt.store %p, %s : !tt.ptr<i32>
  %d = arith.divsi %x, %c1 : i32
  %r = arith.remsi %x, %c1 : i32
  %o = arith.ori %d, %r : i32
  tt.store %p, %o : !tt.ptr<i32>
  %other48 = arith.constant 48 : i32
  tt.store %p, %other48 : !tt.ptr<i32>
  tt.return
}

// A tile folds like a scalar: its constants are splats.
// CHECK-LABEL: @tiles
tt.func public @tiles(%t: tensor<64xi32>, %p: tensor<64x!tt.ptr<i32>>, %q: tensor<64x!tt.ptr<i1>>) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant dense<7> : tensor<64xi32>
  // CHECK-NEXT: %[[T:.*]] = arith.constant dense<true> : tensor<64xi1>
  // CHECK-NEXT: tt.store %p, %[[C]]
  // CHECK-NEXT: tt.store %q, %[[T]]
  // CHECK-NEXT: tt.store %p, %t
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant dense<4> : tensor<64xi32>
  %s = tt.splat %c3 : i32 -> tensor<64xi32>
  %a = arith.addi %s, %c4 : tensor<64xi32>
  tt.store %p, %a : tensor<64x!tt.ptr<i32>>
  %eq = arith.cmpi eq, %t, %t : tensor<64xi32>
  tt.store %q, %eq : tensor<64x!tt.ptr<i1>>
  %z = arith.constant dense<0> : tensor<64xi32>
  %moved = tt.addptr %p, %z : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %sel = arith.select %eq, %t, %a : tensor<64xi1>, tensor<64xi32>
  tt.store %moved, %sel : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -0.0 is the neutral element of addition, 0.0 is not; nothing is known of x * 0.0.
// CHECK-LABEL: @floats
tt.func public @floats(%x: f32, %p: !tt.ptr<f32>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-DAG: %[[SUM:.*]] = arith.constant 1.00000012 : f32
  // CHECK: %[[A:.*]] = arith.addf %x, %[[ZERO]] : f32
  // CHECK: tt.store %p, %[[A]]
  // CHECK: tt.store %p, %x
  // CHECK: %[[M:.*]] = arith.mulf %x, %[[ZERO]] : f32
  // CHECK: tt.store %p, %[[M]]
  // CHECK: tt.store %p, %[[SUM]]
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %one = arith.constant 1.0 : f32
  %ulp = arith.constant 1.2e-07 : f32
  %a = arith.addf %x, %zero : f32
  tt.store %p, %a : !tt.ptr<f32>
  %b = arith.addf %x, %minus : f32
  %c = arith.mulf %b, %one : f32
  tt.store %p, %c : !tt.ptr<f32>
  %m = arith.mulf %x, %zero : f32
  tt.store %p, %m : !tt.ptr<f32>
  %s = arith.addf %one, %ulp : f32
  tt.store %p, %s : !tt.ptr<f32>
  tt.return
}

// What moves elements of a splat about is a splat; conversions there and back cancel.
// CHECK-LABEL: @shapes
tt.func public @shapes(%x: f32, %t: tensor<4x8xf32>, %h: i8, %p: tensor<8x4x!tt.ptr<f32>>, %q: tensor<4x8x!tt.ptr<f32>>, %r: !tt.ptr<i8>) {
  // CHECK-NEXT: %[[S:.*]] = tt.splat %x : f32 -> tensor<8x4xf32>
  // CHECK-NEXT: tt.store %p, %[[S]]
  // CHECK-NEXT: tt.store %q, %t
  // CHECK-NEXT: %[[W:.*]] = arith.extui %h : i8 to i32
  // CHECK-NEXT: tt.store %r, %h
  // CHECK-NEXT: tt.print "w: " {hex = false, isSigned = array<i32: 0>} : %[[W]]
  %s = tt.splat %x : f32 -> tensor<4xf32>
  %e = tt.expand_dims %s {axis = 1 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  %b = tt.broadcast %e : tensor<4x1xf32> -> tensor<4x8xf32>
  %tr = tt.trans %b {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  tt.store %p, %tr : tensor<8x4x!tt.ptr<f32>>
  %t1 = tt.trans %t {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %t2 = tt.trans %t1 {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>
  tt.store %q, %t2 : tensor<4x8x!tt.ptr<f32>>
  %w = arith.extui %h : i8 to i16
  %w2 = arith.extsi %w : i16 to i32
  %n = arith.trunci %w2 : i32 to i8
  tt.store %r, %n : !tt.ptr<i8>
  tt.print "w: " {hex = false, isSigned = array<i32: 0>} : %w2 : i32
  tt.return
}

// Constants in a reduction's function stay in it; those in a loop go to the top.
// CHECK-LABEL: @homes
tt.func public @homes(%t: tensor<64xf32>, %n: i32, %p: !tt.ptr<f32>) {
  // CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[C1:.*]] = arith.constant 1 : i32
  // CHECK-NEXT: scf.for %{{.*}} = %[[C0]] to %n step %[[C1]]
  // CHECK-NOT: arith.constant 1 : i32
  // CHECK: "tt.reduce"(%t)
  // CHECK: arith.constant 2.000000e+00 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %one = arith.constant 1 : i32
    %j = arith.addi %i, %one : i32
    %k = tt.addptr %p, %j : !tt.ptr<f32>, i32
    %r = "tt.reduce"(%t) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %two = arith.constant 2.0 : f32
      %m = arith.mulf %b, %two : f32
      %s = arith.addf %a, %m : f32
      tt.reduce.return %s : f32
    }) : (tensor<64xf32>) -> f32
    tt.store %k, %r : !tt.ptr<f32>
  }
  tt.return
}

// What C leaves undefined has a value: a quotient by zero is 0 and its remainder the dividend, the least integer by -1
// wraps, a shift by the width leaves 0.
// CHECK-LABEL: @without_a_quotient
tt.func public @without_a_quotient(%p: !tt.ptr<i32>, %x: i32) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[LEAST:.*]] = arith.constant -2147483648 : i32
  // CHECK-NOT: arith.divsi
  // CHECK-NOT: arith.remui
  // CHECK-NOT: arith.shli
  // CHECK: tt.store %p, %[[ZERO]]
  // CHECK-NEXT: tt.store %p, %x
  // CHECK-NEXT: tt.store %p, %[[LEAST]]
  // CHECK-NEXT: tt.store %p, %[[ZERO]]
  %c0 = arith.constant 0 : i32
  %m1 = arith.constant -1 : i32
  %least = arith.constant -2147483648 : i32
  %c32 = arith.constant 32 : i32
  %d = arith.divsi %x, %c0 : i32
  tt.store %p, %d : !tt.ptr<i32>
  %r = arith.remui %x, %c0 : i32
  tt.store %p, %r : !tt.ptr<i32>
  %w = arith.divsi %least, %m1 : i32
  tt.store %p, %w : !tt.ptr<i32>
  %s = arith.shli %x, %c32 : i32
  tt.store %p, %s : !tt.ptr<i32>
  tt.return
}

// CHECK-LABEL: @split_of_join
tt.func public @split_of_join(%a: tensor<8xf32>, %b: tensor<8xf32>, %p: tensor<8x!tt.ptr<f32>>) {
  // CHECK-NEXT: tt.store %p, %b
  // CHECK-NEXT: tt.store %p, %a
  %j = tt.join %a, %b : tensor<8xf32> -> tensor<8x2xf32>
  %l, %r = tt.split %j : tensor<8x2xf32> -> tensor<8xf32>
  tt.store %p, %r : tensor<8x!tt.ptr<f32>>
  tt.store %p, %l : tensor<8x!tt.ptr<f32>>
  tt.return
}

// A negated comparison is the opposite one, of floats with the answer on NaN turned around; a negation of one is gone.
// CHECK-LABEL: @negations
tt.func public @negations(%x: i32, %y: i32, %a: tensor<64xf32>, %b: tensor<64xf32>, %p: !tt.ptr<i1>, %q: tensor<64x!tt.ptr<i1>>) {
  // CHECK-NEXT: %[[GE:.*]] = arith.cmpi sge, %x, %y : i32
  // CHECK-NEXT: tt.store %p, %[[GE]]
  // CHECK-NEXT: %[[LT:.*]] = arith.cmpi ult, %x, %y : i32
  // CHECK-NEXT: tt.store %p, %[[LT]]
  // CHECK-NEXT: %[[UGE:.*]] = arith.cmpf uge, %a, %b : tensor<64xf32>
  // CHECK-NEXT: tt.store %q, %[[UGE]]
  // CHECK-NEXT: %[[UNE:.*]] = arith.cmpf une, %a, %b fastmath<nnan> : tensor<64xf32>
  // CHECK-NEXT: tt.store %q, %[[UNE]]
  // CHECK-NEXT: %[[UNE:.*]] = arith.cmpf olt, %a, %b : tensor<64xf32>
  // CHECK-NEXT: tt.store %q, %[[UNE]]
  // CHECK-NEXT: tt.return
  %true = arith.constant true
  %all = arith.constant dense<true> : tensor<64xi1>
  %lt = arith.cmpi slt, %x, %y : i32
  %ge = arith.xori %lt, %true : i1
  tt.store %p, %ge : !tt.ptr<i1>
  %uge = arith.cmpi uge, %x, %y : i32
  %ult = arith.xori %true, %uge : i1
  tt.store %p, %ult : !tt.ptr<i1>
  %olt = arith.cmpf olt, %a, %b : tensor<64xf32>
  %not = arith.xori %olt, %all : tensor<64xi1>
  tt.store %q, %not : tensor<64x!tt.ptr<i1>>
  %oeq = arith.cmpf oeq, %a, %b fastmath<nnan> : tensor<64xf32>
  %une = arith.xori %oeq, %all : tensor<64xi1>
  tt.store %q, %une : tensor<64x!tt.ptr<i1>>
  %again = arith.xori %not, %all : tensor<64xi1>
  tt.store %q, %again : tensor<64x!tt.ptr<i1>>
  tt.return
}
