// RUN: tritonx-opt %s -p "split-dots{shared_memory=65536}" | filecheck %s
// RUN: tritonx-opt %s -p "split-dots{shared_memory=98304}" | filecheck %s --check-prefix WHOLE

// 64 KB and 32 KB: two halves of K take 48 each. The first half is summed first.
// CHECK-LABEL: @product
// CHECK: %[[A3:.*]] = tt.reshape %a : tensor<128x128xf32> -> tensor<128x2x64xf32>
// CHECK: %[[AT:.*]] = tt.trans %[[A3]] {order = array<i32: 0, 2, 1>} : tensor<128x2x64xf32> -> tensor<128x64x2xf32>
// CHECK: %[[A:.*]]:2 = tt.split %[[AT]]
// CHECK: tt.reshape %b : tensor<128x64xf32> -> tensor<2x64x64xf32>
// CHECK: %[[BT:.*]] = tt.trans %{{.*}} {order = array<i32: 1, 2, 0>} : tensor<2x64x64xf32> -> tensor<64x64x2xf32>
// CHECK: %[[B:.*]]:2 = tt.split %[[BT]]
// CHECK: %[[D:.*]] = tt.dot %[[A]]#0, %[[B]]#0, %c
// CHECK: tt.dot %[[A]]#1, %[[B]]#1, %[[D]]
// CHECK-NOT: tt.dot
// CHECK: tt.return

// WHOLE-LABEL: @product
// WHOLE-NEXT: tt.dot %a, %b, %c
// WHOLE-NEXT: tt.return
tt.func public @product(%a: tensor<128x128xf32>, %b: tensor<128x64xf32>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %d = tt.dot %a, %b, %c : tensor<128x128xf32> * tensor<128x64xf32> -> tensor<128x64xf32>
  tt.return %d : tensor<128x64xf32>
}

// Four parts at most: 32 of K stay.
// CHECK-LABEL: @large
// CHECK-COUNT-4: tt.dot {{.*}} tensor<512x32xf32> * tensor<32x512xf32>
// CHECK-NOT: tt.dot
// CHECK: tt.return
tt.func public @large(%a: tensor<512x128xf32>, %b: tensor<128x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %d = tt.dot %a, %b, %c : tensor<512x128xf32> * tensor<128x512xf32> -> tensor<512x512xf32>
  tt.return %d : tensor<512x512xf32>
}

// What another product makes is not counted: 32 KB are.
// CHECK-LABEL: @chained
// CHECK-COUNT-2: tt.dot
// CHECK-NOT: tt.dot
// CHECK: tt.return
tt.func public @chained(%a: tensor<128x32xf32>, %b: tensor<32x128xf32>, %v: tensor<128x64xf32>, %c: tensor<128x128xf32>, %e: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %p = tt.dot %a, %b, %c : tensor<128x32xf32> * tensor<32x128xf32> -> tensor<128x128xf32>
  %q = math.exp2 %p : tensor<128x128xf32>
  %d = tt.dot %q, %v, %e : tensor<128x128xf32> * tensor<128x64xf32> -> tensor<128x64xf32>
  tt.return %d : tensor<128x64xf32>
}
