// RUN: tritonx-opt %s --split-input-file --verify-diagnostics

module {
  tt.func @f(%a: i32, %b: f32) {
    // expected-error@+1 {{'ptr' must hold pointers, got i32}}
    %0 = tt.addptr %a, %a : i32, i32
    tt.return
  }
}

// -----

module {
  // expected-error@+1 {{the elements of a tile are numbers or pointers, got tensor<8xcomplex<f32>>}}
  tt.func @f(%a: tensor<8xcomplex<f32>>) {
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f32>, %b: f32) {
    // expected-error@+1 {{'offset' must hold integers, got f32}}
    %0 = tt.addptr %p, %b : !tt.ptr<f32>, f32
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: tensor<64x!tt.ptr<f32>>, %i: tensor<32xi32>) {
    // expected-error@+1 {{pointer and offset must have the same shape, got tensor<64x!tt.ptr<f32>> and tensor<32xi32>}}
    %0 = tt.addptr %p, %i : tensor<64x!tt.ptr<f32>>, tensor<32xi32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{expected i64 -> pointer, got i32 -> !tt.ptr<f32>}}
    %0 = tt.int_to_ptr %a : i32 -> !tt.ptr<f32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f32>) {
    // expected-error@+1 {{expected pointer -> i64, got !tt.ptr<f32> -> i32}}
    %0 = tt.ptr_to_int %p : !tt.ptr<f32> -> i32
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{cannot bitcast i32 to f16: their widths differ}}
    %0 = tt.bitcast %a : i32 -> f16
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f32>) {
    // expected-error@+1 {{cannot bitcast between a pointer and something else: use ptr_to_int or int_to_ptr}}
    %0 = tt.bitcast %p : !tt.ptr<f32> -> i64
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf32>) {
    // expected-error@+1 {{narrowing f32 to f16 needs a rounding mode}}
    %0 = tt.fp_to_fp %x : tensor<4xf32> -> tensor<4xf16>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xi32>) {
    // expected-error@+1 {{expected floating-point types, got i32 -> f16}}
    %0 = tt.fp_to_fp %x : tensor<4xi32> -> tensor<4xf16>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xi32>) {
    // expected-error@+1 {{expected a floating-point type, got tensor<4xi32>}}
    %0 = tt.clampf %x, %x, %x, propagateNan = none : tensor<4xi32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf32>) {
    // expected-error@+1 {{expected one of none, all}}
    %0 = tt.clampf %x, %x, %x, propagateNan = some : tensor<4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xi32>) {
    // expected-error@+1 {{expected a floating-point type, got tensor<4xi32>}}
    %0 = tt.precise_sqrt %x : tensor<4xi32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xi32>) {
    // expected-error@+1 {{expected a floating-point type, got tensor<4xi32>}}
    %0 = tt.precise_divf %x, %x : tensor<4xi32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf64>) {
    // expected-error@+1 {{expected f32, got tensor<4xf64>}}
    %0 = tt.approx_divf %x, %x : tensor<4xf64>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: !tt.ptr<f32>) {
    // expected-error@+1 {{#tt.cache_policy lacks eviction_policy}}
    %0 = tt.load %x {cachePolicy = #tt.cache_policy<cache_modifier = ca>} : !tt.ptr<f32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: !tt.ptr<f32>) {
    // expected-error@+1 {{'never' is none of evict_normal, evict_first, evict_last}}
    %0 = tt.load %x {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = never>} : !tt.ptr<f32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: !tt.ptr<f32>) {
    // expected-error@+1 {{'cachePolicy' must be a cache policy, got 1 : i32}}
    %0 = tt.load %x {cachePolicy = 1 : i32} : !tt.ptr<f32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: !tt.ptr<f32>) {
    // expected-error@+1 {{'cachePolicy' stands beside other words for it}}
    %0 = tt.load %x cacheModifier = cg {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal>} : !tt.ptr<f32>
    tt.return
  }
}

// -----

