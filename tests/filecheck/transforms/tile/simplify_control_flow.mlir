// RUN: tritonx-opt %s -p "simplify-control-flow,dce" | filecheck %s

// CHECK-LABEL: @constant_condition
// CHECK-NEXT: tt.store %p, %y
// CHECK-NEXT: tt.return
tt.func public @constant_condition(%x: f32, %y: f32, %p: !tt.ptr<f32>) {
  %no = arith.constant false
  %r = scf.if %no -> (f32) {
    tt.store %p, %x : !tt.ptr<f32>
    scf.yield %x : f32
  } else {
    scf.yield %y : f32
  }
  tt.store %p, %r : !tt.ptr<f32>
  tt.return
}

// Sides that only choose are selects; an unused result goes.
// CHECK-LABEL: @selects
// CHECK-NEXT: %[[S:.*]] = arith.select %c, %x, %y : f32
// CHECK-NEXT: tt.store %p, %[[S]]
// CHECK-NEXT: tt.store %p, %x
// CHECK-NEXT: %[[R:.*]] = scf.if %c -> (f32) {
// CHECK-NEXT: tt.store %p, %x
// CHECK-NEXT: scf.yield %x
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %y
// CHECK-NEXT: }
// CHECK-NEXT: tt.store %p, %[[R]]
// CHECK-NEXT: tt.return
tt.func public @selects(%c: i1, %x: f32, %y: f32, %p: !tt.ptr<f32>) {
  %r:2 = scf.if %c -> (f32, f32) {
    scf.yield %x, %x : f32, f32
  } else {
    scf.yield %y, %x : f32, f32
  }
  tt.store %p, %r#0 : !tt.ptr<f32>
  tt.store %p, %r#1 : !tt.ptr<f32>
  %u:2 = scf.if %c -> (f32, f32) {
    tt.store %p, %x : !tt.ptr<f32>
    scf.yield %y, %x : f32, f32
  } else {
    scf.yield %x, %y : f32, f32
  }
  tt.store %p, %u#1 : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: @nothing_to_do
// CHECK-NEXT: tt.return
tt.func public @nothing_to_do(%c: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.if %c {
  } else {
  }
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    %b = arith.addi %a, %i : i32
    scf.yield %b : i32
  }
  tt.return
}

// CHECK-LABEL: @trip_counts
// CHECK: %[[C5:.*]] = arith.constant 5 : i32
// CHECK-NOT: scf.for
// CHECK: tt.store %p, %x : !tt.ptr<i32>
// CHECK: tt.store %p, %[[C5]] : !tt.ptr<i32>
// CHECK: %[[S:.*]] = arith.addi %x, %[[C5]]
// CHECK: tt.store %p, %[[S]]
// CHECK-NOT: scf.for
tt.func public @trip_counts(%x: i32, %p: !tt.ptr<i32>) {
  %c5 = arith.constant 5 : i32
  %c9 = arith.constant 9 : i32
  %c4 = arith.constant 4 : i32
  %never = scf.for %i = %c9 to %c5 step %c4 iter_args(%a = %x) -> (i32) : i32 {
    %b = arith.addi %a, %i : i32
    scf.yield %b : i32
  }
  tt.store %p, %never : !tt.ptr<i32>
  %once = scf.for %i = %c5 to %c9 step %c4 iter_args(%a = %x) -> (i32) : i32 {
    tt.store %p, %i : !tt.ptr<i32>
    %b = arith.addi %a, %i : i32
    scf.yield %b : i32
  }
  tt.store %p, %once : !tt.ptr<i32>
  tt.return
}

// An unsigned loop from 5 to -1 runs, a signed one does not.
// CHECK-LABEL: @unsigned
// CHECK: scf.for unsigned
// CHECK-NOT: scf.for
tt.func public @unsigned(%p: !tt.ptr<i32>) {
  %c5 = arith.constant 5 : i32
  %m1 = arith.constant -1 : i32
  scf.for unsigned %i = %c5 to %m1 step %c5 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  }
  scf.for %i = %c5 to %m1 step %c5 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  }
  tt.return
}

