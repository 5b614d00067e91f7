// RUN: tritonx-opt %s --target hip:gfx950 -t llvm | filecheck %s --check-prefix LLVM
// RUN: tritonx-opt %s --target hip:gfx950 -t amdgcn | filecheck %s --check-prefix CODE

#lanes = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32]], warp = [[8, 0], [16, 0]], block = []}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32, ttg.target = "hip:gfx950"} {
  // Lanes whose mask is false read zeros: from some, or beyond the buffer's end. The wave's place is the target.
  // LLVM-LABEL: define {{.*}} @copied(
  // LLVM: %[[WARP:.*]] = call i32 @llvm.amdgcn.readfirstlane.i32(
  // LLVM: select i1 %{{.*}}, ptr addrspace(1) %{{.*}}, ptr addrspace(1) @zeros
  // LLVM: call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %{{.*}}, ptr addrspace(3) %{{.*}}, i32 16, i32 0, i32 0), !alias.scope
  // LLVM: select i1 %{{.*}}, i32 %{{.*}}, i32 -2147483648
  // LLVM: call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %{{.*}}, ptr addrspace(3) %{{.*}}, i32 16, i32 %{{.*}}, i32 0, i32 0, i32 0), !alias.scope
  // For all but the second group, which is one instruction.
  // LLVM: call void @llvm.amdgcn.s.waitcnt(i32 3953)
  // LLVM: load <8 x half>, ptr addrspace(3) %{{.*}}, align 16, !alias.scope
  // Counted elsewhere, by another rule of which copies are instructions: for all.
  // LLVM: call void @llvm.amdgcn.s.waitcnt(i32 3952)

  // What is read does not wait for the copy that is under way.
  // CODE-LABEL: copied:
  // CODE: global_load_lds_dwordx4
  // CODE: buffer_load_dwordx4 {{.*}} lds
  // CODE: s_waitcnt vmcnt(1)
  // CODE: s_barrier
  // CODE-NOT: vmcnt(0)
  // CODE: ds_read_b128
  // CODE: vgpr_spill_count: 0
  tt.func public @copied(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %m: i1, %r: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
    %c64 = arith.constant dense<64> : tensor<32x1xi32, #lanes>
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #lanes}>>
    %lines = tt.expand_dims %line {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #lanes}>> -> tensor<32x1xi32, #lanes>
    %rows = arith.muli %lines, %c64 : tensor<32x1xi32, #lanes>
    %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #lanes}>>
    %cs = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #lanes}>> -> tensor<1x64xi32, #lanes>
    %rb = tt.broadcast %rows : tensor<32x1xi32, #lanes> -> tensor<32x64xi32, #lanes>
    %cb = tt.broadcast %cs : tensor<1x64xi32, #lanes> -> tensor<32x64xi32, #lanes>
    %o = arith.addi %rb, %cb : tensor<32x64xi32, #lanes>
    %ps = tt.splat %r : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>, #lanes>
    %q = tt.addptr %ps, %o : tensor<32x64x!tt.ptr<f16>, #lanes>, tensor<32x64xi32, #lanes>
    %ms = tt.splat %m : i1 -> tensor<32x64xi1, #lanes>
    %t = ttg.async_copy_global_to_local %q, %a mask %ms {contiguity = 8 : i32} : tensor<32x64x!tt.ptr<f16>, #lanes> -> <32x64xf16, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %u = amdg.buffer_load_to_local %p[%o] mask = %ms into %b : <f16>[tensor<32x64xi32, #lanes>] -> <32x64xf16, #shared, #smem, mutable>
    %h = ttg.async_commit_group tokens %u
    %w = ttg.async_wait %g {num = 1 : i32}
    %x = ttg.local_load %a : !ttg.memdesc<32x64xf16, #shared, #smem, mutable> -> tensor<32x64xf16, #lanes>
    tt.store %q, %x : tensor<32x64x!tt.ptr<f16>, #lanes>
    %v = amdg.async_wait {num_inst = 3 : i32}
    %y = ttg.local_load %b : !ttg.memdesc<32x64xf16, #shared, #smem, mutable> -> tensor<32x64xf16, #lanes>
    tt.store %q, %y : tensor<32x64x!tt.ptr<f16>, #lanes>
    tt.return
  }

  // Neighbouring lanes' rows are apart in the memory: through registers.
  // LLVM-LABEL: define {{.*}} @through(
  // LLVM-NOT: load.lds
  // LLVM: store <8 x half> %{{.*}}, ptr addrspace(3)
  // LLVM: call <4 x i32> @llvm.amdgcn.raw.ptr.buffer.load
  // LLVM: store <8 x half> %{{.*}}, ptr addrspace(3)
  tt.func public @through(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %r: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
    %c64 = arith.constant dense<64> : tensor<32x1xi32, #rows>
    %line = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %lines = tt.expand_dims %line {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<32x1xi32, #rows>
    %rows = arith.muli %lines, %c64 : tensor<32x1xi32, #rows>
    %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %cs = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %rb = tt.broadcast %rows : tensor<32x1xi32, #rows> -> tensor<32x64xi32, #rows>
    %cb = tt.broadcast %cs : tensor<1x64xi32, #rows> -> tensor<32x64xi32, #rows>
    %o = arith.addi %rb, %cb : tensor<32x64xi32, #rows>
    %ps = tt.splat %r : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>, #rows>
    %q = tt.addptr %ps, %o : tensor<32x64x!tt.ptr<f16>, #rows>, tensor<32x64xi32, #rows>
    %t = ttg.async_copy_global_to_local %q, %a : tensor<32x64x!tt.ptr<f16>, #rows> -> <32x64xf16, #shared, #smem, mutable>
    %u = amdg.buffer_load_to_local %p[%o] into %a : <f16>[tensor<32x64xi32, #rows>] -> <32x64xf16, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t, %u
    %w = ttg.async_wait {num = 0 : i32}
    %x = ttg.local_load %a : !ttg.memdesc<32x64xf16, #shared, #smem, mutable> -> tensor<32x64xf16, #rows>
    tt.store %q, %x : tensor<32x64x!tt.ptr<f16>, #rows>
    tt.return
  }
}
