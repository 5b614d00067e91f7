// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Loads and stores with every modifier, and block pointers.

module {
  tt.func @memory(%p: !tt.ptr<f32>, %v: f32, %c: i1, %n: i32, %l: i64, %ps: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %x: tensor<64xf32>) {
    %0 = tt.load %p : !tt.ptr<f32>
    %1 = tt.load %p, %c, %v : !tt.ptr<f32>
    %2 = tt.load %ps : tensor<64x!tt.ptr<f32>>
    %3 = tt.load %ps, %m : tensor<64x!tt.ptr<f32>>
    %4 = tt.load %ps, %m, %x cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : tensor<64x!tt.ptr<f32>>
    %5 = tt.load %ps cacheModifier = cg : tensor<64x!tt.ptr<f32>>
    %6 = tt.load %ps evictionPolicy = evict_first {tt.note = 1 : i32} : tensor<64x!tt.ptr<f32>>
    %7 = tt.load %ps cacheModifier = cv : tensor<64x!tt.ptr<f32>>
    tt.store %p, %v : !tt.ptr<f32>
    tt.store %p, %v, %c : !tt.ptr<f32>
    tt.store %ps, %x, %m cacheModifier = wb : tensor<64x!tt.ptr<f32>>
    tt.store %ps, %x cacheModifier = cs evictionPolicy = evict_first : tensor<64x!tt.ptr<f32>>
    tt.store %ps, %x cacheModifier = wt : tensor<64x!tt.ptr<f32>>
    %b = tt.make_tensor_ptr %p, [%l, %l], [%l, %l], [%n, %n] {order = array<i32: 1, 0>} : <tensor<16x32xf32>>
    %8 = tt.advance %b, [%n, %n] : <tensor<16x32xf32>>
    %9 = tt.load %8 {boundaryCheck = array<i32: 0, 1>, padding = 2 : i32} : !tt.ptr<tensor<16x32xf32>>
    tt.store %b, %9 {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<16x32xf32>>
    tt.return
  }
}

// CHECK: tt.func @memory(%p: !tt.ptr<f32>, %v: f32, %c: i1, %n: i32, %l: i64, %ps: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %x: tensor<64xf32>) {
// CHECK-NEXT: %0 = tt.load %p : !tt.ptr<f32>
// CHECK-NEXT: %1 = tt.load %p, %c, %v : !tt.ptr<f32>
// CHECK-NEXT: %2 = tt.load %ps : tensor<64x!tt.ptr<f32>>
// CHECK-NEXT: %3 = tt.load %ps, %m : tensor<64x!tt.ptr<f32>>
// CHECK-NEXT: %4 = tt.load %ps, %m, %x cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : tensor<64x!tt.ptr<f32>>
// CHECK-NEXT: %5 = tt.load %ps cacheModifier = cg : tensor<64x!tt.ptr<f32>>
// CHECK-NEXT: %6 = tt.load %ps evictionPolicy = evict_first {tt.note = 1 : i32} : tensor<64x!tt.ptr<f32>>
// CHECK-NEXT: %7 = tt.load %ps cacheModifier = cv : tensor<64x!tt.ptr<f32>>
// CHECK-NEXT: tt.store %p, %v : !tt.ptr<f32>
// CHECK-NEXT: tt.store %p, %v, %c : !tt.ptr<f32>
// CHECK-NEXT: tt.store %ps, %x, %m cacheModifier = wb : tensor<64x!tt.ptr<f32>>
// CHECK-NEXT: tt.store %ps, %x cacheModifier = cs evictionPolicy = evict_first : tensor<64x!tt.ptr<f32>>
// CHECK-NEXT: tt.store %ps, %x cacheModifier = wt : tensor<64x!tt.ptr<f32>>
// CHECK-NEXT: %b = tt.make_tensor_ptr %p, [%l, %l], [%l, %l], [%n, %n] {order = array<i32: 1, 0>} : <tensor<16x32xf32>>
// CHECK-NEXT: %8 = tt.advance %b, [%n, %n] : <tensor<16x32xf32>>
// CHECK-NEXT: %9 = tt.load %8 {boundaryCheck = array<i32: 0, 1>, padding = 2 : i32} : !tt.ptr<tensor<16x32xf32>>
// CHECK-NEXT: tt.store %b, %9 {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<16x32xf32>>
// CHECK-NEXT: tt.return
