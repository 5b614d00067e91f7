// RUN: tritonx-opt %s -p 'widen-float8' | filecheck %s

// CHECK-LABEL: @sum
// CHECK: %[[X:.*]] = tt.fp_to_fp %x : tensor<32xf8E5M2> -> tensor<32xf32>
// CHECK: %[[Y:.*]] = tt.fp_to_fp %y : tensor<32xf8E5M2> -> tensor<32xf32>
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[Y]] : tensor<32xf32>
// CHECK: tt.fp_to_fp %[[S]], rounding = rtne : tensor<32xf32> -> tensor<32xf8E5M2>
tt.func public @sum(%x: tensor<32xf8E5M2>, %y: tensor<32xf8E5M2>) -> tensor<32xf8E5M2> {
  %z = arith.addf %x, %y : tensor<32xf8E5M2>
  tt.return %z : tensor<32xf8E5M2>
}

// A result of another type stays; so does a quotient's precision.
// CHECK-LABEL: @mixed
// CHECK: arith.cmpf olt, {{.*}} : f32
// CHECK: tt.precise_divf {{.*}} : f32
// CHECK: arith.fptosi {{.*}} : f32 to i32
// CHECK-NOT: tt.fp_to_fp
// CHECK: arith.select {{.*}} : f8E4M3FN
tt.func public @mixed(%x: f8E4M3FN, %y: f8E4M3FN) -> (f8E4M3FN, f8E4M3FN, i32) {
  %c = arith.cmpf olt, %x, %y : f8E4M3FN
  %q = arith.divf %x, %y : f8E4M3FN
  %i = arith.fptosi %x : f8E4M3FN to i32
  %s = arith.select %c, %x, %y : f8E4M3FN
  tt.return %q, %s, %i : f8E4M3FN, f8E4M3FN, i32
}

// The product and the sum of three numbers are exact in f64 only.
// CHECK-LABEL: @fma
// CHECK: math.fma {{.*}} : f64
// CHECK: tt.fp_to_fp {{.*}}, rounding = rtne : f64 -> f8E5M2FNUZ
tt.func public @fma(%x: f8E5M2FNUZ) -> f8E5M2FNUZ {
  %y = math.fma %x, %x, %x : f8E5M2FNUZ
  tt.return %y : f8E5M2FNUZ
}

// CHECK-LABEL: @rem
// CHECK: %[[M:.*]] = arith.mulf
// CHECK: %[[R:.*]] = arith.remf %{{.*}}, %[[M]] : f32
// CHECK: arith.remf %[[R]], %{{.*}} : f32
tt.func public @rem(%x: f8E5M2, %y: f8E5M2) -> f8E5M2 {
  %z = arith.remf %x, %y : f8E5M2
  tt.return %z : f8E5M2
}

// CHECK-LABEL: @region
// CHECK: "tt.reduce"
// CHECK: arith.addf {{.*}} : f32
// CHECK: tt.reduce.return {{.*}} : f8E5M2
tt.func public @region(%x: tensor<32xf8E5M2>) -> f8E5M2 {
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f8E5M2, %b: f8E5M2):
    %t = arith.addf %a, %b : f8E5M2
    tt.reduce.return %t : f8E5M2
  }) : (tensor<32xf8E5M2>) -> f8E5M2
  tt.return %s : f8E5M2
}

// CHECK-LABEL: @wide
// CHECK-NEXT: arith.addf %x, %x : f16
// CHECK-NEXT: tt.return
tt.func public @wide(%x: f16) -> f16 {
  %y = arith.addf %x, %x : f16
  tt.return %y : f16
}
