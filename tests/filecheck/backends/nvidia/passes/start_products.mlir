// RUN: tritonx-opt %s -p "start-products" | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The sum is zero again behind rounds in which the condition holds: the next product does not read it.
  // CHECK-LABEL: @begins_anew
  // CHECK: %[[NEVER:.*]] = arith.constant false
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %zero, %[[MORE:.*]] = %[[NEVER]]) -> (tensor<64x16xf32, #mma>, i1)
  // CHECK: %[[D:.*]] = ttng.warp_group_dot %a, %b, %[[ACC]], %[[MORE]]
  // CHECK-NOT: arith.select
  // CHECK: %[[GOES_ON:.*]] = arith.xori %last
  // CHECK: scf.yield %[[D]], %[[GOES_ON]]
  tt.func @begins_anew(%a: !ttg.memdesc<64x16xf16, #shared, #smem>, %b: !ttg.memdesc<16x16xf16, #shared, #smem>, %n: i32, %last: i1) {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x16xf16, #shared, #smem> * !ttg.memdesc<16x16xf16, #shared, #smem> -> tensor<64x16xf32, #mma>
      %next = arith.select %last, %zero, %d : tensor<64x16xf32, #mma>
      scf.yield %next : tensor<64x16xf32, #mma>
    }
    tt.return
  }

  // What is read behind the loop is what the select says.
  // CHECK-LABEL: @read_behind
  // CHECK: ttng.warp_group_dot %a, %b, %{{[a-z0-9_]*}} {
  // CHECK: arith.select
  tt.func @read_behind(%a: !ttg.memdesc<64x16xf16, #shared, #smem>, %b: !ttg.memdesc<16x16xf16, #shared, #smem>, %n: i32, %last: i1) -> tensor<64x16xf32, #mma> {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x16xf16, #shared, #smem> * !ttg.memdesc<16x16xf16, #shared, #smem> -> tensor<64x16xf32, #mma>
      %next = arith.select %last, %zero, %d : tensor<64x16xf32, #mma>
      scf.yield %next : tensor<64x16xf32, #mma>
    }
    tt.return %r : tensor<64x16xf32, #mma>
  }
}
