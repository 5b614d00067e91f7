// RUN: tritonx-opt %s --target cuda:90 --option warp_group_dots=true --until ttgir | filecheck %s

// A is stored before the loop and fenced there, B inside: each store has a fence and a barrier before the product.
// CHECK-LABEL: @product
// CHECK: ttg.local_alloc %a
// CHECK: ttng.fence_async_shared {bCluster = false}
// CHECK: scf.for
// CHECK: ttg.local_alloc %b
// CHECK: ttng.fence_async_shared {bCluster = false}
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: ttng.warp_group_dot
// CHECK: scf.yield
tt.func public @product(%x: tensor<64x64x!tt.ptr<f16>>, %y: tensor<64x128x!tt.ptr<f16>>, %n: i32, %o: tensor<64x128x!tt.ptr<f32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
  %a = tt.load %x : tensor<64x64x!tt.ptr<f16>>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x128xf32>) : i32 {
    %b = tt.load %y {isVolatile = true} : tensor<64x128x!tt.ptr<f16>>
    %d = tt.dot %a, %b, %c : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tt.store %o, %acc : tensor<64x128x!tt.ptr<f32>>
  tt.return
}

// Products that warps make from registers have none.
// CHECK-LABEL: @small
// CHECK-NOT: ttng.fence_async_shared
// CHECK: tt.return
tt.func public @small(%x: tensor<16x64x!tt.ptr<f16>>, %y: tensor<64x16x!tt.ptr<f16>>, %o: tensor<16x16x!tt.ptr<f32>>) {
  %zero = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
  %a = tt.load %x : tensor<16x64x!tt.ptr<f16>>
  %b = tt.load %y : tensor<64x16x!tt.ptr<f16>>
  %d = tt.dot %a, %b, %zero : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>
  tt.store %o, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// A product that reads memory under another name, transposed, reads what was stored.
// CHECK-LABEL: @transposed
// CHECK: scf.for
// CHECK: ttg.local_alloc %b
// CHECK: ttg.memdesc_trans
// CHECK: ttng.fence_async_shared {bCluster = false}
// CHECK-NEXT: ttg.local_barrier
// CHECK-NEXT: ttng.warp_group_dot
// CHECK: scf.yield
tt.func public @transposed(%x: tensor<64x64x!tt.ptr<f16>>, %y: tensor<128x64x!tt.ptr<f16>>, %n: i32, %o: tensor<64x128x!tt.ptr<f32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
  %a = tt.load %x : tensor<64x64x!tt.ptr<f16>>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x128xf32>) : i32 {
    %b = tt.load %y {isVolatile = true} : tensor<128x64x!tt.ptr<f16>>
    %t = tt.trans %b {order = array<i32: 1, 0>} : tensor<128x64xf16> -> tensor<64x128xf16>
    %d = tt.dot %a, %t, %c : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tt.store %o, %acc : tensor<64x128x!tt.ptr<f32>>
  tt.return
}
