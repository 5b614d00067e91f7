// RUN: tritonx-opt %s -p 'assign-layouts{target="cuda:90" num_warps=4}' | filecheck %s

// What has no layout by nature, as a constant or numbers of columns, is stored through a descriptor from 16 bytes of a
// row a thread: eight halves, four floats.
// CHECK: #[[HALVES:blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: #[[FLOATS:blocked[0-9]*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @stored
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.descriptor_store %h[%i, %i], %{{.*}} : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16, #[[HALVES]]>
// CHECK: tt.descriptor_store %f[%i, %i], %{{.*}} : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32, #[[FLOATS]]>
// CHECK: tt.descriptor_reduce add, %f[%i, %i], %{{.*}} : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32, #[[FLOATS]]>
tt.func public @stored(%h: !tt.tensordesc<tensor<64x64xf16>>, %f: !tt.tensordesc<tensor<64x64xf32>>, %i: i32) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  tt.descriptor_store %h[%i, %i], %zero : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %rows = tt.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
  %numbers = arith.sitofp %rows : tensor<64x64xi32> to tensor<64x64xf32>
  tt.descriptor_store %f[%i, %i], %numbers : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32>
  tt.descriptor_reduce add, %f[%i, %i], %numbers : !tt.tensordesc<tensor<64x64xf32>>, tensor<64x64xf32>
  tt.return
}

// What is loaded so is stored from where it is.
// CHECK-LABEL: @copied
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.descriptor_store %{{.*}} tensor<64x64xf16, #[[HALVES]]>
tt.func public @copied(%h: !tt.tensordesc<tensor<64x64xf16>>, %i: i32) {
  %v = tt.descriptor_load %h[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
  tt.descriptor_store %h[%i, %i], %v : !tt.tensordesc<tensor<64x64xf16>>, tensor<64x64xf16>
  tt.return
}