// Carried values: unchanged, equal to another, only feeding itself; %sum and one of the equal ones stay.
// CHECK-LABEL: @carried
// CHECK: %[[R:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} to %n step %{{.*}} iter_args(%[[S:.*]] = %x, %[[E:.*]] = %x) -> (f32, f32)
// CHECK-NEXT: %[[T:.*]] = arith.addf %[[S]], %y
// CHECK-NEXT: %[[U:.*]] = arith.mulf %[[E]], %[[E]]
// CHECK-NEXT: scf.yield %[[T]], %[[U]]
// CHECK: tt.store %p, %[[R]]#0
// CHECK-NEXT: tt.store %p, %[[R]]#1
// CHECK-NEXT: tt.store %p, %[[R]]#1
// CHECK-NEXT: tt.store %p, %y
tt.func public @carried(%x: f32, %y: f32, %n: i32, %p: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:5 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %x, %same = %y, %dead = %c0, %e1 = %x, %e2 = %x) -> (f32, f32, i32, f32, f32) : i32 {
    %t = arith.addf %sum, %same : f32
    %d = arith.addi %dead, %i : i32
    %m = arith.mulf %e1, %e2 : f32
    scf.yield %t, %same, %d, %m, %m : f32, f32, i32, f32, f32
  }
  tt.store %p, %r#0 : !tt.ptr<f32>
  tt.store %p, %r#3 : !tt.ptr<f32>
  tt.store %p, %r#4 : !tt.ptr<f32>
  tt.store %p, %r#1 : !tt.ptr<f32>
  tt.return
}

// Two counters, and what is made of them in equal steps, are one; %late is what the one that goes was a round before.
// CHECK-LABEL: @counted_twice
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[LATE:.*]] = %n) -> (i32, i32)
// CHECK-NEXT: %[[S:.*]] = arith.muli %[[A]], %y
// CHECK-NEXT: tt.store %p, %[[S]]
// CHECK-NEXT: tt.store %p, %[[A]]
// CHECK-NEXT: tt.store %p, %[[LATE]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[A]]
// CHECK: scf.yield %[[NEXT]], %[[A]]
// CHECK: tt.store %p, %[[R]]#0
// CHECK-NEXT: tt.store %p, %[[R]]#1
tt.func public @counted_twice(%y: i32, %n: i32, %p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %also0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %also0, %late = %n) -> (i32, i32, i32) : i32 {
    %s = arith.muli %a, %y : i32
    tt.store %p, %s : !tt.ptr<i32>
    tt.store %p, %b : !tt.ptr<i32>
    tt.store %p, %late : !tt.ptr<i32>
    %two = arith.addi %c1, %c1 : i32
    %step = arith.muli %two, %y : i32
    %next = arith.addi %a, %step : i32
    %again = arith.muli %two, %y : i32
    %other = arith.addi %b, %again : i32
    scf.yield %next, %other, %b : i32, i32, i32
  }
  tt.store %p, %r#1 : !tt.ptr<i32>
  tt.store %p, %r#2 : !tt.ptr<i32>
  tt.return
}

// Equal at the start and made by different steps, or of what is loaded: both stay.
// CHECK-LABEL: @counted_differently
// CHECK: iter_args(%{{.*}} = %x, %{{.*}} = %x, %{{.*}} = %x, %{{.*}} = %x) -> (i32, i32, i32, i32)
tt.func public @counted_differently(%x: i32, %n: i32, %p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x, %c = %x, %d = %x) -> (i32, i32, i32, i32) : i32 {
    %e = arith.addi %a, %c1 : i32
    %f = arith.subi %b, %c1 : i32
    %g = tt.load %p : !tt.ptr<i32>
    tt.store %p, %f : !tt.ptr<i32>
    %h = tt.load %p : !tt.ptr<i32>
    %k = arith.addi %c, %g : i32
    %l = arith.addi %d, %h : i32
    scf.yield %e, %f, %k, %l : i32, i32, i32, i32
  }
  tt.store %p, %r#0 : !tt.ptr<i32>
  tt.store %p, %r#1 : !tt.ptr<i32>
  tt.store %p, %r#2 : !tt.ptr<i32>
  tt.store %p, %r#3 : !tt.ptr<i32>
  tt.return
}

// A value whose result is unused but that a store needs stays.
// CHECK-LABEL: @needed_inside
// CHECK: iter_args(%{{.*}} = %x)
tt.func public @needed_inside(%x: f32, %n: i32, %p: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f32) : i32 {
    tt.store %p, %a : !tt.ptr<f32>
    %b = arith.addf %a, %a : f32
    scf.yield %b : f32
  }
  tt.return
}

// CHECK-LABEL: @while_false
// CHECK-NEXT: tt.store %p, %x
// CHECK-NEXT: tt.store %p, %x
// CHECK-NEXT: tt.return
tt.func public @while_false(%x: f32, %p: !tt.ptr<f32>) {
  %r = scf.while (%a = %x) : (f32) -> f32 {
    %no = arith.constant false
    tt.store %p, %a : !tt.ptr<f32>
    scf.condition(%no) %a : f32
  } do {
  ^bb0(%b: f32):
    scf.yield %b : f32
  }
  tt.store %p, %r : !tt.ptr<f32>
  tt.return
}
