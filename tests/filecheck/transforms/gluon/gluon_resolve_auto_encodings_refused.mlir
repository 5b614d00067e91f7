// RUN: tritonx-opt %s --split-input-file --verify-diagnostics -p gluon-resolve-auto-encodings

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @conflict() -> (tensor<16xi32, #blocked>, tensor<16xi32, #blocked1>) {
    // expected-error@+1 {{two layouts are asked of one value: #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}> and #ttg.blocked<{sizePerThread = [2]}}
    %0 = arith.constant dense<7> : tensor<16xi32, #gluon.auto_encoding>
    %1 = gluon.set_auto_layout %0 : tensor<16xi32, #gluon.auto_encoding> -> tensor<16xi32, #blocked>
    %2 = gluon.set_auto_layout %0 : tensor<16xi32, #gluon.auto_encoding> -> tensor<16xi32, #blocked1>
    tt.return %1, %2 : tensor<16xi32, #blocked>, tensor<16xi32, #blocked1>
  }
}

// -----

// The conflict is found where both requests meet: at the loop that carries the value.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @carried(%n: i32) -> tensor<16xi32, #blocked1> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = arith.constant dense<7> : tensor<16xi32, #gluon.auto_encoding>
    // expected-error@+1 {{two layouts are asked of one value}}
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> (tensor<16xi32, #gluon.auto_encoding>) : i32 {
      %2 = gluon.set_auto_layout %a : tensor<16xi32, #gluon.auto_encoding> -> tensor<16xi32, #blocked>
      scf.yield %a : tensor<16xi32, #gluon.auto_encoding>
    }
    %3 = gluon.set_auto_layout %1 : tensor<16xi32, #gluon.auto_encoding> -> tensor<16xi32, #blocked1>
    tt.return %3 : tensor<16xi32, #blocked1>
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @no_request(%p: !tt.ptr<i32>) {
    // expected-error@+1 {{no layout follows for tensor<32xi32, #gluon.auto_encoding>}}
    %0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #gluon.auto_encoding>
    %1 = tt.splat %p : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #gluon.auto_encoding>
    %2 = tt.addptr %1, %0 : tensor<32x!tt.ptr<i32>, #gluon.auto_encoding>, tensor<32xi32, #gluon.auto_encoding>
    tt.store %2, %0 : tensor<32x!tt.ptr<i32>, #gluon.auto_encoding>
    tt.return
  }
}

// -----

// A layout that is no slice does not say how the larger tile lies.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @no_slice() -> tensor<32xi32, #blocked> {
    %0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #gluon.auto_encoding>
    %1 = gluon.set_auto_layout %0 : tensor<32xi32, #gluon.auto_encoding> -> tensor<32xi32, #blocked>
    // expected-error@+1 {{no layout follows for tensor<1x32xi32, #gluon.auto_encoding>}}
    %2 = tt.expand_dims %0 {axis = 0 : i32} : tensor<32xi32, #gluon.auto_encoding> -> tensor<1x32xi32, #gluon.auto_encoding>
    tt.return %1 : tensor<32xi32, #blocked>
  }
}

// -----

// Both layouts are asked for, of two values, and the op between them moves no data.
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#tile = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @apart() -> (tensor<512xi32, #line>, tensor<32x16xi32, #tile>) {
    %0 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #gluon.auto_encoding>
    // expected-error@+1 {{data would have to move between lanes}}
    %1 = tt.reshape %0 : tensor<512xi32, #gluon.auto_encoding> -> tensor<32x16xi32, #gluon.auto_encoding>
    %2 = gluon.set_auto_layout %0 : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #line>
    %3 = gluon.set_auto_layout %1 : tensor<32x16xi32, #gluon.auto_encoding> -> tensor<32x16xi32, #tile>
    tt.return %2, %3 : tensor<512xi32, #line>, tensor<32x16xi32, #tile>
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // expected-error@+1 {{a function that is called cannot have tensor<32xi32, #gluon.auto_encoding>, which it takes}}
  tt.func public @argument(%x: tensor<32xi32, #gluon.auto_encoding>) {
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // expected-error@+1 {{a function that is called cannot have tensor<32xi32, #gluon.auto_encoding>, which it returns}}
  tt.func public @result() -> tensor<32xi32, #gluon.auto_encoding> {
    %0 = arith.constant dense<0> : tensor<32xi32, #gluon.auto_encoding>
    tt.return %0 : tensor<32xi32, #gluon.auto_encoding>
  }
}
