// RUN: tritonx-opt %s --target hip:gfx942 --until amdgcn | filecheck %s --check-prefixes CHECK,CDNA
// RUN: tritonx-opt %s --target hip:gfx1100 --until amdgcn | filecheck %s --check-prefixes CHECK,RDNA

// Inside a row of 16 lanes the data moves by DPP, across rows by CDNA's row broadcasts, whose last lane has it all, and by
// permlanex16 on RDNA; the warps exchange their sums through the LDS with one barrier.
// CHECK-LABEL: {{^}}sum:
// CHECK-NOT: scratch_
// CHECK-COUNT-4: v_add_f32_dpp
// CDNA: v_add_f32_dpp {{.*}} row_bcast:15
// CDNA: v_add_f32_dpp {{.*}} row_bcast:31
// CDNA: v_readlane_b32 {{.*}}, 63
// RDNA: v_permlanex16_b32
// CHECK: {{ds_(write|store)}}
// CHECK: s_barrier
// CHECK-NOT: s_barrier
// CHECK: {{ds_(read|load)}}
// CHECK: .vgpr_spill_count: 0
tt.func public @sum(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>) {
  %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %xp : tensor<1024x!tt.ptr<f32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<1024xf32>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}
