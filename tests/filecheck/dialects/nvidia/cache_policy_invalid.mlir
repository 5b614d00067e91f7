// RUN: tritonx-opt %s --split-input-file --verify-diagnostics

tt.func @f(%p: tensor<512x!tt.ptr<f32>>) {
  // expected-error@+1 {{a cache modifier stands beside no priority of the first-level cache}}
  %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l1 = evict_first, cache_modifier = cg>} : tensor<512x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @f(%p: tensor<512x!tt.ptr<f32>>) {
  // expected-error@+1 {{l2_primary, l2_secondary and l2_fraction stand together}}
  %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l2_primary = evict_first>} : tensor<512x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @f(%p: tensor<512x!tt.ptr<f32>>) {
  // expected-error@+1 {{'evict_last' is none of evict_unchanged, evict_first}}
  %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l2_primary = evict_first, l2_secondary = evict_last, l2_fraction = 1.0 : f32>} : tensor<512x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @f(%p: tensor<512x!tt.ptr<f32>>) {
  // expected-error@+1 {{l2_fraction must be above 0 and at most 1, got 2.0}}
  %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l2_primary = evict_first, l2_secondary = evict_first, l2_fraction = 2.0 : f32>} : tensor<512x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @f(%p: tensor<512x!tt.ptr<f32>>) {
  // expected-error@+1 {{l2_prefetch_size must be one of 64, 128, 256, got 32}}
  %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l2_prefetch_size = 32 : i32>} : tensor<512x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @f(%p: tensor<512x!tt.ptr<f32>>) {
  // expected-error@+1 {{unexpected 'l3', the keys are cache_modifier, l1, l2_primary, l2_secondary, l2_fraction, l2_prefetch_size}}
  %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l3 = evict_first>} : tensor<512x!tt.ptr<f32>>
  tt.return
}
