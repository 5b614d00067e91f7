// RUN: tritonx-opt %s --target cuda:90 --option num_warps=32 --until ptx | filecheck %s --check-prefix MANY
// RUN: tritonx-opt %s --target cuda:90 --option num_warps=8 --until ptx | filecheck %s --check-prefix FEW

// 32 warps: each lane reads what four of them found, and the eight groups of four are put together by three shuffles
// after the five of each warp. 8 warps: every thread reads what all of them found.
// MANY-LABEL: .visible .entry sum(
// MANY-COUNT-5: shfl.sync.bfly
// MANY: st.shared
// MANY: bar.sync
// MANY-COUNT-1: ld.shared.v4
// MANY-NOT: ld.shared
// MANY-COUNT-3: shfl.sync.bfly
// MANY-NOT: shfl.sync
// MANY-NOT: bar.sync
// MANY: ret;
// FEW-LABEL: .visible .entry sum(
// FEW-COUNT-5: shfl.sync.bfly
// FEW: st.shared
// FEW: bar.sync
// FEW-COUNT-2: ld.shared.v4
// FEW-NOT: shfl.sync
// FEW: ret;
tt.func public @sum(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>) {
  %range = tt.make_range {start = 0 : i32, end = 4096 : i32} : tensor<4096xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %range : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
  %v = tt.load %xp : tensor<4096x!tt.ptr<f32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<4096xf32>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}
