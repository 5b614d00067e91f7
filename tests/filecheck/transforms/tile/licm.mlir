// RUN: tritonx-opt %s -p licm | filecheck %s
// RUN: tritonx-opt %s -p "licm{hoist-loads=false}" | filecheck %s --check-prefix KEEP
// RUN: tritonx-opt %s -p "licm{hoist-divisions=true}" | filecheck %s --check-prefix DIVIDE

// CHECK-LABEL: @pure
// CHECK: %[[A:.*]] = arith.addf %x, %x
// CHECK: %[[R:.*]] = "tt.reduce"
// CHECK: %[[B:.*]] = arith.addf %[[A]], %[[R]]
// CHECK-NEXT: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: arith.addf %[[B]]
tt.func public @pure(%x: f32, %t: tensor<16xf32>, %n: i32, %p: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      %a = arith.addf %x, %x : f32
      %r = "tt.reduce"(%t) <{axis = 0 : i32}> ({
      ^bb0(%d: f32, %e: f32):
        %f = arith.addf %d, %e : f32
        tt.reduce.return %f : f32
      }) : (tensor<16xf32>) -> f32
      %k = arith.sitofp %j : i32 to f32
      %b = arith.addf %a, %r : f32
      %m = arith.addf %b, %k : f32
      tt.store %p, %m : !tt.ptr<f32>
    }
  }
  tt.return
}

// A division may trap where the loop does not run; by a constant it does not. It is moved with a harmless divisor.
// CHECK-LABEL: @division
// CHECK: arith.divsi %x, %c7
// CHECK: scf.for
// CHECK: arith.divsi %x, %y
// DIVIDE-LABEL: @division
// DIVIDE: arith.divsi %x, %c7
// DIVIDE: %[[HARMLESS:.*]] = arith.constant 1073741824 : i32
// DIVIDE: %[[RUNS:.*]] = arith.cmpi slt, %c0, %n : i32
// DIVIDE: %[[Y:.*]] = arith.select %[[RUNS]], %y, %[[HARMLESS]]
// DIVIDE: arith.divsi %x, %[[Y]]
// DIVIDE: scf.for
// DIVIDE: arith.remui %x, %y
// DIVIDE-NEXT: scf.for
tt.func public @division(%x: i32, %y: i32, %n: i32, %p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %d = arith.divsi %x, %c7 : i32
    %e = arith.divsi %x, %y : i32
    %s = arith.addi %d, %e : i32
    tt.store %p, %s : !tt.ptr<i32>
  }
  scf.for %i = %c0 to %c7 step %c1 : i32 {
    %e = arith.remui %x, %y : i32
    tt.store %p, %e : !tt.ptr<i32>
  }
  tt.return
}

// It stays behind what is written, which a trap would come after, and in branches and other loops.
// DIVIDE-LABEL: @late_division
// DIVIDE: scf.for
// DIVIDE-NEXT: tt.store
// DIVIDE-NEXT: arith.divsi %x, %y
// DIVIDE: scf.for
// DIVIDE-NEXT: scf.if
// DIVIDE-NEXT: arith.divsi %x, %y
// DIVIDE: scf.while
// DIVIDE: arith.divsi %x, %y
tt.func public @late_division(%x: i32, %y: i32, %n: i32, %c: i1, %p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %x : !tt.ptr<i32>
    %e = arith.divsi %x, %y : i32
    tt.store %p, %e : !tt.ptr<i32>
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.if %c {
      %e = arith.divsi %x, %y : i32
      tt.store %p, %e : !tt.ptr<i32>
    }
  }
  %w = scf.while (%a = %c0) : (i32) -> i32 {
    %r = arith.cmpi slt, %a, %n : i32
    scf.condition(%r) %a : i32
  } do {
  ^bb0(%b: i32):
    %e = arith.divsi %x, %y : i32
    tt.store %p, %e : !tt.ptr<i32>
    %f = arith.addi %b, %c1 : i32
    scf.yield %f : i32
  }
  tt.return
}

// A load leaves a loop that writes nothing, guarded by "the loop runs" where that is not known.
// CHECK-LABEL: @loads
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %c0, %n : i32
// CHECK: %[[SPLAT:.*]] = tt.splat %[[RUNS]]
// CHECK: %[[MASK:.*]] = arith.andi %m, %[[SPLAT]]
// CHECK: %[[L:.*]] = tt.load %p, %[[MASK]], %o
// CHECK-NEXT: scf.for
// CHECK-NEXT: arith.addf %{{.*}}, %[[L]]
// CHECK: %[[K:.*]] = tt.load %p :
// CHECK-NEXT: scf.for
// CHECK-NEXT: arith.addf %{{.*}}, %[[K]]
// CHECK: scf.for
// CHECK-NEXT: tt.load
// KEEP-LABEL: @loads
// KEEP-NOT: arith.cmpi
// KEEP: tt.return
tt.func public @loads(%p: tensor<16x!tt.ptr<f32>>, %m: tensor<16xi1>, %o: tensor<16xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %o) -> (tensor<16xf32>) : i32 {
    %l = tt.load %p, %m, %o : tensor<16x!tt.ptr<f32>>
    %b = arith.addf %a, %l : tensor<16xf32>
    scf.yield %b : tensor<16xf32>
  }
  %u = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %s) -> (tensor<16xf32>) : i32 {
    %l = tt.load %p : tensor<16x!tt.ptr<f32>>
    %b = arith.addf %a, %l : tensor<16xf32>
    scf.yield %b : tensor<16xf32>
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    %l = tt.load %p : tensor<16x!tt.ptr<f32>>
    %b = arith.addf %u, %l : tensor<16xf32>
    tt.store %p, %b : tensor<16x!tt.ptr<f32>>
  }
  tt.return
}

// A product in a region that is measured stays there; one in front of all records goes.
// CHECK-LABEL: @measured
// CHECK: %[[E:.*]] = tt.dot %b, %a, %z
// CHECK: scf.for
// CHECK-NEXT: proton.record start "dot"
// CHECK-NEXT: %[[D:.*]] = tt.dot %a, %b, %z
// CHECK-NEXT: proton.record end "dot"
// CHECK-NEXT: tt.store %p, %[[D]]
// CHECK-NEXT: tt.store %p, %[[E]]
tt.func public @measured(%a: tensor<32x32xf16>, %b: tensor<32x32xf16>, %z: tensor<32x32xf32>, %p: tensor<32x32x!tt.ptr<f32>>, %n: i32) {
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  scf.for %i = %0 to %n step %1 : i32 {
    %e = tt.dot %b, %a, %z : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    proton.record start "dot"
    %d = tt.dot %a, %b, %z : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    proton.record end "dot"
    tt.store %p, %d : tensor<32x32x!tt.ptr<f32>>
    tt.store %p, %e : tensor<32x32x!tt.ptr<f32>>
  }
  tt.return
}
