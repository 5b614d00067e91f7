// RUN: tritonx-opt %s --split-input-file -p allocate-warp-groups{registers=65536} | filecheck %s

// The widest partition has the first warps behind the kernel's own; the block has whole warp groups. What a thread may
// hold is rounded up to eights, and the kernel's own warps have what is left of 16 x 128 registers a warp group.
// CHECK: module attributes {ttg.maxnreg = 128 : i32, "ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 16 : i32}
// CHECK: ttg.warp_specialize() attributes {
// CHECK-SAME: actualRegisters = array<i32: 88, 24, 200, 24>
// CHECK-SAME: warpGroupStartIds = array<i32: 12, 4, 14>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @registers() {
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 24, 198, 16>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(2) {
      ttg.warp_return
    }
    partition1() num_warps(8) {
      ttg.warp_return
    }
    partition2() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

// No registers are asked for.
// CHECK: module attributes {"ttg.num-warps" = 2 : i32, "ttg.total-num-warps" = 8 : i32}
// CHECK: warpGroupStartIds = array<i32: 4>
// CHECK-NOT: actualRegisters
module attributes {"ttg.num-warps" = 2 : i32} {
  tt.func public @plain() {
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

// CHECK: module attributes {"ttg.num-warps" = 4 : i32}
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @none() {
    tt.return
  }
}

// -----

// No thread gets more at the launch than the module already allows: of 8 x 96, 4 x 120 are the partition's.
// CHECK: module attributes {ttg.maxnreg = 96 : i32, "ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 8 : i32}
// CHECK: actualRegisters = array<i32: 72, 120>
module attributes {"ttg.num-warps" = 4 : i32, ttg.maxnreg = 100 : i32} {
  tt.func public @limited() {
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 120>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
