"""What hosts make for kernels of Gluon on NVIDIA GPUs."""
