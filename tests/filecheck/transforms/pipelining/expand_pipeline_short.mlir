// RUN: tritonx-opt %s -p "expand-pipeline{short=true},fold,cse,dce" | filecheck %s

#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // One iteration, which is loaded ahead: nothing is left of the loop but whether it runs.
  // CHECK-LABEL: @one
  // CHECK: %[[RUNS:.*]] = arith.cmpi slt, %n, %{{.*}} : i32
  // CHECK: %[[MASK:.*]] = tt.splat %[[RUNS]]
  // CHECK: %[[FIRST:.*]] = tt.load %p, %[[MASK]]
  // CHECK: %[[OUT:.*]] = scf.if %[[RUNS]]
  // CHECK: %[[SUM:.*]] = arith.addf %init, %[[FIRST]]
  // CHECK: scf.yield %[[SUM]]
  // CHECK: scf.yield %init
  // CHECK-NOT: tt.load
  // CHECK-NOT: scf.for
  // CHECK: tt.return %[[OUT]]
  tt.func public @one(%p: tensor<512x!tt.ptr<f32>, #line>, %step: tensor<512xi32, #line>, %init: tensor<512xf32, #line>, %n: i32) -> tensor<512xf32, #line> {
    %c4 = arith.constant 4 : i32
    %end = arith.addi %n, %c4 : i32
    %sum, %last = scf.for %i = %n to %end step %c4 iter_args(%a = %init, %q = %p) -> (tensor<512xf32, #line>, tensor<512x!tt.ptr<f32>, #line>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 2 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %b = arith.addf %a, %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<512xf32, #line>
      %r = tt.addptr %q, %step {loop.stage = 1 : i32, loop.cluster = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      scf.yield %b, %r : tensor<512xf32, #line>, tensor<512x!tt.ptr<f32>, #line>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : tensor<512xf32, #line>
  }

  // Two iterations: the loop loads the second one itself.
  // CHECK-LABEL: @two
  // CHECK: scf.for
  // CHECK: tt.load
  // CHECK: tt.return
  tt.func public @two(%p: tensor<512x!tt.ptr<f32>, #line>, %step: tensor<512xi32, #line>, %init: tensor<512xf32, #line>, %n: i32) -> tensor<512xf32, #line> {
    %c4 = arith.constant 4 : i32
    %c5 = arith.constant 5 : i32
    %end = arith.addi %n, %c5 : i32
    %sum, %last = scf.for %i = %n to %end step %c4 iter_args(%a = %init, %q = %p) -> (tensor<512xf32, #line>, tensor<512x!tt.ptr<f32>, #line>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 2 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %b = arith.addf %a, %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<512xf32, #line>
      %r = tt.addptr %q, %step {loop.stage = 1 : i32, loop.cluster = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      scf.yield %b, %r : tensor<512xf32, #line>, tensor<512x!tt.ptr<f32>, #line>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : tensor<512xf32, #line>
  }
}
