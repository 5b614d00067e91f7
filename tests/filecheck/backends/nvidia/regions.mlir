// RUN: tritonx-opt %s --target cuda:90 --option instrumentation_mode=default --until ptx | filecheck %s
// RUN: tritonx-opt %s --target cuda:90 --option instrumentation_mode=default:metric_type=time --until ptx | filecheck %s --check-prefix TIME
// RUN: tritonx-opt %s --target cuda:90 --until ptx | filecheck %s --check-prefix FREE

// The clock is read between the accesses and products in front of a record and those behind it; one lane of a warp
// stores, number and clock at once, into the parameter behind the function's own. A compile that measures nothing has
// neither.
// CHECK-LABEL: .visible .entry regions(
// CHECK: .param .u64 .ptr .global .align 1 regions_param_3
// CHECK: %globaltimer
// CHECK: %clock64
// CHECK: smid
// CHECK: mov.u64 %[[C0:.*]], %clock64;
// CHECK-NEXT: // end inline asm
// CHECK: @%[[LANE:.*]] st.global.v2.b64 [%{{.*}}], {%{{.*}}, %[[C0]]};
// CHECK: ld.global
// CHECK: ld.global
// CHECK: %clock64
// CHECK: @%[[LANE]] st.global.v2.b64
// CHECK: %clock64
// CHECK: @%[[LANE]] st.global.v2.b64
// CHECK-COUNT-4: mma.sync
// CHECK-NOT: mma.sync
// CHECK: %clock64
// CHECK: @%[[LANE]] st.global.v2.b64
// CHECK: st.global.v4.b32
// CHECK: %globaltimer
// CHECK: %clock64
// CHECK: ret;

// TIME-NOT: %clock64
// TIME-COUNT-8: %globaltimer
// TIME: ret;

// FREE-NOT: regions_param_3
// FREE-NOT: %clock64
// FREE-NOT: %globaltimer
// FREE: ret;

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
