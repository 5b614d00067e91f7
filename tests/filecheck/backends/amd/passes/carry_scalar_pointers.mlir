// RUN: tritonx-opt %s -p carry-scalar-pointers | filecheck %s
// RUN: tritonx-opt %s --target hip:gfx1201 --until amdgcn | filecheck %s --check-prefix ASM

// A tile of pointers that each iteration moves by one number: the base is loop-carried, the offsets are invariant. So does one that the
// loop gives back, and one of whose stride nothing is known: its buffer begins 2 GiB before the pointer, and so do offsets.

// CHECK: tt.func public @walk
// CHECK: scf.for {{.*}} iter_args(%[[BASE:.*]] = %p, {{.*}}) -> (!tt.ptr<f32>, tensor<16x64xf32>)
// CHECK-NEXT: %[[S:.*]] = tt.splat %[[BASE]] : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
// CHECK-NEXT: %[[ROWS:.*]] = tt.addptr %[[S]], %start
// CHECK-NEXT: %[[ALL:.*]] = tt.broadcast %[[ROWS]]
// CHECK-NEXT: tt.addptr %[[ALL]], %cs
// CHECK: tt.load
// CHECK: %[[NEXT:.*]] = tt.addptr %[[BASE]], %{{.*}} : !tt.ptr<f32>, i32
// CHECK: scf.yield %[[NEXT]], %{{.*}} : !tt.ptr<f32>, tensor<16x64xf32>
// CHECK: tt.splat %{{.*}} : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
// CHECK: tt.load
// CHECK: tt.func public @unknown_stride
// CHECK: scf.for {{.*}} -> (!tt.ptr<f32>, tensor<16x64xf32>)

// ASM-LABEL: {{^}}walk:
// ASM-NOT: global_load
// ASM: buffer_load_b128
// ASM-NOT: global_load
// ASM: s_endpgm
// ASM-LABEL: {{^}}unknown_stride:
// ASM-NOT: global_load
// ASM: 0x80000000
// ASM-NOT: global_load
// ASM: buffer_load_b128
// ASM-NOT: global_load
// ASM: s_endpgm
tt.func public @walk(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %positive = arith.cmpi sge, %stride, %zero : i32
  llvm.intr.assume %positive : i1
  %rows = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %columns = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %c = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = tt.splat %stride : i32 -> tensor<16x1xi32>
  %start = arith.muli %r, %s : tensor<16x1xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
  %first = tt.addptr %base, %start : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
  %all = tt.broadcast %first : tensor<16x1x!tt.ptr<f32>> -> tensor<16x64x!tt.ptr<f32>>
  %cs = tt.broadcast %c : tensor<1x64xi32> -> tensor<16x64xi32>
  %pointers = tt.addptr %all, %cs : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %step = arith.constant dense<64> : tensor<16x64xi32>
  %end, %total = scf.for %i = %zero to %n step %one iter_args(%at = %pointers, %sum = %none) -> (tensor<16x64x!tt.ptr<f32>>, tensor<16x64xf32>) : i32 {
    %x = tt.load %at : tensor<16x64x!tt.ptr<f32>>
    %more = arith.addf %sum, %x : tensor<16x64xf32>
    %next = tt.addptr %at, %step : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
    scf.yield %next, %more : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xf32>
  }
  %last = tt.load %end : tensor<16x64x!tt.ptr<f32>>
  %result = arith.addf %total, %last : tensor<16x64xf32>
  %sixty_four = arith.constant dense<64> : tensor<16x1xi32>
  %own = arith.muli %r, %sixty_four : tensor<16x1xi32>
  %owns = tt.broadcast %own : tensor<16x1xi32> -> tensor<16x64xi32>
  %to = arith.addi %owns, %cs : tensor<16x64xi32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<16x64x!tt.ptr<f32>>
  %places = tt.addptr %qs, %to : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
  tt.store %places, %result : tensor<16x64x!tt.ptr<f32>>
  tt.return
}
tt.func public @unknown_stride(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %rows = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %columns = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %c = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = tt.splat %stride : i32 -> tensor<16x1xi32>
  %start = arith.muli %r, %s : tensor<16x1xi32>
  %starts = tt.broadcast %start : tensor<16x1xi32> -> tensor<16x64xi32>
  %cs = tt.broadcast %c : tensor<1x64xi32> -> tensor<16x64xi32>
  %offsets = arith.addi %starts, %cs : tensor<16x64xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<16x64x!tt.ptr<f32>>
  %pointers = tt.addptr %base, %offsets : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %step = arith.constant dense<64> : tensor<16x64xi32>
  %end, %total = scf.for %i = %zero to %n step %one iter_args(%at = %pointers, %sum = %none) -> (tensor<16x64x!tt.ptr<f32>>, tensor<16x64xf32>) : i32 {
    %x = tt.load %at : tensor<16x64x!tt.ptr<f32>>
    %more = arith.addf %sum, %x : tensor<16x64xf32>
    %next = tt.addptr %at, %step : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
    scf.yield %next, %more : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xf32>
  }
  %sixty_four = arith.constant dense<64> : tensor<16x1xi32>
  %own = arith.muli %r, %sixty_four : tensor<16x1xi32>
  %owns = tt.broadcast %own : tensor<16x1xi32> -> tensor<16x64xi32>
  %to = arith.addi %owns, %cs : tensor<16x64xi32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<16x64x!tt.ptr<f32>>
  %places = tt.addptr %qs, %to : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>
  tt.store %places, %total : tensor<16x64x!tt.ptr<f32>>
  tt.return
}
