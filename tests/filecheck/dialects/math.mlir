// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Mathematical functions.

module {
  tt.func @math(%x: tensor<64xf32>, %f: f32, %i: tensor<64xi32>) {
    %absf = math.absf %x : tensor<64xf32>
    %ceil = math.ceil %x : tensor<64xf32>
    %cos = math.cos %x : tensor<64xf32>
    %erf = math.erf %x : tensor<64xf32>
    %exp = math.exp %x : tensor<64xf32>
    %exp2 = math.exp2 %x : tensor<64xf32>
    %floor = math.floor %x : tensor<64xf32>
    %log = math.log %x : tensor<64xf32>
    %log2 = math.log2 %x : tensor<64xf32>
    %log10 = math.log10 %x : tensor<64xf32>
    %log1p = math.log1p %x : tensor<64xf32>
    %expm1 = math.expm1 %x : tensor<64xf32>
    %rsqrt = math.rsqrt %x : tensor<64xf32>
    %sin = math.sin %x : tensor<64xf32>
    %sqrt = math.sqrt %x : tensor<64xf32>
    %tan = math.tan %x : tensor<64xf32>
    %tanh = math.tanh %x : tensor<64xf32>
    %round = math.round %x : tensor<64xf32>
    %roundeven = math.roundeven %x : tensor<64xf32>
    %trunc = math.trunc %x : tensor<64xf32>
    %0 = math.absi %i : tensor<64xi32>
    %1 = math.fma %x, %x, %x : tensor<64xf32>
    %2 = math.exp %f fastmath<afn> : f32
    tt.return
  }
}

// CHECK: tt.func @math(%x: tensor<64xf32>, %f: f32, %i: tensor<64xi32>) {
// CHECK-NEXT: %absf = math.absf %x : tensor<64xf32>
// CHECK-NEXT: %ceil = math.ceil %x : tensor<64xf32>
// CHECK-NEXT: %cos = math.cos %x : tensor<64xf32>
// CHECK-NEXT: %erf = math.erf %x : tensor<64xf32>
// CHECK-NEXT: %exp = math.exp %x : tensor<64xf32>
// CHECK-NEXT: %exp2 = math.exp2 %x : tensor<64xf32>
// CHECK-NEXT: %floor = math.floor %x : tensor<64xf32>
// CHECK-NEXT: %log = math.log %x : tensor<64xf32>
// CHECK-NEXT: %log2 = math.log2 %x : tensor<64xf32>
// CHECK-NEXT: %log10 = math.log10 %x : tensor<64xf32>
// CHECK-NEXT: %log1p = math.log1p %x : tensor<64xf32>
// CHECK-NEXT: %expm1 = math.expm1 %x : tensor<64xf32>
// CHECK-NEXT: %rsqrt = math.rsqrt %x : tensor<64xf32>
// CHECK-NEXT: %sin = math.sin %x : tensor<64xf32>
// CHECK-NEXT: %sqrt = math.sqrt %x : tensor<64xf32>
// CHECK-NEXT: %tan = math.tan %x : tensor<64xf32>
// CHECK-NEXT: %tanh = math.tanh %x : tensor<64xf32>
// CHECK-NEXT: %round = math.round %x : tensor<64xf32>
// CHECK-NEXT: %roundeven = math.roundeven %x : tensor<64xf32>
// CHECK-NEXT: %trunc = math.trunc %x : tensor<64xf32>
// CHECK-NEXT: %0 = math.absi %i : tensor<64xi32>
// CHECK-NEXT: %1 = math.fma %x, %x, %x : tensor<64xf32>
// CHECK-NEXT: %2 = math.exp %f fastmath<afn> : f32
// CHECK-NEXT: tt.return
