// RUN: tritonx-opt %s -p 'assign-layouts{target="cuda:90" num_warps=4 warp_group_dots=true}' | filecheck %s
// RUN: tritonx-opt %s --target cuda:90 --option warp_group_dots=true -t ptx | filecheck %s --check-prefix PTX
// RUN: tritonx-opt %s -p 'assign-layouts{target="cuda:90" num_warps=4 pipeline=false}' | filecheck %s --check-prefix WARPS

// Rows of A and B: 64 and 128 elements of 16 bits, B with N contiguous.
// CHECK-DAG: #[[MMA:mma[0-9]*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
// CHECK-DAG: #[[HALF:shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// 8 bits: K must be contiguous, of B in columns.
// CHECK-DAG: #[[BYTES:shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
// CHECK-DAG: #[[COLUMNS:shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>

// WARPS-NOT: warp_group_dot
// WARPS: versionMajor = 2
// WARPS-NOT: warp_group_dot

// The loop carries the accumulator in the unit's layout; operands are stored as the unit reads them.
// CHECK-LABEL: @product
// CHECK: %[[A:.*]] = ttg.local_alloc %a : (tensor<64x64xf16, #{{.*}}>) -> !ttg.memdesc<64x64xf16, #[[HALF]], #smem>
// CHECK: %[[B:.*]] = ttg.local_alloc %b : (tensor<64x128xf16, #{{.*}}>) -> !ttg.memdesc<64x128xf16, #[[HALF]], #smem>
// CHECK: scf.for {{.*}} -> (tensor<64x128xf32, #[[MMA]]>)
// CHECK: ttng.warp_group_dot %[[A]], %[[B]], %{{.*}} : !ttg.memdesc<64x64xf16, #[[HALF]], #smem> * !ttg.memdesc<64x128xf16, #[[HALF]], #smem> -> tensor<64x128xf32, #[[MMA]]>
// CHECK-NOT: tt.dot
// What is stored before the loop is fenced before it, once, and one barrier stands behind the fence.
// PTX-LABEL: .visible .entry product(
// PTX: fence.proxy.async
// PTX: bar.sync
// PTX-NOT: fence.proxy.async
// PTX: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{.*}}, 1, 1, 0, 1;
// PTX: ret;
tt.func public @product(%xp: !tt.ptr<f16>, %yp: !tt.ptr<f16>, %n: i32, %op: !tt.ptr<f32>) {
  %x = tt.splat %xp : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %y = tt.splat %yp : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
  %o = tt.splat %op : !tt.ptr<f32> -> tensor<64x128x!tt.ptr<f32>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
  %a = tt.load %x : tensor<64x64x!tt.ptr<f16>>
  %b = tt.load %y : tensor<64x128x!tt.ptr<f16>>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x128xf32>) : i32 {
    %d = tt.dot %a, %b, %c : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tt.store %o, %acc : tensor<64x128x!tt.ptr<f32>>
  tt.return
}

// Every order of an operand of 8 bits but one is put right on its way to memory.
// CHECK-LABEL: @bytes
// CHECK: ttg.local_alloc %a : {{.*}} -> !ttg.memdesc<64x64xi8, #[[BYTES]], #smem>
// CHECK: ttg.local_alloc %b : {{.*}} -> !ttg.memdesc<64x32xi8, #[[COLUMNS]], #smem>
// CHECK: ttng.warp_group_dot
// PTX-LABEL: .visible .entry bytes(
// PTX: wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8
tt.func public @bytes(%xp: !tt.ptr<i8>, %yp: !tt.ptr<i8>, %op: !tt.ptr<i32>) {
  %x = tt.splat %xp : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
  %y = tt.splat %yp : !tt.ptr<i8> -> tensor<64x32x!tt.ptr<i8>>
  %o = tt.splat %op : !tt.ptr<i32> -> tensor<64x32x!tt.ptr<i32>>
  %zero = arith.constant dense<0> : tensor<64x32xi32>
  %a = tt.load %x : tensor<64x64x!tt.ptr<i8>>
  %b = tt.load %y : tensor<64x32x!tt.ptr<i8>>
  %d = tt.dot %a, %b, %zero : tensor<64x64xi8> * tensor<64x32xi8> -> tensor<64x32xi32>
  tt.store %o, %d : tensor<64x32x!tt.ptr<i32>>
  tt.return
}

// What another product made stays in registers.
// CHECK-LABEL: @chain
// CHECK: %[[S:.*]] = ttng.warp_group_dot
// CHECK: %[[P:.*]] = arith.truncf %[[S]]
// CHECK: %[[R:.*]] = ttg.convert_layout %[[P]] {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #{{mma[0-9]*}}, kWidth = 2}>>
// CHECK: ttng.warp_group_dot %[[R]], %{{.*}}, %{{.*}} : tensor<64x64xf16, #ttg.dot_op<
// PTX-LABEL: .visible .entry chain(
// PTX: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, %rd{{[0-9]+}}, %rd{{[0-9]+}}, 0, 1, 1, 0, 1;
// PTX: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %rd{{[0-9]+}}, 0, 1, 1, 1;
tt.func public @chain(%xp: !tt.ptr<f16>, %yp: !tt.ptr<f16>, %op: !tt.ptr<f32>) {
  %x = tt.splat %xp : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %y = tt.splat %yp : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %o = tt.splat %op : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %a = tt.load %x : tensor<64x64x!tt.ptr<f16>>
  %b = tt.load %y : tensor<64x64x!tt.ptr<f16>>
  %s = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %d = tt.dot %p, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  tt.store %o, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// Full precision, and fewer rows than a group has, are for others.
// CHECK-LABEL: @others
// CHECK-NOT: ttng.warp_group_dot
// CHECK: tt.return
tt.func public @others(%xp: !tt.ptr<f16>, %yp: !tt.ptr<f16>, %zp: !tt.ptr<f32>, %op: !tt.ptr<f32>) {
  %x = tt.splat %xp : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  %y = tt.splat %yp : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %z = tt.splat %zp : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %o = tt.splat %op : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
  %zero = arith.constant dense<0.000000e+00> : tensor<32x64xf32>
  %a = tt.load %x : tensor<32x64x!tt.ptr<f16>>
  %b = tt.load %y : tensor<64x64x!tt.ptr<f16>>
  %d = tt.dot %a, %b, %zero : tensor<32x64xf16> * tensor<64x64xf16> -> tensor<32x64xf32>
  tt.store %o, %d : tensor<32x64x!tt.ptr<f32>>
  %whole = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %f = tt.load %z : tensor<64x64x!tt.ptr<f32>>
  %e = tt.dot %f, %f, %whole, inputPrecision = ieee : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  tt.store %z, %e : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
