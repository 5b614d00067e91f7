// RUN: tritonx-opt %s -p gluon-resolve-auto-encodings | filecheck %s

// CHECK-DAG: [[LINE:#.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: [[OTHER:#.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: [[TILE:#.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#other = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#tile = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

// CHECK-NOT: gluon.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Back to what the value is made of; a constant's value has the type too.
  // CHECK-LABEL: @backwards
  // CHECK: arith.constant dense<7> : tensor<32xi32, #ttg.slice<{dim = 0, parent = [[TILE]]}>>
  // CHECK: tt.expand_dims %{{.*}} {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = [[TILE]]}>> -> tensor<1x32xi32, [[TILE]]>
  // CHECK: tt.broadcast %{{.*}} : tensor<1x32xi32, [[TILE]]> -> tensor<16x32xi32, [[TILE]]>
  // CHECK: tt.return %{{.*}} : tensor<16x32xi32, [[TILE]]>
  tt.func public @backwards() -> tensor<16x32xi32, #tile> {
    %0 = arith.constant dense<7> : tensor<32xi32, #gluon.auto_encoding>
    %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<32xi32, #gluon.auto_encoding> -> tensor<1x32xi32, #gluon.auto_encoding>
    %2 = tt.broadcast %1 : tensor<1x32xi32, #gluon.auto_encoding> -> tensor<16x32xi32, #gluon.auto_encoding>
    %3 = gluon.set_auto_layout %2 : tensor<16x32xi32, #gluon.auto_encoding> -> tensor<16x32xi32, #tile>
    tt.return %3 : tensor<16x32xi32, #tile>
  }

  // Forwards to what becomes of the value, down to a number; a slice says how the tile around lies.
  // CHECK-LABEL: @forwards
  // CHECK: tt.make_range {{.*}} : tensor<32xi32, #ttg.slice<{dim = 0, parent = [[TILE]]}>>
  // CHECK: arith.muli {{.*}} : tensor<32xi32, #ttg.slice<{dim = 0, parent = [[TILE]]}>>
  // CHECK: tt.expand_dims {{.*}} -> tensor<1x32xi32, [[TILE]]>
  // CHECK: (tensor<1x32xi32, [[TILE]]>) -> tensor<1xi32, #ttg.slice<{dim = 1, parent = [[TILE]]}>>
  // CHECK: (tensor<1xi32, #ttg.slice<{dim = 1, parent = [[TILE]]}>>) -> i32
  tt.func public @forwards() -> (i32, tensor<32xi32, #ttg.slice<{dim = 0, parent = #tile}>>) {
    %0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #gluon.auto_encoding>
    %1 = gluon.set_auto_layout %0 : tensor<32xi32, #gluon.auto_encoding> -> tensor<32xi32, #ttg.slice<{dim = 0, parent = #tile}>>
    %2 = arith.muli %0, %0 : tensor<32xi32, #gluon.auto_encoding>
    %3 = tt.expand_dims %2 {axis = 0 : i32} : tensor<32xi32, #gluon.auto_encoding> -> tensor<1x32xi32, #gluon.auto_encoding>
    %4 = "tt.reduce"(%3) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.reduce.return %s : i32
    }) : (tensor<1x32xi32, #gluon.auto_encoding>) -> tensor<1xi32, #gluon.auto_encoding>
    %5 = "tt.reduce"(%4) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.reduce.return %s : i32
    }) : (tensor<1xi32, #gluon.auto_encoding>) -> i32
    tt.return %5, %1 : i32, tensor<32xi32, #ttg.slice<{dim = 0, parent = #tile}>>
  }

  // Through the conversion of a value that has a layout nothing follows.
  // CHECK-LABEL: @converted
  // CHECK: ttg.convert_layout %x : tensor<512xi32, [[LINE]]> -> tensor<512xi32, [[OTHER]]>
  // CHECK: arith.addi {{.*}} : tensor<512xi32, [[OTHER]]>
  tt.func public @converted(%x: tensor<512xi32, #line>) -> tensor<512xi32, #other> {
    %0 = ttg.convert_layout %x : tensor<512xi32, #line> -> tensor<512xi32, #gluon.auto_encoding>
    %1 = arith.addi %0, %0 : tensor<512xi32, #gluon.auto_encoding>
    %2 = gluon.set_auto_layout %1 : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #other>
    tt.return %2 : tensor<512xi32, #other>
  }

  // What a loop carries has one layout: before, inside and after it.
  // CHECK-LABEL: @counted
  // CHECK: %[[FIRST:.*]] = tt.make_range {{.*}} : tensor<512xi32, [[LINE]]>
  // CHECK: scf.for {{.*}} iter_args({{.*}} = %[[FIRST]]) -> (tensor<512xi32, [[LINE]]>)
  // CHECK: arith.constant dense<2> : tensor<512xi32, [[LINE]]>
  // CHECK: scf.yield %{{.*}} : tensor<512xi32, [[LINE]]>
  tt.func public @counted(%n: i32) -> tensor<512xi32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #gluon.auto_encoding>
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> (tensor<512xi32, #gluon.auto_encoding>) : i32 {
      %two = arith.constant dense<2> : tensor<512xi32, #gluon.auto_encoding>
      %b = arith.muli %a, %two : tensor<512xi32, #gluon.auto_encoding>
      scf.yield %b : tensor<512xi32, #gluon.auto_encoding>
    }
    %2 = gluon.set_auto_layout %1 : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #line>
    tt.return %2 : tensor<512xi32, #line>
  }

  // The body asks: from there out of both ends. The condition hands values on in another order than the loop carries them.
  // CHECK-LABEL: @conditional
  // CHECK: arith.constant dense<1> : tensor<512xi32, [[LINE]]>
  // CHECK: arith.constant dense<2> : tensor<512xi32, [[OTHER]]>
  // CHECK: scf.while ({{.*}}) : (tensor<512xi32, [[LINE]]>, tensor<512xi32, [[OTHER]]>, i32) -> (tensor<512xi32, [[OTHER]]>, tensor<512xi32, [[LINE]]>)
  // CHECK: scf.condition({{.*}}) {{.*}} : tensor<512xi32, [[OTHER]]>, tensor<512xi32, [[LINE]]>
  // CHECK: ^{{.*}}(%{{.*}}: tensor<512xi32, [[OTHER]]>, %{{.*}}: tensor<512xi32, [[LINE]]>)
  tt.func public @conditional(%n: i32) -> tensor<512xi32, #line> {
    %c0 = arith.constant 0 : i32
    %0 = arith.constant dense<1> : tensor<512xi32, #gluon.auto_encoding>
    %1 = arith.constant dense<2> : tensor<512xi32, #gluon.auto_encoding>
    %2:2 = scf.while (%a = %0, %b = %1, %i = %c0) : (tensor<512xi32, #gluon.auto_encoding>, tensor<512xi32, #gluon.auto_encoding>, i32) -> (tensor<512xi32, #gluon.auto_encoding>, tensor<512xi32, #gluon.auto_encoding>) {
      %go = arith.cmpi slt, %i, %n : i32
      scf.condition(%go) %b, %a : tensor<512xi32, #gluon.auto_encoding>, tensor<512xi32, #gluon.auto_encoding>
    } do {
    ^bb0(%c: tensor<512xi32, #gluon.auto_encoding>, %d: tensor<512xi32, #gluon.auto_encoding>):
      %asked = gluon.set_auto_layout %c : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #other>
      scf.yield %d, %c, %n : tensor<512xi32, #gluon.auto_encoding>, tensor<512xi32, #gluon.auto_encoding>, i32
    }
    %3 = gluon.set_auto_layout %2#1 : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #line>
    tt.return %3 : tensor<512xi32, #line>
  }

  // The second result has the layout that its branches ask for, the first one that of its use.
  // CHECK-LABEL: @branch
  // CHECK: scf.if %c -> (tensor<512xi32, [[LINE]]>, tensor<512xi32, [[OTHER]]>)
  // CHECK: tt.make_range {{.*}} : tensor<512xi32, [[OTHER]]>
  tt.func public @branch(%c: i1) -> (tensor<512xi32, #line>, i32) {
    %0 = arith.constant dense<1> : tensor<512xi32, #gluon.auto_encoding>
    %1 = arith.constant dense<2> : tensor<512xi32, #gluon.auto_encoding>
    %2:2 = scf.if %c -> (tensor<512xi32, #gluon.auto_encoding>, tensor<512xi32, #gluon.auto_encoding>) {
      %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #gluon.auto_encoding>
      %s = gluon.set_auto_layout %r : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #other>
      scf.yield %0, %r : tensor<512xi32, #gluon.auto_encoding>, tensor<512xi32, #gluon.auto_encoding>
    } else {
      %r = arith.constant dense<3> : tensor<512xi32, #gluon.auto_encoding>
      scf.yield %1, %r : tensor<512xi32, #gluon.auto_encoding>, tensor<512xi32, #gluon.auto_encoding>
    }
    %3 = gluon.set_auto_layout %2#0 : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #line>
    %4 = "tt.reduce"(%2#1) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.reduce.return %s : i32
    }) : (tensor<512xi32, #gluon.auto_encoding>) -> i32
    tt.return %3, %4 : tensor<512xi32, #line>, i32
  }

  // What several layouts fit gives way: the tile of the transposition is asked for itself, though that of its operand is too.
  // CHECK-LABEL: @both_sides
  // CHECK: tt.reshape %{{.*}} : tensor<512xi32, [[LINE]]> -> tensor<16x32xi32, [[TILE]]>
  tt.func public @both_sides() -> (tensor<512xi32, #line>, tensor<16x32xi32, #tile>) {
    %0 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #gluon.auto_encoding>
    %1 = tt.reshape %0 : tensor<512xi32, #gluon.auto_encoding> -> tensor<16x32xi32, #gluon.auto_encoding>
    %2 = gluon.set_auto_layout %0 : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #line>
    %3 = gluon.set_auto_layout %1 : tensor<16x32xi32, #gluon.auto_encoding> -> tensor<16x32xi32, #tile>
    tt.return %2, %3 : tensor<512xi32, #line>, tensor<16x32xi32, #tile>
  }

  // CHECK-LABEL: @shapes
  // CHECK: tt.trans {{.*}} -> tensor<16x32xi32, #ttg.slice<{dim = 2, parent = #{{.*}}}>>
  // CHECK: tt.join {{.*}} -> tensor<16x32x2xi32, #{{.*}}>
  // CHECK: tt.split {{.*}} -> tensor<16x32xi32, [[TILE]]>
  // CHECK: tt.gather {{.*}} -> tensor<16x32xi32, [[TILE]]>
  tt.func public @shapes() -> tensor<16x32xi32, #tile> {
    %0 = arith.constant dense<1> : tensor<32x16xi32, #gluon.auto_encoding>
    %1 = tt.trans %0 {order = array<i32: 1, 0>} : tensor<32x16xi32, #gluon.auto_encoding> -> tensor<16x32xi32, #gluon.auto_encoding>
    %2 = tt.join %1, %1 : tensor<16x32xi32, #gluon.auto_encoding> -> tensor<16x32x2xi32, #gluon.auto_encoding>
    %lhs, %rhs = tt.split %2 : tensor<16x32x2xi32, #gluon.auto_encoding> -> tensor<16x32xi32, #gluon.auto_encoding>
    %3 = tt.gather %rhs[%lhs] {axis = 0 : i32} : (tensor<16x32xi32, #gluon.auto_encoding>, tensor<16x32xi32, #gluon.auto_encoding>) -> tensor<16x32xi32, #gluon.auto_encoding>
    %4 = gluon.set_auto_layout %3 : tensor<16x32xi32, #gluon.auto_encoding> -> tensor<16x32xi32, #tile>
    tt.return %4 : tensor<16x32xi32, #tile>
  }

  // Two numbers of a byte are in its thread.
  // CHECK-LABEL: @pairs
  // CHECK: ttg.fp4_to_fp {{.*}} {axis = 1 : i32} : tensor<16x32xi8, #{{.*}}> -> tensor<16x64xf16, [[TILE]]>
  // CHECK: ttg.fp4_to_fp {{.*}} {axis = 1 : i32} : tensor<16x32xi8, [[TILE]]> -> tensor<16x64xf16, #{{.*}}>
  // CHECK: arith.negf {{.*}} : tensor<16x64xf16, #
  tt.func public @pairs() -> (tensor<16x64xf16, #tile>, tensor<16x32xi8, #tile>) {
    %0 = arith.constant dense<17> : tensor<16x32xi8, #gluon.auto_encoding>
    %1 = ttg.fp4_to_fp %0 {axis = 1 : i32} : tensor<16x32xi8, #gluon.auto_encoding> -> tensor<16x64xf16, #gluon.auto_encoding>
    %2 = gluon.set_auto_layout %1 : tensor<16x64xf16, #gluon.auto_encoding> -> tensor<16x64xf16, #tile>
    %3 = arith.constant dense<18> : tensor<16x32xi8, #gluon.auto_encoding>
    %4 = ttg.fp4_to_fp %3 {axis = 1 : i32} : tensor<16x32xi8, #gluon.auto_encoding> -> tensor<16x64xf16, #gluon.auto_encoding>
    %5 = arith.negf %4 : tensor<16x64xf16, #gluon.auto_encoding>
    %6 = gluon.set_auto_layout %3 : tensor<16x32xi8, #gluon.auto_encoding> -> tensor<16x32xi8, #tile>
    tt.return %2, %6 : tensor<16x64xf16, #tile>, tensor<16x32xi8, #tile>
  }
}
