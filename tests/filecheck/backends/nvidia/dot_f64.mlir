// RUN: tritonx-opt %s -p allocate-shared-memory,insert-barriers --target cuda:80 -t ptx | filecheck %s
// RUN: tritonx-opt %s -p allocate-shared-memory,insert-barriers --target cuda:90 -t ptx | filecheck %s --check-prefix HOPPER

// 32×16×32 in f64 on one warp, in the layouts that Triton writes: 4 tiles of 16×8. Compute capability 8.0 multiplies
// 8×8×4 at a time (4 tiles · 2 halves · 8 steps of K), 9.0 takes 16 k at once (4 tiles · 2 steps).
// CHECK-LABEL: .visible .entry product(
// CHECK-COUNT-64: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// CHECK-NOT: mma.sync
// CHECK-NOT: fma.rn.f64
// CHECK: ret;

// HOPPER-LABEL: .visible .entry product(
// HOPPER-COUNT-8: mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64
// HOPPER-NOT: mma.sync
// HOPPER-NOT: fma.rn.f64
// HOPPER: ret;

// A thread that holds two k of a row takes both at once.
// HOPPER-LABEL: .visible .entry shallow(
// HOPPER-COUNT-1: mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64
// HOPPER-NOT: mma.sync
// HOPPER: ret;

