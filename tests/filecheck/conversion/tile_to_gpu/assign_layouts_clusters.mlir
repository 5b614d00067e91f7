// RUN: tritonx-opt %s -p 'assign-layouts{target="cuda:90" num_warps=4 num_ctas=2}' | filecheck %s

// Each block of a cluster multiplies half of the rows: it loads those of A, and all of B, which is loaded nowhere else.
// CHECK: #[[ROWS:blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}1, 0]]}>
// CHECK: #[[ALL:blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}0, 0]]}>
// CHECK: #[[MMA:mma]] = #ttg.nvidia_mma<{{{.*}}CGALayout = {{\[\[}}1, 0]]{{.*}}}>
// CHECK-LABEL: @product
// CHECK: tt.load {{.*}}, #[[ROWS]]>
// CHECK: tt.load {{.*}}, #[[ALL]]>
// CHECK-NOT: tt.load
// CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #[[MMA]]>
tt.func public @product(
  %a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>
) {
  %m = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %m1 = tt.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %n0 = tt.expand_dims %m {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k1 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %k0 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %c32 = arith.constant dense<32> : tensor<64x1xi32>
  %c64 = arith.constant dense<64> : tensor<32x1xi32>
  %row = arith.muli %m1, %c32 : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x32xi32>
  %ks = tt.broadcast %k0 : tensor<1x32xi32> -> tensor<64x32xi32>
  %ai = arith.addi %rows, %ks : tensor<64x32xi32>
  %ab = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %ap = tt.addptr %ab, %ai : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %x = tt.load %ap : tensor<64x32x!tt.ptr<f16>>
  %krow = arith.muli %k1, %c64 : tensor<32x1xi32>
  %krows = tt.broadcast %krow : tensor<32x1xi32> -> tensor<32x64xi32>
  %ns = tt.broadcast %n0 : tensor<1x64xi32> -> tensor<32x64xi32>
  %bi = arith.addi %krows, %ns : tensor<32x64xi32>
  %bb = tt.splat %b : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %bp = tt.addptr %bb, %bi : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  %y = tt.load %bp : tensor<32x64x!tt.ptr<f16>>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tt.dot %x, %y, %zero : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
  %c64m = arith.constant dense<64> : tensor<64x1xi32>
  %crow = arith.muli %m1, %c64m : tensor<64x1xi32>
  %crows = tt.broadcast %crow : tensor<64x1xi32> -> tensor<64x64xi32>
  %cns = tt.broadcast %n0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %ci = arith.addi %crows, %cns : tensor<64x64xi32>
  %cb = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %cp = tt.addptr %cb, %ci : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %cp, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
