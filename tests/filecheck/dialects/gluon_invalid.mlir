// RUN: tritonx-opt %s --split-input-file --verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @determined(%x: tensor<32xi32, #blocked>) {
    // expected-error@+1 {{the operand's layout must be automatic}}
    %0 = gluon.set_auto_layout %x : tensor<32xi32, #blocked> -> tensor<32xi32, #blocked>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @still_automatic() {
    %x = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #gluon.auto_encoding>
    // expected-error@+1 {{the result needs a layout that is not automatic}}
    %0 = gluon.set_auto_layout %x : tensor<32xi32, #gluon.auto_encoding> -> tensor<32xi32, #gluon.auto_encoding>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @another_tile() {
    %x = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #gluon.auto_encoding>
    // expected-error@+1 {{only the layout may change}}
    %0 = gluon.set_auto_layout %x : tensor<32xi32, #gluon.auto_encoding> -> tensor<64xi32, #blocked>
    tt.return
  }
}

// -----

// An op's layouts are determined together.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @two_kinds() {
    %x = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #gluon.auto_encoding>
    // expected-error@+1 {{the layouts of all tensors are determined or none is}}
    %z = "tt.expand_dims"(%x) <{axis = 0 : i32}> : (tensor<32xi32, #gluon.auto_encoding>) -> tensor<1x32xi32, #gluon.coalesced_encoding>
    tt.return
  }
}

// -----

// Without any layout there is nothing to determine either.
module {
  tt.func @none(%x: tensor<32xi32>) {
    // expected-error@+1 {{the operand's layout must be automatic}}
    %0 = gluon.set_auto_layout %x : tensor<32xi32> -> tensor<32xi32, #gluon.auto_encoding>
    tt.return
  }
}
