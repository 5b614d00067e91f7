// RUN: tritonx-opt %s --target cuda:90 --until ptx | filecheck %s
// RUN: tritonx-opt %s --target cuda:75 --until ptx | filecheck %s

// All threads meet in front of a release and behind an acquire. A poll reads relaxed, and one fence acquires.
// CHECK-LABEL: .visible .entry pass_on(
// CHECK: st.global.b32
// CHECK: bar.sync 0;
// CHECK: @%p{{[0-9]+}} st.release.gpu.global.b32
// CHECK: [[LOOP:\$L__BB[0-9_]+]]:
// CHECK: ld.relaxed.gpu.global.b32
// CHECK-NOT: %globaltimer
// CHECK: bra [[LOOP]];
// CHECK: fence.acq_rel.gpu;
// CHECK: bar.sync 0;
// CHECK: ld.global.b32
// CHECK: ret;
tt.func public @pass_on(%data: !tt.ptr<i32>, %flag: !tt.ptr<i32>, %n: i32) {
  %true = arith.constant true
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %d = tt.splat %data : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %p = tt.addptr %d, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  tt.store %p, %i : tensor<128x!tt.ptr<i32>>
  tt.atomic_store release, gpu, %flag, %n, %true : !tt.ptr<i32>
  %one = tt.addptr %flag, %n : !tt.ptr<i32>, i32
  %0 = tt.atomic_poll acquire, gpu, %one, %n : !tt.ptr<i32>, i32 -> i1
  %1 = tt.load %p : tensor<128x!tt.ptr<i32>>
  %2 = arith.addi %1, %i : tensor<128xi32>
  tt.store %p, %2 : tensor<128x!tt.ptr<i32>>
  tt.return
}

// Relaxed accesses order nothing; each element is one access, and a poll with a timeout reads the timer.
// CHECK-LABEL: .visible .entry relaxed(
// CHECK-NOT: bar.sync
// CHECK-COUNT-2: ld.relaxed.sys.global.b16
// CHECK-NOT: bar.sync
// CHECK: mov.u64 %rd{{[0-9]+}}, %globaltimer;
// CHECK: ld.relaxed.cta.global.b16
// CHECK: %globaltimer
// CHECK-NOT: fence
// CHECK: bar.sync
// CHECK-COUNT-2: st.relaxed.sys.global.b16
// CHECK: ret;
tt.func public @relaxed(%x: !tt.ptr<i16>, %t: i64) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %d = tt.splat %x : !tt.ptr<i16> -> tensor<256x!tt.ptr<i16>>
  %p = tt.addptr %d, %i : tensor<256x!tt.ptr<i16>>, tensor<256xi32>
  %0 = tt.atomic_load relaxed, sys, %p : (tensor<256x!tt.ptr<i16>>) -> tensor<256xi16>
  %1 = tt.atomic_poll relaxed, cta, %p, %0 timeout %t : tensor<256x!tt.ptr<i16>>, tensor<256xi16> -> tensor<256xi1>
  tt.atomic_store relaxed, sys, %p, %0, %1 : tensor<256x!tt.ptr<i16>>
  tt.return
}

// Every thread knows what a poll without a timeout gives: nothing passes through shared memory.
// CHECK-LABEL: .visible .entry known(
// CHECK-NOT: .shared
// CHECK: ld.relaxed.gpu.global.b32
// CHECK-NOT: .shared
// CHECK: bar.sync
// CHECK-NOT: .shared
// CHECK: ret;
tt.func public @known(%flag: !tt.ptr<i32>, %out: !tt.ptr<i8>, %n: i32) {
  %0 = tt.atomic_poll acquire, gpu, %flag, %n : !tt.ptr<i32>, i32 -> i1
  %1 = arith.extui %0 : i1 to i8
  tt.store %out, %1 : !tt.ptr<i8>
  tt.return
}
