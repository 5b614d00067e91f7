// RUN: tritonx-opt %s --target cuda:80 --option num_warps=1 --until ptx | filecheck %s --check-prefixes CHECK,AMPERE
// RUN: tritonx-opt %s --target cuda:100 --option num_warps=1 --until ptx | filecheck %s --check-prefixes CHECK,BLACKWELL
// RUN: tritonx-opt %s --target cuda:75 --option num_warps=1 --until ptx | filecheck %s --check-prefix TURING

// TURING-NOT: redux

// An integer, whatever its width, takes one instruction.
// CHECK-LABEL: .entry sum(
// CHECK-NOT: shfl.sync.bfly
// CHECK: redux.sync.add.s32
// CHECK-NOT: shfl.sync.bfly
// CHECK: ret;
tt.func public @sum(%x: !tt.ptr<i8>, %out: !tt.ptr<i8>) {
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
  %xp = tt.addptr %xs, %range : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
  %v = tt.load %xp : tensor<64x!tt.ptr<i8>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: i8, %b: i8):
    %c = arith.addi %a, %b : i8
    tt.reduce.return %c : i8
  }) : (tensor<64xi8>) -> i8
  tt.store %out, %s : !tt.ptr<i8>
  tt.return
}

// A float is compared as an integer of the same order, a NaN having the lowest place; where the instruction compares
// floats, as it is.
// CHECK-LABEL: .entry largest(
// AMPERE: setp.nan.f32
// AMPERE: redux.sync.max.s32
// BLACKWELL-NOT: setp.nan.f32
// BLACKWELL: redux.sync.max.f32
// CHECK-NOT: shfl.sync.bfly
// CHECK: ret;
tt.func public @largest(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %xp : tensor<64x!tt.ptr<f32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<64xf32>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// Sixteen lanes hold copies: of a maximum they do no harm, in a sum they would count twice.
// CHECK-LABEL: .entry copies(
// CHECK: redux.sync.min.s32
// CHECK: shfl.sync.bfly
// CHECK-NOT: redux
// CHECK: ret;
tt.func public @copies(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
  %range = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %range : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  %v = tt.load %xp : tensor<16x!tt.ptr<i32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.minsi %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<16xi32>) -> i32
  %t = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<16xi32>) -> i32
  %u = arith.muli %s, %t : i32
  tt.store %out, %u : !tt.ptr<i32>
  tt.return
}

// Of extended 16-bit numbers a thread compares pairs and extends what it finds.
// CHECK-LABEL: .entry halves(
// CHECK: max.f16x2
// CHECK-NOT: cvt.f32.f16
// CHECK: max.f16
// CHECK: cvt.f32.f16
// CHECK: redux.sync.max
// CHECK: ret;
// TURING-LABEL: .entry halves(
// TURING-NOT: max.f16
// TURING: max.f32
tt.func public @halves(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>) {
  %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %range : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  %v = tt.load %xp : tensor<256x!tt.ptr<f16>>
  %w = arith.extf %v : tensor<256xf16> to tensor<256xf32>
  %s = "tt.reduce"(%w) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<256xf32>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}