module {
  // expected-error@+1 {{unknown address space 'shared', there are global, descriptor, constant}}
  tt.func @f(%x: !tt.ptr<f32, "shared">) {
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf32>) {
    // expected-error@+1 {{expected an integer type, got tensor<4xf32>}}
    %0 = tt.mulhiui %x, %x : tensor<4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xi32>) {
    // expected-error@+1 {{'packed_element' must be a power of two, got 3}}
    %0 = tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 3 : i32, pure = true} %x : tensor<4xi32> -> tensor<4xi32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xi32>) {
    // expected-error@+1 {{operands and results must have the same shape, got tensor<4xi32> and tensor<8xi32>}}
    %0 = tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<4xi32> -> tensor<8xi32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf32>) {
    // expected-error@+1 {{tensors must agree in shape and layout, got tensor<4xf32> and tensor<8xf32>}}
    %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "f"} : (tensor<4xf32>) -> tensor<8xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf32>) {
    // expected-error@+1 {{the region must take (f32): 1 scalar(s) for each operand}}
    %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      tt.map_elementwise.return %b : f32
    }) : (tensor<4xf32>) -> tensor<4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: f32) {
    // expected-error@+1 {{no type for 'result': expected a pointer or a tensor of pointers, got f32}}
    %0 = tt.load %a : f32
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<32xi1>) {
    // expected-error@+1 {{the type of 'mask' must be tensor<64xi1>, because that of 'ptr' is tensor<64x!tt.ptr<f32>>; it is tensor<32xi1>}}
    %0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<64x!tt.ptr<f32>>, tensor<32xi1>) -> tensor<64xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f32>, %a: f32) {
    // expected-error@+1 {{'other' needs a mask}}
    %0 = "tt.load"(%p, %a) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tt.ptr<f32>, f32) -> f32
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f32>) {
    // expected-error@+1 {{'boundaryCheck' needs a pointer to a tensor}}
    %0 = tt.load %p {boundaryCheck = array<i32: 0>} : !tt.ptr<f32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f32>) {
    // expected-error@+1 {{expected one of none, ca, cg, wb, cs, wt, cv}}
    %0 = tt.load %p cacheModifier = cx : !tt.ptr<f32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f32>, %a: i32) {
    // expected-error@+1 {{the type of 'value' must be f32, because that of 'ptr' is !tt.ptr<f32>; it is i32}}
    "tt.store"(%p, %a) : (!tt.ptr<f32>, i32) -> ()
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f32>, %l: i64, %n: i32) {
    // expected-error@+1 {{shape, strides, offsets and order must each have 2 entries, as the block has dimensions}}
    %0 = tt.make_tensor_ptr %p, [%l], [%l], [%n, %n] {order = array<i32: 1, 0>} : <tensor<4x4xf32>>
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<tensor<4x4xf32>>, %n: i32) {
    // expected-error@+1 {{expected one offset for each dimension of tensor<4x4xf32>, got 1}}
    %0 = tt.advance %p, [%n] : <tensor<4x4xf32>>
    tt.return
  }
}

// -----

module {
  tt.func @f() {
    // expected-error@+1 {{an empty range: start 8 is not less than end 8}}
    %0 = tt.make_range {end = 8 : i32, start = 8 : i32} : tensor<8xi32>
    tt.return
  }
}

// -----

module {
  tt.func @f() {
    // expected-error@+1 {{the range has 8 elements, the result 4}}
    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<4xi32>
    tt.return
  }
}

// -----

