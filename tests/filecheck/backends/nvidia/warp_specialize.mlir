// RUN: tritonx-opt %s -p allocate-warp-groups{registers=65536},allocate-shared-memory --target cuda:90 -t ptx | filecheck %s

// Four warps of the kernel's own, four of the first partition, one of the second, three that have nothing to do: 384
// threads of 168 registers. The kernel's own warps part from the others at once.
// CHECK-LABEL: .visible .entry specialized(
// CHECK: .reqntid 384
// CHECK: .maxnreg 168
// CHECK: setp.lt.u32 [[OWN:%p[0-9]+]], {{%r[0-9]+}}, 4;
// CHECK: @[[OWN]] bra
// A value that is computed is handed over in shared memory, with the op's number; an argument is not.
// CHECK: st.shared.b32 [shared_memory+[[AREA:[0-9]+]]], 0;
// CHECK: st.shared.b32
// CHECK: bar.sync 0;
// 12 x 168 = 2016, of which the partitions' two warp groups take 4 x 232 and 4 x 96: 176 are left for four warps. They
// are given back before all meet.
// CHECK: setmaxnreg.inc.sync.aligned.u32 176;
// CHECK: bar.sync 1, 128;
// CHECK: setmaxnreg.dec.sync.aligned.u32 168;
// CHECK: bar.sync 0;
// CHECK: st.shared.b32 [shared_memory+[[AREA]]], -1;
// CHECK: bar.sync 0;
// CHECK: ret;
// The others wait, take the registers of their warp group, run their partition, and give back what is too many before
// all meet; a group that has too few takes them behind that.
// CHECK: bar.sync 0;
// CHECK: ld.volatile.shared.b32
// CHECK: setmaxnreg.inc.sync.aligned.u32 232;
// CHECK: setmaxnreg.dec.sync.aligned.u32 96;
// CHECK: bar.sync 2, 128;
// CHECK: bar.warp.sync
// CHECK: setmaxnreg.dec.sync.aligned.u32 168;
// CHECK: bar.sync 0;
// CHECK: setmaxnreg.inc.sync.aligned.u32 168;

#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @specialized(%p: !tt.ptr<i32>, %n: i32) {
    %pid = tt.get_program_id x : i32
    %twice = arith.addi %pid, %n : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, #smem, mutable>
    ttg.warp_specialize(%p, %twice, %m) attributes {requestedRegisters = array<i32: 231, 96>}
    default {
      ttg.local_barrier
      tt.store %p, %twice : !tt.ptr<i32>
      ttg.warp_yield
    }
    partition0(%q: !tt.ptr<i32>, %x: i32, %b: !ttg.memdesc<1xi64, #one, #smem, mutable>) num_warps(4) {
      ttg.local_barrier
      %1 = arith.constant 1 : i32
      %at = tt.addptr %q, %1 : !tt.ptr<i32>, i32
      tt.store %at, %x : !tt.ptr<i32>
      ttg.warp_return
    }
    partition1(%q: !tt.ptr<i32>, %x: i32, %b: !ttg.memdesc<1xi64, #one, #smem, mutable>) num_warps(1) {
      ttg.local_barrier
      %2 = arith.constant 2 : i32
      %at = tt.addptr %q, %2 : !tt.ptr<i32>, i32
      tt.store %at, %x : !tt.ptr<i32>
      ttg.warp_return
    } : (!tt.ptr<i32>, i32, !ttg.memdesc<1xi64, #one, #smem, mutable>) -> ()
    tt.return
  }
}
