// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-level 3.9 | tritonx-opt | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @packed(%f: tensor<512xf32, #blocked>, %h: tensor<512xf16, #blocked>, %e: tensor<512xf8E4M3FN, #blocked>) {
    %0 = ttng.packed_arith add %f, %f : (tensor<512xf32, #blocked>, tensor<512xf32, #blocked>) -> tensor<512xf32, #blocked>
    %1 = ttng.packed_arith fma %f, %0, %f : (tensor<512xf32, #blocked>, tensor<512xf32, #blocked>, tensor<512xf32, #blocked>) -> tensor<512xf32, #blocked>
    %2 = ttng.packed_arith max %h, %h : (tensor<512xf16, #blocked>, tensor<512xf16, #blocked>) -> tensor<512xf16, #blocked>
    %3 = ttng.packed_arith sub %h, %f : (tensor<512xf16, #blocked>, tensor<512xf32, #blocked>) -> tensor<512xf32, #blocked>
    %4 = ttng.packed_arith mul %f, %f : (tensor<512xf32, #blocked>, tensor<512xf32, #blocked>) -> tensor<512xf16, #blocked>
    %5 = ttng.packed_arith mul %e, %e : (tensor<512xf8E4M3FN, #blocked>, tensor<512xf8E4M3FN, #blocked>) -> tensor<512xf8E5M2, #blocked>
    tt.return
  }
}

// CHECK: %0 = ttng.packed_arith add %f, %f : (tensor<512xf32, #{{.*}}>, tensor<512xf32, #{{.*}}>) -> tensor<512xf32, #{{.*}}>
// CHECK-NEXT: %1 = ttng.packed_arith fma %f, %0, %f :
// CHECK-NEXT: %2 = ttng.packed_arith max %h, %h :
// CHECK-NEXT: %3 = ttng.packed_arith sub %h, %f :
// CHECK-NEXT: %4 = ttng.packed_arith mul %f, %f :
// CHECK-NEXT: %5 = ttng.packed_arith mul %e, %e : (tensor<512xf8E4M3FN, #{{.*}}>, tensor<512xf8E4M3FN, #{{.*}}>) -> tensor<512xf8E5M2, #{{.*}}>