module {
  tt.func @f() {
    // expected-error@+1 {{the result must be a one-dimensional tensor of i32, got tensor<8xi64>}}
    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi64>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{the type of 'src' must be f32, because that of 'result' is tensor<4xf32>; it is i32}}
    %0 = "tt.splat"(%a) : (i32) -> tensor<4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf32>) {
    // expected-error@+1 {{expected a tensor of exactly one element, got tensor<4xf32>}}
    %0 = tt.unsplat %x : tensor<4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf32>) {
    // expected-error@+1 {{inserting a dimension at 1 gives 4x1, the result is tensor<1x4xf32>}}
    %0 = tt.expand_dims %x {axis = 1 : i32} : tensor<4xf32> -> tensor<1x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf32>) {
    // expected-error@+1 {{axis 3 is out of range: the tensor has 2 dimensions}}
    %0 = tt.expand_dims %x {axis = 3 : i32} : tensor<4xf32> -> tensor<1x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<2x4xf32>) {
    // expected-error@+1 {{dimension 0 has size 2, which does not broadcast to 8}}
    %0 = tt.broadcast %x : tensor<2x4xf32> -> tensor<8x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf32>) {
    // expected-error@+1 {{the rank changes from 1 to 2}}
    %0 = tt.broadcast %x : tensor<4xf32> -> tensor<8x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf32>) {
    // expected-error@+1 {{the number of elements changes from tensor<4xf32> to tensor<8xf32>}}
    %0 = tt.reshape %x : tensor<4xf32> -> tensor<8xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4x2xf32>) {
    // expected-error@+1 {{'order' [0, 0] is no permutation of 2 dimensions}}
    %0 = tt.trans %x {order = array<i32: 0, 0>} : tensor<4x2xf32> -> tensor<2x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4x2xf32>) {
    // expected-error@+1 {{the permuted shape is 2x4, the result is tensor<4x2xf32>}}
    %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x2xf32> -> tensor<4x2xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf32>) {
    // expected-error@+1 {{the result must have twice the leading size of tensor<4xf32>, got tensor<4xf32>}}
    %0 = tt.cat %x, %x : tensor<4xf32> -> tensor<4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xf32>) {
    // expected-error@+1 {{joining tensor<4xf32> gives one more dimension of size 2, got tensor<8xf32>}}
    %0 = tt.join %x, %x : tensor<4xf32> -> tensor<8xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4x4xf32>) {
    // expected-error@+1 {{the last dimension of the operand must be the one to split, of size 2: tensor<4x4xf32> -> tensor<4xf32>}}
    %0, %1 = tt.split %x : tensor<4x4xf32> -> tensor<4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4x8xf32>, %i: tensor<4x4xi32>) {
    // expected-error@+1 {{operand and indices differ in dimension 1, which is not the gathered one: 8 and 4}}
    %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4x8xf32>, tensor<4x4xi32>) -> tensor<4x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4xi32>) {
    // expected-error@+1 {{the number of bins must be a power of two, got 5}}
    %0 = tt.histogram %x : tensor<4xi32> -> tensor<5xi32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4x8xf32>) {
    // expected-error@+1 {{axis 2 is out of range: the tensor has 2 dimensions}}
    %0 = "tt.reduce"(%x) <{axis = 2 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      tt.reduce.return %a : f32
    }) : (tensor<4x8xf32>) -> tensor<4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4x8xf32>) {
    // expected-error@+1 {{reducing axis 1 of tensor<4x8xf32> cannot give tensor<8xf32>}}
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      tt.reduce.return %a : f32
    }) : (tensor<4x8xf32>) -> tensor<8xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4x8xf32>) {
    // expected-error@+1 {{the combine region must take (f32) twice, it takes (f32, i32)}}
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: i32):
      tt.reduce.return %a : f32
    }) : (tensor<4x8xf32>) -> tensor<4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4x8xf32>) {
    // expected-error@+1 {{a scan keeps its operands' types, (tensor<4x8xf32>) became (tensor<4xf32>)}}
    %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      tt.scan.return %a : f32
    }) : (tensor<4x8xf32>) -> tensor<4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%x: tensor<4x8xf32>) {
    // expected-error@+1 {{the combine region must return (f32), it returns (i1)}}
    %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.cmpf oeq, %a, %b : f32
      tt.scan.return %c : i1
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4x8xf16>, %b: tensor<4x8xf16>, %c: tensor<4x8xf32>) {
    // expected-error@+1 {{the last dimension of the first operand and the last but one of the second differ: tensor<4x8xf16> and tensor<4x8xf16>}}
    %0 = tt.dot %a, %b, %c : tensor<4x8xf16> * tensor<4x8xf16> -> tensor<4x8xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4x8xf16>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) {
    // expected-error@+1 {{element types of one width are needed, got tensor<4x8xf16> and tensor<8x4xf32>}}
    %0 = tt.dot %a, %b, %c : tensor<4x8xf16> * tensor<8x4xf32> -> tensor<4x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<4x8xf32>) {
    // expected-error@+1 {{the accumulator must be 4x4, got tensor<4x8xf32>}}
    %0 = tt.dot %a, %b, %c : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x8xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4x8xf8E5M2>, %b: tensor<8x4xi8>, %c: tensor<4x4xf32>) {
    // expected-error@+1 {{operands and accumulator must all be integers, or all floats: tensor<4x8xf8E5M2>, tensor<8x4xi8> and tensor<4x4xf32>}}
    %0 = tt.dot %a, %b, %c : tensor<4x8xf8E5M2> * tensor<8x4xi8> -> tensor<4x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4x8xf8E5M2>, %b: tensor<8x4xf8E5M2>, %c: tensor<4x4xf8E5M2>) {
    // expected-error@+1 {{products of f8E5M2 are not summed in f8E5M2}}
    %0 = tt.dot %a, %b, %c : tensor<4x8xf8E5M2> * tensor<8x4xf8E5M2> -> tensor<4x4xf8E5M2>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %c: tensor<4x4xi64>) {
    // expected-error@+1 {{products of i8 are not summed in i64}}
    %0 = tt.dot %a, %b, %c : tensor<4x8xi8> * tensor<8x4xi8> -> tensor<4x4xi64>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>, %c: tensor<4x4xf32>) {
    // expected-error@+1 {{the first operand holds e2m1 pairs and must be of i8, got tensor<4x8xbf16>}}
    %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<4x8xbf16> * tensor<8x4xbf16> -> tensor<4x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4x8xf16>, %b: tensor<8x4xbf16>, %c: tensor<4x4xf32>) {
    // expected-error@+1 {{the first operand holds e4m3 and must be of f8E4M3FN or i8, got tensor<4x8xf16>}}
    %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<4x8xf16> * tensor<8x4xbf16> -> tensor<4x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4x8xi8>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) {
    // expected-error@+1 {{the second operand holds bf16 and must be of bf16, got tensor<8x4xf32>}}
    %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<4x8xi8> * tensor<8x4xf32> -> tensor<4x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4x8xi8>, %b: tensor<8x4xbf16>, %c: tensor<4x4xf64>) {
    // expected-error@+1 {{scaled products are not summed in f64}}
    %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<4x8xi8> * tensor<8x4xbf16> -> tensor<4x4xf64>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<4x32xi8>, %s: tensor<4x1xi32>, %b: tensor<32x4xi8>, %t: tensor<4x1xi8>, %c: tensor<4x4xf32>) {
    // expected-error@+1 {{the scales of the first operand are i8 or floats, got tensor<4x1xi32>}}
    %0 = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<4x32xi8>, tensor<4x1xi32> * tensor<32x4xi8>, tensor<4x1xi8> -> tensor<4x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f32>, %a: f32) {
    // expected-error@+1 {{add does not work on f32}}
    %0 = tt.atomic_rmw add, relaxed, gpu, %p, %a : (!tt.ptr<f32>, f32) -> f32
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<i32>, %a: i32) {
    // expected-error@+1 {{fadd does not work on i32}}
    %0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %a : (!tt.ptr<i32>, i32) -> i32
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f8E5M2>, %a: f8E5M2) {
    // expected-error@+1 {{fadd does not work on f8E5M2}}
    %0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %a : (!tt.ptr<f8E5M2>, f8E5M2) -> f8E5M2
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<i1>, %a: i1) {
    // expected-error@+1 {{add does not work on i1}}
    %0 = tt.atomic_rmw add, relaxed, gpu, %p, %a : (!tt.ptr<i1>, i1) -> i1
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<i16>, %a: i16) {
    // expected-error@+1 {{add does not work on i16}}
    %0 = tt.atomic_rmw add, relaxed, gpu, %p, %a : (!tt.ptr<i16>, i16) -> i16
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: tensor<64x!tt.ptr<bf16>>, %a: tensor<64xbf16>) {
    // expected-error@+1 {{exch does not work on tensor<64xbf16>}}
    %0 = tt.atomic_rmw exch, relaxed, gpu, %p, %a : (tensor<64x!tt.ptr<bf16>>, tensor<64xbf16>) -> tensor<64xbf16>
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<!tt.ptr<i8>>, %a: !tt.ptr<i8>) {
    // expected-error@+1 {{exch does not work on !tt.ptr<i8>}}
    %0 = tt.atomic_rmw exch, relaxed, gpu, %p, %a : (!tt.ptr<!tt.ptr<i8>>, !tt.ptr<i8>) -> !tt.ptr<i8>
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<i8>, %a: i8) {
    // expected-error@+1 {{a compare-and-swap is of 16, 32 or 64 bits, got i8}}
    %0 = tt.atomic_cas relaxed, gpu, %p, %a, %a : (!tt.ptr<i8>, i8, i8) -> i8
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<i32>) {
    // expected-error@+1 {{the order must be relaxed or acquire}}
    %0 = tt.atomic_load release, gpu, %p : (!tt.ptr<i32>) -> i32
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<i1>) {
    // expected-error@+1 {{an atomic access is of numbers of 8, 16, 32 or 64 bits, got i1}}
    %0 = tt.atomic_load relaxed, gpu, %p : (!tt.ptr<i1>) -> i1
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<i32>, %a: i32) {
    // expected-error@+1 {{the order must be relaxed or release}}
    tt.atomic_store acq_rel, gpu, %p, %a : !tt.ptr<i32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<!tt.ptr<i8>>, %a: !tt.ptr<i8>) {
    // expected-error@+1 {{an atomic access is of numbers of 8, 16, 32 or 64 bits}}
    tt.atomic_store relaxed, gpu, %p, %a : !tt.ptr<!tt.ptr<i8>>
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f32>, %a: f32) {
    // expected-error@+1 {{a poll is of integers of 16, 32 or 64 bits, got f32}}
    %0 = tt.atomic_poll relaxed, gpu, %p, %a : !tt.ptr<f32>, f32 -> i1
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<i8>, %a: i8) {
    // expected-error@+1 {{a poll is of integers of 16, 32 or 64 bits, got i8}}
    %0 = tt.atomic_poll relaxed, gpu, %p, %a : !tt.ptr<i8>, i8 -> i1
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<i32>, %a: i32) {
    // expected-error@+1 {{the order must be relaxed or acquire}}
    %0 = tt.atomic_poll release, gpu, %p, %a : !tt.ptr<i32>, i32 -> i1
    tt.return
  }
}

