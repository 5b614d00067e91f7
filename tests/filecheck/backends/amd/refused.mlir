// RUN: not tritonx-opt %s --target hip:gfx942 --until llir 2>&1 | filecheck %s

// There is no library of fp64 functions: an error with the op rather than a call that nothing defines.
// CHECK: error: {{.*}}math.exp
tt.func public @exponential(%p: !tt.ptr<f64>) {
  %v = tt.load %p : !tt.ptr<f64>
  %e = math.exp %v : f64
  tt.store %p, %e : !tt.ptr<f64>
  tt.return
}
