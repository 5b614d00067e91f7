// RUN: tritonx-opt %s -p hoist-descriptors | filecheck %s

// Out of loops and branches, with what computes the operands, in front of the statement that they are in.
// CHECK-LABEL: @nested
// CHECK: tt.store
// CHECK-NEXT: %[[A:.*]] = arith.addi %n, %c4 : i32
// CHECK-NEXT: %[[H:.*]] = arith.divsi %[[A]], %c4 : i32
// CHECK-NEXT: %[[S:.*]] = arith.extsi %n : i32 to i64
// CHECK-NEXT: %[[D:.*]] = tt.make_tensor_descriptor %p, [%[[H]], %n], [%[[S]], %one]
// CHECK-NEXT: scf.for
// CHECK: scf.if
// CHECK-NEXT: tt.descriptor_load %[[D]]
tt.func public @nested(%p: !tt.ptr<f16>, %q: !tt.ptr<i32>, %n: i32, %c: i1) {
  %c4 = arith.constant 4 : i32
  %one = arith.constant 1 : i64
  tt.store %q, %n : !tt.ptr<i32>
  scf.for %i = %c4 to %n step %c4 : i32 {
    %a = arith.addi %n, %c4 : i32
    scf.if %c {
      %h = arith.divsi %a, %c4 : i32
      %s = arith.extsi %n : i32 to i64
      %d = tt.make_tensor_descriptor %p, [%h, %n], [%s, %one] : <f16>, <tensor<8x16xf16>>
      %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
      tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<tensor<8x16xf16>>, tensor<8x16xf16>
    }
  }
  tt.return
}

// Where an operand depends on the program, on memory or on the round, it stays.
// CHECK-LABEL: @stays
// CHECK: scf.for
// CHECK-COUNT-3: tt.make_tensor_descriptor
// CHECK: tt.return
tt.func public @stays(%p: !tt.ptr<f16>, %q: !tt.ptr<i32>, %n: i32) {
  %c4 = arith.constant 4 : i32
  %one = arith.constant 1 : i64
  %pid = tt.get_program_id x : i32
  %m = tt.load %q : !tt.ptr<i32>
  scf.for %i = %c4 to %n step %c4 : i32 {
    %a = tt.make_tensor_descriptor %p, [%i], [%one] : <f16>, <tensor<16xf16>>
    %b = tt.make_tensor_descriptor %p, [%pid], [%one] : <f16>, <tensor<16xf16>>
    %c = tt.make_tensor_descriptor %p, [%m], [%one] : <f16>, <tensor<16xf16>>
    %v = tt.descriptor_load %a[%i] : !tt.tensordesc<tensor<16xf16>> -> tensor<16xf16>
    tt.descriptor_store %b[%i], %v : !tt.tensordesc<tensor<16xf16>>, tensor<16xf16>
    tt.descriptor_store %c[%i], %v : !tt.tensordesc<tensor<16xf16>>, tensor<16xf16>
  }
  tt.return
}

// What a function is given that a kernel calls, a launch does not know.
// CHECK-LABEL: @called
// CHECK: scf.for
// CHECK-NEXT: tt.make_tensor_descriptor
tt.func private @called(%p: !tt.ptr<f16>, %n: i32) {
  %c4 = arith.constant 4 : i32
  %one = arith.constant 1 : i64
  scf.for %i = %c4 to %n step %c4 : i32 {
    %a = tt.make_tensor_descriptor %p, [%n], [%one] : <f16>, <tensor<16xf16>>
    %v = tt.descriptor_load %a[%i] : !tt.tensordesc<tensor<16xf16>> -> tensor<16xf16>
    tt.descriptor_store %a[%n], %v : !tt.tensordesc<tensor<16xf16>>, tensor<16xf16>
  }
  tt.return
}

// From another block to the end of the first.
// CHECK-LABEL: @blocks
// CHECK: tt.store
// CHECK-NEXT: %[[M:.*]] = arith.addi %n, %n : i32
// CHECK-NEXT: tt.make_tensor_descriptor %p, [%[[M]]], [%one]
// CHECK-NEXT: cf.cond_br
tt.func public @blocks(%p: !tt.ptr<f16>, %q: !tt.ptr<i32>, %n: i32, %c: i1) {
  %one = arith.constant 1 : i64
  tt.store %q, %n : !tt.ptr<i32>
  cf.cond_br %c, ^then, ^end
^then:
  %m = arith.addi %n, %n : i32
  %a = tt.make_tensor_descriptor %p, [%m], [%one] : <f16>, <tensor<16xf16>>
  %v = tt.descriptor_load %a[%n] : !tt.tensordesc<tensor<16xf16>> -> tensor<16xf16>
  tt.descriptor_store %a[%m], %v : !tt.tensordesc<tensor<16xf16>>, tensor<16xf16>
  cf.br ^end
^end:
  tt.return
}
