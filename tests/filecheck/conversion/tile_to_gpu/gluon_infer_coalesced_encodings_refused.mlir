// RUN: tritonx-opt %s --split-input-file --verify-diagnostics -p 'gluon-infer-coalesced-encodings{target="cuda:90" num_warps=4}'

// One side lies along rows, the other one along columns, and what is loaded is stored as it is.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @two_orders(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %0 = arith.constant dense<0> : tensor<128x256xi32, #gluon.auto_encoding>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<128x256x!tt.ptr<f32>, #gluon.auto_encoding>
    %2 = tt.addptr %1, %0 {tt.contiguity = dense<[1, 256]> : tensor<2xi32>, tt.divisibility = dense<[4, 16]> : tensor<2xi32>} : tensor<128x256x!tt.ptr<f32>, #gluon.auto_encoding>, tensor<128x256xi32, #gluon.auto_encoding>
    %3 = gluon.set_auto_layout %2 : tensor<128x256x!tt.ptr<f32>, #gluon.auto_encoding> -> tensor<128x256x!tt.ptr<f32>, #gluon.coalesced_encoding>
    // expected-error@+1 {{two layouts are asked of one value}}
    %4 = tt.load %3 : tensor<128x256x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %5 = tt.splat %q : !tt.ptr<f32> -> tensor<128x256x!tt.ptr<f32>, #gluon.auto_encoding>
    %6 = tt.addptr %5, %0 {tt.contiguity = dense<[128, 1]> : tensor<2xi32>, tt.divisibility = dense<[16, 4]> : tensor<2xi32>} : tensor<128x256x!tt.ptr<f32>, #gluon.auto_encoding>, tensor<128x256xi32, #gluon.auto_encoding>
    %7 = gluon.set_auto_layout %6 : tensor<128x256x!tt.ptr<f32>, #gluon.auto_encoding> -> tensor<128x256x!tt.ptr<f32>, #gluon.coalesced_encoding>
    tt.store %7, %4 : tensor<128x256x!tt.ptr<f32>, #gluon.coalesced_encoding>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @no_access() {
    // expected-error@+1 {{no layout follows for tensor<128xi32, #gluon.coalesced_encoding>}}
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #gluon.coalesced_encoding>
    tt.return
  }
}
