// RUN: tritonx-opt %s --target hip:gfx942 --until llir | filecheck %s
// RUN: tritonx-opt %s --target hip:gfx942 --until amdgcn | filecheck %s --check-prefix=CODE
// RUN: tritonx-opt %s --target hip:gfx1100 --until amdgcn | filecheck %s --check-prefix=CODE
// RUN: tritonx-opt %s --target hip:gfx1201 --until amdgcn | filecheck %s --check-prefix=CODE

// CHECK-LABEL: define amdgpu_kernel void @pass_on(
// CHECK: fence syncscope("workgroup") release
// CHECK-NEXT: call void @llvm.amdgcn.s.barrier()
// CHECK: store atomic i32 {{.*}}, ptr addrspace(1) {{.*}} syncscope("agent") release, align 4
// CHECK: call i64 @llvm.readsteadycounter()
// CHECK: load atomic i32, ptr addrspace(1) {{.*}} syncscope("agent") monotonic, align 4
// CHECK: call i64 @llvm.readsteadycounter()
// CHECK: fence syncscope("agent") acquire
// CHECK: call void @llvm.amdgcn.s.barrier()
// CHECK: load atomic i8, ptr addrspace(1) {{.*}} acquire, align 1
// CODE-LABEL: {{^}}pass_on:
// CODE-DAG: global_store_{{dword|b32}}
// CODE-DAG: global_load_{{dword|b32}}
// CODE-DAG: global_load_{{ubyte|u8}}
// CODE: .vgpr_spill_count: 0
tt.func public @pass_on(%flag: !tt.ptr<i32>, %n: i32, %t: i64, %b: !tt.ptr<i8>) {
  tt.atomic_store release, gpu, %flag, %n : !tt.ptr<i32>
  %one = tt.addptr %flag, %n : !tt.ptr<i32>, i32
  %0 = tt.atomic_poll acquire, gpu, %one, %n timeout %t : !tt.ptr<i32>, i32 -> i1
  %1 = tt.atomic_load acquire, sys, %b, %0 : (!tt.ptr<i8>, i1) -> i8
  tt.store %b, %1 : !tt.ptr<i8>
  tt.return
}
