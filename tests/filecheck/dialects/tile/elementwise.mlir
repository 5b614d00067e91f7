// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Pointers, conversions, precise arithmetic, inline assembly, device libraries, mapped regions.

module {
  tt.func @elementwise(%p: !tt.ptr<f32>, %s: !tt.ptr<f16, 3>, %n: i32, %l: i64, %x: tensor<64xf32>, %h: tensor<64xf16>, %i: tensor<64xi32>, %ps: tensor<64x!tt.ptr<f32>>) {
    %0 = tt.addptr %p, %n : !tt.ptr<f32>, i32
    %1 = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %2 = tt.addptr %s, %l : !tt.ptr<f16, 3>, i64
    %3 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
    %4 = tt.int_to_ptr %3 : i64 -> !tt.ptr<i8>
    %5 = tt.bitcast %x : tensor<64xf32> -> tensor<64xi32>
    %6 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>
    %7 = tt.fp_to_fp %h : tensor<64xf16> -> tensor<64xf32>
    %8 = tt.fp_to_fp %x, rounding = rtz : tensor<64xf32> -> tensor<64xf16>
    %9 = tt.fp_to_fp %x, rounding = rtne : tensor<64xf32> -> tensor<64xf8E5M2>
    %10 = tt.clampf %x, %x, %x, propagateNan = none : tensor<64xf32>
    %11 = tt.clampf %x, %x, %x, propagateNan = all : tensor<64xf32>
    %12 = tt.precise_sqrt %x : tensor<64xf32>
    %13 = tt.precise_divf %x, %x : tensor<64xf32>
    %14 = tt.mulhiui %i, %i : tensor<64xi32>
    %15 = tt.elementwise_inline_asm "shl.b32 $0, $1, 3; // \22quoted\22\0A" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %i : tensor<64xi32> -> tensor<64xi32>
    %16:2 = tt.elementwise_inline_asm "nop" {constraints = "=r,=r", packed_element = 2 : i32, pure = false} -> i32, i32
    %17 = tt.extern_elementwise %x, %x {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %18:2 = "tt.map_elementwise"(%x, %i) <{pack = 1 : i32}> ({
    ^bb0(%a: f32, %b: i32):
      tt.map_elementwise.return %b, %a : i32, f32
    }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xf32>)
    tt.return
  }

  tt.func @approximate(%x: tensor<64xf32>, %f: f32) {
    %0 = tt.approx_divf %x, %x : tensor<64xf32>
    %1 = tt.approx_divf %f, %f : f32
    tt.return
  }
}

// CHECK: tt.func @elementwise(%p: !tt.ptr<f32>, %s: !tt.ptr<f16, 3>, %n: i32, %l: i64, %x: tensor<64xf32>, %h: tensor<64xf16>, %i: tensor<64xi32>, %ps: tensor<64x!tt.ptr<f32>>) {
// CHECK-NEXT: %0 = tt.addptr %p, %n : !tt.ptr<f32>, i32
// CHECK-NEXT: %1 = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
// CHECK-NEXT: %2 = tt.addptr %s, %l : !tt.ptr<f16, 3>, i64
// CHECK-NEXT: %3 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
// CHECK-NEXT: %4 = tt.int_to_ptr %3 : i64 -> !tt.ptr<i8>
// CHECK-NEXT: %5 = tt.bitcast %x : tensor<64xf32> -> tensor<64xi32>
// CHECK-NEXT: %6 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>
// CHECK-NEXT: %7 = tt.fp_to_fp %h : tensor<64xf16> -> tensor<64xf32>
// CHECK-NEXT: %8 = tt.fp_to_fp %x, rounding = rtz : tensor<64xf32> -> tensor<64xf16>
// CHECK-NEXT: %9 = tt.fp_to_fp %x, rounding = rtne : tensor<64xf32> -> tensor<64xf8E5M2>
// CHECK-NEXT: %10 = tt.clampf %x, %x, %x, propagateNan = none : tensor<64xf32>
// CHECK-NEXT: %11 = tt.clampf %x, %x, %x, propagateNan = all : tensor<64xf32>
// CHECK-NEXT: %12 = tt.precise_sqrt %x : tensor<64xf32>
// CHECK-NEXT: %13 = tt.precise_divf %x, %x : tensor<64xf32>
// CHECK-NEXT: %14 = tt.mulhiui %i, %i : tensor<64xi32>
// CHECK-NEXT: %15 = tt.elementwise_inline_asm "shl.b32 $0, $1, 3; // \22quoted\22\0A" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %i : tensor<64xi32> -> tensor<64xi32>
// CHECK-NEXT: %16:2 = tt.elementwise_inline_asm "nop" {constraints = "=r,=r", packed_element = 2 : i32, pure = false} -> i32, i32
// CHECK-NEXT: %17 = tt.extern_elementwise %x, %x {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
// CHECK-NEXT: %18:2 = "tt.map_elementwise"(%x, %i) <{pack = 1 : i32}> ({
// CHECK-NEXT: ^bb0(%a: f32, %b: i32):
// CHECK-NEXT: tt.map_elementwise.return %b, %a : i32, f32
// CHECK-NEXT: }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xf32>)
// CHECK-NEXT: tt.return

// CHECK: tt.func @approximate
// CHECK-NEXT: %0 = tt.approx_divf %x, %x : tensor<64xf32>
// CHECK-NEXT: %1 = tt.approx_divf %f, %f : f32
