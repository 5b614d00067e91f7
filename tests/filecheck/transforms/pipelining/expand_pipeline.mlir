// RUN: tritonx-opt %s -p "expand-pipeline,fold,cse,dce" | filecheck %s

#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // One iteration ahead: the first load in front of the loop, if there is an iteration; in the loop the next one's, if
  // there is one, which is carried. The loop has as many iterations as before.
  // CHECK-LABEL: @ahead
  // CHECK: %[[ANY:.*]] = arith.cmpi slt, %{{.*}}, %n : i32
  // CHECK: %[[MASK:.*]] = tt.splat %[[ANY]]
  // CHECK: %[[FIRST:.*]] = tt.load %p, %[[MASK]]
  // CHECK: scf.for %[[K:.*]] = %{{.*}} to %n step %[[ONE:.*]] iter_args(%[[A:.*]] = %init, %[[X:.*]] = %[[FIRST]], %[[Q:.*]] = %p)
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[A]], %[[X]]
  // CHECK-NEXT: %[[R:.*]] = tt.addptr %[[Q]], %step
  // CHECK-NEXT: %[[LEFT:.*]] = arith.subi %n, %[[K]]
  // CHECK-NEXT: %[[MORE:.*]] = arith.cmpi ugt, %[[LEFT]], %[[ONE]] : i32
  // CHECK-NEXT: %[[NEXT:.*]] = tt.splat %[[MORE]]
  // CHECK-NEXT: %[[Y:.*]] = tt.load %[[R]], %[[NEXT]]
  // CHECK-NEXT: scf.yield %[[SUM]], %[[Y]], %[[R]]
  // CHECK-NOT: loop.stage
  // CHECK-NOT: tt.scheduled_max_stage
  // CHECK: tt.return
  tt.func public @ahead(%p: tensor<512x!tt.ptr<f32>, #line>, %step: tensor<512xi32, #line>, %init: tensor<512xf32, #line>, %n: i32) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum, %end = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %q = %p) -> (tensor<512xf32, #line>, tensor<512x!tt.ptr<f32>, #line>) : i32 {
      %x = tt.load %q {loop.stage = 0 : i32, loop.cluster = 2 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %b = arith.addf %a, %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<512xf32, #line>
      %r = tt.addptr %q, %step {loop.stage = 1 : i32, loop.cluster = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      scf.yield %b, %r : tensor<512xf32, #line>, tensor<512x!tt.ptr<f32>, #line>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : tensor<512xf32, #line>
  }

  // A mask is narrowed, an iteration that there is for sure needs none, and a divisor that might be 0 for an iteration
  // that there is not is 1 there.
  // CHECK-LABEL: @known
  // CHECK: tt.load %{{.*}}, %m, %init
  // CHECK: scf.for
  // CHECK: %[[MORE:.*]] = arith.cmpi ugt
  // CHECK: %[[DIVISOR:.*]] = arith.select %[[MORE]], %{{.*}}, %{{.*}} : i32
  // CHECK: arith.divsi %d, %[[DIVISOR]]
  // CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %m
  // CHECK: tt.load %{{.*}}, %[[BOTH]], %init
  tt.func public @known(%p: tensor<512x!tt.ptr<f32>, #line>, %m: tensor<512xi1, #line>, %init: tensor<512xf32, #line>, %d: i32) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c9 = arith.constant 9 : i32
    %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %init) -> (tensor<512xf32, #line>) : i32 {
      %left = arith.subi %c9, %i {loop.stage = 0 : i32, loop.cluster = 1 : i32} : i32
      %k = arith.divsi %d, %left {loop.stage = 0 : i32, loop.cluster = 1 : i32} : i32
      %ks = tt.splat %k {loop.stage = 0 : i32, loop.cluster = 1 : i32} : i32 -> tensor<512xi32, #line>
      %q = tt.addptr %p, %ks {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      %x = tt.load %q, %m, %init {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %b = arith.addf %a, %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<512xf32, #line>
      scf.yield %b : tensor<512xf32, #line>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : tensor<512xf32, #line>
  }

  // A descriptor may reach beyond its tensor (`describe-loads`): for an iteration that there is not, a block is read
  // where nothing of it is.
  // CHECK-LABEL: @blocks
  // CHECK: %[[FIRST:.*]] = arith.select %{{.*}}, %c0, %[[OUTSIDE:.*]] : i32
  // CHECK: tt.descriptor_load %d[%[[FIRST]]]
  // CHECK: scf.for
  // CHECK: %[[NEXT:.*]] = arith.select %{{.*}}, %{{.*}}, %[[OUTSIDE]] : i32
  // CHECK: tt.descriptor_load %d[%[[NEXT]]]
  tt.func public @blocks(%d: !tt.tensordesc<tensor<512xf32>>, %init: tensor<512xf32, #line>, %n: i32) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c512 = arith.constant 512 : i32
    %sum = scf.for %i = %c0 to %n step %c512 iter_args(%a = %init) -> (tensor<512xf32, #line>) : i32 {
      %x = tt.descriptor_load %d[%i] {loop.stage = 0 : i32, loop.cluster = 1 : i32} : !tt.tensordesc<tensor<512xf32>> -> tensor<512xf32, #line>
      %b = arith.addf %a, %x {loop.stage = 1 : i32, loop.cluster = 0 : i32} : tensor<512xf32, #line>
      scf.yield %b : tensor<512xf32, #line>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : tensor<512xf32, #line>
  }

  // What others see cannot run ahead, and nothing before what it needs: the loop stays.
  // CHECK-LABEL: @stays
  // CHECK: scf.for
  // CHECK-NEXT: tt.load %p :
  // CHECK-NEXT: tt.store %p, %{{.*}} :
  // CHECK: scf.for
  // CHECK-NEXT: tt.load %p :
  // CHECK-NEXT: arith.addf
  // CHECK-NOT: loop.stage
  // CHECK: tt.return
  tt.func public @stays(%p: tensor<512x!tt.ptr<f32>, #line>, %init: tensor<512xf32, #line>, %n: i32) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %p {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>
      tt.store %p, %x {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>
    } {tt.scheduled_max_stage = 1 : i32}
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<512xf32, #line>) : i32 {
      %x = tt.load %p {loop.stage = 0 : i32, loop.cluster = 1 : i32} : tensor<512x!tt.ptr<f32>, #line>
      %b = arith.addf %a, %x {loop.stage = 0 : i32, loop.cluster = 0 : i32} : tensor<512xf32, #line>
      scf.yield %b : tensor<512xf32, #line>
    } {tt.scheduled_max_stage = 1 : i32}
    tt.return %sum : tensor<512xf32, #line>
  }
}
