// RUN: tritonx-opt %s -p "flatten-loops,fold,cse,dce" | filecheck %s

// What the prologue makes is carried; the sum starts again behind the last iteration of a tile; the store stands in a branch.
tt.func public @tiles(%p: !tt.ptr<f32>, %tiles: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %tiles step %c1 : i32 {
    %row = arith.muli %i, %c4 : i32
    %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
      %at = arith.addi %row, %j : i32
      %x_ptr = tt.addptr %p, %at : !tt.ptr<f32>, i32
      %x = tt.load %x_ptr : !tt.ptr<f32>
      %next = arith.addf %acc, %x : f32
      scf.yield %next : f32
    }
    %o = tt.addptr %p, %i : !tt.ptr<f32>, i32
    tt.store %o, %sum : !tt.ptr<f32>
  } {tt.flatten, tt.num_stages = 3 : i32}
  tt.return
}
// CHECK-LABEL: @tiles
// CHECK: %[[NONE:.*]] = ub.poison : i32
// CHECK: scf.for unsigned %{{.*}} = %{{.*}} to %[[TOTAL:.*]] step %{{.*}} iter_args(%[[ACC:.*]] = %zero, %[[ROW:.*]] = %[[NONE]], %[[I:.*]] = %c0, %[[J:.*]] = %c0) -> (f32, i32, i32, i32)  : i64 {
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[J]], %c0 : i32
// CHECK: %[[LEFT:.*]] = arith.subi %c4, %[[J]] : i32
// CHECK: %[[LAST:.*]] = arith.cmpi ule, %[[LEFT]], %c1 : i32
// CHECK: %[[NOW:.*]] = scf.if %[[FIRST]] -> (i32) {
// CHECK: %[[MADE:.*]] = arith.muli %[[I]], %c4 : i32
// CHECK: scf.yield %[[MADE]] : i32
// CHECK: } else {
// CHECK: scf.yield %[[ROW]] : i32
// CHECK: arith.addi %[[NOW]], %[[J]] : i32
// CHECK: %[[SUM:.*]] = arith.addf %[[ACC]], %{{.*}} : f32
// CHECK: scf.if %[[LAST]] {
// CHECK: tt.store %{{.*}}, %[[SUM]] : !tt.ptr<f32>
// CHECK: %[[RESET:.*]] = arith.select %[[LAST]], %zero, %[[SUM]] : f32
// CHECK: arith.select %[[LAST]], %{{.*}}, %[[I]] : i32
// CHECK: arith.select %[[LAST]], %c0, %{{.*}} : i32
// CHECK: scf.yield %[[RESET]], %[[NOW]]
// CHECK: } {tt.num_stages = 3 : i32}
// CHECK-NOT: tt.flatten

// How often the loop inside runs is known only then: the nest without it stays for none.
tt.func public @unknown(%p: !tt.ptr<i32>, %tiles: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %tiles step %c1 : i32 {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %i) -> (i32) : i32 {
      %next = arith.addi %acc, %j : i32
      scf.yield %next : i32
    }
    %o = tt.addptr %p, %i : !tt.ptr<i32>, i32
    tt.store %o, %sum : !tt.ptr<i32>
  } {tt.flatten}
  tt.return
}
// CHECK-LABEL: @unknown
// CHECK: %[[RUNS:.*]] = arith.cmpi ne
// CHECK: scf.if %[[RUNS]] {
// CHECK: scf.for unsigned
// CHECK-NOT: scf.for
// CHECK: } else {
// CHECK: scf.for %[[I:.*]] = %c0 to %tiles step %c1
// CHECK-NOT: scf.for
// CHECK: tt.store %{{.*}}, %[[I]] : !tt.ptr<i32>

