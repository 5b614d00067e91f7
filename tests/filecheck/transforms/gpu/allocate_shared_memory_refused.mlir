// RUN: tritonx-opt %s --split-input-file --verify-diagnostics -p "allocate-shared-memory"
// RUN: tritonx-opt %s --split-input-file --verify-diagnostics -p "share-barriers"

// Blocks of a cluster do not exchange data: the op is named, with what to do.
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1], CGALayout = [[0, 1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @conversion(%x: tensor<64x64xf32, #rows>) -> tensor<64x64xf32, #columns> {
    // expected-error@+1 {{a conversion that moves data between the blocks of a cluster is not supported}}
    %y = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    tt.return %y : tensor<64x64xf32, #columns>
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sum(%x: tensor<64x64xf32, #rows>) -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #rows}>> {
    // expected-error@+1 {{dim 0 is spread over the blocks of a cluster}}
    %y = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x64xf32, #rows>) -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #rows}>>
    tt.return %y : tensor<64xf32, #ttg.slice<{dim = 0, parent = #rows}>>
  }
}
