// RUN: tritonx-opt %s -p "allocate-shared-memory,allocate-tensor-memory" --target cuda:100 -t ptx | filecheck %s

// A tile goes through tensor memory. The first warp allocates columns, and the others learn where; it frees them behind
// a barrier. Each warp moves its 32 rows; the upper half of a tile begins 32 columns further.
// CHECK-LABEL: .visible .entry passage(
// CHECK: @[[FIRST:%p[0-9]+]] tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [{{%r[0-9]+}}], 64;
// CHECK: bar.sync 0;
// CHECK: ld.volatile.shared.b32 [[BASE:%r[0-9]+]], [shared_memory];
// CHECK: bar.sync 0;
// CHECK: @[[FIRST]] tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
// CHECK: @{{%p[0-9]+}} tcgen05.st.sync.aligned.32x32b.x64.b32 [{{%r[0-9]+}} + 0], {
// CHECK: tcgen05.wait::st.sync.aligned;
// CHECK: tcgen05.ld.sync.aligned.32x32b.x32.b32 {{[{].*}}, [{{%r[0-9]+}} + 0];
// CHECK-NEXT: tcgen05.wait::ld.sync.aligned;
// CHECK: bar.sync 0;
// CHECK: @[[FIRST]] tcgen05.dealloc.cta_group::1.sync.aligned.b32 [[BASE]], 64;
// CHECK-NEXT: // end inline asm
// CHECK-NEXT: ret;

#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#part = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#line = #ttg.slice<{dim = 0, parent = #part}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @passage(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %v: f32, %pred: i1) {
    %x = tt.splat %v : f32 -> tensor<128x64xf32, #rows>
    %t = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    ttng.tmem_store %x, %t, %pred : tensor<128x64xf32, #rows> -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    %u = ttng.tmem_subslice %t {N = 32 : i32} : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x32xf32, #tmem, #ttng.tensor_memory, mutable, 128x64>
    %y = ttng.tmem_load %u : !ttg.memdesc<128x32xf32, #tmem, #ttng.tensor_memory, mutable, 128x64> -> tensor<128x32xf32, #part>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x32x!tt.ptr<f32>, #part>
    tt.store %q, %y : tensor<128x32x!tt.ptr<f32>, #part>
    tt.return
  }
}
