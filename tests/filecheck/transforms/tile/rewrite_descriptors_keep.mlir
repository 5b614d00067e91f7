// RUN: tritonx-opt %s -p "rewrite-descriptors{keep-copied=true},cse,dce" | filecheck %s
// RUN: tritonx-opt %s -p "rewrite-descriptors{keep-copied=true block-bytes=255},cse,dce" | filecheck %s --check-prefix=SMALL

// SMALL-NOT: tt.descriptor_

// What is only used for whole blocks stays, and knows its place among the kernel's descriptors.
// CHECK-LABEL: @kept
// CHECK-SAME: (%gathered_base: !tt.ptr<f16>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i1, %moved: !tt.tensordesc<tensor<8x16xf16>> {tt.descriptor = 1 : i32}, %i: i32
// CHECK: tt.load
// CHECK: tt.descriptor_load %moved[%i, %j]
// CHECK: tt.descriptor_store %moved[%i, %j]
tt.func public @kept(%gathered: !tt.tensordesc<tensor<1x16xf16>>, %moved: !tt.tensordesc<tensor<8x16xf16>>, %i: i32, %j: i32 {tt.divisibility = 8 : i32}, %at: tensor<8xi32>) {
  %x = tt.descriptor_gather %gathered[%at, %i] : (!tt.tensordesc<tensor<1x16xf16>>, tensor<8xi32>, i32) -> tensor<8x16xf16>
  %y = tt.descriptor_load %moved[%i, %j] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  %z = arith.addf %x, %y : tensor<8x16xf16>
  tt.descriptor_store %moved[%i, %j], %z : !tt.tensordesc<tensor<8x16xf16>>, tensor<8x16xf16>
  tt.return
}

// Blocks of which a dimension is dropped, loop-carried descriptors and those that are made here do not.
// CHECK-LABEL: @rewritten
// CHECK-NOT: tt.descriptor
// CHECK: tt.return
tt.func public @rewritten(%narrow: !tt.tensordesc<tensor<1x16xf16>>, %carried: !tt.tensordesc<tensor<8x16xf16>>, %p: !tt.ptr<f16>, %i: i32, %n: i64) -> (tensor<16xf16>, tensor<8x16xf16>, tensor<8x16xf16>) {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %x = tt.descriptor_load %narrow[%i, %i] : !tt.tensordesc<tensor<1x16xf16>> -> tensor<16xf16>
  %d = scf.for %k = %c0 to %i step %i iter_args(%e = %carried) -> (!tt.tensordesc<tensor<8x16xf16>>) : i32 {
    scf.yield %e : !tt.tensordesc<tensor<8x16xf16>>
  }
  %y = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  %m = tt.make_tensor_descriptor %p, [%i, %i], [%n, %one] : <f16>, <tensor<8x16xf16>>
  %z = tt.descriptor_load %m[%i, %i] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.return %x, %y, %z : tensor<16xf16>, tensor<8x16xf16>, tensor<8x16xf16>
}

// What a kernel makes stays where base and strides are known to be multiples of 16 bytes, and only whole blocks are moved;
// in a loop if there is one inside.
// CHECK-LABEL: @made
// CHECK: tt.make_tensor_descriptor %p
// CHECK-NOT: tt.make_tensor_descriptor
// CHECK: tt.descriptor_load
// CHECK-COUNT-4: tt.load
// CHECK-NOT: tt.descriptor_load
// CHECK: scf.for
// CHECK: tt.make_tensor_descriptor %p, [%{{.*}}, %w]
// CHECK: scf.for
// CHECK: tt.descriptor_load
tt.func public @made(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16>, %h: i32, %w: i32, %s: i64 {tt.divisibility = 8 : i32}, %t: i64 {tt.divisibility = 4 : i32}, %out: tensor<8x16x!tt.ptr<f16>>, %row: tensor<16x!tt.ptr<f16>>) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %d = tt.make_tensor_descriptor %p, [%h, %w], [%s, %one] : <f16>, <tensor<8x16xf16>>
  %v = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.store %out, %v : tensor<8x16x!tt.ptr<f16>>
  %narrow = tt.make_tensor_descriptor %p, [%h, %w], [%t, %one] : <f16>, <tensor<8x16xf16>>
  %v1 = tt.descriptor_load %narrow[%c0, %c0] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.store %out, %v1 : tensor<8x16x!tt.ptr<f16>>
  %anywhere = tt.make_tensor_descriptor %q, [%h, %w], [%s, %one] : <f16>, <tensor<8x16xf16>>
  %v2 = tt.descriptor_load %anywhere[%c0, %c0] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.store %out, %v2 : tensor<8x16x!tt.ptr<f16>>
  %less = tt.make_tensor_descriptor %p, [%h, %w], [%s, %one] : <f16>, <tensor<16x1xf16>>
  %v3 = tt.descriptor_load %less[%c0, %c0] : !tt.tensordesc<tensor<16x1xf16>> -> tensor<16xf16>
  tt.store %row, %v3 : tensor<16x!tt.ptr<f16>>
  scf.for %i = %c0 to %h step %c1 : i32 {
    %again = tt.make_tensor_descriptor %p, [%i, %w], [%s, %one] : <f16>, <tensor<8x16xf16>>
    %v4 = tt.descriptor_load %again[%c0, %c0] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
    tt.store %out, %v4 : tensor<8x16x!tt.ptr<f16>>
  }
  scf.for %j = %c0 to %h step %c1 : i32 {
    %outside = tt.make_tensor_descriptor %p, [%j, %w], [%s, %one] : <f16>, <tensor<8x16xf16>>
    scf.for %k = %c0 to %h step %c1 : i32 {
      %v5 = tt.descriptor_load %outside[%k, %c0] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
      tt.store %out, %v5 : tensor<8x16x!tt.ptr<f16>>
    }
  }
  tt.return
}

