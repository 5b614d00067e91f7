// RUN: tritonx-opt %s -p 'gluon-infer-coalesced-encodings{target="cuda:90" num_warps=4}' | filecheck %s
// RUN: tritonx-opt %s -p 'gluon-infer-coalesced-encodings{target="cuda:90" num_warps=4},gluon-resolve-auto-encodings' | filecheck %s --check-prefix RESOLVED

// CHECK-DAG: [[ROWS:#.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
// CHECK-DAG: [[COLUMNS:#.*]] = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
// CHECK-DAG: [[WIDE:#.*]] = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: [[FOUR:#.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: [[TWO:#.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
// RESOLVED-NOT: gluon.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What is loaded has the layout of the pointers, and what is computed from it, up to the store; requests keep theirs.
  // CHECK-LABEL: @rows
  // CHECK: gluon.set_auto_layout {{.*}} : tensor<16x256x!tt.ptr<f32>, #gluon.auto_encoding> -> tensor<16x256x!tt.ptr<f32>, [[ROWS]]>
  // CHECK: gluon.set_auto_layout {{.*}} : tensor<16x256xi1, #gluon.auto_encoding> -> tensor<16x256xi1, [[ROWS]]>
  // CHECK: tt.load {{.*}} : tensor<16x256x!tt.ptr<f32>, [[ROWS]]>
  // CHECK: math.sin {{.*}} : tensor<16x256xf32, [[ROWS]]>
  // CHECK: arith.constant dense<1.000000e+00> : tensor<16x256xf32, [[ROWS]]>
  // CHECK: tt.store {{.*}} : tensor<16x256x!tt.ptr<f32>, [[ROWS]]>
  // RESOLVED-LABEL: @rows
  // RESOLVED: tt.store {{.*}} : tensor<16x256x!tt.ptr<f32>, #blocked
  tt.func public @rows(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i1) {
    %0 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #gluon.auto_encoding>
    %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<256xi32, #gluon.auto_encoding> -> tensor<1x256xi32, #gluon.auto_encoding>
    %2 = tt.broadcast %1 : tensor<1x256xi32, #gluon.auto_encoding> -> tensor<16x256xi32, #gluon.auto_encoding>
    %3 = tt.splat %p : !tt.ptr<f32> -> tensor<16x256x!tt.ptr<f32>, #gluon.auto_encoding>
    %4 = tt.addptr %3, %2 : tensor<16x256x!tt.ptr<f32>, #gluon.auto_encoding>, tensor<16x256xi32, #gluon.auto_encoding>
    %5 = gluon.set_auto_layout %4 : tensor<16x256x!tt.ptr<f32>, #gluon.auto_encoding> -> tensor<16x256x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %6 = tt.splat %m : i1 -> tensor<16x256xi1, #gluon.auto_encoding>
    %7 = gluon.set_auto_layout %6 : tensor<16x256xi1, #gluon.auto_encoding> -> tensor<16x256xi1, #gluon.coalesced_encoding>
    %8 = tt.load %5, %7 : tensor<16x256x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %9 = math.sin %8 : tensor<16x256xf32, #gluon.coalesced_encoding>
    %10 = arith.constant dense<1.000000e+00> : tensor<16x256xf32, #gluon.coalesced_encoding>
    %11 = arith.addf %9, %10 : tensor<16x256xf32, #gluon.coalesced_encoding>
    tt.store %5, %11, %7 : tensor<16x256x!tt.ptr<f32>, #gluon.coalesced_encoding>
    tt.return
  }

  // Neighbours along the dim that axis analysis finds contiguous.
  // CHECK-LABEL: @columns
  // CHECK: tt.load {{.*}} : tensor<128x16x!tt.ptr<f16>, [[COLUMNS]]>
  tt.func public @columns(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) -> f16 {
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #gluon.coalesced_encoding>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<128xi32, #gluon.coalesced_encoding> -> tensor<128x1xi32, #gluon.coalesced_encoding>
    %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #gluon.coalesced_encoding>
    %3 = tt.expand_dims %2 {axis = 0 : i32} : tensor<16xi32, #gluon.coalesced_encoding> -> tensor<1x16xi32, #gluon.coalesced_encoding>
    %4 = tt.splat %stride : i32 -> tensor<1x16xi32, #gluon.coalesced_encoding>
    %5 = arith.muli %3, %4 : tensor<1x16xi32, #gluon.coalesced_encoding>
    %6 = tt.broadcast %1 : tensor<128x1xi32, #gluon.coalesced_encoding> -> tensor<128x16xi32, #gluon.coalesced_encoding>
    %7 = tt.broadcast %5 : tensor<1x16xi32, #gluon.coalesced_encoding> -> tensor<128x16xi32, #gluon.coalesced_encoding>
    %8 = arith.addi %6, %7 : tensor<128x16xi32, #gluon.coalesced_encoding>
    %9 = tt.splat %p : !tt.ptr<f16> -> tensor<128x16x!tt.ptr<f16>, #gluon.coalesced_encoding>
    %10 = tt.addptr %9, %8 : tensor<128x16x!tt.ptr<f16>, #gluon.coalesced_encoding>, tensor<128x16xi32, #gluon.coalesced_encoding>
    %11 = tt.load %10 : tensor<128x16x!tt.ptr<f16>, #gluon.coalesced_encoding>
    %12 = "tt.reduce"(%11) <{axis = 1 : i32}> ({
    ^bb0(%a: f16, %b: f16):
      %s = arith.addf %a, %b : f16
      tt.reduce.return %s : f16
    }) : (tensor<128x16xf16, #gluon.coalesced_encoding>) -> tensor<128xf16, #gluon.coalesced_encoding>
    %13 = "tt.reduce"(%12) <{axis = 0 : i32}> ({
    ^bb0(%a: f16, %b: f16):
      %s = arith.addf %a, %b : f16
      tt.reduce.return %s : f16
    }) : (tensor<128xf16, #gluon.coalesced_encoding>) -> f16
    tt.return %13 : f16
  }

  // Accesses of one shape agree on a width, though halves could be loaded eight at a time and words four.
  // CHECK-LABEL: @widths
  // CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<i8>, [[WIDE]]>
  // CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f16>, [[WIDE]]>
  tt.func public @widths(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #gluon.coalesced_encoding>
    %1 = tt.splat %p : !tt.ptr<i8> -> tensor<1024x!tt.ptr<i8>, #gluon.coalesced_encoding>
    %2 = tt.addptr %1, %0 : tensor<1024x!tt.ptr<i8>, #gluon.coalesced_encoding>, tensor<1024xi32, #gluon.coalesced_encoding>
    %3 = tt.splat %q : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #gluon.coalesced_encoding>
    %4 = tt.addptr %3, %0 : tensor<1024x!tt.ptr<f16>, #gluon.coalesced_encoding>, tensor<1024xi32, #gluon.coalesced_encoding>
    %5 = tt.load %2 : tensor<1024x!tt.ptr<i8>, #gluon.coalesced_encoding>
    %6 = arith.sitofp %5 : tensor<1024xi8, #gluon.coalesced_encoding> to tensor<1024xf16, #gluon.coalesced_encoding>
    tt.store %4, %6 : tensor<1024x!tt.ptr<f16>, #gluon.coalesced_encoding>
    tt.return
  }

  // A partition has its own warps.
  // CHECK-LABEL: @partition
  // CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, [[TWO]]>
  tt.func public @partition(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    ttg.warp_specialize(%p)
    default {
      ttg.warp_yield
    }
    partition0(%a: !tt.ptr<f32>) num_warps(2) {
      %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #gluon.coalesced_encoding>
      %1 = tt.splat %a : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
      %2 = tt.addptr %1, %0 : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>, tensor<1024xi32, #gluon.coalesced_encoding>
      %3 = arith.constant dense<1.000000e+00> : tensor<1024xf32, #gluon.coalesced_encoding>
      tt.store %2, %3 : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
      ttg.warp_return
    } : (!tt.ptr<f32>) -> ()
    tt.return
  }

  // Copies past the registers, as wide as stores.
  // CHECK-LABEL: @copied
  // CHECK: ttg.async_copy_global_to_local {{.*}} : tensor<512x!tt.ptr<f32>, [[FOUR]]>
  tt.func public @copied(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<512xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #ttg.shared_memory, mutable>
    %0 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #gluon.coalesced_encoding>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %2 = tt.addptr %1, %0 : tensor<512x!tt.ptr<f32>, #gluon.coalesced_encoding>, tensor<512xi32, #gluon.coalesced_encoding>
    %3 = ttg.async_copy_global_to_local %2, %m : tensor<512x!tt.ptr<f32>, #gluon.coalesced_encoding> -> <512xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #ttg.shared_memory, mutable>
    tt.return
  }
}
