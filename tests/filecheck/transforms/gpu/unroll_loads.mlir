// RUN: tritonx-opt %s -p "unroll-loads{limit=true}" | filecheck %s

#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#eight = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#sixteen = #ttg.blocked<{sizePerThread = [16], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

// The limit of registers: 32 for the loads of a body and 32 to work with.
// CHECK: module attributes {{.*}}ttg.maxnreg = 64 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Sixteen bytes a thread and iteration: four at a time, each at its own address, and the rest one by one.
  // CHECK-LABEL: @sum
  // CHECK: scf.for
  // CHECK-COUNT-4: tt.load
  // CHECK-NOT: tt.load
  // CHECK: scf.yield
  // CHECK: scf.for
  // CHECK: tt.load
  // CHECK-NOT: tt.load
  tt.func public @sum(%p: tensor<512x!tt.ptr<f32>, #line>, %step: tensor<512xi32, #line>, %init: tensor<512xf32, #line>, %n: i32) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum, %end = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %q = %p) -> (tensor<512xf32, #line>, tensor<512x!tt.ptr<f32>, #line>) : i32 {
      %x = tt.load %q : tensor<512x!tt.ptr<f32>, #line>
      %b = arith.addf %a, %x : tensor<512xf32, #line>
      %r = tt.addptr %q, %step : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      scf.yield %b, %r : tensor<512xf32, #line>, tensor<512x!tt.ptr<f32>, #line>
    }
    tt.return %sum : tensor<512xf32, #line>
  }

  // Three iterations: two at a time and one.
  // CHECK-LABEL: @three
  // CHECK: scf.for
  // CHECK-COUNT-2: tt.load
  // CHECK: scf.yield
  // CHECK: scf.for
  // CHECK: tt.load
  // CHECK-NOT: tt.load
  tt.func public @three(%p: tensor<512x!tt.ptr<f32>, #line>, %step: tensor<512xi32, #line>, %init: tensor<512xf32, #line>) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %sum, %end = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %init, %q = %p) -> (tensor<512xf32, #line>, tensor<512x!tt.ptr<f32>, #line>) : i32 {
      %x = tt.load %q : tensor<512x!tt.ptr<f32>, #line>
      %b = arith.addf %a, %x : tensor<512xf32, #line>
      %r = tt.addptr %q, %step : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      scf.yield %b, %r : tensor<512xf32, #line>, tensor<512x!tt.ptr<f32>, #line>
    }
    tt.return %sum : tensor<512xf32, #line>
  }

  // Numbers that lie apart are loaded one by one, each with an address of its own: eight take 24 registers, twice those 48.
  // CHECK-LABEL: @eight_apart
  // CHECK: scf.for
  // CHECK-COUNT-2: tt.load
  // CHECK: scf.yield
  // CHECK: scf.for
  // CHECK: tt.load
  // CHECK-NOT: tt.load
  tt.func public @eight_apart(%p: tensor<1024x!tt.ptr<f16>, #eight>, %step: tensor<1024xi32, #eight>, %init: tensor<1024xf16, #eight>, %n: i32) -> tensor<1024xf16, #eight> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum, %end = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %q = %p) -> (tensor<1024xf16, #eight>, tensor<1024x!tt.ptr<f16>, #eight>) : i32 {
      %x = tt.load %q : tensor<1024x!tt.ptr<f16>, #eight>
      %b = arith.addf %a, %x : tensor<1024xf16, #eight>
      %r = tt.addptr %q, %step : tensor<1024x!tt.ptr<f16>, #eight>, tensor<1024xi32, #eight>
      scf.yield %b, %r : tensor<1024xf16, #eight>, tensor<1024x!tt.ptr<f16>, #eight>
    }
    tt.return %sum : tensor<1024xf16, #eight>
  }

  // Sixteen take 48: twice those are more than wait at once.
  // CHECK-LABEL: @sixteen_apart
  // CHECK: tt.load
  // CHECK-NOT: tt.load
  tt.func public @sixteen_apart(%p: tensor<2048x!tt.ptr<f16>, #sixteen>, %step: tensor<2048xi32, #sixteen>, %init: tensor<2048xf16, #sixteen>, %n: i32) -> tensor<2048xf16, #sixteen> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum, %end = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %q = %p) -> (tensor<2048xf16, #sixteen>, tensor<2048x!tt.ptr<f16>, #sixteen>) : i32 {
      %x = tt.load %q : tensor<2048x!tt.ptr<f16>, #sixteen>
      %b = arith.addf %a, %x : tensor<2048xf16, #sixteen>
      %r = tt.addptr %q, %step : tensor<2048x!tt.ptr<f16>, #sixteen>, tensor<2048xi32, #sixteen>
      scf.yield %b, %r : tensor<2048xf16, #sixteen>, tensor<2048x!tt.ptr<f16>, #sixteen>
    }
    tt.return %sum : tensor<2048xf16, #sixteen>
  }

  // As many that lie side by side, 16 bytes at a time, are eight registers and an address that does not count.
  // CHECK-LABEL: @sixteen_together
  // CHECK: scf.for
  // CHECK-COUNT-4: tt.load
  // CHECK: scf.yield
  tt.func public @sixteen_together(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %init: tensor<2048xf16, #sixteen>, %n: i32) -> tensor<2048xf16, #sixteen> {
    %c0 = arith.constant 0 : i32
    %c2048 = arith.constant 2048 : i32
    %range = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #sixteen>
    %splat = tt.splat %base : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>, #sixteen>
    %p = tt.addptr %splat, %range : tensor<2048x!tt.ptr<f16>, #sixteen>, tensor<2048xi32, #sixteen>
    %sum = scf.for %i = %c0 to %n step %c2048 iter_args(%a = %init) -> (tensor<2048xf16, #sixteen>) : i32 {
      %at = tt.splat %i : i32 -> tensor<2048xi32, #sixteen>
      %q = tt.addptr %p, %at : tensor<2048x!tt.ptr<f16>, #sixteen>, tensor<2048xi32, #sixteen>
      %x = tt.load %q : tensor<2048x!tt.ptr<f16>, #sixteen>
      %b = arith.addf %a, %x : tensor<2048xf16, #sixteen>
      scf.yield %b : tensor<2048xf16, #sixteen>
    }
    tt.return %sum : tensor<2048xf16, #sixteen>
  }

  // The address is what the iteration before loaded: more loads at once are not possible.
  // CHECK-LABEL: @chase
  // CHECK: tt.load
  // CHECK-NOT: tt.load
  tt.func public @chase(%p: tensor<512x!tt.ptr<i32>, #line>, %init: tensor<512xi32, #line>, %n: i32) -> tensor<512xi32, #line> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%at = %init) -> (tensor<512xi32, #line>) : i32 {
      %q = tt.addptr %p, %at : tensor<512x!tt.ptr<i32>, #line>, tensor<512xi32, #line>
      %x = tt.load %q : tensor<512x!tt.ptr<i32>, #line>
      scf.yield %x : tensor<512xi32, #line>
    }
    tt.return %last : tensor<512xi32, #line>
  }

  // A store in the loop orders the loads.
  // CHECK-LABEL: @stores
  // CHECK: tt.load
  // CHECK-NOT: tt.load
  tt.func public @stores(%p: tensor<512x!tt.ptr<f32>, #line>, %o: tensor<512x!tt.ptr<f32>, #line>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %p : tensor<512x!tt.ptr<f32>, #line>
      tt.store %o, %x : tensor<512x!tt.ptr<f32>, #line>
    }
    tt.return
  }

  // Lanes meet in every iteration.
  // CHECK-LABEL: @shuffles
  // CHECK: tt.load
  // CHECK-NOT: tt.load
  tt.func public @shuffles(%p: tensor<512x!tt.ptr<f32>, #line>, %step: tensor<512xi32, #line>, %n: i32) -> f32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %last, %end = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero, %q = %p) -> (f32, tensor<512x!tt.ptr<f32>, #line>) : i32 {
      %x = tt.load %q : tensor<512x!tt.ptr<f32>, #line>
      %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%l: f32, %m: f32):
        %t = arith.addf %l, %m : f32
        tt.reduce.return %t : f32
      }) : (tensor<512xf32, #line>) -> f32
      %r = tt.addptr %q, %step : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi32, #line>
      scf.yield %s, %r : f32, tensor<512x!tt.ptr<f32>, #line>
    }
    tt.return %last : f32
  }

  // Divisions of 64 bits are long sequences: the loop is not small. By a constant they are not.
  // CHECK-LABEL: @divides
  // CHECK: tt.load
  // CHECK-NOT: tt.load
  // CHECK-LABEL: @divides_by_a_constant
  // CHECK-COUNT-4: tt.load
  tt.func public @divides(%p: tensor<512x!tt.ptr<f32>, #line>, %at: tensor<512xi64, #line>, %by: tensor<512xi64, #line>, %init: tensor<512xf32, #line>, %n: i64) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<512xf32, #line>) : i64 {
      %k = tt.splat %i : i64 -> tensor<512xi64, #line>
      %l = arith.addi %k, %at : tensor<512xi64, #line>
      %m = arith.remsi %l, %by : tensor<512xi64, #line>
      %q = tt.addptr %p, %m : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi64, #line>
      %x = tt.load %q : tensor<512x!tt.ptr<f32>, #line>
      %b = arith.addf %a, %x : tensor<512xf32, #line>
      scf.yield %b : tensor<512xf32, #line>
    }
    tt.return %sum : tensor<512xf32, #line>
  }
  tt.func public @divides_by_a_constant(%p: tensor<512x!tt.ptr<f32>, #line>, %at: tensor<512xi64, #line>, %init: tensor<512xf32, #line>, %n: i64) -> tensor<512xf32, #line> {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %by = arith.constant dense<1000> : tensor<512xi64, #line>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<512xf32, #line>) : i64 {
      %k = tt.splat %i : i64 -> tensor<512xi64, #line>
      %l = arith.addi %k, %at : tensor<512xi64, #line>
      %m = arith.remsi %l, %by : tensor<512xi64, #line>
      %q = tt.addptr %p, %m : tensor<512x!tt.ptr<f32>, #line>, tensor<512xi64, #line>
      %x = tt.load %q : tensor<512x!tt.ptr<f32>, #line>
      %b = arith.addf %a, %x : tensor<512xf32, #line>
      scf.yield %b : tensor<512xf32, #line>
    }
    tt.return %sum : tensor<512xf32, #line>
  }
}
