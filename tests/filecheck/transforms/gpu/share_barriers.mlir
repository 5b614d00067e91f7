// RUN: tritonx-opt %s -p "share-barriers" | filecheck %s
// RUN: tritonx-opt %s -p "share-barriers,allocate-shared-memory,insert-barriers" | filecheck %s --check-prefix BARRIER
// RUN: tritonx-opt %s -p "share-barriers{shared-memory=12000}" | filecheck %s --check-prefix SMALL
// RUN: tritonx-opt %s -p "share-barriers{shared-memory=100000}" | filecheck %s --check-prefix IDLE
// RUN: tritonx-opt %s -p "share-barriers{shared-memory=50000}" | filecheck %s --check-prefix TAKEN

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

// SMALL-LABEL: @masked
// SMALL-NOT: ttg.local_alloc
// SMALL-LABEL: @three

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // A store of a transposed tile under a transposed mask: both are written, one barrier, both are read.
  // CHECK-LABEL: @masked
  // CHECK: ttg.local_alloc %m
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: ttg.local_alloc %x
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.store
  // BARRIER-LABEL: @masked
  // BARRIER: ttg.local_alloc
  // BARRIER-NOT: ttg.local_barrier
  // BARRIER: ttg.local_alloc
  // BARRIER-NEXT: ttg.local_barrier
  // BARRIER-NEXT: ttg.local_load
  // BARRIER-NEXT: ttg.local_load
  // BARRIER-NEXT: tt.store
  // BARRIER-NOT: ttg.local_barrier
  tt.func public @masked(%p: tensor<64x64x!tt.ptr<f32>, #rows>, %m: tensor<64x64xi1, #rows>, %q: tensor<64x64x!tt.ptr<f32>, #columns>) {
    %n = ttg.convert_layout %m : tensor<64x64xi1, #rows> -> tensor<64x64xi1, #columns>
    %x = tt.load %p, %m : tensor<64x64x!tt.ptr<f32>, #rows>
    %y = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    tt.store %q, %y, %n : tensor<64x64x!tt.ptr<f32>, #columns>
    tt.return
  }

  // The second conversion, and what it alone needs, move in front of the first store.
  // BARRIER-LABEL: @stores
  // BARRIER: ttg.local_barrier
  // BARRIER-NOT: ttg.local_barrier
  // CHECK-LABEL: @stores
  // CHECK: ttg.local_alloc %x
  // CHECK-NEXT: %[[D:.*]] = arith.addf %y, %y
  // CHECK-NEXT: ttg.local_alloc %[[D]]
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.store
  tt.func public @stores(%x: tensor<64x64xf16, #rows>, %y: tensor<64x64xf16, #rows>, %q: tensor<64x64x!tt.ptr<f16>, #columns>, %r: tensor<64x64x!tt.ptr<f16>, #columns>) {
    %a = ttg.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    tt.store %q, %a : tensor<64x64x!tt.ptr<f16>, #columns>
    %d = arith.addf %y, %y : tensor<64x64xf16, #rows>
    %b = ttg.convert_layout %d : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    tt.store %r, %b : tensor<64x64x!tt.ptr<f16>, #columns>
    tt.return
  }

  // A load behind the first store stays behind it, and what needs the first result cannot come before it.
  // BARRIER-LABEL: @ordered
  // BARRIER-COUNT-2: ttg.local_barrier
  // BARRIER-NOT: ttg.local_barrier
  // CHECK-LABEL: @ordered
  // CHECK-NOT: ttg.local_alloc
  // CHECK: ttg.convert_layout
  // CHECK: ttg.convert_layout
  // CHECK: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @ordered(%x: tensor<64x64xf16, #rows>, %p: tensor<64x64x!tt.ptr<f16>, #rows>, %q: tensor<64x64x!tt.ptr<f16>, #columns>) -> tensor<64x64xf16, #rows> {
    %a = ttg.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    tt.store %q, %a : tensor<64x64x!tt.ptr<f16>, #columns>
    %y = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
    %b = ttg.convert_layout %y : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    %c = ttg.convert_layout %b : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #rows>
    tt.store %q, %b : tensor<64x64x!tt.ptr<f16>, #columns>
    tt.return %c : tensor<64x64xf16, #rows>
  }

  // BARRIER-LABEL: @three
  // Exchanges of 16384 bytes each. Two may be in memory together, three where the function takes as much elsewhere.
  // IDLE-LABEL: @three
  // IDLE: ttg.local_alloc %x
  // IDLE-NEXT: ttg.local_alloc %y
  // IDLE-NEXT: ttg.convert_layout %z
  tt.func public @three(%x: tensor<64x64xf32, #rows>, %y: tensor<64x64xf32, #rows>, %z: tensor<64x64xf32, #rows>, %q: tensor<64x64x!tt.ptr<f32>, #columns>) {
    %a = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %b = ttg.convert_layout %y : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %c = ttg.convert_layout %z : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %d = arith.addf %a, %b : tensor<64x64xf32, #columns>
    %e = arith.addf %d, %c : tensor<64x64xf32, #columns>
    tt.store %q, %e : tensor<64x64x!tt.ptr<f32>, #columns>
    tt.return
  }

  // IDLE-LABEL: @idle
  // IDLE: ttg.local_dealloc
  // IDLE: ttg.local_alloc %x
  // IDLE-NEXT: ttg.local_alloc %y
  // IDLE-NEXT: ttg.local_alloc %z
  // IDLE-NOT: ttg.convert_layout
  // IDLE: tt.return
  tt.func public @idle(%t: tensor<128x128xf32, #rows>, %x: tensor<64x64xf32, #rows>, %y: tensor<64x64xf32, #rows>, %z: tensor<64x64xf32, #rows>, %q: tensor<64x64x!tt.ptr<f32>, #columns>, %r: tensor<128x128x!tt.ptr<f32>, #columns>) {
    %m = ttg.local_alloc %t : (tensor<128x128xf32, #rows>) -> !ttg.memdesc<128x128xf32, #plain, #smem>
    %u = ttg.local_load %m : !ttg.memdesc<128x128xf32, #plain, #smem> -> tensor<128x128xf32, #columns>
    ttg.local_dealloc %m : !ttg.memdesc<128x128xf32, #plain, #smem>
    tt.store %r, %u : tensor<128x128x!tt.ptr<f32>, #columns>
    %a = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %b = ttg.convert_layout %y : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %c = ttg.convert_layout %z : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %d = arith.addf %a, %b : tensor<64x64xf32, #columns>
    %e = arith.addf %d, %c : tensor<64x64xf32, #columns>
    tt.store %q, %e : tensor<64x64x!tt.ptr<f32>, #columns>
    tt.return
  }

  // What another buffer has at that time is not there: 32768 bytes beside 32768 are more than 50000.
  // TAKEN-LABEL: @taken
  // TAKEN: ttg.local_alloc %t
  // TAKEN-NOT: ttg.local_alloc
  // TAKEN: ttg.convert_layout %x
  // TAKEN: ttg.convert_layout %y
  tt.func public @taken(%t: tensor<64x128xf32, #rows>, %x: tensor<64x64xf32, #rows>, %y: tensor<64x64xf32, #rows>, %q: tensor<64x64x!tt.ptr<f32>, #columns>, %r: tensor<64x128x!tt.ptr<f32>, #columns>) {
    %m = ttg.local_alloc %t : (tensor<64x128xf32, #rows>) -> !ttg.memdesc<64x128xf32, #plain, #smem>
    %a = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %b = ttg.convert_layout %y : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %d = arith.addf %a, %b : tensor<64x64xf32, #columns>
    tt.store %q, %d : tensor<64x64x!tt.ptr<f32>, #columns>
    %u = ttg.local_load %m : !ttg.memdesc<64x128xf32, #plain, #smem> -> tensor<64x128xf32, #columns>
    tt.store %r, %u : tensor<64x128x!tt.ptr<f32>, #columns>
    tt.return
  }
}
