// RUN: tritonx-opt %s --target hip:gfx942 --option num_warps=1 --until amdgcn | filecheck %s --check-prefix CDNA
// RUN: tritonx-opt %s --target hip:gfx1100 --option num_warps=1 --until amdgcn | filecheck %s --check-prefix RDNA

// A lane's two f16 travel between lanes as one word. A step of 4 lanes is one permutation in waves of 64 lanes, which
// have no XOR with 4, because lanes that differ below it hold the same already: the mirror of half a row will do. The
// other row of 16 is read in one by waves of 32; in waves of 64 the last lane collects what the rows have.
//
// CDNA-LABEL: {{^}}halves:
// CDNA-COUNT-2: quad_perm
// CDNA: row_half_mirror
// CDNA: row_ror:8
// CDNA: row_bcast:15
// CDNA: row_bcast:31
// CDNA-NOT: _dpp
// CDNA: v_readlane_b32 {{.*}}, 63
// CDNA-NOT: ds_bpermute_b32
// CDNA: s_endpgm

// RDNA-LABEL: {{^}}halves:
// RDNA-COUNT-2: quad_perm
// RDNA: row_half_mirror
// RDNA: row_ror:8
// RDNA-NOT: _dpp
// RDNA: v_permlanex16_b32
// RDNA-NOT: v_permlane
// RDNA-NOT: ds_bpermute_b32
// RDNA: s_endpgm
tt.func public @halves(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %cols = tt.make_range {start = 0 : i32, end = 2 : i32} : tensor<2xi32>
  %r = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c = tt.expand_dims %cols {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %two = arith.constant dense<2> : tensor<64x1xi32>
  %at = arith.muli %r, %two : tensor<64x1xi32>
  %rb = tt.broadcast %at : tensor<64x1xi32> -> tensor<64x2xi32>
  %cb = tt.broadcast %c : tensor<1x2xi32> -> tensor<64x2xi32>
  %i = arith.addi %rb, %cb : tensor<64x2xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x2x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %i : tensor<64x2x!tt.ptr<f16>>, tensor<64x2xi32>
  %v = tt.load %xp : tensor<64x2x!tt.ptr<f16>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f16, %b: f16):
    %m = arith.maxnumf %a, %b : f16
    tt.reduce.return %m : f16
  }) : (tensor<64x2xf16>) -> tensor<2xf16>
  %os = tt.splat %out : !tt.ptr<f16> -> tensor<2x!tt.ptr<f16>>
  %op = tt.addptr %os, %cols : tensor<2x!tt.ptr<f16>>, tensor<2xi32>
  tt.store %op, %s : tensor<2x!tt.ptr<f16>>
  tt.return
}