// -----

module {
  tt.func @f(%d: !tt.tensordesc<tensor<8x16xf8E5M2>>, %a: tensor<8x16xf8E5M2>, %i: i32) {
    // expected-error@+1 {{add does not work on f8E5M2}}
    tt.descriptor_reduce add, %d[%i, %i], %a : !tt.tensordesc<tensor<8x16xf8E5M2>>, tensor<8x16xf8E5M2>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32, %i: index) {
    // expected-error@+1 {{ops of 'tt' are on numbers, pointers, descriptors and tiles of them, got index}}
    %0 = tt.splat %i : index -> tensor<8xindex>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{ops of 'tt' are on numbers, pointers, descriptors and tiles of them, got vector<4xf32>}}
    %0 = tt.elementwise_inline_asm "mov" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %a : i32 -> vector<4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<8xi32>) {
    // expected-error@+1 {{the elements of a tile are numbers or pointers, got tensor<8xindex>}}
    %0 = arith.index_cast %a : tensor<8xi32> to tensor<8xindex>
    tt.return
  }
}

// -----

module {
  tt.func @f(%c: i1) {
    // expected-error@+1 {{the elements of a tile are numbers or pointers, got tensor<8x!tt.ptr<index>>}}
    %0 = ub.poison : tensor<8x!tt.ptr<index>>
    tt.return
  }
}

