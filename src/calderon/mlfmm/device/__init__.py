"""Products by plane waves and equivalent sources on OpenCL and CUDA."""
