// RUN: tritonx-opt %s --target hip:gfx942 --option instrumentation_mode=default --until amdgcn | filecheck %s
// RUN: tritonx-opt %s --target hip:gfx1100 --option instrumentation_mode=default --until llir | filecheck %s --check-prefix STEADY
// RUN: tritonx-opt %s --target hip:gfx942 --until amdgcn | filecheck %s --check-prefix FREE

// The clock is read between the accesses and products in front of a record and those behind it. A compile that measures
// nothing reads none.
// CHECK-LABEL: regions:
// CHECK: s_memrealtime
// CHECK: s_memtime
// CHECK: s_memtime
// CHECK: global_load
// CHECK: global_load
// CHECK: s_memtime
// CHECK: s_memtime
// CHECK: v_mfma
// CHECK: v_mfma
// CHECK: s_memtime
// CHECK-NOT: v_mfma
// CHECK: s_memrealtime
// CHECK: s_endpgm

// STEADY-NOT: llvm.readcyclecounter
// STEADY: call i64 @llvm.readsteadycounter()

// FREE-LABEL: regions:
// FREE-NOT: s_memtime
// FREE-NOT: s_memrealtime
// FREE: s_endpgm

tt.func public @regions(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %cols = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %s = arith.constant dense<32> : tensor<32x1xi32>
  %ro = arith.muli %rows, %s : tensor<32x1xi32>
  %rb = tt.broadcast %ro : tensor<32x1xi32> -> tensor<32x32xi32>
  %cb = tt.broadcast %cols : tensor<1x32xi32> -> tensor<32x32xi32>
  %o = arith.addi %rb, %cb : tensor<32x32xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %ap = tt.addptr %as, %o : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %bp = tt.addptr %bs, %o : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %cp = tt.addptr %cs, %o : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  proton.record start "load"
  %av = tt.load %ap : tensor<32x32x!tt.ptr<f16>>
  %bv = tt.load %bp : tensor<32x32x!tt.ptr<f16>>
  proton.record end "load"
  proton.record start "dot"
  %d = tt.dot %av, %bv, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  proton.record end "dot"
  tt.store %cp, %d : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
