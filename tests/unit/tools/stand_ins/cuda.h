/* What a kernel's C source needs of cuda.h, for tests without the vendor's. */
#pragma once
#include <stddef.h>
typedef int CUresult;
enum {CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 7};
typedef struct stream_ *CUstream; typedef struct module_ *CUmodule; typedef struct function_ *CUfunction;
typedef unsigned long long CUdeviceptr;
enum {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9};
enum {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4, CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2};
enum {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6};
typedef struct {int id; union {struct {unsigned x, y, z;} clusterDim; int cooperative, programmaticStreamSerializationAllowed;} value;} CUlaunchAttribute;
typedef struct {unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes; CUstream hStream;
    CUlaunchAttribute *attrs; unsigned numAttrs;} CUlaunchConfig;
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuModuleUnload(CUmodule module);
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value);
CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz, unsigned shared,
    CUstream stream, void **arguments, void **extra);
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments, void **extra);
