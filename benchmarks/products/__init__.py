"""The cases of `gpu_products.py`: what is multiplied, with which configurations, and what the result must be."""
