"""Gluon for NVIDIA GPUs, by generation."""
