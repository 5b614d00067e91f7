// RUN: tritonx-opt %s --split-input-file --verify-diagnostics -p "allocate-warp-groups{registers=65536}"

module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @too_many() {
    // expected-error@+1 {{the partitions ask for [248, 248, 248] registers a thread, which leaves 0 for the kernel's own warps of the 128 that each of 16 warps has; they need 24}}
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 248, 248, 248>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    }
    partition1() num_warps(4) {
      ttg.warp_return
    }
    partition2() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 2 : i32} {
  tt.func public @half_a_group() {
    // expected-error@+1 {{partitions ask for registers, which whole warp groups share out; the kernel has 2 warps}}
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 64>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
