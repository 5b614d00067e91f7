// RUN: tritonx-opt %s --target cuda:90 -t ptx | filecheck %s

// A thread with sixteen neighbours: every access takes as many as its instruction has room for, and no more.
// CHECK-LABEL: .visible .entry of_f32(
// CHECK-COUNT-4: ld.global.v4.b32
// CHECK-NOT: ld.global
// CHECK-COUNT-4: atom.global.gpu.acq_rel.add.v4.f32
// CHECK-NOT: atom.global
// CHECK-COUNT-4: st.global.v4.b32
// CHECK-NOT: st.global
// CHECK: ret;

// CHECK-LABEL: .visible .entry of_f16(
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK-NOT: ld.global
// CHECK-COUNT-2: atom.global.gpu.acq_rel.add.noftz.v4.f16x2
// CHECK-NOT: atom.global
// CHECK-COUNT-2: st.global.v4.b32
// CHECK-NOT: st.global
// CHECK: ret;
#wide = #ttg.blocked<{sizePerThread = [16], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @of_f32(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #wide>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #wide>
    %pp = tt.addptr %ps, %r : tensor<512x!tt.ptr<f32>, #wide>, tensor<512xi32, #wide>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #wide>
    %qp = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>, #wide>, tensor<512xi32, #wide>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #wide>
    %op = tt.addptr %os, %r : tensor<512x!tt.ptr<f32>, #wide>, tensor<512xi32, #wide>
    %v = tt.load %pp : tensor<512x!tt.ptr<f32>, #wide>
    %m = arith.constant dense<true> : tensor<512xi1, #wide>
    %w = tt.atomic_rmw fadd, acq_rel, gpu, %qp, %v, %m : (tensor<512x!tt.ptr<f32>, #wide>, tensor<512xf32, #wide>, tensor<512xi1, #wide>) -> tensor<512xf32, #wide>
    tt.store %op, %w : tensor<512x!tt.ptr<f32>, #wide>
    tt.return
  }
  tt.func public @of_f16(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #wide>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #wide>
    %pp = tt.addptr %ps, %r : tensor<512x!tt.ptr<f16>, #wide>, tensor<512xi32, #wide>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #wide>
    %qp = tt.addptr %qs, %r : tensor<512x!tt.ptr<f16>, #wide>, tensor<512xi32, #wide>
    %os = tt.splat %o : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #wide>
    %op = tt.addptr %os, %r : tensor<512x!tt.ptr<f16>, #wide>, tensor<512xi32, #wide>
    %v = tt.load %pp : tensor<512x!tt.ptr<f16>, #wide>
    %m = arith.constant dense<true> : tensor<512xi1, #wide>
    %w = tt.atomic_rmw fadd, acq_rel, gpu, %qp, %v, %m : (tensor<512x!tt.ptr<f16>, #wide>, tensor<512xf16, #wide>, tensor<512xi1, #wide>) -> tensor<512xf16, #wide>
    tt.store %op, %w : tensor<512x!tt.ptr<f16>, #wide>
    tt.return
  }
}
