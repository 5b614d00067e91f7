// RUN: tritonx-opt %s --target cuda:90 --option num_ctas=2 -t ptx | filecheck %s

// Each block of a cluster has its own part: the program's number times two, and the block's in its cluster.
// CHECK-LABEL: .visible .entry makes(
// CHECK: mov.u32 {{%r[0-9]+}}, %clusterid.x;
// CHECK: mov.u32 [[RANK:%r[0-9]+]], %cluster_ctarank;
// CHECK: mul.wide.u32 {{%rd[0-9]+}}, {{%r[0-9]+}}, 256;
// CHECK: mul.wide.u32 {{%rd[0-9]+}}, [[RANK]], 128;
// CHECK: fence.proxy.tensormap::generic.acquire.gpu

module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @makes() {
    %p = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_fenceproxy_acquire %p : !tt.ptr<i8>
    tt.return
  }
}
