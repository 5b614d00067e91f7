// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s

// Arithmetic on scalars and on tensors.

module {
  tt.func @arith(%n: i32, %l: i64, %c: i1, %f: f32, %h: f16, %x: tensor<64xf32>, %i: tensor<64xi32>, %m: tensor<64xi1>, %k: index) {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %cm = arith.constant -7 : i64
    %pi = arith.constant 3.14159274 : f32
    %inf = arith.constant 0xFF800000 : f32
    %nan = arith.constant 0x7E00 : f16
    %one = arith.constant dense<1.000000e+00> : tensor<64xf32>
    %neg = arith.constant dense<-1> : tensor<64xi32>
    %yes = arith.constant dense<true> : tensor<64xi1>
    %minf = arith.constant dense<0xFF800000> : tensor<64xf32>
    %list = arith.constant dense<[1, 2]> : tensor<2xi32>
    %addi = arith.addi %i, %i : tensor<64xi32>
    %subi = arith.subi %i, %i : tensor<64xi32>
    %muli = arith.muli %i, %i : tensor<64xi32>
    %divsi = arith.divsi %i, %i : tensor<64xi32>
    %divui = arith.divui %i, %i : tensor<64xi32>
    %remsi = arith.remsi %i, %i : tensor<64xi32>
    %remui = arith.remui %i, %i : tensor<64xi32>
    %floordivsi = arith.floordivsi %i, %i : tensor<64xi32>
    %ceildivsi = arith.ceildivsi %i, %i : tensor<64xi32>
    %ceildivui = arith.ceildivui %i, %i : tensor<64xi32>
    %andi = arith.andi %i, %i : tensor<64xi32>
    %ori = arith.ori %i, %i : tensor<64xi32>
    %xori = arith.xori %i, %i : tensor<64xi32>
    %shli = arith.shli %i, %i : tensor<64xi32>
    %shrsi = arith.shrsi %i, %i : tensor<64xi32>
    %shrui = arith.shrui %i, %i : tensor<64xi32>
    %maxsi = arith.maxsi %i, %i : tensor<64xi32>
    %minsi = arith.minsi %i, %i : tensor<64xi32>
    %maxui = arith.maxui %i, %i : tensor<64xi32>
    %minui = arith.minui %i, %i : tensor<64xi32>
    %addf = arith.addf %x, %x : tensor<64xf32>
    %subf = arith.subf %x, %x : tensor<64xf32>
    %mulf = arith.mulf %x, %x : tensor<64xf32>
    %divf = arith.divf %x, %x : tensor<64xf32>
    %remf = arith.remf %x, %x : tensor<64xf32>
    %maximumf = arith.maximumf %x, %x : tensor<64xf32>
    %minimumf = arith.minimumf %x, %x : tensor<64xf32>
    %maxnumf = arith.maxnumf %x, %x : tensor<64xf32>
    %minnumf = arith.minnumf %x, %x : tensor<64xf32>
    %0 = arith.addi %n, %n overflow<nsw> : i32
    %1 = arith.addf %f, %f fastmath<fast> : f32
    %2 = arith.negf %x : tensor<64xf32>
    %3 = arith.cmpi slt, %i, %i : tensor<64xi32>
    %4 = arith.cmpi uge, %n, %n : i32
    %5 = arith.cmpf oeq, %x, %x : tensor<64xf32>
    %6 = arith.cmpf une, %f, %f fastmath<nnan> : f32
    %7 = arith.select %c, %x, %x : tensor<64xf32>
    %8 = arith.select %m, %x, %x : tensor<64xi1>, tensor<64xf32>
    %9 = arith.select %c, %n, %n : i32
    %10 = arith.extsi %i : tensor<64xi32> to tensor<64xi64>
    %11 = arith.extui %m : tensor<64xi1> to tensor<64xi32>
    %12 = arith.trunci %l : i64 to i8
    %13 = arith.extf %h : f16 to f32
    %14 = arith.truncf %x : tensor<64xf32> to tensor<64xbf16>
    %15 = arith.sitofp %i : tensor<64xi32> to tensor<64xf32>
    %16 = arith.uitofp %n : i32 to f64
    %17 = arith.fptosi %x : tensor<64xf32> to tensor<64xi8>
    %18 = arith.fptoui %f : f32 to i64
    %19 = arith.bitcast %x : tensor<64xf32> to tensor<64xi32>
    %20 = arith.index_cast %k : index to i32
    tt.return
  }
}

