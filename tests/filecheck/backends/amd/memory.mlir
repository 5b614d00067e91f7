// RUN: tritonx-opt %s --split-input-file --target hip:gfx942 --until amdgcn | filecheck %s --check-prefixes CHECK,CDNA
// RUN: tritonx-opt %s --split-input-file --target hip:gfx1100 --until amdgcn | filecheck %s --check-prefixes CHECK,RDNA

// Aligned rows move in 16 bytes a thread; a mask that is constant over 16 elements guards whole vectors.
// CHECK-LABEL: {{^}}aligned:
// CHECK-NOT: scratch_
// CDNA: global_load_dwordx4
// CDNA: global_store_dwordx4
// RDNA-COUNT-2: global_load_b128
// RDNA-COUNT-2: global_store_b128
// CHECK: .vgpr_spill_count: 0
tt.func public @aligned(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %block = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %block : i32
  %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %base = tt.splat %start : i32 -> tensor<1024xi32>
  %i = arith.addi %base, %range : tensor<1024xi32>
  %limit = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %i, %limit : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %xp, %mask : tensor<1024x!tt.ptr<f32>>
  %w = arith.addf %v, %v : tensor<1024xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %yp, %w, %mask : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// Nothing is known about the pointers: one element at a time.
// CHECK-LABEL: {{^}}unaligned:
// CHECK-NOT: scratch_
// CDNA-COUNT-4: global_load_dword v
// CDNA-COUNT-4: global_store_dword v
// RDNA-COUNT-8: global_load_b32
// RDNA-COUNT-8: global_store_b32
// CHECK: .vgpr_spill_count: 0
tt.func public @unaligned(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %block = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %block : i32
  %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %base = tt.splat %start : i32 -> tensor<1024xi32>
  %i = arith.addi %base, %range : tensor<1024xi32>
  %limit = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %i, %limit : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %xp, %mask : tensor<1024x!tt.ptr<f32>>
  %w = arith.addf %v, %v : tensor<1024xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %yp, %w, %mask : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// Where the mask is false zeros are loaded, without a branch: what waits for a load stands behind it, not in a block of
// its own. What else is wanted there is chosen where the value is used.
// CHECK-LABEL: {{^}}masked:
// CHECK-NOT: execz
// CDNA: v_cndmask
// CDNA: global_load_dword v
// CDNA: global_load_dword v
// RDNA: v_cndmask
// RDNA: global_load_b32
// RDNA: global_load_b32
// CHECK-NOT: execz
// CHECK: v_cndmask
// CHECK: s_endpgm
tt.func public @masked(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %limit = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %i, %limit : tensor<64xi32>
  %seven = arith.constant dense<7.0> : tensor<64xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %xp, %mask : tensor<64x!tt.ptr<f32>>
  %u = tt.load %yp, %mask, %seven : tensor<64x!tt.ptr<f32>>
  %w = arith.addf %v, %u : tensor<64xf32>
  tt.store %yp, %w : tensor<64x!tt.ptr<f32>>
  tt.return
}
