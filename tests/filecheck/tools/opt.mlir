// RUN: tritonx-opt %s --split-input-file --verify-diagnostics -p "fold,dce" | filecheck %s
// RUN: tritonx-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | filecheck %s --check-prefix GENERIC
// RUN: not tritonx-opt %s --split-input-file 2>&1 | filecheck %s --check-prefix ERROR
// RUN: tritonx-opt %s --split-input-file --verify-diagnostics -p "fold,dce" --print-ir-before-all --print-ir-after-all -o %t 2>&1 | filecheck %s --check-prefix DUMP
// RUN: cat %t | filecheck %s

// CHECK-LABEL: tt.func public @first
// CHECK-NEXT: tt.store %p, %x
// GENERIC: "tt.func"()
// GENERIC: "arith.addi"(%x, %c)
// DUMP: // -----// IR Dump Before fold //----- //
// DUMP: arith.addi
// DUMP: // -----// IR Dump After fold //----- //
// DUMP-NOT: arith.addi
// DUMP: // -----// IR Dump Before dce //----- //
// DUMP: // -----// IR Dump After dce //----- //
tt.func public @first(%x: i32, %p: !tt.ptr<i32>) {
  %c = arith.constant 0 : i32
  %y = arith.addi %x, %c : i32
  tt.store %p, %y : !tt.ptr<i32>
  tt.return
}

// -----

// ERROR: opt.mlir:{{[0-9]+}}:3: error: Operation foo.bar is not registered
// ERROR-NEXT: foo.bar
// ERROR-NEXT: {{^  \^}}
  foo.bar // expected-error {{foo.bar is not registered}}

// -----

tt.func public @verifier() {
  // expected-error@+1 {{the range has 12 elements, the result 16}}
  %r = tt.make_range {start = 0 : i32, end = 12 : i32} : tensor<16xi32>
  tt.return
}

// -----

// What comes after an error is still treated.
// CHECK: tt.func public @last
tt.func public @last() {
  tt.return
}
