// RUN: tritonx-opt %s --split-input-file --verify-diagnostics

module {
  tt.func @f(%a: i32, %b: i64) {
    // expected-error@+1 {{the type of 'rhs' must be i32, because that of 'result' is i32; it is i64}}
    %0 = "arith.addi"(%a, %b) : (i32, i64) -> i32
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: f32) {
    // expected-error@+1 {{expected an integer type, got f32}}
    %0 = arith.addi %a, %a : f32
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{expected a floating-point type, got i32}}
    %0 = arith.addf %a, %a : i32
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4xi32>) {
    // expected-error@+1 {{the type of 'result' must be tensor<4xi1>, because that of 'lhs' is tensor<4xi32>; it is i1}}
    %0 = "arith.cmpi"(%a, %a) <{predicate = 2 : i64}> : (tensor<4xi32>, tensor<4xi32>) -> i1
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{12 is no CmpiPredicate (the cases are eq = 0, ne = 1, slt = 2, sle = 3, sgt = 4, sge = 5, ult = 6, ule = 7, ugt = 8, uge = 9)}}
    %0 = "arith.cmpi"(%a, %a) <{predicate = 12 : i64}> : (i32, i32) -> i1
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{expected one of eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge}}
    %0 = arith.cmpi lt, %a, %a : i32
    tt.return
  }
}

// -----

module {
  tt.func @f(%c: tensor<8xi1>, %a: tensor<4xi32>) {
    // expected-error@+1 {{the condition must be i1 or tensor<4xi1>, got tensor<8xi1>}}
    %0 = "arith.select"(%c, %a, %a) : (tensor<8xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{expected a wider integer type, got i32 to i16}}
    %0 = arith.extsi %a : i32 to i16
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{expected a narrower integer type, got i32 to i64}}
    %0 = arith.trunci %a : i32 to i64
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: f32) {
    // expected-error@+1 {{expected a wider floating-point type, got f32 to f16}}
    %0 = arith.extf %a : f32 to f16
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4xi32>) {
    // expected-error@+1 {{operand and result must agree in shape and layout, got tensor<4xi32> and tensor<8xf32>}}
    %0 = arith.sitofp %a : tensor<4xi32> to tensor<8xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{expected types of one width, got i32 to f16}}
    %0 = arith.bitcast %a : i32 to f16
    tt.return
  }
}

// -----

module {
  tt.func @f() {
    // expected-error@+1 {{1.5 is no i32}}
    %0 = arith.constant dense<1.5> : tensor<4xi32>
    tt.return
  }
}

// -----

module {
  tt.func @f() {
    // expected-error@+1 {{the value has type i64, the result i32}}
    %0 = "arith.constant"() <{value = 1 : i64}> : () -> i32
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{expected a floating-point type, got i32}}
    %0 = math.exp %a : i32
    tt.return
  }
}

// -----

module {
  tt.func @f(%n: i32, %x: f32) {
    // expected-error@+1 {{the loop body must take (i32, f32), it takes (i64, f32)}}
    %0 = "scf.for"(%n, %n, %n, %x) ({
    ^bb0(%i: i64, %a: f32):
      scf.yield %a : f32
    }) : (i32, i32, i32, f32) -> f32
    tt.return
  }
}

// -----

module {
  tt.func @f(%n: i32, %x: f32) {
    // expected-error@+1 {{the loop body must end in scf.yield of (f32), it has (i32)}}
    %0 = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (f32)  : i32 {
      scf.yield %i : i32
    }
    tt.return
  }
}

// -----

module {
  tt.func @f(%c: i1, %n: i32) {
    // expected-error@+1 {{an if that has results needs an else}}
    %0 = scf.if %c -> (i32) {
      scf.yield %n : i32
    }
    tt.return
  }
}

// -----

module {
  tt.func @f(%c: i1, %n: i32) {
    // expected-error@+1 {{the condition must end in scf.condition of (i32), it has (i1)}}
    %0 = scf.while (%a = %n) : (i32) -> i32 {
      scf.condition(%c) %c : i1
    } do {
    ^bb0(%b: i32):
      scf.yield %b : i32
    }
    tt.return
  }
}

// -----

module {
  tt.func @f(%n: i32) {
    // expected-error@+1 {{the branch passes (i32), the block takes (f32)}}
    cf.br ^bb1(%n : i32)
    ^bb1(%a: f32):
    tt.return
  }
}
