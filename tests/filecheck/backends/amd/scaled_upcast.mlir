// RUN: tritonx-opt %s --target hip:gfx942 -t llir | filecheck %s

// Microscaled numbers times their scales, in f32, rounded once: fp8 as it is, fp4 in pairs.

#wide = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 64], warpsPerCTA = [1, 1], order = [1, 0]}>
#packed = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [1, 1], order = [1, 0]}>

// CHECK-LABEL: define amdgpu_kernel void @upcast(
// CHECK: fmul <2 x float>
// CHECK: fptrunc <2 x float> {{%.+}} to <2 x bfloat>
// CHECK: fmul <2 x float>
// CHECK: fptrunc <2 x float> {{%.+}} to <2 x bfloat>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @upcast(%x: !tt.ptr<f8E4M3FN>, %y: !tt.ptr<i8>, %s: !tt.ptr<bf16>, %o: !tt.ptr<bf16>) {
    %xs = tt.splat %x : !tt.ptr<f8E4M3FN> -> tensor<1x128x!tt.ptr<f8E4M3FN>, #wide>
    %ys = tt.splat %y : !tt.ptr<i8> -> tensor<1x64x!tt.ptr<i8>, #packed>
    %ss = tt.splat %s : !tt.ptr<bf16> -> tensor<1x128x!tt.ptr<bf16>, #wide>
    %os = tt.splat %o : !tt.ptr<bf16> -> tensor<1x128x!tt.ptr<bf16>, #wide>
    %a = tt.load %xs : tensor<1x128x!tt.ptr<f8E4M3FN>, #wide>
    %b = tt.load %ys : tensor<1x64x!tt.ptr<i8>, #packed>
    %t = tt.load %ss : tensor<1x128x!tt.ptr<bf16>, #wide>
    %0 = amdg.scaled_upcast_fp8 %a scale %t : tensor<1x128xf8E4M3FN, #wide>, tensor<1x128xbf16, #wide> -> tensor<1x128xbf16, #wide>
    tt.store %os, %0 : tensor<1x128x!tt.ptr<bf16>, #wide>
    %1 = amdg.scaled_upcast_fp4 %b scale %t {axis = 1 : i32} : tensor<1x64xi8, #packed>, tensor<1x128xbf16, #wide> -> tensor<1x128xbf16, #wide>
    tt.store %os, %1 : tensor<1x128x!tt.ptr<bf16>, #wide>
    tt.return
  }
}
