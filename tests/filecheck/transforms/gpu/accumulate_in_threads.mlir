// RUN: tritonx-opt %s -p "accumulate-in-threads" | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Rows lie over four warps, eight registers each: the eight are summed in the loop, the four after it.
  // CHECK-LABEL: @columns
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4x128xf32
  // CHECK: %[[ACC:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[ZERO]]) -> (tensor<4x128xf32
  // CHECK-NEXT: %[[R:.*]] = tt.reshape %x : tensor<32x128xf32, {{.*}}> -> tensor<8x4x128xf32
  // CHECK-NEXT: %[[OWN:.*]] = "tt.reduce"(%[[R]]) <{axis = 0 : i32}>
  // CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[OWN]]
  // CHECK-NEXT: scf.yield %[[SUM]]
  // CHECK: "tt.reduce"(%[[ACC]]) <{axis = 0 : i32}>
  // CHECK: arith.addf %init
  tt.func public @columns(%x: tensor<32x128xf32, #rows>, %init: tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>, %n: i32) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>) : i32 {
      %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>
      %b = arith.addf %a, %s : tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>
      scf.yield %b : tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>
    }
    tt.return %sum : tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>
  }

  // A maximum down to one number: the threads' maxima are carried.
  // CHECK-LABEL: @largest
  // CHECK: arith.constant dense<0xFF800000> : tensor<128xf32
  // CHECK: tt.reshape %x : tensor<1024xf32, {{.*}}> -> tensor<2x128x4xf32
  // CHECK: "tt.reduce"({{.*}}) <{axis = 0 : i32}>
  // CHECK: "tt.reduce"({{.*}}) <{axis = 1 : i32}>
  // CHECK: scf.yield
  // CHECK: "tt.reduce"({{.*}}) <{axis = 0 : i32}>
  tt.func public @largest(%x: tensor<1024xf32, #line>, %init: f32, %n: i32) -> f32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %max = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (f32) : i32 {
      %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.maxnumf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<1024xf32, #line>) -> f32
      %b = arith.maxnumf %a, %s : f32
      scf.yield %b : f32
    }
    tt.return %max : f32
  }

  // The running value is used: nothing is moved.
  // CHECK-LABEL: @used
  // CHECK: scf.for {{.*}} -> (f32)
  // CHECK-NOT: tt.reshape
  tt.func public @used(%x: tensor<1024xf32, #line>, %p: !tt.ptr<f32>, %init: f32, %n: i32) -> f32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %max = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (f32) : i32 {
      %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<1024xf32, #line>) -> f32
      %b = arith.addf %a, %s : f32
      tt.store %p, %b : !tt.ptr<f32>
      scf.yield %b : f32
    }
    tt.return %max : f32
  }

  // An unrolled loop adds twice: both reductions are a thread's own, and one crosses threads after the loop.
  // CHECK-LABEL: @unrolled
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (tensor<4x128xf32
  // CHECK: %[[X:.*]] = "tt.reduce"({{.*}}) <{axis = 0 : i32}>
  // CHECK: %[[B:.*]] = arith.addf %[[A]], %[[X]]
  // CHECK: %[[Y:.*]] = "tt.reduce"({{.*}}) <{axis = 0 : i32}>
  // CHECK: %[[C:.*]] = arith.addf %[[Y]], %[[B]]
  // CHECK-NEXT: scf.yield %[[C]]
  // CHECK: "tt.reduce"({{.*}}) <{axis = 0 : i32}>
  // CHECK-NOT: "tt.reduce"
  tt.func public @unrolled(%x: tensor<32x128xf32, #rows>, %y: tensor<32x128xf32, #rows>, %init: tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>, %n: i32) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>) : i32 {
      %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>
      %b = arith.addf %a, %s : tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>
      %u = "tt.reduce"(%y) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>
      %c = arith.addf %u, %b : tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>
      scf.yield %c : tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>
    }
    tt.return %sum : tensor<128xf32, #ttg.slice<{dim = 0, parent = #rows}>>
  }

  // One of the two takes a maximum: nothing is moved.
  // CHECK-LABEL: @mixed
  // CHECK: scf.for {{.*}} -> (f32)
  // CHECK-NOT: tt.reshape
  tt.func public @mixed(%x: tensor<1024xf32, #line>, %y: tensor<1024xf32, #line>, %init: f32, %n: i32) -> f32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %max = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (f32) : i32 {
      %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.maxnumf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<1024xf32, #line>) -> f32
      %b = arith.maxnumf %a, %s : f32
      %u = "tt.reduce"(%y) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<1024xf32, #line>) -> f32
      %c = arith.addf %b, %u : f32
      scf.yield %c : f32
    }
    tt.return %max : f32
  }

  // A running sum of a softmax: 32 lanes begin with a 32nd of it each, the factor is that of their row.
  // CHECK-LABEL: @running
  // CHECK-DAG: %[[PART:.*]] = arith.constant dense<3.125000e-02> : tensor<32x32xf32
  // CHECK: %[[ACC:.*]]:2 = scf.for {{.*}} iter_args(%[[A:[^ ]*]] = %[[PART]], {{.*}}) -> (tensor<32x32xf32, {{.*}}>, tensor<32xf32
  // CHECK: %[[F:.*]] = math.exp2
  // CHECK: %[[OWN:.*]] = "tt.reduce"({{.*}}) <{axis = 2 : i32}>
  // CHECK: %[[WIDE:.*]] = tt.broadcast
  // CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[A]], %[[WIDE]] : tensor<32x32xf32
  // CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[SCALED]], %[[OWN]]
  // CHECK-NEXT: scf.yield %[[NEW]]
  // CHECK: %[[SUM:.*]] = "tt.reduce"(%[[ACC]]#0) <{axis = 1 : i32}>
  // CHECK-NOT: arith.addf %{{.*}}, %{{.*}} : tensor
  tt.func public @running(%x: tensor<32x128xf32, #rows>, %n: i32) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %first = arith.constant dense<0xFF800000> : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    %init = arith.constant dense<1.000000e+00> : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %most = %first) -> (tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>, tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>) : i32 {
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.maxnumf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %new = arith.maxnumf %most, %m : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %d = arith.subf %most, %new : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %f = math.exp2 %d : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %scaled = arith.mulf %a, %f : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %b = arith.addf %scaled, %s : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      scf.yield %b, %new : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>, tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    }
    tt.return %sum#0 : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  }

  // A factor that may be infinite, an initial value that is not known: nothing is moved.
  // CHECK-LABEL: @unbounded
  // CHECK-NOT: tt.reshape
  tt.func public @unbounded(%x: tensor<32x128xf32, #rows>, %n: i32) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %first = arith.constant dense<0xFF800000> : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    %init = arith.constant dense<1.000000e+00> : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %most = %first) -> (tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>, tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>) : i32 {
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.maxnumf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %new = arith.maxnumf %most, %m : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %f = math.exp2 %most : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %scaled = arith.mulf %a, %f : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %b = arith.addf %scaled, %s : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      scf.yield %b, %new : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>, tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    }
    tt.return %sum#0 : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  }

  // CHECK-LABEL: @begun
  // CHECK-NOT: tt.reshape
  tt.func public @begun(%x: tensor<32x128xf32, #rows>, %init: tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>, %n: i32) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %first = arith.constant dense<0xFF800000> : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %most = %first) -> (tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>, tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>) : i32 {
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.maxnumf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %new = arith.maxnumf %most, %m : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %d = arith.subf %most, %new : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %f = math.exp2 %d : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<32x128xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %scaled = arith.mulf %a, %f : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      %b = arith.addf %scaled, %s : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
      scf.yield %b, %new : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>, tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    }
    tt.return %sum#0 : tensor<32xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  }
}
