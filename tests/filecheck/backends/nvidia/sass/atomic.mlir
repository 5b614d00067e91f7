// REQUIRES: sass
// RUN: tritonx-opt %s --split-input-file --target cuda:80 --until sass | filecheck %s
// RUN: tritonx-opt %s --split-input-file --target cuda:90 --until sass | filecheck %s

// A relaxed operation whose result is not read is a reduction in memory: nothing comes back, nothing is fenced.
// CHECK-LABEL: Function:counted
// CHECK-NOT: {{ATOM|MEMBAR|CCTL}}
// CHECK: {{REDG?}}.E.ADD.STRONG.GPU
// CHECK-NOT: {{REDG?\.|ATOM|MEMBAR|CCTL}}
// CHECK: EXIT
tt.func public @counted(%x: !tt.ptr<i32>, %bins: !tt.ptr<i32>) {
  %one = arith.constant dense<1> : tensor<128xi32>
  %true = arith.constant dense<true> : tensor<128xi1>
  %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %bin = tt.load %xp : tensor<128x!tt.ptr<i32>>
  %bs = tt.splat %bins : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %bp = tt.addptr %bs, %bin : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %old = tt.atomic_rmw add, relaxed, gpu, %bp, %one, %true : (tensor<128x!tt.ptr<i32>>, tensor<128xi32>, tensor<128xi1>) -> tensor<128xi32>
  tt.return
}

// -----

// One that acquires reads the old value whether it is used or not, between fences.
// CHECK-LABEL: Function:acquired
// CHECK-NOT: {{REDG?\.|ATOM}}
// CHECK: MEMBAR
// CHECK: ATOMG.E.ADD.STRONG.GPU
// CHECK-NOT: {{REDG?\.|ATOM}}
// CHECK: CCTL.IVALL
// CHECK-NOT: {{REDG?\.|ATOM}}
tt.func public @acquired(%p: !tt.ptr<i32>, %v: i32) {
  %true = arith.constant true
  %old = tt.atomic_rmw add, acq_rel, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}

// -----

// A used result comes back: no reduction, and the lanes that share no element need no shared memory.
// CHECK-LABEL: Function:ticket
// CHECK-NOT: {{REDG?\.|STS|LDS|BAR}}
// CHECK: ATOMG.E.ADD.STRONG.GPU
// CHECK-NOT: {{REDG?\.|ATOM|STS|LDS|BAR}}
// CHECK: STG.E
// CHECK-NOT: {{REDG?\.|ATOM|STS|LDS|BAR}}
// CHECK: EXIT
tt.func public @ticket(%p: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
  %one = arith.constant dense<1> : tensor<128xi32>
  %true = arith.constant dense<true> : tensor<128xi1>
  %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %old = tt.atomic_rmw add, relaxed, gpu, %pp, %one, %true : (tensor<128x!tt.ptr<i32>>, tensor<128xi32>, tensor<128xi1>) -> tensor<128xi32>
  %os = tt.splat %out : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %op = tt.addptr %os, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  tt.store %op, %old : tensor<128x!tt.ptr<i32>>
  tt.return
}
