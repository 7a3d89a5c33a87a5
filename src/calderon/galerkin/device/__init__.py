"""Blocks of Galerkin matrices on OpenCL and CUDA devices."""
