// RUN: tritonx-opt %s -p allocate-shared-memory,insert-barriers --target cuda:90 -t ptx | filecheck %s

// A conversion in which every warp gives and takes sixteen rows of its own waits for the warp, not for the block.
// CHECK-LABEL: .visible .entry inside(
// CHECK-NOT: bar.sync
// CHECK: bar.warp.sync
// CHECK: st.shared
// CHECK-NOT: bar.sync
// CHECK: bar.warp.sync
// CHECK: ld.shared
// CHECK-NOT: bar.sync
// CHECK: ret;

// CHECK-LABEL: .visible .entry across(
// CHECK: st.shared
// CHECK: bar.sync
// CHECK: ld.shared
// CHECK: ret;

#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [0, 1]}>
#rows = #ttg.blocked<{sizePerThread = [4, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#others = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @inside(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #columns}>>
    %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #columns}>>
    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #columns}>> -> tensor<64x1xi32, #columns>
    %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #columns}>> -> tensor<1x64xi32, #columns>
    %n = arith.constant dense<64> : tensor<1x64xi32, #columns>
    %cn = arith.muli %c1, %n : tensor<1x64xi32, #columns>
    %rb = tt.broadcast %r1 : tensor<64x1xi32, #columns> -> tensor<64x64xi32, #columns>
    %cb = tt.broadcast %cn : tensor<1x64xi32, #columns> -> tensor<64x64xi32, #columns>
    %i = arith.addi %rb, %cb : tensor<64x64xi32, #columns>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #columns>
    %pp = tt.addptr %ps, %i : tensor<64x64x!tt.ptr<f32>, #columns>, tensor<64x64xi32, #columns>
    %x = tt.load %pp : tensor<64x64x!tt.ptr<f32>, #columns>
    %y = ttg.convert_layout %x : tensor<64x64xf32, #columns> -> tensor<64x64xf32, #rows>
    %s = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %d = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %s1 = tt.expand_dims %s {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<64x1xi32, #rows>
    %d1 = tt.expand_dims %d {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %m = arith.constant dense<64> : tensor<64x1xi32, #rows>
    %sm = arith.muli %s1, %m : tensor<64x1xi32, #rows>
    %sb = tt.broadcast %sm : tensor<64x1xi32, #rows> -> tensor<64x64xi32, #rows>
    %db = tt.broadcast %d1 : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %j = arith.addi %sb, %db : tensor<64x64xi32, #rows>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #rows>
    %qq = tt.addptr %qs, %j : tensor<64x64x!tt.ptr<f32>, #rows>, tensor<64x64xi32, #rows>
    tt.store %qq, %y : tensor<64x64x!tt.ptr<f32>, #rows>
    tt.return
  }
  tt.func public @across(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #columns}>>
    %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #columns}>>
    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #columns}>> -> tensor<64x1xi32, #columns>
    %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #columns}>> -> tensor<1x64xi32, #columns>
    %n = arith.constant dense<64> : tensor<1x64xi32, #columns>
    %cn = arith.muli %c1, %n : tensor<1x64xi32, #columns>
    %rb = tt.broadcast %r1 : tensor<64x1xi32, #columns> -> tensor<64x64xi32, #columns>
    %cb = tt.broadcast %cn : tensor<1x64xi32, #columns> -> tensor<64x64xi32, #columns>
    %i = arith.addi %rb, %cb : tensor<64x64xi32, #columns>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #columns>
    %pp = tt.addptr %ps, %i : tensor<64x64x!tt.ptr<f32>, #columns>, tensor<64x64xi32, #columns>
    %x = tt.load %pp : tensor<64x64x!tt.ptr<f32>, #columns>
    %y = ttg.convert_layout %x : tensor<64x64xf32, #columns> -> tensor<64x64xf32, #others>
    %s = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #others}>>
    %d = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #others}>>
    %s1 = tt.expand_dims %s {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #others}>> -> tensor<64x1xi32, #others>
    %d1 = tt.expand_dims %d {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #others}>> -> tensor<1x64xi32, #others>
    %m = arith.constant dense<64> : tensor<64x1xi32, #others>
    %sm = arith.muli %s1, %m : tensor<64x1xi32, #others>
    %sb = tt.broadcast %sm : tensor<64x1xi32, #others> -> tensor<64x64xi32, #others>
    %db = tt.broadcast %d1 : tensor<1x64xi32, #others> -> tensor<64x64xi32, #others>
    %j = arith.addi %sb, %db : tensor<64x64xi32, #others>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #others>
    %qq = tt.addptr %qs, %j : tensor<64x64x!tt.ptr<f32>, #others>, tensor<64x64xi32, #others>
    tt.store %qq, %y : tensor<64x64x!tt.ptr<f32>, #others>
    tt.return
  }
}