// -----

module {
  tt.func @f(%c: i1) {
    // expected-error@+1 {{a pointer is to numbers, to pointers or to a tile, got !tt.ptr<!tt.tensordesc<tensor<8x8xf32>>>}}
    %0 = ub.poison : !tt.ptr<!tt.tensordesc<tensor<8x8xf32>>>
    tt.return
  }
}

// -----

module {
  tt.func @f(%c: i1) {
    // expected-error@+1 {{a descriptor is of a tensor of numbers, got !tt.tensordesc<tensor<8x8xindex>>}}
    %0 = ub.poison : !tt.tensordesc<tensor<8x8xindex>>
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<i32>, %a: i64) {
    // expected-error@+1 {{the type of 'cmp' must be i32, because that of 'ptr' is !tt.ptr<i32>; it is i64}}
    %0 = tt.atomic_cas relaxed, gpu, %p, %a, %a : (!tt.ptr<i32>, i64, i64) -> i64
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<i32>, %a: i32) {
    // expected-error@+1 {{expected one of relaxed, acquire, release, acq_rel}}
    %0 = tt.atomic_cas seq_cst, gpu, %p, %a, %a : (!tt.ptr<i32>, i32, i32) -> i32
    tt.return
  }
}

// -----

module {
  tt.func @f() {
    // expected-error@+1 {{expected one of x, y, z}}
    %0 = tt.get_program_id w : i32
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{@missing is no tt.func of this module}}
    %0 = tt.call @missing(%a) : (i32) -> i32
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{called as (i32) -> i32, but @f is (i32) -> ()}}
    %0 = tt.call @f(%a) : (i32) -> i32
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f32>, %n: i32, %l: i64) {
    // expected-error@+1 {{!tt.tensordesc<tensor<4x4xf32>> needs 2 extents and strides, got 1 and 1}}
    %0 = tt.make_tensor_descriptor %p, [%n], [%l] : <f32>, <tensor<4x4xf32>>
    tt.return
  }
}