// Not each time as often: the rounds of all tiles are added up, and the nest stays for tiles without any.
tt.func public @triangle(%p: !tt.ptr<i32>, %tiles: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %tiles step %c1 : i32 {
    scf.for %j = %c0 to %i step %c1 : i32 {
      tt.store %p, %j : !tt.ptr<i32>
    }
  } {tt.flatten}
  tt.return
}
// CHECK-LABEL: @triangle
// CHECK: %[[ALL:.*]]:2 = scf.for %[[T:.*]] = %c0 to %tiles step %c1 iter_args(%[[SUM:.*]] = %{{.*}}, %[[EACH:.*]] = %{{.*}}) -> (i64, i1)  : i32 {
// CHECK: %[[LONG:.*]] = arith.maxsi %[[T]], %c0 : i32
// CHECK: %[[ROUNDS:.*]] = arith.extui %[[LONG]] : i32 to i64
// CHECK: arith.addi %[[SUM]], %[[ROUNDS]] : i64
// CHECK: %[[SOME:.*]] = arith.cmpi ne, %[[ROUNDS]]
// CHECK: arith.andi %[[EACH]], %[[SOME]] : i1
// CHECK: scf.if %[[ALL]]#1 {
// CHECK: scf.for unsigned %{{.*}} to %[[ALL]]#0 step %{{.*}} iter_args(%[[I:.*]] = %c0, %[[J:.*]] = %c0)
// CHECK: %[[LEFT:.*]] = arith.subi %[[I]], %[[J]] : i32
// CHECK: arith.cmpi ule, %[[LEFT]], %c1 : i32
// CHECK: } else {
// CHECK: scf.for %[[N:.*]] = %c0 to %tiles
// CHECK: scf.for %{{.*}} = %c0 to %[[N]]
// CHECK-NOT: tt.flatten

// The program says that each tile has a round: no nest. The bounds are made anew, with the next tile's first.
tt.func public @stated(%p: !tt.ptr<i32>, %tiles: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  scf.for %i = %c0 to %tiles step %c1 : i32 {
    %low = arith.muli %i, %c2 : i32
    %high = arith.addi %low, %c2 : i32
    %some = arith.cmpi sgt, %high, %low : i32
    llvm.intr.assume %some : i1
    scf.for %j = %low to %high step %c1 : i32 {
      tt.store %p, %j : !tt.ptr<i32>
    }
  } {tt.flatten}
  tt.return
}
// CHECK-LABEL: @stated
// CHECK: %[[TOTAL:.*]] = scf.for %{{.*}} = %c0 to %tiles step %c1 iter_args(%{{.*}} = %{{.*}}) -> (i64)  : i32 {
// CHECK-NOT: scf.if
// CHECK: scf.for unsigned %{{.*}} to %[[TOTAL]] step %{{.*}} iter_args(%[[I:.*]] = %c0, %[[J:.*]] = %{{.*}})
// CHECK: %[[LOW:.*]] = arith.muli %[[I]], %c2 : i32
// CHECK: %[[HIGH:.*]] = arith.addi %[[LOW]], %c2 : i32
// CHECK: arith.cmpi eq, %[[J]], %[[LOW]] : i32
// CHECK: %[[LEFT:.*]] = arith.subi %[[HIGH]], %[[J]] : i32
// CHECK: %[[LAST:.*]] = arith.cmpi ule, %[[LEFT]], %c1 : i32
// CHECK: %[[NEXT:.*]] = arith.select %[[LAST]], %{{.*}}, %[[I]] : i32
// CHECK: %[[ANEW:.*]] = arith.muli %[[NEXT]], %c2 : i32
// CHECK: arith.select %[[LAST]], %[[ANEW]], %{{.*}} : i32
// CHECK-NOT: scf.for

// What a loop's own values say cannot be added up in front of it: a nest.
tt.func public @carried(%p: !tt.ptr<i32>, %tiles: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %end = scf.for %i = %c0 to %tiles step %c1 iter_args(%low = %c0) -> (i32) : i32 {
    %high = arith.addi %low, %i : i32
    scf.for %j = %low to %high step %c1 : i32 {
      tt.store %p, %j : !tt.ptr<i32>
    }
    scf.yield %high : i32
  } {tt.flatten}
  tt.store %p, %end : !tt.ptr<i32>
  tt.return
}
// CHECK-LABEL: @carried
// CHECK: scf.for %{{.*}} = %c0 to %tiles step %c1 iter_args(%[[LOW:.*]] = %c0)
// CHECK: scf.for %{{.*}} = %[[LOW]] to
// CHECK-NOT: tt.flatten
