"""Limits of LLVM's passes, which are the process's: they hold while ours run, and LLVM's own behind them."""

from collections.abc import Sequence

from tritonx.conversion.llvm_binding import Limit, binding, run_passes

BETWEEN = 30
WALK = Limit("-dse-memoryssa-walklimit", 10, 90)


def overwritten(limits: Sequence[Limit] = ()) -> int:
    """How many stores are left to a place that is written twice, with others between."""
    llvm = binding()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=3)
    others = "\n".join(
        f"%p{i} = getelementptr i32, ptr %others, i64 {2 * i}\nstore volatile i32 {i}, ptr %p{i}"
        for i in range(BETWEEN)
    )
    text = f"""
    define void @f(ptr noalias %twice, ptr noalias %others) {{
      store i32 1, ptr %twice
      {others}
      store i32 2, ptr %twice
      ret void
    }}"""
    module = llvm.parse_assembly(text)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    run_passes(builder.getModulePassManager(), module, builder, limits)
    return str(module).count("ptr %twice,")


def test_a_limit_holds_for_its_own_passes_alone() -> None:
    found = [overwritten(), overwritten([WALK]), overwritten(), overwritten([WALK]), overwritten()]
    assert found == [1, 2, 1, 2, 1]
