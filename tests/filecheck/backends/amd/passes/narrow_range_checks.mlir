// RUN: tritonx-opt %s -p narrow-range-checks | filecheck %s

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Both come of 32 bits: a number from -2^31 to 2^31 + 62.
  // CHECK-LABEL: tt.func public @block
  // CHECK: %[[X:.*]] = arith.addi
  // CHECK: %[[END:.*]] = arith.maxsi
  // CHECK: %[[LOW:.*]] = arith.trunci %[[X]] : tensor<64xi64, #{{.*}}> to tensor<64xi32, #{{.*}}>
  // CHECK: %[[IS:.*]] = arith.cmpi ult, %[[LOW]], %[[END]] : tensor<64xi32
  // CHECK: tt.return %[[IS]]
  tt.func public @block(%start: i32, %n: i32) -> tensor<64xi1, #b> {
    %zero = arith.constant dense<0> : tensor<64xi64, #b>
    %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #b>
    %steps = arith.extsi %range : tensor<64xi32, #b> to tensor<64xi64, #b>
    %wide = arith.extsi %start : i32 to i64
    %begin = tt.splat %wide : i64 -> tensor<64xi64, #b>
    %x = arith.addi %begin, %steps : tensor<64xi64, #b>
    %extent = arith.extsi %n : i32 to i64
    %end = tt.splat %extent : i64 -> tensor<64xi64, #b>
    %low = arith.cmpi sge, %x, %zero : tensor<64xi64, #b>
    %high = arith.cmpi slt, %x, %end : tensor<64xi64, #b>
    %is = arith.andi %low, %high : tensor<64xi1, #b>
    tt.return %is : tensor<64xi1, #b>
  }

  // A sum of two unknown numbers may be -2^32, which is 0 of 32 bits.
  // CHECK-LABEL: tt.func public @two
  // CHECK-NOT: ult
  tt.func public @two(%start: i32, %more: i32, %n: i32) -> tensor<64xi1, #b> {
    %zero = arith.constant dense<0> : tensor<64xi64, #b>
    %wide = arith.extsi %start : i32 to i64
    %other = arith.extsi %more : i32 to i64
    %begin = tt.splat %wide : i64 -> tensor<64xi64, #b>
    %by = tt.splat %other : i64 -> tensor<64xi64, #b>
    %x = arith.addi %begin, %by : tensor<64xi64, #b>
    %extent = arith.extsi %n : i32 to i64
    %end = tt.splat %extent : i64 -> tensor<64xi64, #b>
    %low = arith.cmpi sge, %x, %zero : tensor<64xi64, #b>
    %high = arith.cmpi slt, %x, %end : tensor<64xi64, #b>
    %is = arith.andi %low, %high : tensor<64xi1, #b>
    tt.return %is : tensor<64xi1, #b>
  }

  // An extent of 64 bits may be more than 2^31.
  // CHECK-LABEL: tt.func public @large
  // CHECK-NOT: ult
  tt.func public @large(%start: i32, %n: i64) -> tensor<64xi1, #b> {
    %zero = arith.constant dense<0> : tensor<64xi64, #b>
    %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #b>
    %steps = arith.extsi %range : tensor<64xi32, #b> to tensor<64xi64, #b>
    %wide = arith.extsi %start : i32 to i64
    %begin = tt.splat %wide : i64 -> tensor<64xi64, #b>
    %x = arith.addi %begin, %steps : tensor<64xi64, #b>
    %end = tt.splat %n : i64 -> tensor<64xi64, #b>
    %low = arith.cmpi sge, %x, %zero : tensor<64xi64, #b>
    %high = arith.cmpi slt, %x, %end : tensor<64xi64, #b>
    %is = arith.andi %low, %high : tensor<64xi1, #b>
    tt.return %is : tensor<64xi1, #b>
  }
}
