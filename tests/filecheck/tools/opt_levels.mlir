// RUN: tritonx-opt %s --target cuda:90 -t llvm | filecheck %s --check-prefix LLVM
// RUN: tritonx-opt %s --target cuda:90 -t ptx | filecheck %s --check-prefix PTX
// RUN: tritonx-opt %s --target hip:gfx942 -t amdgcn | filecheck %s --check-prefix AMDGCN
// RUN: tritonx-opt %s --target cpu -t llvm | filecheck %s --check-prefix CPU

// IR of every later level goes on from where it is, with the same result.
// RUN: tritonx-opt %s --target cuda:90 -t ptx -o %t.direct
// RUN: tritonx-opt %s --target cuda:90 --until ttir -o %t.ttir && tritonx-opt %t.ttir --target cuda:90 -t ptx -o %t.1 && cmp %t.direct %t.1
// RUN: tritonx-opt %s --target cuda:90 --until ttgir -o %t.ttgir && tritonx-opt %t.ttgir --target cuda:90 -t ptx -o %t.2 && cmp %t.direct %t.2

// So does the text of an emit stage, known by the name of its file or by --from.
// RUN: tritonx-opt %s --target cuda:90 -t llvm -o %t.llir && tritonx-opt %t.llir --target cuda:90 -t ptx -o %t.3 && cmp %t.direct %t.3
// RUN: cat %t.llir | tritonx-opt - --target cuda:90 --from ptx -t ptx -o %t.4 && cmp %t.direct %t.4
// RUN: tritonx-opt %s --target hip:gfx1100 -t llvm -o %t.ll && tritonx-opt %t.ll --target hip:gfx1100 -t amdgcn | filecheck %s --check-prefix AMDGCN
// RUN: cp %t.direct %t.ptx && not tritonx-opt %t.ptx --target cuda:90 -t llir 2>&1 | filecheck %s --check-prefix BEHIND
// RUN: not tritonx-opt %t.ptx --target cuda:90 -p cse -t cubin 2>&1 | filecheck %s --check-prefix PASSES

// Layouts without their memory, as another compiler writes them: it is placed, and barriers are inserted.
// RUN: tritonx-opt %s --target cuda:90 -p "assign-layouts{target=\"cuda:90\"}" -o %t.bare && tritonx-opt %t.bare --target cuda:90 -t ptx | filecheck %s --check-prefix BARE

// CPU: define
// LLVM: @sum
// PTX: .visible .entry sum(
// AMDGCN: sum:
// BARE: .visible .entry sum(
// BARE: bar.sync
// BEHIND: error: the input is the output of stage 'ptx': -t or --until must name a later stage
// PASSES: error: the input is the output of stage 'ptx': no passes can run on it
tt.func public @sum(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %a = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %b = tt.addptr %a, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %v = tt.load %b : tensor<256x!tt.ptr<f32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %c = arith.addf %x, %y : f32
    tt.reduce.return %c : f32
  }) : (tensor<256xf32>) -> f32
  tt.store %q, %s : !tt.ptr<f32>
  tt.return
}
