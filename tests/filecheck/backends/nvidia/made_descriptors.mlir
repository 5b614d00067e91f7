// RUN: tritonx-opt %s -p "encode-descriptors,copy-blocks,cse,dce" | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Extents and strides from the innermost dimension out, strides in bytes; boxes as wide as the swizzle. PTX numbers
  // bf16 10 where the driver has 9.
  // CHECK-LABEL: @made
  // CHECK-DAG: %[[MAP:.*]] = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
  // CHECK-DAG: %[[BOX:.*]] = arith.constant 64 : i32
  // CHECK-DAG: %[[ROWS:.*]] = arith.constant 16 : i32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[STEP:.*]] = arith.muli %s, %{{.*}} : i64
  // CHECK: ttng.tensormap_create %[[MAP]], %p, [%[[BOX]], %[[ROWS]]], [%w, %h], [%[[STEP]]], [%[[ONE]], %[[ONE]]] {elem_type = 10 : i32, fill_mode = 1 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32}
  // CHECK-NEXT: ttng.tensormap_fenceproxy_acquire %[[MAP]]
  // CHECK-NEXT: %[[D:.*]] = ttng.reinterpret_tensor_descriptor %[[MAP]] : !tt.ptr<i8> to !tt.tensordesc<tensor<16x128xbf16, #{{.*}}>>
  // CHECK: ttng.async_tma_copy_global_to_local %[[D]][%i, %i]
  tt.func public @made(%p: !tt.ptr<bf16>, %h: i32, %w: i32, %s: i64, %i: i32) -> tensor<16x128xbf16, #rows> {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%h, %w], [%s, %one] {padding = 2 : i32} : <bf16>, <tensor<16x128xbf16>>
    %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<16x128xbf16>> -> tensor<16x128xbf16, #rows>
    tt.return %v : tensor<16x128xbf16, #rows>
  }

  // One dimension has no stride, and f64 is 9.
  // CHECK-LABEL: @line
  // CHECK: ttng.tensormap_create %{{.*}}, %p, [%{{.*}}], [%n], [], [%{{.*}}] {elem_type = 9 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 0 : i32}
  tt.func public @line(%p: !tt.ptr<f64>, %n: i32, %i: i32) -> tensor<64xf64, #line> {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n], [%one] : <f64>, <tensor<64xf64>>
    %v = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<64xf64>> -> tensor<64xf64, #line>
    tt.return %v : tensor<64xf64, #line>
  }

  // Those that are made one behind the other, a warp makes each, and they are acquired when all are on their way; what has
  // an effect stands between the others. In a loop all wait for the copies of the round before, once.
  // CHECK-LABEL: @together
  // CHECK: ttng.tensormap_create %[[A:.*]], %p, {{.*}}swizzle_mode = 0 : i32} :
  // CHECK: ttng.tensormap_create %[[B:.*]], %q, {{.*}}warp = 1 : i32} :
  // CHECK-NEXT: ttng.tensormap_fenceproxy_acquire %[[A]] :
  // CHECK-NEXT: ttng.tensormap_fenceproxy_acquire %[[B]] {warp = 1 : i32} :
  // CHECK: ttng.tensormap_create %[[C:.*]], %q, {{.*}}swizzle_mode = 0 : i32} :
  // CHECK-NEXT: ttng.tensormap_fenceproxy_acquire %[[C]] :
  // CHECK: scf.for
  // CHECK: ttg.local_barrier
  // CHECK: ttng.tensormap_create
  // CHECK-NOT: ttg.local_barrier
  // CHECK: ttng.tensormap_create
  tt.func public @together(%p: !tt.ptr<f64>, %q: !tt.ptr<f64>, %n: i32, %i: i32) {
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = tt.make_tensor_descriptor %p, [%n], [%one] : <f64>, <tensor<64xf64>>
    %m = arith.addi %n, %n : i32
    %b = tt.make_tensor_descriptor %q, [%m], [%one] : <f64>, <tensor<64xf64>>
    %v = tt.descriptor_load %a[%i] : !tt.tensordesc<tensor<64xf64>> -> tensor<64xf64, #line>
    tt.descriptor_store %b[%i], %v : !tt.tensordesc<tensor<64xf64>>, tensor<64xf64, #line>
    %c = tt.make_tensor_descriptor %q, [%n], [%one] : <f64>, <tensor<64xf64>>
    tt.descriptor_store %c[%i], %v : !tt.tensordesc<tensor<64xf64>>, tensor<64xf64, #line>
    scf.for %k = %c0 to %n step %c1 : i32 {
      %d = tt.make_tensor_descriptor %p, [%k], [%one] : <f64>, <tensor<64xf64>>
      %e = tt.make_tensor_descriptor %q, [%k], [%one] : <f64>, <tensor<64xf64>>
      %w = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<64xf64>> -> tensor<64xf64, #line>
      tt.descriptor_store %e[%i], %w : !tt.tensordesc<tensor<64xf64>>, tensor<64xf64, #line>
    }
    tt.return
  }
}
