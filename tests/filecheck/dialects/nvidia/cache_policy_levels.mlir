// RUN: tritonx-opt %s --print-level 3.6 --verify-diagnostics
// RUN: tritonx-opt %s --print-level 3.8 --verify-diagnostics

tt.func @f(%p: tensor<512x!tt.ptr<f32>>) {
  %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l1 = evict_first>} : tensor<512x!tt.ptr<f32>>
  // expected-error@+1 {{has no words for #ttng.cache_policy<l2_prefetch_size = 64 : i32>}}
  %1 = tt.load %p {cachePolicy = #ttng.cache_policy<l2_prefetch_size = 64 : i32>} : tensor<512x!tt.ptr<f32>>
  tt.return
}
