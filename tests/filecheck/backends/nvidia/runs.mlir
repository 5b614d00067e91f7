// RUN: tritonx-opt %s --target cuda:90 -t llvm | filecheck %s

#row = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>

// What is equal along a thread's eight neighbours is computed once, and loaded once; what runs of four share, twice.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @runs(
  // CHECK-COUNT-1: sdiv i32
  // CHECK-NOT: sdiv
  // CHECK-COUNT-1: load i32, ptr addrspace(1)
  // CHECK-NOT: load i32, ptr addrspace(1)
  tt.func public @runs(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #row>
    %n = arith.constant dense<48> : tensor<256xi32, #row>
    %k = arith.divsi %i, %n : tensor<256xi32, #row>
    %a = tt.splat %p : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #row>
    %b = tt.addptr %a, %k : tensor<256x!tt.ptr<i32>, #row>, tensor<256xi32, #row>
    %x = tt.load %b : tensor<256x!tt.ptr<i32>, #row>
    %c = tt.splat %q : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #row>
    %d = tt.addptr %c, %i : tensor<256x!tt.ptr<i32>, #row>, tensor<256xi32, #row>
    tt.store %d, %x : tensor<256x!tt.ptr<i32>, #row>
    tt.return
  }

  // CHECK-LABEL: @volatile(
  // CHECK-COUNT-8: load volatile i32, ptr addrspace(1)
  tt.func public @volatile(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #row>
    %n = arith.constant dense<48> : tensor<256xi32, #row>
    %k = arith.divsi %i, %n : tensor<256xi32, #row>
    %a = tt.splat %p : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #row>
    %b = tt.addptr %a, %k : tensor<256x!tt.ptr<i32>, #row>, tensor<256xi32, #row>
    %x = tt.load %b {isVolatile = true} : tensor<256x!tt.ptr<i32>, #row>
    %c = tt.splat %q : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #row>
    %d = tt.addptr %c, %i : tensor<256x!tt.ptr<i32>, #row>, tensor<256xi32, #row>
    tt.store %d, %x : tensor<256x!tt.ptr<i32>, #row>
    tt.return
  }

  // CHECK-LABEL: @fours(
  // CHECK-COUNT-2: srem i32
  // CHECK-NOT: srem
  tt.func public @fours(%q: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %m: i32) {
    %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #row>
    %n = arith.constant dense<12> : tensor<256xi32, #row>
    %k = arith.divsi %i, %n : tensor<256xi32, #row>
    %s = tt.splat %m : i32 -> tensor<256xi32, #row>
    %r = arith.remsi %k, %s : tensor<256xi32, #row>
    %c = tt.splat %q : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #row>
    %d = tt.addptr %c, %i : tensor<256x!tt.ptr<i32>, #row>, tensor<256xi32, #row>
    tt.store %d, %r : tensor<256x!tt.ptr<i32>, #row>
    tt.return
  }
}
