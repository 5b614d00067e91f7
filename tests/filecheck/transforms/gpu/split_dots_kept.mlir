// RUN: tritonx-opt %s -p "split-dots{shared-memory=32768 kept=16384}" | filecheck %s --check-prefix KEPT
// RUN: tritonx-opt %s -p "split-dots{shared-memory=32768 kept=8192}" | filecheck %s --check-prefix SPLIT

// What is made in front of the loop stays in registers that have room for it; what is loaded in the loop, or has no
// loop, is counted.

// KEPT-LABEL: @loop
// KEPT: tt.dot {{.*}} : tensor<32x256xf16> * tensor<256x64xf16>
// KEPT-NOT: tt.dot
// KEPT-LABEL: @alone
// KEPT-COUNT-2: tt.dot {{.*}} : tensor<32x128xf16> * tensor<128x64xf16>
// SPLIT-LABEL: @loop
// SPLIT-COUNT-2: tt.dot {{.*}} : tensor<32x128xf16> * tensor<128x64xf16>
tt.func public @loop(%q: tensor<32x256xf16>, %ptrs: tensor<256x64x!tt.ptr<f16>>, %c: tensor<32x64xf32>, %n: i32) -> tensor<32x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c) -> (tensor<32x64xf32>) : i32 {
    %k = tt.load %ptrs : tensor<256x64x!tt.ptr<f16>>
    %d = tt.dot %q, %k, %a : tensor<32x256xf16> * tensor<256x64xf16> -> tensor<32x64xf32>
    scf.yield %d : tensor<32x64xf32>
  }
  tt.return %sum : tensor<32x64xf32>
}

tt.func public @alone(%q: tensor<32x256xf16>, %ptrs: tensor<256x64x!tt.ptr<f16>>, %c: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %k = tt.load %ptrs : tensor<256x64x!tt.ptr<f16>>
  %d = tt.dot %q, %k, %c : tensor<32x256xf16> * tensor<256x64xf16> -> tensor<32x64xf32>
  tt.return %d : tensor<32x64xf32>
}