// CHECK: tt.func @arith(%n: i32, %l: i64, %c: i1, %f: f32, %h: f16, %x: tensor<64xf32>, %i: tensor<64xi32>, %m: tensor<64xi1>, %k: index) {
// CHECK-NEXT: %c0 = arith.constant 0 : i32
// CHECK-NEXT: %true = arith.constant true
// CHECK-NEXT: %cm = arith.constant -7 : i64
// CHECK-NEXT: %pi = arith.constant 3.14159274 : f32
// CHECK-NEXT: %inf = arith.constant 0xFF800000 : f32
// CHECK-NEXT: %nan = arith.constant 0x7E00 : f16
// CHECK-NEXT: %one = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-NEXT: %neg = arith.constant dense<-1> : tensor<64xi32>
// CHECK-NEXT: %yes = arith.constant dense<true> : tensor<64xi1>
// CHECK-NEXT: %minf = arith.constant dense<0xFF800000> : tensor<64xf32>
// CHECK-NEXT: %list = arith.constant dense<[1, 2]> : tensor<2xi32>
// CHECK-NEXT: %addi = arith.addi %i, %i : tensor<64xi32>
// CHECK-NEXT: %subi = arith.subi %i, %i : tensor<64xi32>
// CHECK-NEXT: %muli = arith.muli %i, %i : tensor<64xi32>
// CHECK-NEXT: %divsi = arith.divsi %i, %i : tensor<64xi32>
// CHECK-NEXT: %divui = arith.divui %i, %i : tensor<64xi32>
// CHECK-NEXT: %remsi = arith.remsi %i, %i : tensor<64xi32>
// CHECK-NEXT: %remui = arith.remui %i, %i : tensor<64xi32>
// CHECK-NEXT: %floordivsi = arith.floordivsi %i, %i : tensor<64xi32>
// CHECK-NEXT: %ceildivsi = arith.ceildivsi %i, %i : tensor<64xi32>
// CHECK-NEXT: %ceildivui = arith.ceildivui %i, %i : tensor<64xi32>
// CHECK-NEXT: %andi = arith.andi %i, %i : tensor<64xi32>
// CHECK-NEXT: %ori = arith.ori %i, %i : tensor<64xi32>
// CHECK-NEXT: %xori = arith.xori %i, %i : tensor<64xi32>
// CHECK-NEXT: %shli = arith.shli %i, %i : tensor<64xi32>
// CHECK-NEXT: %shrsi = arith.shrsi %i, %i : tensor<64xi32>
// CHECK-NEXT: %shrui = arith.shrui %i, %i : tensor<64xi32>
// CHECK-NEXT: %maxsi = arith.maxsi %i, %i : tensor<64xi32>
// CHECK-NEXT: %minsi = arith.minsi %i, %i : tensor<64xi32>
// CHECK-NEXT: %maxui = arith.maxui %i, %i : tensor<64xi32>
// CHECK-NEXT: %minui = arith.minui %i, %i : tensor<64xi32>
// CHECK-NEXT: %addf = arith.addf %x, %x : tensor<64xf32>
// CHECK-NEXT: %subf = arith.subf %x, %x : tensor<64xf32>
// CHECK-NEXT: %mulf = arith.mulf %x, %x : tensor<64xf32>
// CHECK-NEXT: %divf = arith.divf %x, %x : tensor<64xf32>
// CHECK-NEXT: %remf = arith.remf %x, %x : tensor<64xf32>
// CHECK-NEXT: %maximumf = arith.maximumf %x, %x : tensor<64xf32>
// CHECK-NEXT: %minimumf = arith.minimumf %x, %x : tensor<64xf32>
// CHECK-NEXT: %maxnumf = arith.maxnumf %x, %x : tensor<64xf32>
// CHECK-NEXT: %minnumf = arith.minnumf %x, %x : tensor<64xf32>
// CHECK-NEXT: %0 = arith.addi %n, %n overflow<nsw> : i32
// CHECK-NEXT: %1 = arith.addf %f, %f fastmath<fast> : f32
// CHECK-NEXT: %2 = arith.negf %x : tensor<64xf32>
// CHECK-NEXT: %3 = arith.cmpi slt, %i, %i : tensor<64xi32>
// CHECK-NEXT: %4 = arith.cmpi uge, %n, %n : i32
// CHECK-NEXT: %5 = arith.cmpf oeq, %x, %x : tensor<64xf32>
// CHECK-NEXT: %6 = arith.cmpf une, %f, %f fastmath<nnan> : f32
// CHECK-NEXT: %7 = arith.select %c, %x, %x : tensor<64xf32>
// CHECK-NEXT: %8 = arith.select %m, %x, %x : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT: %9 = arith.select %c, %n, %n : i32
// CHECK-NEXT: %10 = arith.extsi %i : tensor<64xi32> to tensor<64xi64>
// CHECK-NEXT: %11 = arith.extui %m : tensor<64xi1> to tensor<64xi32>
// CHECK-NEXT: %12 = arith.trunci %l : i64 to i8
// CHECK-NEXT: %13 = arith.extf %h : f16 to f32
// CHECK-NEXT: %14 = arith.truncf %x : tensor<64xf32> to tensor<64xbf16>
// CHECK-NEXT: %15 = arith.sitofp %i : tensor<64xi32> to tensor<64xf32>
// CHECK-NEXT: %16 = arith.uitofp %n : i32 to f64
// CHECK-NEXT: %17 = arith.fptosi %x : tensor<64xf32> to tensor<64xi8>
// CHECK-NEXT: %18 = arith.fptoui %f : f32 to i64
// CHECK-NEXT: %19 = arith.bitcast %x : tensor<64xf32> to tensor<64xi32>
// CHECK-NEXT: %20 = arith.index_cast %k : index to i32
// CHECK-NEXT: tt.return
