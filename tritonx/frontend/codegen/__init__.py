"""From a jit function's syntax tree to ``tt``.

One walk over the tree builds the IR: a ``FunctionGenerator`` interprets the statements of one function for given
argument values, and everything that the function calls is interpreted in place by another one. What a node means is in
a table keyed by its class (``expressions``, ``statements``); what a builtin means is the language's and the semantics'
business.

* ``module``: one kernel → one module; functions marked ``noinline`` and calls of them.
* ``function``: names, statements, locations and errors of one function instance.
* ``expressions``, ``statements``, ``calls``, ``branches``, ``loops``: what each piece of Python means.
* ``names``: what a name may refer to; ``syntax``: facts read off the tree alone; ``values``: values across region
  boundaries.

Control flow is structured all the way: ``if`` is ``scf.if`` even where a branch returns (see ``branches``), so a
function is one block, and a callee with early returns can be inlined into a loop.
"""
