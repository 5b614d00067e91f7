// RUN: tritonx-opt %s -p use-buffer-accesses | filecheck %s

#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [2], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // A loop whose loads run ahead carries a pointer once for each iteration between: each is the next one of the last,
  // and what is behind the loop is in the buffer too.
  // CHECK-LABEL: @chain
  // CHECK: scf.for
  // CHECK: amdg.buffer_load %{{.*}}[%range]
  // CHECK: amdg.buffer_load %{{.*}}[%range]
  tt.func public @chain(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c512 = arith.constant 512 : i32
    %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #line>
    %zero = arith.constant dense<0.0> : tensor<512xf32, #line>
    %second = tt.addptr %p, %c512 : !tt.ptr<f32>, i32
    %now, %next, %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p, %b = %second, %total = %zero) -> (!tt.ptr<f32>, !tt.ptr<f32>, tensor<512xf32, #line>) : i32 {
      %after = tt.addptr %b, %c512 : !tt.ptr<f32>, i32
      %tile = tt.splat %b : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
      %ptrs = tt.addptr %tile, %range : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      %x = tt.load %ptrs : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %total, %x : tensor<512xf32, #line>
      scf.yield %b, %after, %more : !tt.ptr<f32>, !tt.ptr<f32>, tensor<512xf32, #line>
    }
    %behind = tt.splat %now : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
    %last = tt.addptr %behind, %range : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
    %y = tt.load %last : tensor<512x!tt.ptr<f32>, #line>
    %out = arith.addf %sum, %y : tensor<512xf32, #line>
    tt.return %out : tensor<512xf32, #line>
  }

  // One of two arrays, of which one may be larger.
  // CHECK-LABEL: @either
  // CHECK-NOT: amdg.buffer_load
  // CHECK: tt.return
  tt.func public @either(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #line>
    %zero = arith.constant dense<0.0> : tensor<512xf32, #line>
    %a, %b, %sum = scf.for %i = %c0 to %n step %c1 iter_args(%r = %p, %s = %q, %total = %zero) -> (!tt.ptr<f32>, !tt.ptr<f32>, tensor<512xf32, #line>) : i32 {
      %tile = tt.splat %r : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #line>
      %ptrs = tt.addptr %tile, %range : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      %x = tt.load %ptrs : tensor<512x!tt.ptr<f32>, #line>
      %more = arith.addf %total, %x : tensor<512xf32, #line>
      scf.yield %s, %r, %more : !tt.ptr<f32>, !tt.ptr<f32>, tensor<512xf32, #line>
    }
    tt.return %sum : tensor<512xf32, #line>
  }
}
