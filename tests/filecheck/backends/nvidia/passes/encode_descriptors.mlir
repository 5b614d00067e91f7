// RUN: tritonx-opt %s -p "encode-descriptors" | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#given = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#words = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#other = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [0, 1]}>
#smem = #ttg.shared_memory

// Widths: 128, 64, 32 bytes of a row, none for narrower rows, for fewer than eight rows and for one dimension. What has
// an encoding keeps it.
// CHECK-DAG: #[[W128:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[W64:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[W32:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[W0:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[CUBE:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16, rank = 3}>
// CHECK-DAG: #[[LINE:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, rank = 1}>
// CHECK-DAG: #[[T128:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
// CHECK-DAG: #[[WORDS:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @widths
  // CHECK-SAME: 64x128xf16, #[[W128]]>
  // CHECK-SAME: 64x32xf16, #[[W64]]>
  // CHECK-SAME: 64x16xf16, #[[W32]]>
  // CHECK-SAME: 64x8xf16, #[[W0]]>
  // CHECK-SAME: 4x64xf16, #[[W0]]>
  // CHECK-SAME: 2x4x16xf16, #[[CUBE]]>
  // CHECK-SAME: 64xf16, #[[LINE]]>
  // CHECK-SAME: 64x64xf16, #[[W32]]>
  tt.func public @widths(%a: !tt.tensordesc<tensor<64x128xf16>>, %b: !tt.tensordesc<tensor<64x32xf16>>, %c: !tt.tensordesc<tensor<64x16xf16>>, %d: !tt.tensordesc<tensor<64x8xf16>>, %e: !tt.tensordesc<tensor<4x64xf16>>, %f: !tt.tensordesc<tensor<2x4x16xf16>>, %g: !tt.tensordesc<tensor<64xf16>>, %h: !tt.tensordesc<tensor<64x64xf16, #given>>) {
    tt.return
  }

  // The form of a buffer for a matrix unit, if rows lie in it one behind the other.
  // CHECK-LABEL: @wanted
  // CHECK-SAME: %x: !tt.tensordesc<tensor<64x64xf16, #[[W64]]>>
  // CHECK-SAME: %y: !tt.tensordesc<tensor<64x64xf16, #[[W128]]>>
  tt.func public @wanted(%x: !tt.tensordesc<tensor<64x64xf16>>, %y: !tt.tensordesc<tensor<64x64xf16>>, %i: i32) {
    %p = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #rows>
    %q = tt.descriptor_load %y[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #rows>
    %m = ttg.local_alloc %p : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #nv, #smem>
    %n = ttg.local_alloc %q : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #turned, #smem>
    ttg.local_dealloc %m : !ttg.memdesc<64x64xf16, #nv, #smem>
    ttg.local_dealloc %n : !ttg.memdesc<64x64xf16, #turned, #smem>
    tt.return
  }

  // What threads alone read lies as the copy engine writes it; what a unit reads beside them as the unit wants it.
  // CHECK-LABEL: @read_by_threads
  // CHECK-SAME: %x: !tt.tensordesc<tensor<64x64xf16, #[[W128]]>>
  // CHECK: ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x64xf16, #[[W128]], #smem>
  // CHECK-NEXT: ttg.memdesc_trans %{{.*}} -> !ttg.memdesc<64x64xf16, #[[T128]], #smem>
  // CHECK-NEXT: ttg.local_load
  // CHECK: ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x64xf16, #[[WORDS]], #smem>
  tt.func public @read_by_threads(%x: !tt.tensordesc<tensor<64x64xf16>>, %i: i32) -> tensor<64x64xf16, #rows> {
    %p = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #rows>
    %m = ttg.local_alloc %p : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #words, #smem>
    %t = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #words, #smem> -> !ttg.memdesc<64x64xf16, #other, #smem>
    %r = ttg.local_load %t : !ttg.memdesc<64x64xf16, #other, #smem> -> tensor<64x64xf16, #rows>
    %q = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16, #rows>
    %n = ttg.local_alloc %q : (tensor<64x64xf16, #rows>) -> !ttg.memdesc<64x64xf16, #words, #smem>
    ttg.local_dealloc %n : !ttg.memdesc<64x64xf16, #words, #smem>
    tt.return %r : tensor<64x64xf16, #rows>
  }

  // Bits of 64-bit numbers are combined of unsigned ones; smaller and larger go by the sign.
  // CHECK-LABEL: @combined
  // CHECK-SAME: %bits: !tt.tensordesc<tensor<8x16xui64, #{{[a-z0-9]+}}>>
  // CHECK-SAME: %ordered: !tt.tensordesc<tensor<8x16xsi64, #{{[a-z0-9]+}}>>
  // CHECK-SAME: %words: !tt.tensordesc<tensor<8x16xsi32, #{{[a-z0-9]+}}>>
  // CHECK: tt.descriptor_reduce or, %bits[%i, %i], %x : !tt.tensordesc<tensor<8x16xui64, #{{[a-z0-9]+}}>>
  tt.func public @combined(%bits: !tt.tensordesc<tensor<8x16xsi64>>, %ordered: !tt.tensordesc<tensor<8x16xsi64>>, %words: !tt.tensordesc<tensor<8x16xsi32>>, %i: i32, %x: tensor<8x16xi64, #rows>, %y: tensor<8x16xi32, #rows>) {
    tt.descriptor_reduce or, %bits[%i, %i], %x : !tt.tensordesc<tensor<8x16xsi64>>, tensor<8x16xi64, #rows>
    tt.descriptor_reduce max, %ordered[%i, %i], %x : !tt.tensordesc<tensor<8x16xsi64>>, tensor<8x16xi64, #rows>
    tt.descriptor_reduce xor, %words[%i, %i], %y : !tt.tensordesc<tensor<8x16xsi32>>, tensor<8x16xi32, #rows>
    tt.return
  }
}
