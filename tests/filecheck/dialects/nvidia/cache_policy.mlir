// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-level 3.9 | tritonx-opt | filecheck %s

module {
  tt.func @policies(%p: tensor<512x!tt.ptr<f32>>) {
    %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l1 = no_allocate, l2_primary = evict_last, l2_secondary = evict_first, l2_fraction = 5.000000e-01 : f32, l2_prefetch_size = 256 : i32>} : tensor<512x!tt.ptr<f32>>
    %1 = tt.load %p {cachePolicy = #ttng.cache_policy<>} : tensor<512x!tt.ptr<f32>>
    %2 = tt.load %p {cachePolicy = #ttng.cache_policy<cache_modifier = none>} : tensor<512x!tt.ptr<f32>>
    tt.store %p, %0 {cachePolicy = #ttng.cache_policy<l2_fraction = 0.1 : f32, l2_secondary = evict_unchanged, l2_primary = evict_unchanged>} : tensor<512x!tt.ptr<f32>>
    tt.return
  }
}

// CHECK: %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l1 = no_allocate, l2_primary = evict_last, l2_secondary = evict_first, l2_fraction = 5.000000e-01 : f32, l2_prefetch_size = 256 : i32>} : tensor<512x!tt.ptr<f32>>
// CHECK-NEXT: %1 = tt.load %p {cachePolicy = #ttng.cache_policy<>} :
// CHECK-NEXT: %2 = tt.load %p {cachePolicy = #ttng.cache_policy<>} :
// CHECK-NEXT: tt.store %p, %0 {cachePolicy = #ttng.cache_policy<l2_primary = evict_unchanged, l2_secondary = evict_unchanged, l2_fraction = 1.000000e-01 : f32>} :
