// RUN: tritonx-opt %s -p "wait-for-products" | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#own = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#smem = #ttg.shared_memory

!a = !ttg.memdesc<64x32xf16, #shared, #smem>
!b = !ttg.memdesc<32x32xf16, #shared, #smem>
!slots = !ttg.memdesc<3x32x32xf16, #shared, #smem, mutable>
!slot = !ttg.memdesc<32x32xf16, #shared, #smem, mutable>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The slot that is written is the one that the product of the round before reads: that one must be over, and the last
  // one may run on. Behind the loop nothing is under way.
  // CHECK-LABEL: @slots
  // CHECK: %[[LOOP:.*]], %{{.*}}, %{{.*}} = scf.for
  // CHECK: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: %[[W:.*]] = ttng.warp_group_dot_wait %[[D]] {pendings = 1 : i32}
  // CHECK-NEXT: ttg.local_store
  // CHECK: scf.yield %[[W]]
  // CHECK: %[[R:.*]] = ttng.warp_group_dot_wait %[[LOOP]] {pendings = 0 : i32}
  // CHECK: tt.return %[[R]]
  tt.func public @slots(%x: !a, %s: !slots, %t: tensor<32x32xf16, #rows>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %sum, %e, %f = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %in = %c2, %out = %c0) -> (tensor<64x32xf32, #mma>, i32, i32) : i32 {
      %from = ttg.memdesc_index %s[%out] : !slots -> !b
      %d = ttng.warp_group_dot %x, %from, %a : !a * !b -> tensor<64x32xf32, #mma>
      %to = ttg.memdesc_index %s[%in] : !slots -> !slot
      ttg.local_store %t, %to : tensor<32x32xf16, #rows> -> !slot
      %i1 = arith.addi %in, %c1 : i32
      %i2 = arith.cmpi eq, %i1, %c3 : i32
      %i3 = arith.select %i2, %c0, %i1 : i32
      %o1 = arith.addi %out, %c1 : i32
      %o2 = arith.cmpi sge, %o1, %c3 : i32
      %o3 = arith.select %o2, %c0, %o1 : i32
      scf.yield %d, %i3, %o3 : tensor<64x32xf32, #mma>, i32, i32
    }
    tt.return %sum : tensor<64x32xf32, #mma>
  }

  // Who knows which slot: none may be under way.
  // CHECK-LABEL: @unknown
  // CHECK: ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttng.warp_group_dot_wait %{{.*}} {pendings = 0 : i32}
  // CHECK-NEXT: ttg.local_store
  tt.func public @unknown(%x: !a, %s: !slots, %t: tensor<32x32xf16, #rows>, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %from = ttg.memdesc_index %s[%c1] : !slots -> !b
      %d = ttng.warp_group_dot %x, %from, %a : !a * !b -> tensor<64x32xf32, #mma>
      %to = ttg.memdesc_index %s[%i] : !slots -> !slot
      ttg.local_store %t, %to : tensor<32x32xf16, #rows> -> !slot
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    tt.return %sum : tensor<64x32xf32, #mma>
  }

  // A reader of the result waits for it, the one of the round before while this round's runs; the reader gets it from
  // the wait.
  // CHECK-LABEL: @readers
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %init, %{{.*}})
  // CHECK: %[[S:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: %[[B:.*]] = ttng.warp_group_dot_wait %[[A]] {pendings = 1 : i32}
  // CHECK: arith.mulf %[[B]]
  // CHECK: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: %[[W:.*]] = ttng.warp_group_dot_wait %[[S]] {pendings = 1 : i32}
  // CHECK: arith.addf %{{.*}}, %[[W]]
  // CHECK: scf.yield %[[D]]
  tt.func public @readers(%x: !a, %y: !b, %init: tensor<64x32xf32, #mma>, %zero: tensor<64x32xf32, #mma>, %n: i32) -> (tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum, %other = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %o = %zero) -> (tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>) : i32 {
      %s = ttng.warp_group_dot %x, %y, %zero : !a * !b -> tensor<64x32xf32, #mma>
      %half = arith.mulf %a, %a : tensor<64x32xf32, #mma>
      %d = ttng.warp_group_dot %x, %y, %half : !a * !b -> tensor<64x32xf32, #mma>
      %p = arith.addf %o, %s : tensor<64x32xf32, #mma>
      scf.yield %d, %p : tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>
    }
    tt.return %sum, %other : tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>
  }

  // What is loaded for a product is in its registers until it is over: two products are under way at most, and one
  // while the operand of another one is loaded.
  // CHECK-LABEL: @loaded
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %init)
  // CHECK-NEXT: %[[B:.*]] = ttng.warp_group_dot_wait %[[A]] {pendings = 1 : i32}
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: %[[C:.*]] = ttng.warp_group_dot {{.*}}, %[[B]] {{.*}}isAsync = true
  // CHECK-NEXT: %[[D:.*]] = ttng.warp_group_dot_wait %[[C]] {pendings = 1 : i32}
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: %[[E:.*]] = ttng.warp_group_dot {{.*}}, %[[D]] {{.*}}isAsync = true
  // CHECK-NEXT: %[[F:.*]] = ttng.warp_group_dot_wait %[[E]] {pendings = 1 : i32}
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: %[[G:.*]] = ttng.warp_group_dot {{.*}}, %[[F]] {{.*}}isAsync = true
  // CHECK-NEXT: scf.yield %[[G]]
  tt.func public @loaded(%x: !a, %y: !b, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      %p = ttg.local_load %x : !a -> tensor<64x32xf16, #own>
      %d = ttng.warp_group_dot %p, %y, %a : tensor<64x32xf16, #own> * !b -> tensor<64x32xf32, #mma>
      %q = ttg.local_load %x : !a -> tensor<64x32xf16, #own>
      %e = ttng.warp_group_dot %q, %y, %d : tensor<64x32xf16, #own> * !b -> tensor<64x32xf32, #mma>
      %r = ttg.local_load %x : !a -> tensor<64x32xf16, #own>
      %f = ttng.warp_group_dot %r, %y, %e : tensor<64x32xf16, #own> * !b -> tensor<64x32xf32, #mma>
      scf.yield %f : tensor<64x32xf32, #mma>
    }
    tt.return %sum : tensor<64x32xf32, #mma>
  }

  // What a branch alone reads is waited for there, and handed on: in the other rounds the product runs on.
  // CHECK-LABEL: @stored_in_some_rounds
  // CHECK: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: %[[W:.*]] = ttng.warp_group_dot_wait %[[D]] {pendings = 1 : i32}
  // CHECK: %[[NEXT:.*]] = scf.if %last -> (tensor<64x32xf32, #mma>) {
  // CHECK-NEXT: %[[DONE:.*]] = ttng.warp_group_dot_wait %[[W]] {pendings = 0 : i32}
  // CHECK-NEXT: tt.store %{{.*}}, %[[DONE]]
  // CHECK-NEXT: scf.yield %[[DONE]]
  // CHECK: scf.yield %[[W]]
  // CHECK: scf.yield %[[NEXT]]
  tt.func public @stored_in_some_rounds(%x: !a, %s: !slots, %t: tensor<32x32xf16, #rows>, %init: tensor<64x32xf32, #mma>, %n: i32, %last: i1, %p: tensor<64x32x!tt.ptr<f32>, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %sum, %e, %f = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %in = %c2, %out = %c0) -> (tensor<64x32xf32, #mma>, i32, i32) : i32 {
      %from = ttg.memdesc_index %s[%out] : !slots -> !b
      %d = ttng.warp_group_dot %x, %from, %a : !a * !b -> tensor<64x32xf32, #mma>
      %to = ttg.memdesc_index %s[%in] : !slots -> !slot
      ttg.local_store %t, %to : tensor<32x32xf16, #rows> -> !slot
      scf.if %last {
        tt.store %p, %d : tensor<64x32x!tt.ptr<f32>, #mma>
      }
      %i1 = arith.addi %in, %c1 : i32
      %i2 = arith.cmpi eq, %i1, %c3 : i32
      %i3 = arith.select %i2, %c0, %i1 : i32
      %o1 = arith.addi %out, %c1 : i32
      %o2 = arith.cmpi sge, %o1, %c3 : i32
      %o3 = arith.select %o2, %c0, %o1 : i32
      scf.yield %d, %i3, %o3 : tensor<64x32xf32, #mma>, i32, i32
    }
    tt.return
  }
  // A branch that hands one result on reads another one too, which another branch hands on: that is waited for in front.
  // CHECK-LABEL: @two_in_a_branch
  // CHECK: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK-NEXT: %[[E:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK-NEXT: %[[F:.*]] = ttng.warp_group_dot_wait %[[E]] {pendings = 0 : i32}
  // CHECK-NEXT: scf.if %last -> (tensor<64x32xf32, #mma>) {
  // CHECK-NEXT: %[[DONE:.*]] = ttng.warp_group_dot_wait %[[D]] {pendings = 1 : i32}
  // CHECK-NEXT: tt.store %{{.*}}, %[[DONE]]
  // CHECK-NEXT: tt.store %{{.*}}, %[[F]]
  tt.func public @two_in_a_branch(%x: !a, %y: !b, %init: tensor<64x32xf32, #mma>, %n: i32, %last: i1, %p: tensor<64x32x!tt.ptr<f32>, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum, %other = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %b = %init) -> (tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %x, %y, %a : !a * !b -> tensor<64x32xf32, #mma>
      %e = ttng.warp_group_dot %x, %y, %b : !a * !b -> tensor<64x32xf32, #mma>
      scf.if %last {
        tt.store %p, %d : tensor<64x32x!tt.ptr<f32>, #mma>
        tt.store %p, %e : tensor<64x32x!tt.ptr<f32>, #mma>
      }
      %next = scf.if %last -> (tensor<64x32xf32, #mma>) {
        scf.yield %init : tensor<64x32xf32, #mma>
      } else {
        scf.yield %e : tensor<64x32xf32, #mma>
      }
      scf.yield %d, %next : tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>
    }
    tt.return
  }

  // Of two that one branch hands on, both are waited for behind the loop.
  // CHECK-LABEL: @both_handed_on
  // CHECK: scf.if %last -> (tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>) {
  // CHECK: ttng.warp_group_dot_wait %{{.*}}#0, %{{.*}}#1 {pendings = 0 : i32}
  tt.func public @both_handed_on(%x: !a, %y: !b, %init: tensor<64x32xf32, #mma>, %n: i32, %last: i1, %p: tensor<64x32x!tt.ptr<f32>, #mma>) -> (tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %b = %init) -> (tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %x, %y, %a : !a * !b -> tensor<64x32xf32, #mma>
      %e = ttng.warp_group_dot %x, %y, %b : !a * !b -> tensor<64x32xf32, #mma>
      scf.if %last {
        tt.store %p, %d : tensor<64x32x!tt.ptr<f32>, #mma>
        tt.store %p, %e : tensor<64x32x!tt.ptr<f32>, #mma>
      }
      scf.yield %d, %e : tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>
    }
    tt.return %sum#0, %sum#1 : tensor<64x32xf32, #mma>, tensor<64x32xf32, #mma>
  }

  // A loop whose regions are measured waits for its products where they are.
  // CHECK-LABEL: @measured
  // CHECK: proton.record start "product"
  // CHECK-NEXT: ttng.warp_group_dot %x, %y, %a :
  // CHECK-NEXT: proton.record end "product"
  // CHECK-NOT: warp_group_dot_wait
  tt.func public @measured(%x: !a, %y: !b, %init: tensor<64x32xf32, #mma>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<64x32xf32, #mma>) : i32 {
      proton.record start "product"
      %d = ttng.warp_group_dot %x, %y, %a : !a * !b -> tensor<64x32xf32, #mma>
      proton.record end "product"
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    tt.return %sum : tensor<64x32xf32, #mma>
  }
}
