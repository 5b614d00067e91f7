// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Tensor descriptors.

module {
  tt.func @descriptor(%p: !tt.ptr<f16>, %ip: !tt.ptr<i32>, %n: i32, %l: i64, %rows: tensor<32xi32>, %d: !tt.tensordesc<tensor<16x64xf16>>) {
    %c1 = arith.constant 1 : i64
    %0 = tt.make_tensor_descriptor %p, [%n, %n], [%l, %c1] : <f16>, <tensor<16x64xf16>>
    %1 = tt.make_tensor_descriptor %p, [%n, %n], [%l, %c1] {padding = 2 : i32} : <f16>, <tensor<1x64xf16>>
    %2 = tt.make_tensor_descriptor %ip, [%n], [%c1] : <i32>, <tensor<64xsi32>>
    %3 = tt.descriptor_load %0[%n, %n] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
    %4 = tt.descriptor_load %1[%n, %n] cacheModifier = ca evictionPolicy = evict_first : !tt.tensordesc<tensor<1x64xf16>> -> tensor<64xf16>
    %5 = tt.descriptor_load %2[%n] : !tt.tensordesc<tensor<64xsi32>> -> tensor<64xi32>
    tt.descriptor_store %d[%n, %n], %3 : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
    tt.descriptor_reduce add, %d[%n, %n], %3 : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
    tt.descriptor_reduce min, %2[%n], %5 : !tt.tensordesc<tensor<64xsi32>>, tensor<64xi32>
    tt.descriptor_reduce max, %2[%n], %5 : !tt.tensordesc<tensor<64xsi32>>, tensor<64xi32>
    tt.descriptor_reduce xor, %2[%n], %5 : !tt.tensordesc<tensor<64xsi32>>, tensor<64xi32>
    %6 = tt.descriptor_gather %1[%rows, %n] : (!tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32) -> tensor<32x64xf16>
    tt.descriptor_scatter %1[%rows, %n], %6 : !tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32, tensor<32x64xf16>
    tt.return
  }
}

// CHECK: tt.func @descriptor(%p: !tt.ptr<f16>, %ip: !tt.ptr<i32>, %n: i32, %l: i64, %rows: tensor<32xi32>, %d: !tt.tensordesc<tensor<16x64xf16>>) {
// CHECK-NEXT: %c1 = arith.constant 1 : i64
// CHECK-NEXT: %0 = tt.make_tensor_descriptor %p, [%n, %n], [%l, %c1] : <f16>, <tensor<16x64xf16>>
// CHECK-NEXT: %1 = tt.make_tensor_descriptor %p, [%n, %n], [%l, %c1] {padding = 2 : i32} : <f16>, <tensor<1x64xf16>>
// CHECK-NEXT: %2 = tt.make_tensor_descriptor %ip, [%n], [%c1] : <i32>, <tensor<64xsi32>>
// CHECK-NEXT: %3 = tt.descriptor_load %0[%n, %n] : !tt.tensordesc<tensor<16x64xf16>> -> tensor<16x64xf16>
// CHECK-NEXT: %4 = tt.descriptor_load %1[%n, %n] cacheModifier = ca evictionPolicy = evict_first : !tt.tensordesc<tensor<1x64xf16>> -> tensor<64xf16>
// CHECK-NEXT: %5 = tt.descriptor_load %2[%n] : !tt.tensordesc<tensor<64xsi32>> -> tensor<64xi32>
// CHECK-NEXT: tt.descriptor_store %d[%n, %n], %3 : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
// CHECK-NEXT: tt.descriptor_reduce add, %d[%n, %n], %3 : !tt.tensordesc<tensor<16x64xf16>>, tensor<16x64xf16>
// CHECK-NEXT: tt.descriptor_reduce min, %2[%n], %5 : !tt.tensordesc<tensor<64xsi32>>, tensor<64xi32>
// CHECK-NEXT: tt.descriptor_reduce max, %2[%n], %5 : !tt.tensordesc<tensor<64xsi32>>, tensor<64xi32>
// CHECK-NEXT: tt.descriptor_reduce xor, %2[%n], %5 : !tt.tensordesc<tensor<64xsi32>>, tensor<64xi32>
// CHECK-NEXT: %6 = tt.descriptor_gather %1[%rows, %n] : (!tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32) -> tensor<32x64xf16>
// CHECK-NEXT: tt.descriptor_scatter %1[%rows, %n], %6 : !tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32, tensor<32x64xf16>
// CHECK-NEXT: tt.return
