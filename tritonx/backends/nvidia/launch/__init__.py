"""Launches through the CUDA driver, and what a launch needs beside the code."""
