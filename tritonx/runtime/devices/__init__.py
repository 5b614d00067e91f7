"""Devices and what is theirs: drivers, arrays, what libraries say of them, code in this process."""
