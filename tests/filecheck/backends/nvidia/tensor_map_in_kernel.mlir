// RUN: tritonx-opt %s --target cuda:90 -t ptx | filecheck %s

// The launch's memory is the last parameter. A block's part begins at its number in the grid times 256.
// CHECK-LABEL: .visible .entry makes(
// CHECK: .param .u64 .ptr .global .align 1 makes_param_2
// CHECK-NEXT: )
// CHECK: ld.param.b64 [[ALL:%rd[0-9]+]], [makes_param_2];
// CHECK: mul.wide.u32 [[AT:%rd[0-9]+]], {{%r[0-9]+}}, 256;
// CHECK: add.s64 [[MAP:%rd[0-9]+]], [[ALL]], [[AT]];
// The first warp clears 32 words, its first thread sets the fields, the warp copies them.
// CHECK: @[[WARP:%p[0-9]+]] st.shared.b32 [{{%r[0-9]+}}], {{%r[0-9]+}};
// CHECK: bar.warp.sync
// CHECK: @[[ONE:%p[0-9]+]] tensormap.replace.tile.global_address.shared::cta.b1024.b64 [[[HERE:%r[0-9]+]]], {{%rd[0-9]+}};
// CHECK: @[[ONE]] tensormap.replace.tile.rank.shared::cta.b1024.b32 [[[HERE]]], 0x1;
// CHECK: box_dim.shared::cta.b1024.b32 [[[HERE]]], 0x0, {{%r[0-9]+}};
// CHECK: box_dim.shared::cta.b1024.b32 [[[HERE]]], 0x1, {{%r[0-9]+}};
// CHECK: global_dim.shared::cta.b1024.b32 [[[HERE]]], 0x0, {{%r[0-9]+}};
// CHECK: global_dim.shared::cta.b1024.b32 [[[HERE]]], 0x1, {{%r[0-9]+}};
// CHECK: global_stride.shared::cta.b1024.b64 [[[HERE]]], 0x0, {{%rd[0-9]+}};
// CHECK-NOT: global_stride
// CHECK: element_stride.shared::cta.b1024.b32 [[[HERE]]], 0x0, {{%r[0-9]+}};
// CHECK: element_stride.shared::cta.b1024.b32 [[[HERE]]], 0x1, {{%r[0-9]+}};
// CHECK: elemtype.shared::cta.b1024.b32 [[[HERE]]], 0xa;
// CHECK: interleave_layout.shared::cta.b1024.b32 [[[HERE]]], 0x0;
// CHECK: swizzle_mode.shared::cta.b1024.b32 [[[HERE]]], 0x3;
// CHECK: fill_mode.shared::cta.b1024.b32 [[[HERE]]], 0x1;
// CHECK: @[[WARP]] tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [[[MAP]]], [[[HERE]]], 0x80;
// CHECK: @[[WARP]] fence.proxy.tensormap::generic.acquire.gpu [[[MAP]]], 0x80;
// CHECK: bar.sync 0;
// CHECK: call.uni
// CHECK: ret;

// A function that is called is told where its block's bytes begin, and has its own behind those of its caller.
// CHECK: .func callee(
// CHECK: ld.param.b64 [[OWN:%rd[0-9]+]], [callee_param_0];
// CHECK: add.s64 [[AT2:%rd[0-9]+]], [[OWN]], 128;
// CHECK: acquire.gpu [[[AT2]]], 0x80;

// Another warp makes a map by its own first thread, and acquires it; of numbers that there are not, the first warps do.
// CHECK-LABEL: .visible .entry elsewhere(
// CHECK-DAG: setp.eq.b32 [[THIRD:%p[0-9]+]], {{%r[0-9]+}}, 2;
// CHECK-DAG: setp.eq.b32 [[THREAD:%p[0-9]+]], {{%r[0-9]+}}, 64;
// CHECK: @[[THREAD]] tensormap.replace.tile.rank
// CHECK: @[[THIRD]] tensormap.cp_fenceproxy
// CHECK: @[[THIRD]] fence.proxy.tensormap::generic.acquire.gpu
// CHECK: bar.sync 0;

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @makes(%a: !tt.ptr<f16>, %n: i32) {
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %wide = arith.extsi %n : i32 to i64
    %p = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %p, %a, [%c64, %c64], [%n, %n], [%wide], [%c1, %c1] {elem_type = 10 : i32, fill_mode = 1 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %p : !tt.ptr<i8>
    tt.call @callee(%n) : (i32) -> ()
    tt.return
  }

  tt.func private @callee(%n: i32) attributes {noinline = true} {
    %p = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_fenceproxy_acquire %p : !tt.ptr<i8>
    tt.return
  }

  tt.func public @elsewhere(%a: !tt.ptr<f16>, %n: i32) {
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %p = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %p, %a, [%c64], [%n], [], [%c1] {elem_type = 10 : i32, fill_mode = 1 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32, warp = 6 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %p {warp = 6 : i32} : !tt.ptr<i8>
    tt.return
  }
}
