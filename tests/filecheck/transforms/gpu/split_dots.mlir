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

// Operands that are loaded for the product are loaded in parts, each in front of its product, with the mask that is
// right for it; indices are those of the part. The stride is the same for both.
// CHECK-LABEL: @loaded
// CHECK: %[[A0:.*]] = tt.load {{.*}} : tensor<128x64x!tt.ptr<f32>>
// CHECK: %[[M0:.*]] = arith.cmpi slt, {{.*}} : tensor<64x64xi32>
// CHECK: %[[B0:.*]] = tt.load %{{.*}}, %[[M0]], %{{.*}} : tensor<64x64x!tt.ptr<f32>>
// CHECK: %[[D:.*]] = tt.dot %[[A0]], %[[B0]], %c
// CHECK: tt.make_range {end = 128 : i32, start = 64 : i32} : tensor<64xi32>
// CHECK: %[[A1:.*]] = tt.load {{.*}} : tensor<128x64x!tt.ptr<f32>>
// CHECK: %[[M1:.*]] = arith.cmpi slt, {{.*}} : tensor<64x64xi32>
// CHECK: %[[B1:.*]] = tt.load %{{.*}}, %[[M1]], %{{.*}} : tensor<64x64x!tt.ptr<f32>>
// CHECK: tt.dot %[[A1]], %[[B1]], %[[D]]
// CHECK-NOT: tt.load
// CHECK: tt.return
tt.func public @loaded(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %zero = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %i {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %column = tt.expand_dims %i {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %narrow = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %stride = tt.splat %n : i32 -> tensor<128x1xi32>
  %start = arith.muli %row, %stride : tensor<128x1xi32>
  %starts = tt.broadcast %start : tensor<128x1xi32> -> tensor<128x128xi32>
  %columns = tt.broadcast %column : tensor<1x128xi32> -> tensor<128x128xi32>
  %at = arith.addi %starts, %columns : tensor<128x128xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
  %from = tt.addptr %base, %at : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
  %a = tt.load %from : tensor<128x128x!tt.ptr<f32>>
  %begin = tt.broadcast %start : tensor<128x1xi32> -> tensor<128x64xi32>
  %narrows = tt.broadcast %narrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %where = arith.addi %begin, %narrows : tensor<128x64xi32>
  %other = tt.splat %q : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %out = tt.addptr %other, %where : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  %bound = tt.splat %n : i32 -> tensor<128x64xi32>
  %mask = arith.cmpi slt, %where, %bound : tensor<128x64xi32>
  %b = tt.load %out, %mask, %zero : tensor<128x64x!tt.ptr<f32>>
  %d = tt.dot %a, %b, %c : tensor<128x128xf32> * tensor<128x64xf32> -> tensor<128x64xf32>
  tt.return %d : tensor<128x64xf32>
}

// What is stored in between may be what was loaded: it is loaded before, all of it. So is what is read twice; what is
// computed of it for the product alone is computed in parts.
// CHECK-LABEL: @kept
// CHECK: %[[A:.*]] = tt.load %p : tensor<128x128x!tt.ptr<f32>>
// CHECK-NEXT: tt.store %p, %x
// CHECK-NEXT: %[[B:.*]] = tt.load %q : tensor<128x64x!tt.ptr<f32>>
// CHECK: tt.reshape %[[A]] : tensor<128x128xf32> -> tensor<128x2x64xf32>
// CHECK: tt.reshape %[[B]] : tensor<128x64xf32> -> tensor<2x64x64xf32>
// CHECK: math.exp2 {{.*}} : tensor<64x64xf32>
// CHECK: tt.dot
// CHECK: math.exp2 {{.*}} : tensor<64x64xf32>
// CHECK: tt.dot
// CHECK: tt.return
tt.func public @kept(%p: tensor<128x128x!tt.ptr<f32>>, %q: tensor<128x64x!tt.ptr<f32>>, %x: tensor<128x128xf32>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %a = tt.load %p : tensor<128x128x!tt.ptr<f32>>
  tt.store %p, %x : tensor<128x128x!tt.ptr<f32>>
  %b = tt.load %q : tensor<128x64x!tt.ptr<f32>>
  %e = math.exp2 %b : tensor<128x64xf32>
  %d = tt.dot %a, %e, %c : tensor<128x128xf32> * tensor<128x64xf32> -> tensor<128x64xf32>
  %s = arith.addf %d, %b : tensor<128x64xf32>
  tt.return %s : tensor<128x64xf32>
}

// Indices may be computed twice; what is loaded for two readers is not loaded again.
// CHECK-LABEL: @read_twice
// CHECK: tt.load {{.*}} : tensor<256x256x!tt.ptr<i8>>
// CHECK-NOT: tt.load
// CHECK-COUNT-2: tt.dot
// CHECK: tt.return
tt.func public @read_twice(%p: tensor<256x256x!tt.ptr<i8>>, %one: tensor<256x256xi8>, %b: tensor<256x64xi8>, %c: tensor<256x64xi32>) -> (tensor<256x64xi32>, tensor<256x256xi8>) {
  %v = tt.load %p : tensor<256x256x!tt.ptr<i8>>
  %a = arith.addi %v, %one : tensor<256x256xi8>
  %d = tt.dot %a, %b, %c : tensor<256x256xi8> * tensor<256x64xi8> -> tensor<256x64xi32>
  tt.return %d, %a : tensor<256x64xi32>, tensor<256x256xi8>
}