// -----

module {
  tt.func @f(%p: !tt.ptr<f16>, %n: i32, %l: i64) {
    // expected-error@+1 {{the type of 'base' must be !tt.ptr<f32>, because that of 'result' is !tt.tensordesc<tensor<4xf32>>; it is !tt.ptr<f16>}}
    %0 = tt.make_tensor_descriptor %p, [%n], [%l] : <f16>, <tensor<4xf32>>
    tt.return
  }
}

// -----

module {
  tt.func @f(%d: !tt.tensordesc<tensor<4x4xf32>>, %n: i32) {
    // expected-error@+1 {{!tt.tensordesc<tensor<4x4xf32>> needs 2 indices, got 1}}
    %0 = tt.descriptor_load %d[%n] : !tt.tensordesc<tensor<4x4xf32>> -> tensor<4x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%d: !tt.tensordesc<tensor<4x4xf32>>, %n: i32) {
    // expected-error@+1 {{the element types of descriptor and block differ: !tt.tensordesc<tensor<4x4xf32>> and tensor<4x4xf16>}}
    %0 = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<tensor<4x4xf32>> -> tensor<4x4xf16>
    tt.return
  }
}

// -----

module {
  tt.func @f(%d: !tt.tensordesc<tensor<4x4xf32>>, %n: i32, %x: tensor<4x8xf32>) {
    // expected-error@+1 {{descriptor and block differ in size: !tt.tensordesc<tensor<4x4xf32>> and tensor<4x8xf32>}}
    tt.descriptor_store %d[%n, %n], %x : !tt.tensordesc<tensor<4x4xf32>>, tensor<4x8xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%d: !tt.tensordesc<tensor<4x4xf32>>, %n: i32, %x: tensor<4x4xf32>) {
    // expected-error@+1 {{expected one of none, add, min, max, inc, dec, and, or, xor}}
    tt.descriptor_reduce mul, %d[%n, %n], %x : !tt.tensordesc<tensor<4x4xf32>>, tensor<4x4xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%d: !tt.tensordesc<tensor<4x64xf32>>, %n: i32, %r: tensor<8xi32>) {
    // expected-error@+1 {{the descriptor's block must be a single row, got !tt.tensordesc<tensor<4x64xf32>>}}
    %0 = tt.descriptor_gather %d[%r, %n] : (!tt.tensordesc<tensor<4x64xf32>>, tensor<8xi32>, i32) -> tensor<8x64xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%d: !tt.tensordesc<tensor<1x64xf32>>, %n: i32, %r: tensor<4xi32>, %x: tensor<4x64xf32>) {
    // expected-error@+1 {{at least 8 rows are needed, got 4}}
    tt.descriptor_scatter %d[%r, %n], %x : !tt.tensordesc<tensor<1x64xf32>>, tensor<4xi32>, i32, tensor<4x64xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{'isSigned' has 0 entries for 1 operands}}
    tt.print "x" {hex = false, isSigned = array<i32>} : %a : i32
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: tensor<64xf32>) {
    // expected-error@+1 {{'extents' has other ranks than the operands}}
    tt.print "x" {extents = [[3 : i32, 40 : i32]], hex = false, isSigned = array<i32: 0>} : %a : tensor<64xf32>
    tt.return
  }
}

// -----

module {
  tt.func @f(%a: i32) {
    // expected-error@+1 {{the condition must be i1, got i32}}
    tt.assert %a, "x" : i32
    tt.return
  }
}

// -----

tt.func @f() {
  // expected-error@+1 {{the extents of a tile must be powers of two, got tensor<3x64xf16>}}
  %0 = arith.constant dense<1.0> : tensor<3x64xf16>
  tt.return
}

// -----

tt.func @f() {
  // expected-error@+1 {{a tile has at most 1048576 elements, got 2097152 in tensor<2097152xi32>}}
  %0 = tt.make_range {start = 0 : i32, end = 2097152 : i32} : tensor<2097152xi32>
  tt.return
}

// -----

// expected-error@+1 {{the extents of a tile must be powers of two, got tensor<48xi32>}}
tt.func @f(%x: tensor<48xi32>) {
  tt.return
}
