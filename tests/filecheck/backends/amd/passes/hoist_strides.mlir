// RUN: tritonx-opt %s -p hoist-strides | filecheck %s

#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>
#r = #ttg.slice<{dim = 1, parent = #b}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The rows of a block that moves: (k + r) * stride.
  // CHECK-LABEL: tt.func public @rows
  // CHECK: %[[RANGE:.*]] = tt.make_range
  // CHECK: %[[COLUMN:.*]] = tt.expand_dims %[[RANGE]]
  // CHECK: %[[ROWS:.*]] = arith.muli %[[COLUMN]]
  // CHECK: scf.for %[[K:[a-z]+]] =
  // CHECK-NOT: arith.muli {{.*}} : tensor
  // CHECK: %[[BEGIN:.*]] = arith.muli %[[K]], %{{.*}} : i32
  // CHECK: %[[START:.*]] = tt.splat %[[BEGIN]]
  // CHECK: %[[OFFSETS:.*]] = arith.addi %[[START]], %[[ROWS]]
  // CHECK: arith.addi %{{.*}}, %[[OFFSETS]]
  tt.func public @rows(%n: i32, %stride: i32, %none: tensor<32x1xi32, #b>) -> tensor<32x1xi32, #b> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %range = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #r>
    %by = tt.splat %stride : i32 -> tensor<32x1xi32, #b>
    %total = scf.for %k = %zero to %n step %one iter_args(%sum = %none) -> (tensor<32x1xi32, #b>) : i32 {
      %start = tt.splat %k : i32 -> tensor<32xi32, #r>
      %x = arith.addi %start, %range : tensor<32xi32, #r>
      %column = tt.expand_dims %x {axis = 1 : i32} : tensor<32xi32, #r> -> tensor<32x1xi32, #b>
      %offsets = arith.muli %column, %by : tensor<32x1xi32, #b>
      %more = arith.addi %sum, %offsets : tensor<32x1xi32, #b>
      scf.yield %more : tensor<32x1xi32, #b>
    }
    tt.return %total : tensor<32x1xi32, #b>
  }

  // Nothing of the sum stays; a factor changes.
  // CHECK-LABEL: tt.func public @changes
  // CHECK: scf.for
  // CHECK: arith.muli {{.*}} : tensor<32xi32
  // CHECK: arith.muli {{.*}} : tensor<32xi32
  tt.func public @changes(%n: i32, %stride: i32, %none: tensor<32xi32, #r>) -> tensor<32xi32, #r> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %range = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #r>
    %by = tt.splat %stride : i32 -> tensor<32xi32, #r>
    %total = scf.for %k = %zero to %n step %one iter_args(%sum = %none) -> (tensor<32xi32, #r>) : i32 {
      %start = tt.splat %k : i32 -> tensor<32xi32, #r>
      %y = arith.addi %start, %sum : tensor<32xi32, #r>
      %first = arith.muli %y, %by : tensor<32xi32, #r>
      %x = arith.addi %start, %range : tensor<32xi32, #r>
      %second = arith.muli %x, %start : tensor<32xi32, #r>
      %more = arith.addi %first, %second : tensor<32xi32, #r>
      scf.yield %more : tensor<32xi32, #r>
    }
    tt.return %total : tensor<32xi32, #r>
  }

  // Of 64 bits as of 32, but not where they are used.
  // CHECK-LABEL: tt.func public @wide
  // CHECK: scf.for
  // CHECK: arith.muli {{.*}} : tensor<32xi64
  // CHECK-NOT: arith.muli {{.*}} : tensor
  tt.func public @wide(%n: i32, %stride: i64, %p: tensor<32xi64, #r>, %q: tensor<32xi32, #r>) -> (tensor<32xi64, #r>, tensor<32xi32, #r>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %range = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #r>
    %steps = arith.extsi %range : tensor<32xi32, #r> to tensor<32xi64, #r>
    %by = tt.splat %stride : i64 -> tensor<32xi64, #r>
    %all, %low = scf.for %k = %zero to %n step %one iter_args(%a = %p, %b = %q) -> (tensor<32xi64, #r>, tensor<32xi32, #r>) : i32 {
      %begin = arith.extsi %k : i32 to i64
      %start = tt.splat %begin : i64 -> tensor<32xi64, #r>
      %x = arith.addi %start, %steps : tensor<32xi64, #r>
      %kept = arith.muli %x, %by : tensor<32xi64, #r>
      %y = arith.addi %x, %a : tensor<32xi64, #r>
      %more = arith.addi %y, %kept : tensor<32xi64, #r>
      %again = arith.muli %by, %x : tensor<32xi64, #r>
      %cut = arith.trunci %again : tensor<32xi64, #r> to tensor<32xi32, #r>
      %less = arith.addi %b, %cut : tensor<32xi32, #r>
      scf.yield %more, %less : tensor<32xi64, #r>, tensor<32xi32, #r>
    }
    tt.return %all, %low : tensor<32xi64, #r>, tensor<32xi32, #r>
  }
}
