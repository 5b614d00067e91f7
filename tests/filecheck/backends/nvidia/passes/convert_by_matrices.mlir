// RUN: tritonx-opt %s -p "convert-by-matrices{loads=true stores=true}" | filecheck %s
// RUN: tritonx-opt %s -p "convert-by-matrices{loads=true}" | filecheck %s --check-prefix LOADS
// RUN: tritonx-opt %s -p "convert-by-matrices" | filecheck %s --check-prefix NEITHER
// RUN: tritonx-opt %s -p "convert-by-matrices{loads=true stores=true},allocate-shared-memory,insert-barriers" --target cuda:90 -t ptx | filecheck %s --check-prefix PTX

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>

// NEITHER-NOT: ttg.local_alloc

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.target" = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A transposition of 16-bit elements: rows of 16 bytes in, ldmatrix.trans out, not one access of 16 bits.
  // CHECK-LABEL: @transposed
  // CHECK: %[[m:.*]] = ttg.local_alloc %x : (tensor<64x64xf16, #{{.*}}>) -> !ttg.memdesc<64x64xf16, #shared
  // CHECK-NEXT: ttg.local_load %[[m]]
  // CHECK-NEXT: tt.store
  // LOADS-LABEL: @transposed
  // LOADS: ttg.local_alloc
  // PTX-LABEL: .entry transposed(
  // PTX-COUNT-4: st.shared.v4.b32
  // PTX: bar.sync
  // PTX-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.trans
  // PTX-NOT: {{(ld|st)}}.shared.b16
  tt.func public @transposed(%base: !tt.ptr<f16>) {
    %p = tt.splat %base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %q = tt.splat %base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #columns>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #rows>
    %y = ttg.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    tt.store %q, %y : tensor<64x64x!tt.ptr<f16>, #columns>
    tt.return
  }

  // An accumulator leaves by stmatrix where there is one.
  // CHECK-LABEL: @accumulator
  // CHECK: ttg.local_alloc %x
  // LOADS-LABEL: @accumulator
  // PTX-LABEL: .entry accumulator(
  // PTX: stmatrix.sync.aligned.m8n8.x4
  // PTX: ld.shared.v4.b32
  tt.func public @accumulator(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: f16) {
    %p = tt.splat %base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %2 = tt.broadcast %1 : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #rows>
    %q = tt.addptr %p, %2 : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %x = tt.splat %c : f16 -> tensor<64x64xf16, #mma>
    %y = ttg.convert_layout %x : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #rows>
    tt.store %q, %y : tensor<64x64x!tt.ptr<f16>, #rows>
    tt.return
  }

  // Words of 32 bits lose nothing in plain accesses, nor do masks of one bit.
  // CHECK-LABEL: @wide
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.return
  tt.func public @wide(%base: !tt.ptr<f32>, %c: f32, %b: i1) {
    %p = tt.splat %base : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #columns>
    %x = tt.splat %c : f32 -> tensor<64x64xf32, #rows>
    %m = tt.splat %b : i1 -> tensor<64x64xi1, #rows>
    %y = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    %n = ttg.convert_layout %m : tensor<64x64xi1, #rows> -> tensor<64x64xi1, #columns>
    tt.store %p, %y, %n : tensor<64x64x!tt.ptr<f32>, #columns>
    tt.return
  }
}
