// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Synchronisation and the instruction scheduler.

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @schedule(%c: i1, %t: !ttg.async.token, %b: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %n: i32) {
    amdg.cond_barrier %c
    amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<attention>}
    %0 = amdg.async_wait %t {num_inst = 2 : i32}
    amdg.memory_counter_wait load(1) store(2) ds(3)
    amdg.memory_counter_wait ds(0)
    amdg.init_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    amdg.wait_barrier %b, %n : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %1 = amdg.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable> -> i32
    amdg.async_copy_mbarrier_arrive %b : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    rocdl.s.setprio 1
    rocdl.sched.barrier 0
    tt.return
  }
}

// CHECK: #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// CHECK-NEXT: #smem = #ttg.shared_memory
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
// CHECK-NEXT: tt.func @schedule(%c: i1, %t: !ttg.async.token, %b: !ttg.memdesc<1xi64, #shared, #smem, mutable>, %n: i32) {
// CHECK-NEXT: amdg.cond_barrier %c
// CHECK-NEXT: amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<attention>}
// CHECK-NEXT: %0 = amdg.async_wait %t {num_inst = 2 : i32}
// CHECK-NEXT: amdg.memory_counter_wait load(1) store(2) ds(3)
// CHECK-NEXT: amdg.memory_counter_wait ds(0)
// CHECK-NEXT: amdg.init_barrier %b, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: amdg.wait_barrier %b, %n : !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: %1 = amdg.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable> -> i32
// CHECK-NEXT: amdg.async_copy_mbarrier_arrive %b : !ttg.memdesc<1xi64, #shared, #smem, mutable>
// CHECK-NEXT: rocdl.s.setprio 1
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: tt.return
