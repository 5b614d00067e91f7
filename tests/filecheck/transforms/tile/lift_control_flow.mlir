// RUN: tritonx-opt %s -p lift-control-flow | filecheck %s

// CHECK-LABEL: @early_return
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT: tt.store %p, %a
// CHECK-NEXT: } else {
// CHECK-NEXT: tt.store %p, %b
// CHECK-NEXT: tt.store %p, %a
// CHECK-NEXT: }
// CHECK-NEXT: tt.return
tt.func public @early_return(%c: i1, %a: f32, %b: f32, %p: !tt.ptr<f32>) {
  cf.cond_br %c, ^done, ^rest
^done:
  tt.store %p, %a : !tt.ptr<f32>
  tt.return
^rest:
  tt.store %p, %b : !tt.ptr<f32>
  cf.br ^end
^end:
  tt.store %p, %a : !tt.ptr<f32>
  tt.return
}

// Both sides meet: what follows is written once, with the values of the side that was taken.
// CHECK-LABEL: @diamond
// CHECK-NEXT: %[[V:.*]]:2 = scf.if %c -> (f32, f32) {
// CHECK-NEXT: %[[S:.*]] = arith.addf %a, %b
// CHECK-NEXT: scf.yield %[[S]], %a
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %b, %b
// CHECK-NEXT: }
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[V]]#0, %[[V]]#1
// CHECK-NEXT: tt.return %[[M]]
tt.func public @diamond(%c: i1, %a: f32, %b: f32) -> f32 {
  cf.cond_br %c, ^then, ^join(%b, %b : f32, f32)
^then:
  %s = arith.addf %a, %b : f32
  cf.br ^join(%s, %a : f32, f32)
^join(%x: f32, %y: f32):
  %m = arith.mulf %x, %y : f32
  tt.return %m : f32
}

// Nested early returns, one of which shares a block with the other.
// CHECK-LABEL: @nested
// CHECK: %[[R:.*]] = scf.if %c -> (f32) {
// CHECK: %[[I:.*]] = scf.if %d -> (f32) {
// CHECK: scf.yield %a
// CHECK: arith.negf %b
// CHECK: scf.yield %[[I]]
// CHECK: } else {
// CHECK: arith.negf %b
// CHECK: tt.return %[[R]]
tt.func public @nested(%c: i1, %d: i1, %a: f32, %b: f32) -> f32 {
  cf.cond_br %c, ^in, ^shared
^in:
  cf.cond_br %d, ^out, ^shared
^out:
  tt.return %a : f32
^shared:
  %n = arith.negf %b : f32
  tt.return %n : f32
}

// A cycle stays.
// CHECK-LABEL: @cycle
// CHECK: cf.br ^[[B:.*]]
// CHECK: cf.cond_br
tt.func public @cycle(%c: i1) {
  cf.br ^loop
^loop:
  cf.cond_br %c, ^loop, ^end
^end:
  tt.return
}
