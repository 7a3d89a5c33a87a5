/* What tells CUDA from OpenCL: every kernel of the package is written with these words alone.

   Kernels:   KERNEL name(GLOBAL const REAL *x, ...), with THREAD(n), GROUP(n), LOCAL_ID(n), LOCAL_SIZE(n) for n = 0, 1.
   Functions: DEVICE REAL f(...).   Shared by a work-group: LOCAL REAL s[8]; inside of the kernel, then BARRIER.
   WIDE_BARRIER: also for what the group wrote to global memory.
   SHARED: before the type that a function's pointer to such memory points to.
   ALIGNED after LOCAL: to 16 bytes, so that rows of a multiple of 4 numbers are loaded in wide words.
   REAL is double or float, REAL_IS_DOUBLE 1 or 0; numbers are written R(0.5). OUT_REAL: of results, out_type; REAL if not
   defined. wide_int: integers of 64 bits. quad_type: four numbers that are loaded in wide words. */

#if REAL_IS_DOUBLE
#define R(x) x
#else
#define R(x) x##f
#endif

#ifdef __OPENCL_VERSION__

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define KERNEL __kernel void
#define DEVICE __attribute__((always_inline)) static inline
#define GLOBAL __global
#define LOCAL __local
#define SHARED __local
#define ALIGNED __attribute__((aligned(16)))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define WIDE_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define THREAD(n) ((int)get_global_id(n))
#define GROUP(n) ((int)get_group_id(n))
#define LOCAL_ID(n) ((int)get_local_id(n))
#define LOCAL_SIZE(n) ((int)get_local_size(n))
#define NO_UNROLL
#define UNROLL
typedef long wide_int;
typedef REAL real_type;
#if REAL_IS_DOUBLE
typedef double4 quad_type;
#else
typedef float4 quad_type;
#endif
DEVICE real_type inverse_square_root(real_type x) { return rsqrt(x); }
DEVICE real_type exponential(real_type x) { return exp(x); }
DEVICE real_type rounded_down(real_type x) { return floor(x); }

#else

#define KERNEL extern "C" __global__ void
#define DEVICE static __device__ __forceinline__
#define GLOBAL
#define LOCAL __shared__
#define SHARED
#define ALIGNED __align__(16)
#define BARRIER __syncthreads()
#define WIDE_BARRIER __syncthreads()
#define THREAD(n) ((int)(n ? blockIdx.y * blockDim.y + threadIdx.y : blockIdx.x * blockDim.x + threadIdx.x))
#define GROUP(n) ((int)(n ? blockIdx.y : blockIdx.x))
#define LOCAL_ID(n) ((int)(n ? threadIdx.y : threadIdx.x))
#define LOCAL_SIZE(n) ((int)(n ? blockDim.y : blockDim.x))
#define NO_UNROLL _Pragma("unroll 1")
#define UNROLL _Pragma("unroll")
typedef long long wide_int;
typedef REAL real_type;
typedef struct __align__(16) {
    real_type x, y, z, w;
} quad_type;
#if REAL_IS_DOUBLE
DEVICE real_type inverse_square_root(real_type x) { return rsqrt(x); }
DEVICE real_type exponential(real_type x) { return exp(x); }
DEVICE real_type rounded_down(real_type x) { return floor(x); }
#else
DEVICE real_type inverse_square_root(real_type x) { return rsqrtf(x); }
DEVICE real_type exponential(real_type x) { return expf(x); }
DEVICE real_type rounded_down(real_type x) { return floorf(x); }
#endif

#endif

#ifndef OUT_REAL
#define OUT_REAL REAL
#endif
typedef OUT_REAL out_type;