// A tile may drop the dimensions in front that have one element.
// CHECK-LABEL: @of_a_batch
// CHECK: tt.make_tensor_descriptor %p
// CHECK: tt.descriptor_load %{{.*}} -> tensor<8x16xf16>
// CHECK: tt.descriptor_load %{{.*}} -> tensor<1x8x16xf16>
// CHECK-NOT: tt.load
tt.func public @of_a_batch(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %s: i64 {tt.divisibility = 8 : i32}) -> (tensor<8x16xf16>, tensor<1x8x16xf16>) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %d = tt.make_tensor_descriptor %p, [%n, %n, %n], [%s, %s, %one] : <f16>, <tensor<1x8x16xf16>>
  %v = tt.descriptor_load %d[%n, %c0, %c0] : !tt.tensordesc<tensor<1x8x16xf16>> -> tensor<8x16xf16>
  %w = tt.descriptor_load %d[%n, %c0, %c0] : !tt.tensordesc<tensor<1x8x16xf16>> -> tensor<1x8x16xf16>
  tt.return %v, %w : tensor<8x16xf16>, tensor<1x8x16xf16>
}

// A unit that writes whole pieces of 16 bytes gets the writes where rows are known to end with a piece; else it gets the
// loads, and pointers the writes.
// CHECK-LABEL: @written
// CHECK-SAME: %to_base: !tt.ptr<f16>
// CHECK-SAME: %from: !tt.tensordesc<tensor<8x16xf16>> {tt.descriptor = 1 : i32, tt.partial_end = 1 : i32}
// CHECK: tt.descriptor_load %from
// CHECK: tt.store
// CHECK: %[[WHOLE:.*]] = tt.make_tensor_descriptor %p, [%w, %w]
// CHECK: tt.descriptor_store %[[WHOLE]]
// CHECK: %[[READ:.*]] = tt.make_tensor_descriptor %p, [%w, %h]
// CHECK-NOT: tt.make_tensor_descriptor
// CHECK: tt.descriptor_load %[[READ]]
// CHECK: tt.store
// CHECK: tt.atomic_rmw fadd
// CHECK-NOT: tt.descriptor
tt.func public @written(%to: !tt.tensordesc<tensor<8x16xf16>> {tt.partial_end = 1 : i32}, %from: !tt.tensordesc<tensor<8x16xf16>> {tt.partial_end = 1 : i32}, %p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %w: i32 {tt.divisibility = 8 : i32}, %h: i32 {tt.divisibility = 4 : i32}, %s: i64 {tt.divisibility = 8 : i32}) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %a = tt.descriptor_load %from[%c0, %c0] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.descriptor_store %to[%c0, %c0], %a : !tt.tensordesc<tensor<8x16xf16>>, tensor<8x16xf16>
  %whole = tt.make_tensor_descriptor %p, [%w, %w], [%s, %one] : <f16>, <tensor<8x16xf16>>
  tt.descriptor_store %whole[%c0, %c0], %a : !tt.tensordesc<tensor<8x16xf16>>, tensor<8x16xf16>
  %both = tt.make_tensor_descriptor %p, [%w, %h], [%s, %one] : <f16>, <tensor<8x16xf16>>
  %b = tt.descriptor_load %both[%c0, %c0] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.descriptor_store %both[%c0, %c0], %b : !tt.tensordesc<tensor<8x16xf16>>, tensor<8x16xf16>
  %only = tt.make_tensor_descriptor %p, [%w, %h], [%s, %one] : <f16>, <tensor<8x16xf16>>
  tt.descriptor_reduce add, %only[%c0, %c0], %b : !tt.tensordesc<tensor<8x16xf16>>, tensor<8x16xf16>
  tt.return
}

