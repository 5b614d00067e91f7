// RUN: tritonx-opt %s --split-input-file --verify-diagnostics

tt.func @word() {
  // expected-error@+1 {{expected one of none, local, global_read, global_write, tensor_read, tensor_write, all, got 'shared'}}
  ttg.barrier shared
  tt.return
}

// -----

tt.func @number() {
  // expected-error@+1 {{'addrSpace' must be a set of memory spaces, got 64}}
  "ttg.barrier"() <{addrSpace = 64 : i32}> : () -> ()
  tt.return
}
