"""Searching configurations, for ``tritonx.autotune`` and ``tritonx tune``.

Most of a search's time is compiling, and most measuring is of configurations that cannot win. So compiling is done by
other processes while the device measures, what cannot run is told before it is compiled, and who is clearly slower is
measured a few times only.

    dry_run     what a configuration would compile, as its launch says
    hints       what the backend says of configurations before any is compiled
    ahead       what a configuration would compile, handed to an executor
    workers     the processes that do so by default, as a concurrent.futures.Executor
    race        which configuration is fastest, told with few measurements; knows no device
    clock       the times of a launch on its device
    refusals    which errors say that a configuration cannot run
    records     what was measured, on disk: a search that was interrupted goes on
    launches    a tuned kernel's launches, as a search sees them
    progress    the line on a terminal; report, what was tried as a table and a drawing
    case        a kernel and its launches in a file, for the command and for processes that measure
    remote      launches that another process measures
    across_devices  a search on several devices at once
    search      one search, from configurations to their times
"""
