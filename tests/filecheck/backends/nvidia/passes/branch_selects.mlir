// RUN: tritonx-opt %s -p branch-selects | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // An if without results gets one; inside it the side that is taken stands for the select.
  // CHECK-LABEL: @stored
  // CHECK-NOT: arith.select
  // CHECK: %kept = scf.if %c -> (tensor<32x32xf32, #blocked>) {
  // CHECK-NEXT: tt.store %p, %fresh
  // CHECK-NEXT: scf.yield %fresh
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %sum
  // CHECK-NEXT: }
  // CHECK-NEXT: tt.return %kept
  tt.func public @stored(%p: tensor<32x32x!tt.ptr<f32>, #blocked>, %fresh: tensor<32x32xf32, #blocked>, %sum: tensor<32x32xf32, #blocked>, %c: i1) -> tensor<32x32xf32, #blocked> {
    %kept = arith.select %c, %fresh, %sum : tensor<32x32xf32, #blocked>
    scf.if %c {
      tt.store %p, %kept : tensor<32x32x!tt.ptr<f32>, #blocked>
    }
    tt.return %kept : tensor<32x32xf32, #blocked>
  }

  // An if with results gets one more, behind them.
  // CHECK-LABEL: @more
  // CHECK: %n, %kept = scf.if %c -> (i32, tensor<32x32xf32, #blocked>) {
  // CHECK-NEXT: scf.yield %i, %a
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %j, %b
  // CHECK: tt.return %kept, %n
  tt.func public @more(%a: tensor<32x32xf32, #blocked>, %b: tensor<32x32xf32, #blocked>, %i: i32, %j: i32, %c: i1) -> (tensor<32x32xf32, #blocked>, i32) {
    %kept = arith.select %c, %a, %b : tensor<32x32xf32, #blocked>
    %n = scf.if %c -> (i32) {
      scf.yield %i : i32
    } else {
      scf.yield %j : i32
    }
    tt.return %kept, %n : tensor<32x32xf32, #blocked>, i32
  }

  // Not: another condition, a use in front of the if, a select by element, a number.
  // CHECK-LABEL: @others
  // CHECK-COUNT-4: arith.select
  // CHECK: tt.return
  tt.func public @others(%p: tensor<32x32x!tt.ptr<f32>, #blocked>, %a: tensor<32x32xf32, #blocked>, %b: tensor<32x32xf32, #blocked>, %m: tensor<32x32xi1, #blocked>, %i: i32, %j: i32, %c: i1, %d: i1) -> (tensor<32x32xf32, #blocked>, tensor<32x32xf32, #blocked>, i32) {
    %w = arith.select %d, %a, %b : tensor<32x32xf32, #blocked>
    %x = arith.select %c, %a, %b : tensor<32x32xf32, #blocked>
    %y = arith.select %m, %a, %x : tensor<32x32xi1, #blocked>, tensor<32x32xf32, #blocked>
    %z = arith.select %c, %i, %j : i32
    scf.if %c {
      tt.store %p, %a : tensor<32x32x!tt.ptr<f32>, #blocked>
    }
    tt.return %w, %y, %z : tensor<32x32xf32, #blocked>, tensor<32x32xf32, #blocked>, i32
  }
}
