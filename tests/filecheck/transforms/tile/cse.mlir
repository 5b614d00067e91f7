// RUN: tritonx-opt %s -p cse | filecheck %s

// CHECK-LABEL: @pure
// CHECK-NEXT: %[[A:.*]] = arith.addi %x, %y
// CHECK-NEXT: %[[B:.*]] = arith.subi %x, %y
// CHECK-NEXT: %[[C:.*]] = arith.subi %y, %x
// CHECK-NEXT: %[[D:.*]] = arith.muli %[[A]], %[[A]]
// CHECK-NEXT: tt.return
tt.func public @pure(%x: i32, %y: i32) {
  %a = arith.addi %x, %y : i32
  %b = arith.addi %y, %x : i32
  %c = arith.subi %x, %y : i32
  %d = arith.subi %y, %x : i32
  %e = arith.muli %a, %b : i32
  tt.return
}

// Loads are equal until something may have been written.
// CHECK-LABEL: @loads
// CHECK-COUNT-2: tt.load
// CHECK-NOT: tt.load
tt.func public @loads(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %a = tt.load %p : !tt.ptr<f32>
  %b = tt.load %p : !tt.ptr<f32>
  %s = arith.addf %a, %b : f32
  tt.store %q, %s : !tt.ptr<f32>
  %c = tt.load %p : !tt.ptr<f32>
  tt.store %q, %c : !tt.ptr<f32>
  tt.return
}

// Volatile loads are all made.
// CHECK-LABEL: @volatile
// CHECK-COUNT-2: tt.load
tt.func public @volatile(%p: !tt.ptr<f32>) {
  %a = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  %b = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  tt.return
}

// A loop that writes may have written before its first op runs again.
// CHECK-LABEL: @loops
// CHECK: tt.load
// CHECK: scf.for
// CHECK: tt.load
// CHECK: tt.store
// CHECK: scf.for
// CHECK: tt.load
// CHECK: scf.for
// CHECK-NOT: tt.load
// CHECK: tt.return
tt.func public @loops(%p: !tt.ptr<f32>, %n: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tt.load %p : !tt.ptr<f32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %b = tt.load %p : !tt.ptr<f32>
    %c = arith.addf %b, %a : f32
    tt.store %p, %c : !tt.ptr<f32>
  }
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (f32) : i32 {
    %d = tt.load %p : !tt.ptr<f32>
    %u = scf.for %j = %c0 to %n step %c1 iter_args(%y = %x) -> (f32) : i32 {
      %e = tt.load %p : !tt.ptr<f32>
      %f = arith.addf %y, %e : f32
      scf.yield %f : f32
    }
    %g = arith.addf %u, %d : f32
    scf.yield %g : f32
  }
  tt.return %s : f32
}

// What one branch computes is not there in the other, nor after it; what was there before is in both.
// CHECK-LABEL: @branches
// CHECK: arith.addi
// CHECK: scf.if
// CHECK-NOT: arith.addi
// CHECK: arith.muli
// CHECK: else
// CHECK: arith.muli
// CHECK: }
// CHECK: arith.muli
tt.func public @branches(%c: i1, %x: i32, %p: !tt.ptr<i32>) {
  %a = arith.addi %x, %x : i32
  scf.if %c {
    %b = arith.addi %x, %x : i32
    %d = arith.muli %b, %x : i32
    tt.store %p, %d : !tt.ptr<i32>
  } else {
    %d = arith.muli %a, %x : i32
    tt.store %p, %d : !tt.ptr<i32>
  }
  %d = arith.muli %a, %x : i32
  tt.store %p, %d : !tt.ptr<i32>
  tt.return
}

// Blocks: the entry is known everywhere, a block's ops where only it leads.
// CHECK-LABEL: @blocks
// CHECK-COUNT-1: arith.addi
// CHECK: arith.muli
// CHECK-NOT: arith.addi
// CHECK: arith.muli
// CHECK-NOT: arith.addi
tt.func public @blocks(%c: i1, %x: i32, %p: !tt.ptr<i32>) {
  %a = arith.addi %x, %x : i32
  cf.cond_br %c, ^one, ^two
^one:
  %b = arith.addi %x, %x : i32
  %m = arith.muli %b, %x : i32
  tt.store %p, %m : !tt.ptr<i32>
  cf.br ^two
^two:
  %d = arith.addi %x, %x : i32
  %n = arith.muli %d, %x : i32
  tt.store %p, %n : !tt.ptr<i32>
  tt.return
}

// Reductions by the same function are one.
// CHECK-LABEL: @regions
// CHECK-COUNT-2: "tt.reduce"
// CHECK-NOT: "tt.reduce"
tt.func public @regions(%t: tensor<64xf32>, %p: !tt.ptr<f32>) {
  %s = "tt.reduce"(%t) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<64xf32>) -> f32
  %u = "tt.reduce"(%t) <{axis = 0 : i32}> ({
  ^bb0(%d: f32, %e: f32):
    %f = arith.addf %d, %e : f32
    tt.reduce.return %f : f32
  }) : (tensor<64xf32>) -> f32
  %v = "tt.reduce"(%t) <{axis = 0 : i32}> ({
  ^bb0(%d: f32, %e: f32):
    %f = arith.mulf %d, %e : f32
    tt.reduce.return %f : f32
  }) : (tensor<64xf32>) -> f32
  tt.store %p, %s : !tt.ptr<f32>
  tt.store %p, %u : !tt.ptr<f32>
  tt.store %p, %v : !tt.ptr<f32>
  tt.return
}
