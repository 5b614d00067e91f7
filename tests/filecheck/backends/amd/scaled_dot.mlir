// RUN: tritonx-opt %s --target hip:gfx950 --option num_warps=1 --until ttgir | filecheck %s --check-prefix=LAYOUT
// RUN: tritonx-opt %s --target hip:gfx950 --option num_warps=1 --until llir | filecheck %s --check-prefix=CODE
// RUN: tritonx-opt %s --target hip:gfx942 --option num_warps=1 --until llir | filecheck %s --check-prefix=OLD

// Products with scales are multiplied as they are: operands in 16 bytes of neighbours along K, a scale in lane l for row
// l % 32 and the block l / 32 of 32 elements of K, those of the second step in a register.
// LAYOUT-DAG: #[[SCALES:.*]] = #ttg.linear<{register = {{\[\[}}0, 2]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1]], warp = [], block = []}>
// LAYOUT-DAG: #[[MMA:.*]] = #ttg.amd_mfma<{version = 4, warpsPerCTA = [1, 1], instrShape = [32, 32, 64], isTransposed = true}>
// LAYOUT-LABEL: @scaled
// LAYOUT: tt.dot_scaled {{.*}} : tensor<32x128xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #[[MMA]], kWidth = 16}>>, tensor<32x4xi8, #[[SCALES]]> * tensor<64x32xi8, #ttg.dot_op<{opIdx = 1, parent = #[[MMA]], kWidth = 16}>>, tensor<32x4xi8, #[[SCALES]]> -> tensor<32x32xf32, #[[MMA]]>

// B comes first, since the result is transposed: pairs of 4 bits (4) in 16 bytes, then e4m3 (0) in 32.
// CODE-LABEL: define {{.*}}@scaled
// CODE: call <16 x float> @llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4.v4i32.v8i32(<4 x i32> {{.*}}, <8 x i32> {{.*}}, <16 x float> {{.*}}, i32 4, i32 0, i32 0, i32 %[[U:.*]], i32 0, i32 %[[T:.*]])
// CODE: call <16 x float> @llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4.v4i32.v8i32({{.*}}, i32 4, i32 0, i32 0, i32 %{{.*}}, i32 0, i32 %{{.*}})
// CODE-NOT: mfma.scale
// CODE: ret void

// OLD-LABEL: define {{.*}}@scaled
// OLD-NOT: mfma.scale
// OLD: @llvm.amdgcn.mfma.f32.32x32x8bf16.1k
tt.func public @scaled(%x: !tt.ptr<f8E4M3FN>, %y: !tt.ptr<i8>, %s: !tt.ptr<i8>, %out: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %xs = tt.splat %x : !tt.ptr<f8E4M3FN> -> tensor<32x128x!tt.ptr<f8E4M3FN>>
  %ys = tt.splat %y : !tt.ptr<i8> -> tensor<64x32x!tt.ptr<i8>>
  %ss = tt.splat %s : !tt.ptr<i8> -> tensor<32x4x!tt.ptr<i8>>
  %a = tt.load %xs : tensor<32x128x!tt.ptr<f8E4M3FN>>
  %b = tt.load %ys : tensor<64x32x!tt.ptr<i8>>
  %t = tt.load %ss : tensor<32x4x!tt.ptr<i8>>
  %u = tt.load %ss {isVolatile = true} : tensor<32x4x!tt.ptr<i8>>
  %c = tt.dot_scaled %a scale %t, %b scale %u, %zero lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<32x128xf8E4M3FN>, tensor<32x4xi8> * tensor<64x32xi8>, tensor<32x4xi8> -> tensor<32x32xf32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  tt.store %os, %c : tensor<32x32x!tt.ptr<f32>>
  tt.return
}

// An absent scale is 1, whose code is 127; where both are, the instruction is the one without scales.
// CODE-LABEL: define {{.*}}@absent
// CODE: mfma.scale.f32.16x16x128.f8f6f4.v8i32.v8i32({{.*}}, i32 1, i32 0, i32 0, i32 127, i32 0, i32 %{{.*}})
// CODE: mfma.scale.f32.16x16x128.f8f6f4.v8i32.v8i32({{.*}}, i32 1, i32 0, i32 0, i32 0, i32 0, i32 0)
tt.func public @absent(%x: !tt.ptr<f8E4M3FN>, %y: !tt.ptr<f8E5M2>, %s: !tt.ptr<i8>, %out: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %xs = tt.splat %x : !tt.ptr<f8E4M3FN> -> tensor<16x128x!tt.ptr<f8E4M3FN>>
  %ys = tt.splat %y : !tt.ptr<f8E5M2> -> tensor<128x16x!tt.ptr<f8E5M2>>
  %ss = tt.splat %s : !tt.ptr<i8> -> tensor<16x4x!tt.ptr<i8>>
  %a = tt.load %xs : tensor<16x128x!tt.ptr<f8E4M3FN>>
  %b = tt.load %ys : tensor<128x16x!tt.ptr<f8E5M2>>
  %t = tt.load %ss : tensor<16x4x!tt.ptr<i8>>
  %c = tt.dot_scaled %a scale %t, %b, %zero lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<16x128xf8E4M3FN>, tensor<16x4xi8> * tensor<128x16xf8E5M2> -> tensor<16x16xf32>
  %d = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<16x128xf8E4M3FN> * tensor<128x16xf8E5M2> -> tensor<16x16xf32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  tt.store %os, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
