// RUN: tritonx-opt %s --target cpu --until ttir | filecheck %s --check-prefix TTIR
// RUN: tritonx-opt %s --pipeline cpu:ttir | filecheck %s --check-prefix TTIR
// RUN: tritonx-opt %s --target cpu --until llir | filecheck %s --check-prefix LLIR
// RUN: tritonx-opt %s --target cpu -t llir | filecheck %s --check-prefix LLIR
// RUN: tritonx-opt %s --pipeline cpu:ttir --time-passes -o %t 2>&1 | filecheck %s --check-prefix TIME
// RUN: not tritonx-opt %s --target cpu --until beans 2>&1 | filecheck %s --check-prefix STAGE
// RUN: not tritonx-opt %s --target cuda:90 --until beans 2>&1 | filecheck %s --check-prefix LISTING

// What a launch runs, by name: the stages of a backend.
// TTIR: tt.func public @copy
// TTIR-NOT: arith.addi
// LLIR: define
// LLIR: load <
// TIME: ms {{.*}} inline
// TIME: ms {{.*}} fold
// TIME: total
// STAGE: error: cpu has no stage 'beans'; its stages are ttir, llir, obj
// LISTING: error: cuda:90 has no stage 'beans'; its stages are ttir, ttgir, llir, ptx, cubin, sass
tt.func public @copy(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %s = arith.addi %r, %zero : tensor<64xi32>
  %a = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %b = tt.addptr %a, %s : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %b : tensor<64x!tt.ptr<f32>>
  %c = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %d = tt.addptr %c, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %d, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}
