"""What holds for all tests: how long an example takes on a busy machine says nothing about the code."""

from hypothesis import HealthCheck, settings

settings.register_profile("tritonx", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tritonx")
