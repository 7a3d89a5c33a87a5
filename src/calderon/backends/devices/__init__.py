"""Devices that run kernels written with the macros of prelude.h: CUDA and OpenCL, their arrays and matrices."""