// It gets blocks that are known to begin with a piece. Others, of the same descriptor too, go by pointers.
// CHECK-LABEL: @begins
// CHECK-SAME: %within_base: !tt.ptr<f16>
// CHECK-SAME: %with: !tt.tensordesc<tensor<8x16xf16>> {tt.descriptor = 1 : i32}
// CHECK: tt.load
// CHECK: tt.descriptor_load %with[%i, %j]
// CHECK: %[[SOME:.*]] = tt.make_tensor_descriptor %p
// CHECK-NOT: tt.make_tensor_descriptor
// CHECK: tt.descriptor_load %[[SOME]][%i, %j]
// CHECK: tt.load
// CHECK-NOT: tt.descriptor
tt.func public @begins(%within: !tt.tensordesc<tensor<8x16xf16>>, %with: !tt.tensordesc<tensor<8x16xf16>>, %p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %i: i32, %j: i32 {tt.divisibility = 8 : i32}, %k: i32 {tt.divisibility = 4 : i32}, %s: i64 {tt.divisibility = 8 : i32}) -> (tensor<8x16xf16>, tensor<8x16xf16>, tensor<8x16xf16>, tensor<8x16xf16>) {
  %one = arith.constant 1 : i64
  %a = tt.descriptor_load %within[%j, %k] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  %b = tt.descriptor_load %with[%i, %j] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  %d = tt.make_tensor_descriptor %p, [%i, %i], [%s, %one] : <f16>, <tensor<8x16xf16>>
  %e = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  %f = tt.descriptor_load %d[%i, %k] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.return %a, %b, %e, %f : tensor<8x16xf16>, tensor<8x16xf16>, tensor<8x16xf16>, tensor<8x16xf16>
}

// Signed 64-bit numbers that are ordered and whose bits are combined through one descriptor are not the unit's.
// CHECK-LABEL: @both_ways
// CHECK-SAME: %words: !tt.tensordesc<tensor<8x16xsi32>>
// CHECK-NOT: tt.make_tensor_descriptor
// CHECK: tt.atomic_rmw or
// CHECK: tt.atomic_rmw max
// CHECK: tt.descriptor_reduce or, %words
// CHECK: tt.descriptor_reduce max, %words
// CHECK: tt.atomic_rmw xor
// CHECK: tt.atomic_rmw min
// CHECK: tt.return
tt.func public @both_ways(%given: !tt.tensordesc<tensor<8x16xsi64>>, %words: !tt.tensordesc<tensor<8x16xsi32>>, %p: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %h: i32, %w: i32 {tt.divisibility = 16 : i32}, %s: i64 {tt.divisibility = 8 : i32}, %x: tensor<8x16xi64>, %y: tensor<8x16xi32>) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %made = tt.make_tensor_descriptor %p, [%h, %w], [%s, %one] : <i64>, <tensor<8x16xsi64>>
  tt.descriptor_reduce or, %given[%c0, %c0], %x : !tt.tensordesc<tensor<8x16xsi64>>, tensor<8x16xi64>
  tt.descriptor_reduce max, %given[%c0, %c0], %x : !tt.tensordesc<tensor<8x16xsi64>>, tensor<8x16xi64>
  tt.descriptor_reduce or, %words[%c0, %c0], %y : !tt.tensordesc<tensor<8x16xsi32>>, tensor<8x16xi32>
  tt.descriptor_reduce max, %words[%c0, %c0], %y : !tt.tensordesc<tensor<8x16xsi32>>, tensor<8x16xi32>
  tt.descriptor_reduce xor, %made[%c0, %c0], %x : !tt.tensordesc<tensor<8x16xsi64>>, tensor<8x16xi64>
  tt.descriptor_reduce min, %made[%c0, %c0], %x : !tt.tensordesc<tensor<8x16xsi64>>, tensor<8x16xi64>
  tt.return
}
