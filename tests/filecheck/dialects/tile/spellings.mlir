// RUN: tritonx-opt %s | filecheck %s
// RUN: tritonx-opt %s --print-level 3.6 | filecheck %s --check-prefix FIRST
// RUN: tritonx-opt %s --print-level 3.8 | filecheck %s --check-prefix MIDDLE
// RUN: tritonx-opt %s --print-level 3.9 | filecheck %s --check-prefix LAST
// RUN: tritonx-opt %s --print-level 3.9 | tritonx-opt | filecheck %s

// Words of Triton 3.9 for address spaces and caching, and 3.8's descriptors.

module {
  tt.func @spellings(%g: !tt.ptr<f32, "global">, %c: !tt.ptr<f32, "constant">, %d: !tt.ptr<i8, "descriptor">, %n: !tt.tensordesc<8x16xf16>) -> f32 {
    %0 = tt.load %c {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>} : !tt.ptr<f32, "constant">
    %1 = tt.load %g {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_normal>, isVolatile = true} : !tt.ptr<f32, "global">
    tt.store %g, %1 {cachePolicy = #tt.cache_policy<cache_modifier = wt, eviction_policy = evict_first>} : !tt.ptr<f32>
    %2 = tt.approx_divf %0, %1 : f32
    tt.return %2 : f32
  }
}

// CHECK: tt.func @spellings(%g: !tt.ptr<f32>, %c: !tt.ptr<f32, "constant">, %d: !tt.ptr<i8, 0>, %n: !tt.tensordesc<tensor<8x16xf16>>) -> f32
// CHECK-NEXT: %0 = tt.load %c cacheModifier = cg evictionPolicy = evict_last : !tt.ptr<f32, "constant">
// CHECK-NEXT: %1 = tt.load %g {isVolatile = true} : !tt.ptr<f32>
// CHECK-NEXT: tt.store %g, %1 cacheModifier = wt evictionPolicy = evict_first : !tt.ptr<f32>
// CHECK-NEXT: %2 = tt.approx_divf %0, %1 : f32

// FIRST: tt.func @spellings(%g: !tt.ptr<f32>, %c: !tt.ptr<f32>, %d: !tt.ptr<i8, 0>, %n: !tt.tensordesc<tensor<8x16xf16>>) -> f32
// FIRST-NEXT: %0 = tt.load %c cacheModifier = cg evictionPolicy = evict_last : !tt.ptr<f32>
// FIRST-NEXT: %1 = tt.load %g {isVolatile = true} : !tt.ptr<f32>
// FIRST-NEXT: tt.store %g, %1 cacheModifier = wt evictionPolicy = evict_first : !tt.ptr<f32>
// FIRST-NEXT: %2 = arith.divf %0, %1 : f32

// MIDDLE: tt.func @spellings(%g: !tt.ptr<f32>, %c: !tt.ptr<f32>, %d: !tt.ptr<i8, 0>, %n: !tt.tensordesc<8x16xf16>) -> f32
// MIDDLE-NEXT: %0 = tt.load %c cacheModifier = cg evictionPolicy = evict_last : !tt.ptr<f32>

// LAST: tt.func @spellings(%g: !tt.ptr<f32>, %c: !tt.ptr<f32, "constant">, %d: !tt.ptr<i8, "descriptor">, %n: !tt.tensordesc<8x16xf16>) -> f32
// LAST-NEXT: %0 = tt.load %c {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>} : !tt.ptr<f32, "constant">
// LAST-NEXT: %1 = tt.load %g {isVolatile = true} : !tt.ptr<f32>
// LAST-NEXT: tt.store %g, %1 {cachePolicy = #tt.cache_policy<cache_modifier = wt, eviction_policy = evict_first>} : !tt.ptr<f32>
// LAST-NEXT: %2 = tt.approx_divf %0, %1 : f32
