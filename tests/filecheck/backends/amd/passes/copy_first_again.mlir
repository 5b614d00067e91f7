// RUN: tritonx-opt %s -p copy-first-again --split-input-file | filecheck %s

// In front of the loop the same offsets are read from the pointer that the loop's was moved from, if the loop runs: what nothing reads is
// copied from there, and the mask goes.

// CHECK-LABEL: @first
// CHECK: scf.for %{{.*}} iter_args(%[[AT:.*]] = %{{.*}}) -> (!tt.ptr<f16>)
// CHECK: %[[IS:.*]] = arith.cmpi ugt
// CHECK: %[[FROM:.*]] = arith.select %[[IS]], %[[AT]], %p : !tt.ptr<f16>
// CHECK-NEXT: %[[TILE:.*]] = tt.splat %[[FROM]]
// CHECK-NEXT: %[[PLACES:.*]] = tt.addptr %[[TILE]], %o
// CHECK-NEXT: ttg.async_copy_global_to_local %[[PLACES]], %to {contiguity = 8 : i32}
// CHECK-NOT: tritonx.unread
// CHECK: tt.return

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @first(%p: !tt.ptr<f16>, %o: tensor<64x64xi32, #rows>, %to: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %runs = arith.cmpi slt, %c0, %n : i32
    %mask = tt.splat %runs : i1 -> tensor<64x64xi1, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %t = ttg.async_copy_global_to_local %q, %to mask %mask {contiguity = 8 : i32, tritonx.unread} : tensor<64x64x!tt.ptr<f16>, #rows> -> <64x64xf16, #shared, #smem, mutable>
    %next = tt.addptr %p, %c64 : !tt.ptr<f16>, i32
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%at = %next) -> (!tt.ptr<f16>) : i32 {
      %left = arith.subi %n, %i : i32
      %is = arith.cmpi ugt, %left, %c1 : i32
      %m = tt.splat %is : i1 -> tensor<64x64xi1, #rows>
      %s = tt.splat %at : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
      %r = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      %u = ttg.async_copy_global_to_local %r, %to mask %m {contiguity = 8 : i32, tritonx.unread} : tensor<64x64x!tt.ptr<f16>, #rows> -> <64x64xf16, #shared, #smem, mutable>
      %then = tt.addptr %at, %c64 : !tt.ptr<f16>, i32
      scf.yield %then : !tt.ptr<f16>
    }
    tt.return
  }
}

// -----

// What is read where the mask is false stays masked: zeros are copied. So does what was read under another condition than that the loop runs.

// CHECK-LABEL: @stay
// CHECK: scf.for
// CHECK: ttg.async_copy_global_to_local %{{.*}}, %to mask %m {contiguity = 8 : i32} :
// CHECK: ttg.async_copy_global_to_local %{{.*}}, %to mask %m {contiguity = 8 : i32} :

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @stay(%p: !tt.ptr<f16>, %z: !tt.ptr<f16>, %o: tensor<64x64xi32, #rows>, %to: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %runs = arith.cmpi slt, %c0, %n : i32
    %more = arith.cmpi slt, %c1, %n : i32
    %mask = tt.splat %runs : i1 -> tensor<64x64xi1, #rows>
    %other = tt.splat %more : i1 -> tensor<64x64xi1, #rows>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %t = ttg.async_copy_global_to_local %q, %to mask %mask {contiguity = 8 : i32} : tensor<64x64x!tt.ptr<f16>, #rows> -> <64x64xf16, #shared, #smem, mutable>
    %zs = tt.splat %z : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %zq = tt.addptr %zs, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %zt = ttg.async_copy_global_to_local %zq, %to mask %other {contiguity = 8 : i32} : tensor<64x64x!tt.ptr<f16>, #rows> -> <64x64xf16, #shared, #smem, mutable>
    %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%at = %p, %zat = %z) -> (!tt.ptr<f16>, !tt.ptr<f16>) : i32 {
      %left = arith.subi %n, %i : i32
      %is = arith.cmpi ugt, %left, %c1 : i32
      %m = tt.splat %is : i1 -> tensor<64x64xi1, #rows>
      %s = tt.splat %at : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
      %r = tt.addptr %s, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      %u = ttg.async_copy_global_to_local %r, %to mask %m {contiguity = 8 : i32} : tensor<64x64x!tt.ptr<f16>, #rows> -> <64x64xf16, #shared, #smem, mutable>
      %zz = tt.splat %zat : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
      %zr = tt.addptr %zz, %o : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
      %v = ttg.async_copy_global_to_local %zr, %to mask %m {contiguity = 8 : i32, tritonx.unread} : tensor<64x64x!tt.ptr<f16>, #rows> -> <64x64xf16, #shared, #smem, mutable>
      %then = tt.addptr %at, %c64 : !tt.ptr<f16>, i32
      %zthen = tt.addptr %zat, %c64 : !tt.ptr<f16>, i32
      scf.yield %then, %zthen : !tt.ptr<f16>, !tt.ptr<f16>
    }
    tt.return
  }
}
