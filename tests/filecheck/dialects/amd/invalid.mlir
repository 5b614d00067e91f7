// RUN: tritonx-opt %s --split-input-file --verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%p: !tt.ptr<f32>, %o: tensor<128x64xi32, #blocked>) {
    // expected-error@+1 {{!tt.ptr<f32> does not point to f16 in global memory}}
    %0 = "amdg.buffer_load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}> : (!tt.ptr<f32>, tensor<128x64xi32, #blocked>) -> tensor<128x64xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%p: !tt.ptr<i32>, %o: tensor<128x64xi32, #blocked>, %x: tensor<128x64xi32, #blocked>) {
    // expected-error@+1 {{fadd does not work on tensor<128x64xi32}}
    %0 = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %x, %p[%o] : tensor<128x64xi32, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%p: !tt.ptr<f16>, %o: tensor<128x64xi32, #blocked>, %x: tensor<128x64xf16, #blocked>) {
    // expected-error@+1 {{max does not work on tensor<128x64xf16}}
    %0 = amdg.buffer_atomic_rmw max, relaxed, gpu, %x, %p[%o] : tensor<128x64xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%p: !tt.ptr<i8>, %o: tensor<128x64xi32, #blocked>, %x: tensor<128x64xi8, #blocked>) {
    // expected-error@+1 {{a compare-and-swap is of 16, 32 or 64 bits, got tensor<128x64xi8}}
    %0 = amdg.buffer_atomic_cas relaxed, gpu, %x, %x, %p[%o] : tensor<128x64xi8, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%p: !tt.ptr<f16>, %o: tensor<128x64xi64, #blocked>, %x: tensor<128x64xf16, #blocked>) {
    // expected-error@+1 {{the type of 'offsets' must be tensor<128x64xi32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>>, because}}
    "amdg.buffer_store"(%x, %p, %o) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<128x64xf16, #blocked>, !tt.ptr<f16>, tensor<128x64xi64, #blocked>) -> ()
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%x: tensor<128x64xf16, #blocked>) {
    // expected-error@+1 {{[48, 80) is outside of dimension 1 of tensor<128x64xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>>}}
    %0 = amdg.extract_slice %x [0, 48] : tensor<128x64xf16, #blocked> to tensor<128x32xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%x: tensor<128x64xf16, #blocked>) {
    // expected-error@+1 {{[64, 96) is outside of dimension 1 of tensor<128x64xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>>}}
    %0 = amdg.extract_slice %x [0, 64] : tensor<128x64xf16, #blocked> to tensor<128x32xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%x: tensor<128x64xf16, #blocked>) {
    // expected-error@+1 {{tensor<128x128xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>> takes 2 tiles of tensor<128x64xf16, #}}
    %0 = amdg.concat %x, %x, %x : tensor<128x64xf16, #blocked>, tensor<128x64xf16, #blocked>, tensor<128x64xf16, #blocked> -> tensor<128x128xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%x: tensor<128x64xf16, #blocked>) {
    // expected-error@+1 {{only the layout may change, got tensor<128x64xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>> -> ten}}
    %0 = amdg.in_thread_transpose %x : tensor<128x64xf16, #blocked> -> tensor<64x128xf16, #other>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%p: tensor<64x64xi8, #blocked>, %b: tensor<64x64xbf16, #blocked>) {
    // expected-error@+1 {{the scale must have the result's shape, got tensor<64x64xbf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, }}
    %0 = amdg.scaled_upcast_fp4 %p scale %b {axis = 1 : i32} : tensor<64x64xi8, #blocked>, tensor<64x64xbf16, #blocked> -> tensor<64x128xbf16, #blocked>
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f() {
    // expected-error@+1 {{expected one of none, attention}}
    amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<other>}
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f() {
    // expected-error@+1 {{'num_inst' must not be negative, got -1}}
    %0 = amdg.async_wait {num_inst = -1 : i32}
    tt.return
  }
}
