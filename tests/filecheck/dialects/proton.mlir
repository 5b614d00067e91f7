// RUN: tritonx-opt %s | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | tritonx-opt | filecheck %s
// RUN: tritonx-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC

// Regions that a profiler measures: a name, and which end of it this is.

module {
  tt.func @regions(%p: !tt.ptr<f32>) {
    proton.record start "load x"
    %v = tt.load %p : !tt.ptr<f32>
    proton.record end "load x" {note = 1 : i32}
    proton.record start event 2 "copy"
    proton.record end event 2 "copy"
    tt.return
  }
}

// CHECK: tt.func @regions
// CHECK-NEXT: proton.record start "load x"
// CHECK-NEXT: %v = tt.load
// CHECK-NEXT: proton.record end "load x" {note = 1 : i32}
// CHECK-NEXT: proton.record start event 2 "copy"
// CHECK-NEXT: proton.record end event 2 "copy"
// GENERIC: "proton.record"() <{isStart, name = "load x"}> : () -> ()
// GENERIC: "proton.record"() <{name = "load x"}> {note = 1 : i32} : () -> ()
// GENERIC: "proton.record"() <{event = 2 : i32, isStart, name = "copy"}> : () -> ()
// GENERIC: "proton.record"() <{event = 2 : i32, name = "copy"}> : () -> ()
