// RUN: tritonx-opt %s -p 'rematerialise{words=64 shared=65536}' | filecheck %s

// 16 warps hold 32768 elements: 32 words a thread as bf16, 64 as f32. Behind the reduction the tile is widened again from an
// opaque copy of the narrow one, and two blocks of 512 threads get 64 registers each.
#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [16], order = [0]}>
// CHECK: ttg.maxnreg = 64 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 16 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func public @row
  tt.func public @row(%x: tensor<32768xbf16, #blocked>, %p: tensor<32768x!tt.ptr<f32>, #blocked>) {
    // CHECK: arith.extf
    %wide = arith.extf %x : tensor<32768xbf16, #blocked> to tensor<32768xf32, #blocked>
    // CHECK: "tt.reduce"
    %max = "tt.reduce"(%wide) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<32768xf32, #blocked>) -> f32
    // CHECK: tt.elementwise_inline_asm "" {constraints = "=r,0", packed_element = 2 : i32, pure = false}
    // CHECK: arith.extf
    %all = tt.splat %max : f32 -> tensor<32768xf32, #blocked>
    // CHECK: arith.subf
    %centred = arith.subf %wide, %all : tensor<32768xf32, #blocked>
    tt.store %p, %centred : tensor<32768x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
