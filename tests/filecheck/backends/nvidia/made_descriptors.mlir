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
}
