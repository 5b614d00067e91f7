// RUN: tritonx-opt %s -p dce | filecheck %s

// CHECK-NOT: @unused
tt.func private @unused() {
  tt.call @unused_too() : () -> ()
  tt.return
}
tt.func private @unused_too() {
  tt.return
}
// CHECK: tt.func private @used
tt.func private @used(%x: f32) attributes {noinline = true} {
  tt.print "x" {hex = false, isSigned = array<i32: 0>} : %x : f32
  tt.return
}

// CHECK-LABEL: @kernel
// CHECK-NEXT: tt.load %p {isVolatile = true}
// CHECK-NEXT: tt.call @used
// CHECK-NEXT: tt.atomic_rmw
// CHECK-NEXT: tt.return
tt.func public @kernel(%x: f32, %p: !tt.ptr<f32>, %n: i32) {
  %true = arith.constant true
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = arith.addf %x, %x : f32
  %b = arith.mulf %a, %a : f32
  %l = tt.load %p : !tt.ptr<f32>
  %v = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (f32) : i32 {
    %z = tt.load %p : !tt.ptr<f32>
    %w = arith.addf %y, %z : f32
    scf.yield %w : f32
  }
  tt.call @used(%x) : (f32) -> ()
  %o = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// CHECK-LABEL: @unreachable
// CHECK-NEXT: tt.return
// CHECK-NEXT: }
tt.func public @unreachable() {
  tt.return
^dead(%x: i32):
  cf.br ^dead(%x : i32)
}
