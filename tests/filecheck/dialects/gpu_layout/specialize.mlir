// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC

// The partitions are the regions of an op of their own, which only the generic form shows.
// GENERIC: "ttg.warp_specialize.partitions"

// Warp specialisation, and what the pipeliner leaves in between.

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @specialize(%n: i32, %c: i1) {
    %0:2 = ttg.warp_specialize(%n, %c) attributes {requestedRegisters = array<i32: 24, 232>, warpGroupStartIds = array<i32: 4, 8>}
    default {
      ttg.warp_yield %n, %c : i32, i1
    }
    partition0(%a: i32, %b: i1) num_warps(4) {
      %1 = arith.addi %a, %a : i32
      ttg.warp_return
    }
    partition1(%a: i32, %b: i1) num_warps(8) {
      ttg.warp_return
    } : (i32, i1) -> (i32, i1)
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    %2 = ttg.predicate_stage %n, %n, %n maxStage 3 stage 1 : i32 -> i1
    %3 = "ttg.mask"(%c) ({
      ttg.mask.return %n : i32
    }) : (i1) -> i32
    %4 = ttg.warp_id
    %5 = ttg.warp_id {omitUniformHint}
    tt.return
  }
}

// CHECK: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-NEXT: tt.func @specialize(%n: i32, %c: i1) {
// CHECK-NEXT: %0:2 = ttg.warp_specialize(%n, %c) attributes {requestedRegisters = array<i32: 24, 232>, warpGroupStartIds = array<i32: 4, 8>}
// CHECK-NEXT: default {
// CHECK-NEXT: ttg.warp_yield %n, %c : i32, i1
// CHECK: partition0(%a: i32, %b: i1) num_warps(4) {
// CHECK-NEXT: %1 = arith.addi %a, %a : i32
// CHECK-NEXT: ttg.warp_return
// CHECK: partition1(%a: i32, %b: i1) num_warps(8) {
// CHECK-NEXT: ttg.warp_return
// CHECK-NEXT: } : (i32, i1) -> (i32, i1)
// CHECK-NEXT: ttg.warp_specialize()
// CHECK-NEXT: default {
// CHECK-NEXT: ttg.warp_yield
// CHECK: partition0() num_warps(1) {
// CHECK-NEXT: ttg.warp_return
// CHECK-NEXT: } : () -> ()
// CHECK-NEXT: %1 = ttg.predicate_stage %n, %n, %n maxStage 3 stage 1 : i32 -> i1
// CHECK-NEXT: %2 = "ttg.mask"(%c) ({
// CHECK-NEXT: ttg.mask.return %n : i32
// CHECK-NEXT: }) : (i1) -> i32
// CHECK-NEXT: %3 = ttg.warp_id
// CHECK-NEXT: %4 = ttg.warp_id {omitUniformHint}
// CHECK-NEXT: tt.return
