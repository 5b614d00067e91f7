// RUN: tritonx-opt %s --target hip:gfx942 --until ttgir | filecheck %s --check-prefix TTGIR
// RUN: tritonx-opt %s -p use-buffer-accesses | filecheck %s --check-prefix ALONE
// RUN: tritonx-opt %s --target hip:gfx942 --until amdgcn | filecheck %s --check-prefix CDNA
// RUN: tritonx-opt %s --target hip:gfx90a --until amdgcn | filecheck %s --check-prefix CDNA
// RUN: tritonx-opt %s --target hip:gfx950 --until amdgcn | filecheck %s --check-prefix CDNA
// RUN: tritonx-opt %s --target hip:gfx1100 --until amdgcn | filecheck %s --check-prefix RDNA
// RUN: tritonx-opt %s --target hip:gfx1201 --until amdgcn | filecheck %s --check-prefix RDNA

// Accesses at 32-bit offsets from an argument of less than 2 GiB go through a buffer descriptor, with no branch
// for the mask; others through pointers.

// TTGIR: tt.func public @copy
// TTGIR: amdg.buffer_load %p[%{{.*}}], %{{.*}} : tensor<512xf32
// TTGIR: tt.load %{{.*}} : tensor<512x!tt.ptr<f32>
// TTGIR: amdg.buffer_store %{{.*}}, %r[%{{.*}}], %{{.*}} : tensor<512xf32

// The pass by its name, on the kernel as it is written.
// ALONE: tt.func public @copy
// ALONE: amdg.buffer_load %p[%{{.*}}], %{{.*}} : tensor<512xf32>
// ALONE: tt.load %{{.*}} : tensor<512x!tt.ptr<f32>>
// ALONE: amdg.buffer_store %{{.*}}, %r[%{{.*}}], %{{.*}} : tensor<512xf32>

// CDNA-LABEL: copy:
// CDNA-NOT: s_cbranch
// CDNA-DAG: s_mov_b32 s{{[0-9]+}}, 0x27000
// CDNA-DAG: v_cndmask_b32
// CDNA-DAG: buffer_load_dwordx2 {{.*}} offen
// CDNA-DAG: global_load_dwordx2
// CDNA: buffer_store_dwordx2 {{.*}} offen
// CDNA: s_endpgm
// CDNA: .amdhsa_private_segment_fixed_size 0

// RDNA-LABEL: copy:
// RDNA-NOT: s_cbranch
// RDNA-DAG: s_mov_b32 s{{[0-9]+}}, 0x31027000
// RDNA-DAG: v_cndmask_b32
// RDNA-DAG: buffer_load_b128 {{.*}} offen
// RDNA-DAG: global_load_b128
// RDNA: buffer_store_b128 {{.*}} offen
// RDNA: s_endpgm
tt.func public @copy(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %r: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %c512 = arith.constant 512 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c512 : i32
  %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %first = tt.splat %start : i32 -> tensor<512xi32>
  %offsets = arith.addi %first, %range : tensor<512xi32>
  %limit = tt.splat %n : i32 -> tensor<512xi32>
  %mask = arith.cmpi slt, %offsets, %limit : tensor<512xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %pa = tt.addptr %ps, %offsets : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %x = tt.load %pa, %mask : tensor<512x!tt.ptr<f32>>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %qa = tt.addptr %qs, %offsets : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %y = tt.load %qa : tensor<512x!tt.ptr<f32>>
  %z = arith.addf %x, %y : tensor<512xf32>
  %rs = tt.splat %r : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %ra = tt.addptr %rs, %offsets : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  tt.store %ra, %z, %mask : tensor<512x!tt.ptr<f32>>
  tt.return
}
