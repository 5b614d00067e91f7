// RUN: tritonx-opt %s --target cuda:90 -t ptx | filecheck %s
// RUN: tritonx-opt %s --target cuda:80 -t ptx | filecheck %s --check-prefix BEFORE
// RUN: tritonx-opt %s --target hip:gfx942 -t amdgcn | filecheck %s --check-prefix AMD
// RUN: tritonx-opt %s --target cpu -t llvm | filecheck %s --check-prefix CPU

// Grids that begin early, where there are such launches; a quotient that is only about right, by each target's instruction.

// CHECK-LABEL: .visible .entry dependent(
// CHECK: griddepcontrol.wait;
// CHECK: ld.global
// CHECK: div.approx.ftz.f32
// CHECK: st.global
// CHECK: griddepcontrol.launch_dependents;

// BEFORE-LABEL: .visible .entry dependent(
// BEFORE-NOT: griddepcontrol
// BEFORE: ret;

// AMD-LABEL: dependent:
// AMD: v_rcp_f32
// AMD-NOT: v_div_scale_f32
// AMD: s_endpgm

// CPU: fdiv
tt.func public @dependent(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %one = arith.constant 1 : i32
  tt.grid_dependency_wait
  %v = tt.load %x : !tt.ptr<f32>
  %y = tt.addptr %x, %one : !tt.ptr<f32>, i32
  %w = tt.load %y : !tt.ptr<f32>
  %d = tt.approx_divf %v, %w : f32
  tt.store %o, %d : !tt.ptr<f32>
  tt.grid_dependency_launch_dependents
  tt.return
}
