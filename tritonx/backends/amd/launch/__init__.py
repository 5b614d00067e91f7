"""What a launch through HIP needs beside the code; the driver is `tritonx.backends.amd.driver`."""
