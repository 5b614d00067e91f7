// RUN: tritonx-opt %s -p "allocate-shared-memory,allocate-tensor-memory" --target cuda:100 -t ptx | filecheck %s

// One lane of the first warp issues the products of a tile of K, each 32 bytes of K further in both operands, and has an
// mbarrier told. The first one reads the accumulator where it is asked to. 134742032: f16 by f16 into f32, 128 by 32.
// CHECK-LABEL: .visible .entry product(
// CHECK: elect.sync {{%r[0-9]+}}|[[ONE:%p[0-9]+]], -1;
// CHECK-NEXT: mov.b32 [[WHAT:%r[0-9]+]], 134742032;
// CHECK: mov.b64 B, [[RIGHT:%rd[0-9]+]];
// CHECK-NEXT: mov.b64 A, [[LEFT:%rd[0-9]+]];
// CHECK-NEXT: @[[ONE]] tcgen05.mma.cta_group::1.kind::f16 {{\[}}[[ACC:%r[0-9]+]] + 0], A, B, [[WHAT]], {{%p[0-9]+}};
// CHECK: add.s64 B, [[RIGHT]], 2;
// CHECK-NEXT: add.s64 A, [[LEFT]], 2;
// CHECK-NEXT: @[[ONE]] tcgen05.mma.cta_group::1.kind::f16 {{\[}}[[ACC]] + 0], A, B, [[WHAT]], {{%p[0-9]+}};
// CHECK-NOT: tcgen05.mma
// CHECK: @[[ONE]] tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [{{%r[0-9]+}}];
// CHECK: elect.sync {{%r[0-9]+}}|[[OTHER:%p[0-9]+]], -1;
// CHECK: @[[OTHER]] tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [{{%r[0-9]+}}];

#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#along = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%adds: i1, %on: i1) {
    %true = arith.constant true
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x32xf16, #wide, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<32x32xf16, #along, #smem, mutable>
    %done = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<128x32xf32, #tmem, #ttng.tensor_memory, mutable>
    ttng.tc_gen5_mma %a, %b, %d, %adds, %on, %done[%true] {is_async} : !ttg.memdesc<128x32xf16, #wide, #smem, mutable>, !ttg.memdesc<32x32xf16, #along, #smem, mutable>, !ttg.memdesc<128x32xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.tc_gen5_commit %done : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }
}
