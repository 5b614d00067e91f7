// RUN: tritonx-opt %s -p "describe-loads,simplify-control-flow,cse,dce" | filecheck %s
// RUN: tritonx-opt %s -p "describe-loads{at-launch=true},cse,dce" | filecheck %s --check-prefix LAUNCH
// RUN: tritonx-opt %s -p "describe-loads{at-launch=true block-bytes=1024}" | filecheck %s --check-prefix ROOM

// The product of the tutorial: rows and columns wrap, the last columns of A and rows of B are masked. Nothing beyond the
// ends is stored, so that a descriptor's zeros do. The strides are asked for in front of the loop; else it stays as it was.
// CHECK-LABEL: @wrapped
// CHECK: %[[I:.*]] = arith.muli %{{.*}}, %c32 : i32
// CHECK: %[[M:.*]] = arith.extsi %m : i32 to i64
// CHECK: arith.cmpi sge, %[[M]], %{{.*}} : i64
// CHECK: %[[STRIDE:.*]] = arith.extsi %stride_a : i32 to i64
// CHECK: %[[POSITIVE:.*]] = arith.cmpi sge, %[[STRIDE]], %{{.*}} : i64
// CHECK: scf.if %{{.*}} -> (tensor<32x32xf32>) {
// CHECK: %[[APART:.*]] = arith.maxsi %[[STRIDE]], %{{.*}} : i64
// CHECK: %[[A:.*]] = tt.make_tensor_descriptor %a, [%m, %k], [%[[APART]], %{{.*}}] : <f16>, <tensor<32x16xf16>>
// CHECK: %[[B:.*]] = tt.make_tensor_descriptor %b, [%n, %k], [%{{.*}}, %{{.*}}] : <f16>, <tensor<32x16xf16>>
// CHECK: scf.for %[[ROUND:.*]] = %{{.*}} iter_args(%{{.*}} = %zero) -> (tensor<32x32xf32>)
// CHECK: %[[AT:.*]] = arith.muli %[[ROUND]], %{{.*}} : i32
// CHECK: tt.descriptor_load %[[A]][%[[I]], %[[AT]]] cacheModifier = cg : {{.*}} -> tensor<32x16xf16>
// CHECK: %[[TURNED:.*]] = tt.descriptor_load %[[B]][%[[I]], %[[AT]]] : {{.*}} -> tensor<32x16xf16>
// CHECK: tt.trans %[[TURNED]] {order = array<i32: 1, 0>} : tensor<32x16xf16> -> tensor<16x32xf16>
// CHECK-NOT: tt.load
// CHECK: } else {
// CHECK: tt.load
// CHECK: tt.load
// CHECK-NOT: tt.descriptor_load
// A launch that makes the maps asks for the strides, which are as they are given.
// LAUNCH-LABEL: @wrapped
// LAUNCH-NOT: scf.if
// LAUNCH: %[[APART:.*]] = arith.extsi %stride_a : i32 to i64
// LAUNCH: tt.make_tensor_descriptor %a, [%m, %k], [%[[APART]], %{{.*}}] {tt.of_pointers} : <f16>, <tensor<32x16xf16>>
// LAUNCH: tt.make_tensor_descriptor %b, [%n, %k], [%{{.*}}, %{{.*}}] {tt.of_pointers} : <f16>, <tensor<32x16xf16>>
// LAUNCH: scf.for
// LAUNCH-COUNT-2: tt.descriptor_load
// LAUNCH-NOT: tt.load
tt.func public @wrapped(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>, %m: i32, %n: i32, %k: i32, %stride_a: i32 {tt.divisibility = 16 : i32}, %stride_b: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %za = arith.constant dense<0.0> : tensor<32x16xf16>
  %zb = arith.constant dense<0.0> : tensor<16x32xf16>
  %step = arith.constant dense<16> : tensor<32x16xi32>
  %stepb = arith.constant dense<16> : tensor<16x32xi32>
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c32 : i32
  %lane = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %firsts = tt.splat %first : i32 -> tensor<32xi32>
  %rows = arith.addi %firsts, %lane : tensor<32xi32>
  %ms = tt.splat %m : i32 -> tensor<32xi32>
  %ns = tt.splat %n : i32 -> tensor<32xi32>
  %rows_a = arith.remsi %rows, %ms : tensor<32xi32>
  %rows_b = arith.remsi %rows, %ns : tensor<32xi32>
  %inner = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ra = tt.expand_dims %rows_a {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %rb = tt.expand_dims %rows_b {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %ka = tt.expand_dims %inner {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %kb = tt.expand_dims %inner {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %sa = tt.splat %stride_a : i32 -> tensor<32x1xi32>
  %sb = tt.splat %stride_b : i32 -> tensor<1x32xi32>
  %pa = arith.muli %ra, %sa : tensor<32x1xi32>
  %pb = arith.muli %rb, %sb : tensor<1x32xi32>
  %pa2 = tt.broadcast %pa : tensor<32x1xi32> -> tensor<32x16xi32>
  %pb2 = tt.broadcast %pb : tensor<1x32xi32> -> tensor<16x32xi32>
  %ka2 = tt.broadcast %ka : tensor<1x16xi32> -> tensor<32x16xi32>
  %kb2 = tt.broadcast %kb : tensor<16x1xi32> -> tensor<16x32xi32>
  %oa = arith.addi %pa2, %ka2 : tensor<32x16xi32>
  %ob = arith.addi %pb2, %kb2 : tensor<16x32xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<32x16x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<16x32x!tt.ptr<f16>>
  %a_ptrs = tt.addptr %as, %oa : tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi32>
  %b_ptrs = tt.addptr %bs, %ob : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
  %ax, %bx, %sum = scf.for %round = %c0 to %k step %c1 iter_args(%ap = %a_ptrs, %bp = %b_ptrs, %acc = %zero) -> (tensor<32x16x!tt.ptr<f16>>, tensor<16x32x!tt.ptr<f16>>, tensor<32x32xf32>) : i32 {
    %done = arith.muli %round, %c16 : i32
    %left = arith.subi %k, %done : i32
    %left_a = tt.splat %left : i32 -> tensor<1x16xi32>
    %left_b = tt.splat %left : i32 -> tensor<16x1xi32>
    %in_a = arith.cmpi slt, %ka, %left_a : tensor<1x16xi32>
    %in_b = arith.cmpi slt, %kb, %left_b : tensor<16x1xi32>
    %mask_a = tt.broadcast %in_a : tensor<1x16xi1> -> tensor<32x16xi1>
    %mask_b = tt.broadcast %in_b : tensor<16x1xi1> -> tensor<16x32xi1>
    %x = tt.load %ap, %mask_a, %za cacheModifier = cg : tensor<32x16x!tt.ptr<f16>>
    %y = tt.load %bp, %mask_b, %zb : tensor<16x32x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc : tensor<32x16xf16> * tensor<16x32xf16> -> tensor<32x32xf32>
    %an = tt.addptr %ap, %step : tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi32>
    %bn = tt.addptr %bp, %stepb : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    scf.yield %an, %bn, %d : tensor<32x16x!tt.ptr<f16>>, tensor<16x32x!tt.ptr<f16>>, tensor<32x32xf32>
  }
  %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %columns1 = tt.expand_dims %rows {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %m1 = tt.splat %m : i32 -> tensor<32x1xi32>
  %n1 = tt.splat %n : i32 -> tensor<1x32xi32>
  %in_m = arith.cmpi slt, %rows1, %m1 : tensor<32x1xi32>
  %in_n = arith.cmpi slt, %columns1, %n1 : tensor<1x32xi32>
  %in_m2 = tt.broadcast %in_m : tensor<32x1xi1> -> tensor<32x32xi1>
  %in_n2 = tt.broadcast %in_n : tensor<1x32xi1> -> tensor<32x32xi1>
  %inside = arith.andi %in_m2, %in_n2 : tensor<32x32xi1>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %c1s = tt.broadcast %columns1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %c_ptrs = tt.addptr %cs, %c1s : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %c_ptrs, %sum, %inside : tensor<32x32x!tt.ptr<f32>>
  tt.return
}

// All is known: numbers, and whole blocks. One row of the tile lies 64 elements behind the other.
// CHECK-LABEL: @known
// LAUNCH-LABEL: @known
// CHECK-NOT: scf.if
// CHECK: %[[MOST:.*]] = arith.constant 2147483647 : i32
// CHECK: %[[D:.*]] = tt.make_tensor_descriptor %p, [%[[MOST]], %[[MOST]]], [%{{.*}}, %{{.*}}] : <f16>, <tensor<16x16xf16>>
// CHECK: scf.for %[[ROUND:.*]] =
// CHECK: tt.descriptor_load %[[D]][%{{.*}}, %{{.*}}]
// CHECK-NOT: tt.load
tt.func public @known(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: i32) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c64 = arith.constant dense<64> : tensor<16x1xi32>
  %lane = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r = tt.expand_dims %lane {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %c = tt.expand_dims %lane {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %rs = arith.muli %r, %c64 : tensor<16x1xi32>
  %rb = tt.broadcast %rs : tensor<16x1xi32> -> tensor<16x16xi32>
  %cb = tt.broadcast %c : tensor<1x16xi32> -> tensor<16x16xi32>
  %o = arith.addi %rb, %cb : tensor<16x16xi32>
  %sum = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %at = arith.muli %i, %c16 : i32
    %q = tt.addptr %p, %at : !tt.ptr<f16>, i32
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
    %ptrs = tt.addptr %qs, %o : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
    %x = tt.load %ptrs : tensor<16x16x!tt.ptr<f16>>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tt.return %sum : tensor<16x16xf32>
}

// No loop; and a base of which nothing is known.
// CHECK-LABEL: @stays
// CHECK-NOT: tt.descriptor_load
tt.func public @stays(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16>, %k: i32) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c64 = arith.constant dense<64> : tensor<16x1xi32>
  %lane = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r = tt.expand_dims %lane {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %c = tt.expand_dims %lane {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %rs = arith.muli %r, %c64 : tensor<16x1xi32>
  %rb = tt.broadcast %rs : tensor<16x1xi32> -> tensor<16x16xi32>
  %cb = tt.broadcast %c : tensor<1x16xi32> -> tensor<16x16xi32>
  %o = arith.addi %rb, %cb : tensor<16x16xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %p_ptrs = tt.addptr %ps, %o : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %q_ptrs = tt.addptr %qs, %o : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %x = tt.load %p_ptrs : tensor<16x16x!tt.ptr<f16>>
  %first = tt.dot %x, %x, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %sum = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %first) -> (tensor<16x16xf32>) : i32 {
    %y = tt.load %q_ptrs : tensor<16x16x!tt.ptr<f16>>
    %d = tt.dot %y, %x, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tt.return %sum : tensor<16x16xf32>
}

// Two slots of 512 bytes fill what a block may have, and there is no room for their barriers; three are too large anyway.
// CHECK-LABEL: @two_slots
// ROOM: tt.descriptor_load
// ROOM-LABEL: @two_slots
// ROOM-NOT: tt.descriptor_load
// ROOM: tt.load
tt.func public @two_slots(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: i32) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c64 = arith.constant dense<64> : tensor<16x1xi32>
  %lane = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r = tt.expand_dims %lane {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %c = tt.expand_dims %lane {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %rs = arith.muli %r, %c64 : tensor<16x1xi32>
  %rb = tt.broadcast %rs : tensor<16x1xi32> -> tensor<16x16xi32>
  %cb = tt.broadcast %c : tensor<1x16xi32> -> tensor<16x16xi32>
  %o = arith.addi %rb, %cb : tensor<16x16xi32>
  %sum = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %at = arith.muli %i, %c16 : i32
    %q = tt.addptr %p, %at : !tt.ptr<f16>, i32
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
    %ptrs = tt.addptr %qs, %o : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
    %x = tt.load %ptrs : tensor<16x16x!tt.ptr<f16>>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  } {tt.num_stages = 2 : i32}
  tt.return %sum : tensor<16x16xf32>
}

// Where blocks begin is not known: rows at 16 times the quotient of the program's number and %h. The launch is asked.
// LAUNCH-LABEL: @bounded
// LAUNCH-SAME: attributes {tt.asked_at_launch = [{from_zero = array<i64: 4>, steps = [
// LAUNCH-SAME: ["program_id", array<i64: 32, 0>], ["argument", array<i64: 32, 1>], ["divsi", array<i64: 32, 0, 1>],
// LAUNCH-SAME: ["constant", array<i64: 64, 16>], ["muli", array<i64: 64, 2, 3>]
// LAUNCH-COUNT-1: tt.descriptor_load
// LAUNCH-NOT: tt.load
tt.func public @bounded(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %h: i32, %k: i32) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c64 = arith.constant dense<64> : tensor<16x1xi32>
  %pid = tt.get_program_id x : i32
  %quotient = arith.divsi %pid, %h : i32
  %first = arith.muli %quotient, %c16 : i32
  %firsts = tt.splat %first : i32 -> tensor<16xi32>
  %lane = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %rows = arith.addi %firsts, %lane : tensor<16xi32>
  %r = tt.reshape %rows : tensor<16xi32> -> tensor<16x1xi32>
  %c = tt.expand_dims %lane {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %rs = arith.muli %r, %c64 : tensor<16x1xi32>
  %rb = tt.broadcast %rs : tensor<16x1xi32> -> tensor<16x16xi32>
  %cb = tt.broadcast %c : tensor<1x16xi32> -> tensor<16x16xi32>
  %o = arith.addi %rb, %cb : tensor<16x16xi32>
  %sum = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %at = arith.muli %i, %c16 : i32
    %q = tt.addptr %p, %at : !tt.ptr<f16>, i32
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
    %ptrs = tt.addptr %qs, %o : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
    %x = tt.load %ptrs : tensor<16x16x!tt.ptr<f16>>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %sum : tensor<16x16xf32>
}
