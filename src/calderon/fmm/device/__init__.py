"""Fast multipole products on OpenCL and CUDA."""
