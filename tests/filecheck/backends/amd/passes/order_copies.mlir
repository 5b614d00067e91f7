// RUN: tritonx-opt %s -p "order-copies{lane_bytes=4,16}" | filecheck %s
// RUN: tritonx-opt %s -p "order-copies{lane_bytes=4}" | filecheck %s --check-prefix WORDS
// RUN: tritonx-opt %s -p order-copies | filecheck %s --check-prefix NONE

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory

// CHECK: #[[OF:.*]] = #ttg.linear<{register = {{\[\[0, 1\], \[0, 2\], \[0, 4\], \[32, 0\]\]}}, lane = {{\[\[0, 8\], \[0, 16\], \[0, 32\], \[1, 8\], \[2, 16\], \[4, 32\]\]}}, warp = {{\[\[8, 0\], \[16, 0\]\]}}, block = []}>
// WORDS: #[[OF:.*]] = #ttg.linear<{register = {{\[\[0, 1\], \[8, 0\], \[16, 0\], \[32, 0\]\]}}, lane = {{\[\[0, 2\], \[0, 4\], \[0, 8\], \[0, 16\], \[0, 32\], \[1, 8\]\]}}, warp = {{\[\[2, 16\], \[4, 32\]\]}}, block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // Rows of 128 bytes whose pieces of 16 are permuted: the lanes read permuted pieces. What is made again stands where
  // the original does, in front of the loop or in it.
  // CHECK-LABEL: @swizzled
  // CHECK: tt.make_range {{.*}} #ttg.slice<{dim = 0, parent = #[[OF]]}>
  // CHECK: scf.for
  // CHECK: %[[P:.*]] = tt.addptr {{.*}}, #[[OF]]>
  // CHECK: %[[M:.*]] = tt.splat %m : i1 -> tensor<64x64xi1, #[[OF]]>
  // CHECK: ttg.async_copy_global_to_local %[[P]], %to mask %[[M]] {contiguity = 8 : i32}
  // Four bytes at a time a warp's copy is two rows.
  // WORDS-LABEL: @swizzled
  // WORDS: ttg.async_copy_global_to_local {{.*}} {contiguity = 2 : i32} : tensor<64x64x!tt.ptr<f16>, #[[OF]]>
  // NONE-LABEL: @swizzled
  // NONE: ttg.async_copy_global_to_local %q, %to mask %ms : tensor<64x64x!tt.ptr<f16>, #blocked>
  tt.func public @swizzled(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i1, %to: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant dense<64> : tensor<64x1xi32, #rows>
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %rs = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<64x1xi32, #rows>
    %rows = arith.muli %rs, %c64 : tensor<64x1xi32, #rows>
    %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %cs = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %rb = tt.broadcast %rows : tensor<64x1xi32, #rows> -> tensor<64x64xi32, #rows>
    %cb = tt.broadcast %cs : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %o = arith.addi %rb, %cb : tensor<64x64xi32, #rows>
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%at = %p) -> (!tt.ptr<f16>) : i32 {
      %ps = tt.splat %at : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
      %q = tt.addptr %ps, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      %ms = tt.splat %m : i1 -> tensor<64x64xi1, #rows>
      %t = ttg.async_copy_global_to_local %q, %to mask %ms : tensor<64x64x!tt.ptr<f16>, #rows> -> <64x64xf16, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %t
      %c4096 = arith.constant 4096 : i32
      %next = tt.addptr %at, %c4096 : !tt.ptr<f16>, i32
      scf.yield %next : !tt.ptr<f16>
    }
    %w = ttg.async_wait {num = 0 : i32}
    tt.return
  }

  // Elements that are neighbours in the memory are a row apart in global memory; pointers that are loaded, or come from
  // elsewhere, are not made again.
  // CHECK-LABEL: @refused
  // CHECK: ttg.async_copy_global_to_local %q, %to : tensor<64x64x!tt.ptr<f16>, #blocked>
  // CHECK: ttg.async_copy_global_to_local %ptrs, %at : tensor<64x64x!tt.ptr<f16>, #blocked>
  tt.func public @refused(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %ptrs: tensor<64x64x!tt.ptr<f16>, #rows>, %to: !ttg.memdesc<64x64xf16, #columns, #smem, mutable>, %at: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) {
    %c64 = arith.constant dense<64> : tensor<64x1xi32, #rows>
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %rs = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<64x1xi32, #rows>
    %rows = arith.muli %rs, %c64 : tensor<64x1xi32, #rows>
    %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %cs = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %rb = tt.broadcast %rows : tensor<64x1xi32, #rows> -> tensor<64x64xi32, #rows>
    %cb = tt.broadcast %cs : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %o = arith.addi %rb, %cb : tensor<64x64xi32, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %t = ttg.async_copy_global_to_local %q, %to : tensor<64x64x!tt.ptr<f16>, #rows> -> <64x64xf16, #columns, #smem, mutable>
    %u = ttg.async_copy_global_to_local %ptrs, %at : tensor<64x64x!tt.ptr<f16>, #rows> -> <64x64xf16, #shared, #smem, mutable>
    tt.return
  }
}
