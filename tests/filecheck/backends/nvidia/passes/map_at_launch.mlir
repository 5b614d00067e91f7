// RUN: tritonx-opt %s -p map-at-launch | filecheck %s

#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, rank = 1}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Of arguments and what is computed of them; the padding stays.
  // CHECK-LABEL: @made
  // CHECK: %[[Q:.*]] = tt.addptr %p, %m
  // CHECK-NEXT: ttng.tensormap_at_launch %[[Q]], [%m], [%one] {padding = 2 : i32} : <f16>, <tensor<64xf16, #{{.*}}>>
  // CHECK-NOT: tt.make_tensor_descriptor
  tt.func public @made(%p: !tt.ptr<f16>, %n: i32, %i: i32) -> tensor<64xf16, #line> {
    %one = arith.constant 1 : i64
    %m = arith.addi %n, %n : i32
    %q = tt.addptr %p, %m : !tt.ptr<f16>, i32
    %d = tt.make_tensor_descriptor %q, [%m], [%one] {padding = 2 : i32} : <f16>, <tensor<64xf16, #rows>>
    %v = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<64xf16, #rows>> -> tensor<64xf16, #line>
    tt.return %v : tensor<64xf16, #line>
  }

  // What stands for pointers still does.
  // CHECK-LABEL: @of_pointers
  // CHECK: ttng.tensormap_at_launch %p, [%n], [%one] {tt.of_pointers} : <f16>, <tensor<64xf16, #{{.*}}>>
  tt.func public @of_pointers(%p: !tt.ptr<f16>, %n: i32, %i: i32) -> tensor<64xf16, #line> {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n], [%one] {tt.of_pointers} : <f16>, <tensor<64xf16, #rows>>
    %v = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<64xf16, #rows>> -> tensor<64xf16, #line>
    tt.return %v : tensor<64xf16, #line>
  }

  // Not what depends on the program, and what pointers move: blocks without an encoding.
  // CHECK-LABEL: @stays
  // CHECK-NOT: ttng.tensormap_at_launch
  // CHECK-COUNT-2: tt.make_tensor_descriptor
  tt.func public @stays(%p: !tt.ptr<f16>, %n: i32, %i: i32) {
    %one = arith.constant 1 : i64
    %pid = tt.get_program_id x : i32
    %d = tt.make_tensor_descriptor %p, [%pid], [%one] : <f16>, <tensor<64xf16, #rows>>
    %e = tt.make_tensor_descriptor %p, [%n], [%one] : <f16>, <tensor<64xf16>>
    %v = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<64xf16, #rows>> -> tensor<64xf16, #line>
    tt.descriptor_store %e[%i], %v : !tt.tensordesc<tensor<64xf16>>, tensor<64xf16, #line>
    tt.return
  }

  // CHECK-LABEL: @called
  // CHECK: tt.make_tensor_descriptor
  tt.func private @called(%p: !tt.ptr<f16>, %n: i32) -> tensor<64xf16, #line> {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n], [%one] : <f16>, <tensor<64xf16, #rows>>
    %v = tt.descriptor_load %d[%n] : !tt.tensordesc<tensor<64xf16, #rows>> -> tensor<64xf16, #line>
    tt.return %v : tensor<64xf16, #line>
  }
}