// Operands that were widened from f16 hold two neighbours of a row, in both operands alike.
// HOPPER-LABEL: .visible .entry widened(
// HOPPER-COUNT-2: mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64
// HOPPER-NOT: mma.sync
// HOPPER: ret;

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
#a2 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b2 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%pa: !tt.ptr<f64>, %pb: !tt.ptr<f64>, %pc: !tt.ptr<f64>) {
    %ar = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #a}>>
    %ac = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #a}>>
    %ar1 = tt.expand_dims %ar {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #a}>> -> tensor<32x1xi32, #a>
    %ac1 = tt.expand_dims %ac {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #a}>> -> tensor<1x32xi32, #a>
    %an = arith.constant dense<32> : tensor<32x1xi32, #a>
    %am = arith.muli %ar1, %an : tensor<32x1xi32, #a>
    %arb = tt.broadcast %am : tensor<32x1xi32, #a> -> tensor<32x32xi32, #a>
    %acb = tt.broadcast %ac1 : tensor<1x32xi32, #a> -> tensor<32x32xi32, #a>
    %ai = arith.addi %arb, %acb : tensor<32x32xi32, #a>
    %as = tt.splat %pa : !tt.ptr<f64> -> tensor<32x32x!tt.ptr<f64>, #a>
    %ap = tt.addptr %as, %ai : tensor<32x32x!tt.ptr<f64>, #a>, tensor<32x32xi32, #a>
    %br = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #b}>>
    %bc = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #b}>>
    %br1 = tt.expand_dims %br {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<32x1xi32, #b>
    %bc1 = tt.expand_dims %bc {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #b}>> -> tensor<1x16xi32, #b>
    %bn = arith.constant dense<16> : tensor<32x1xi32, #b>
    %bm = arith.muli %br1, %bn : tensor<32x1xi32, #b>
    %brb = tt.broadcast %bm : tensor<32x1xi32, #b> -> tensor<32x16xi32, #b>
    %bcb = tt.broadcast %bc1 : tensor<1x16xi32, #b> -> tensor<32x16xi32, #b>
    %bi = arith.addi %brb, %bcb : tensor<32x16xi32, #b>
    %bs = tt.splat %pb : !tt.ptr<f64> -> tensor<32x16x!tt.ptr<f64>, #b>
    %bp = tt.addptr %bs, %bi : tensor<32x16x!tt.ptr<f64>, #b>, tensor<32x16xi32, #b>
    %cr = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #mma}>>
    %cc = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>>
    %cr1 = tt.expand_dims %cr {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<32x1xi32, #mma>
    %cc1 = tt.expand_dims %cc {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x16xi32, #mma>
    %cn = arith.constant dense<16> : tensor<32x1xi32, #mma>
    %cm = arith.muli %cr1, %cn : tensor<32x1xi32, #mma>
    %crb = tt.broadcast %cm : tensor<32x1xi32, #mma> -> tensor<32x16xi32, #mma>
    %ccb = tt.broadcast %cc1 : tensor<1x16xi32, #mma> -> tensor<32x16xi32, #mma>
    %ci = arith.addi %crb, %ccb : tensor<32x16xi32, #mma>
    %cs = tt.splat %pc : !tt.ptr<f64> -> tensor<32x16x!tt.ptr<f64>, #mma>
    %cp = tt.addptr %cs, %ci : tensor<32x16x!tt.ptr<f64>, #mma>, tensor<32x16xi32, #mma>
    %x = tt.load %ap : tensor<32x32x!tt.ptr<f64>, #a>
    %y = tt.load %bp : tensor<32x16x!tt.ptr<f64>, #b>
    %zero = arith.constant dense<0.0> : tensor<32x16xf64, #mma>
    %d = tt.dot %x, %y, %zero, inputPrecision = tf32 : tensor<32x32xf64, #a> * tensor<32x16xf64, #b> -> tensor<32x16xf64, #mma>
    tt.store %cp, %d : tensor<32x16x!tt.ptr<f64>, #mma>
    tt.return
  }
  tt.func public @shallow(%pa: !tt.ptr<f64>, %pb: !tt.ptr<f64>, %pc: !tt.ptr<f64>) {
    %ar = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #a}>>
    %ac = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #a}>>
    %ar1 = tt.expand_dims %ar {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #a}>> -> tensor<16x1xi32, #a>
    %ac1 = tt.expand_dims %ac {axis = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #a}>> -> tensor<1x8xi32, #a>
    %an = arith.constant dense<8> : tensor<16x1xi32, #a>
    %am = arith.muli %ar1, %an : tensor<16x1xi32, #a>
    %arb = tt.broadcast %am : tensor<16x1xi32, #a> -> tensor<16x8xi32, #a>
    %acb = tt.broadcast %ac1 : tensor<1x8xi32, #a> -> tensor<16x8xi32, #a>
    %ai = arith.addi %arb, %acb : tensor<16x8xi32, #a>
    %as = tt.splat %pa : !tt.ptr<f64> -> tensor<16x8x!tt.ptr<f64>, #a>
    %ap = tt.addptr %as, %ai : tensor<16x8x!tt.ptr<f64>, #a>, tensor<16x8xi32, #a>
    %br = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #b}>>
    %bc = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #b}>>
    %br1 = tt.expand_dims %br {axis = 1 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<8x1xi32, #b>
    %bc1 = tt.expand_dims %bc {axis = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #b}>> -> tensor<1x8xi32, #b>
    %bn = arith.constant dense<8> : tensor<8x1xi32, #b>
    %bm = arith.muli %br1, %bn : tensor<8x1xi32, #b>
    %brb = tt.broadcast %bm : tensor<8x1xi32, #b> -> tensor<8x8xi32, #b>
    %bcb = tt.broadcast %bc1 : tensor<1x8xi32, #b> -> tensor<8x8xi32, #b>
    %bi = arith.addi %brb, %bcb : tensor<8x8xi32, #b>
    %bs = tt.splat %pb : !tt.ptr<f64> -> tensor<8x8x!tt.ptr<f64>, #b>
    %bp = tt.addptr %bs, %bi : tensor<8x8x!tt.ptr<f64>, #b>, tensor<8x8xi32, #b>
    %cr = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #mma}>>
    %cc = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #mma}>>
    %cr1 = tt.expand_dims %cr {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<16x1xi32, #mma>
    %cc1 = tt.expand_dims %cc {axis = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x8xi32, #mma>
    %cn = arith.constant dense<8> : tensor<16x1xi32, #mma>
    %cm = arith.muli %cr1, %cn : tensor<16x1xi32, #mma>
    %crb = tt.broadcast %cm : tensor<16x1xi32, #mma> -> tensor<16x8xi32, #mma>
    %ccb = tt.broadcast %cc1 : tensor<1x8xi32, #mma> -> tensor<16x8xi32, #mma>
    %ci = arith.addi %crb, %ccb : tensor<16x8xi32, #mma>
    %cs = tt.splat %pc : !tt.ptr<f64> -> tensor<16x8x!tt.ptr<f64>, #mma>
    %cp = tt.addptr %cs, %ci : tensor<16x8x!tt.ptr<f64>, #mma>, tensor<16x8xi32, #mma>
    %x = tt.load %ap : tensor<16x8x!tt.ptr<f64>, #a>
    %y = tt.load %bp : tensor<8x8x!tt.ptr<f64>, #b>
    %zero = arith.constant dense<0.0> : tensor<16x8xf64, #mma>
    %d = tt.dot %x, %y, %zero, inputPrecision = tf32 : tensor<16x8xf64, #a> * tensor<8x8xf64, #b> -> tensor<16x8xf64, #mma>
    tt.store %cp, %d : tensor<16x8x!tt.ptr<f64>, #mma>
    tt.return
  }
  tt.func public @widened(%pa: !tt.ptr<f16>, %pb: !tt.ptr<f16>, %pc: !tt.ptr<f64>) {
    %ar = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #a2}>>
    %ac = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #a2}>>
    %ar1 = tt.expand_dims %ar {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #a2}>> -> tensor<16x1xi32, #a2>
    %ac1 = tt.expand_dims %ac {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #a2}>> -> tensor<1x32xi32, #a2>
    %an = arith.constant dense<32> : tensor<16x1xi32, #a2>
    %am = arith.muli %ar1, %an : tensor<16x1xi32, #a2>
    %arb = tt.broadcast %am : tensor<16x1xi32, #a2> -> tensor<16x32xi32, #a2>
    %acb = tt.broadcast %ac1 : tensor<1x32xi32, #a2> -> tensor<16x32xi32, #a2>
    %ai = arith.addi %arb, %acb : tensor<16x32xi32, #a2>
    %as = tt.splat %pa : !tt.ptr<f16> -> tensor<16x32x!tt.ptr<f16>, #a2>
    %ap = tt.addptr %as, %ai : tensor<16x32x!tt.ptr<f16>, #a2>, tensor<16x32xi32, #a2>
    %br = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #b2}>>
    %bc = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #b2}>>
    %br1 = tt.expand_dims %br {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #b2}>> -> tensor<32x1xi32, #b2>
    %bc1 = tt.expand_dims %bc {axis = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #b2}>> -> tensor<1x8xi32, #b2>
    %bn = arith.constant dense<8> : tensor<32x1xi32, #b2>
    %bm = arith.muli %br1, %bn : tensor<32x1xi32, #b2>
    %brb = tt.broadcast %bm : tensor<32x1xi32, #b2> -> tensor<32x8xi32, #b2>
    %bcb = tt.broadcast %bc1 : tensor<1x8xi32, #b2> -> tensor<32x8xi32, #b2>
    %bi = arith.addi %brb, %bcb : tensor<32x8xi32, #b2>
    %bs = tt.splat %pb : !tt.ptr<f16> -> tensor<32x8x!tt.ptr<f16>, #b2>
    %bp = tt.addptr %bs, %bi : tensor<32x8x!tt.ptr<f16>, #b2>, tensor<32x8xi32, #b2>
    %cr = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #mma}>>
    %cc = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #mma}>>
    %cr1 = tt.expand_dims %cr {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<16x1xi32, #mma>
    %cc1 = tt.expand_dims %cc {axis = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x8xi32, #mma>
    %cn = arith.constant dense<8> : tensor<16x1xi32, #mma>
    %cm = arith.muli %cr1, %cn : tensor<16x1xi32, #mma>
    %crb = tt.broadcast %cm : tensor<16x1xi32, #mma> -> tensor<16x8xi32, #mma>
    %ccb = tt.broadcast %cc1 : tensor<1x8xi32, #mma> -> tensor<16x8xi32, #mma>
    %ci = arith.addi %crb, %ccb : tensor<16x8xi32, #mma>
    %cs = tt.splat %pc : !tt.ptr<f64> -> tensor<16x8x!tt.ptr<f64>, #mma>
    %cp = tt.addptr %cs, %ci : tensor<16x8x!tt.ptr<f64>, #mma>, tensor<16x8xi32, #mma>
    %x = tt.load %ap : tensor<16x32x!tt.ptr<f16>, #a2>
    %y = tt.load %bp : tensor<32x8x!tt.ptr<f16>, #b2>
    %xw = arith.extf %x : tensor<16x32xf16, #a2> to tensor<16x32xf64, #a2>
    %yw = arith.extf %y : tensor<32x8xf16, #b2> to tensor<32x8xf64, #b2>
    %zero = arith.constant dense<0.0> : tensor<16x8xf64, #mma>
    %d = tt.dot %xw, %yw, %zero, inputPrecision = tf32 : tensor<16x32xf64, #a2> * tensor<32x8xf64, #b2> -> tensor<16x8xf64, #mma>
    tt.store %cp, %d : tensor<16x8x!tt.ptr<f64>, #mma>
    tt.return
  }
}
