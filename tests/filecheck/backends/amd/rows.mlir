// RUN: tritonx-opt %s -p allocate-shared-memory,insert-barriers --target hip:gfx942 -t amdgcn | filecheck %s --check-prefix CDNA3
// RUN: tritonx-opt %s -p allocate-shared-memory,insert-barriers --target hip:gfx950 -t amdgcn | filecheck %s --check-prefix CDNA4

// Between rows of 16 lanes. CDNA 4 swaps rows of two registers: one instruction exchanges a lane bit and a register bit,
// and brings both of two lanes for a reduction that keeps its columns. Before it a swizzle needs no address.

// CDNA3-LABEL: {{^}}columns:
// CDNA3: ds_swizzle_b32 {{.*}}SWAP,16
// CDNA3: ds_bpermute_b32
// CDNA3: s_endpgm
// CDNA4-LABEL: {{^}}columns:
// CDNA4-NOT: ds_
// CDNA4: v_permlane16_swap_b32
// CDNA4-NOT: v_cndmask
// CDNA4: v_permlane32_swap_b32
// CDNA4-NOT: ds_
// CDNA4: s_endpgm

// CDNA3-LABEL: {{^}}exchange:
// CDNA3: ds_bpermute_b32
// CDNA3: s_endpgm
// CDNA4-LABEL: {{^}}exchange:
// CDNA4-NOT: ds_
// CDNA4-NOT: v_cndmask
// CDNA4: v_permlane32_swap_b32
// CDNA4-NOT: v_permlane
// CDNA4-NOT: ds_
// CDNA4: s_endpgm

#tile = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
#low = #ttg.linear<{register = [[64]], lane = [[1], [2], [4], [8], [16], [32]], warp = [], block = []}>
#high = #ttg.linear<{register = [[32]], lane = [[1], [2], [4], [8], [16], [64]], warp = [], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @columns(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %r = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #tile}>>
    %c = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #tile}>>
    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #tile}>> -> tensor<4x1xi32, #tile>
    %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #tile}>> -> tensor<1x16xi32, #tile>
    %n = arith.constant dense<16> : tensor<4x1xi32, #tile>
    %rn = arith.muli %r1, %n : tensor<4x1xi32, #tile>
    %rb = tt.broadcast %rn : tensor<4x1xi32, #tile> -> tensor<4x16xi32, #tile>
    %cb = tt.broadcast %c1 : tensor<1x16xi32, #tile> -> tensor<4x16xi32, #tile>
    %i = arith.addi %rb, %cb : tensor<4x16xi32, #tile>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4x16x!tt.ptr<f32>, #tile>
    %pp = tt.addptr %ps, %i : tensor<4x16x!tt.ptr<f32>, #tile>, tensor<4x16xi32, #tile>
    %x = tt.load %pp : tensor<4x16x!tt.ptr<f32>, #tile>
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %m = arith.maxnumf %a, %b : f32
      tt.reduce.return %m : f32
    }) : (tensor<4x16xf32, #tile>) -> tensor<16xf32, #ttg.slice<{dim = 0, parent = #tile}>>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #tile}>>
    %qq = tt.addptr %qs, %c : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #tile}>>, tensor<16xi32, #ttg.slice<{dim = 0, parent = #tile}>>
    tt.store %qq, %s : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #tile}>>
    tt.return
  }
  tt.func public @exchange(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #low>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #low>
    %pp = tt.addptr %ps, %i : tensor<128x!tt.ptr<f32>, #low>, tensor<128xi32, #low>
    %x = tt.load %pp : tensor<128x!tt.ptr<f32>, #low>
    %y = ttg.convert_layout %x : tensor<128xf32, #low> -> tensor<128xf32, #high>
    %j = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #high>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #high>
    %qq = tt.addptr %qs, %j : tensor<128x!tt.ptr<f32>, #high>, tensor<128xi32, #high>
    tt.store %qq, %y : tensor<128x!tt.ptr<f32>, #high>
    tt.return
  }
}
