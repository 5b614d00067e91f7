/* What a kernel's C source needs of hip/hip_runtime_api.h, for tests without the vendor's. */
#pragma once
typedef int hipError_t;
enum {hipSuccess = 0, hipErrorInvalidValue = 7};
typedef struct stream_ *hipStream_t; typedef struct module_ *hipModule_t; typedef struct function_ *hipFunction_t;
typedef void *hipDeviceptr_t;
hipError_t hipModuleLoadData(hipModule_t *module, const void *image);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
    unsigned shared, hipStream_t stream, void **arguments, void **extra);
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty,
    unsigned tz, unsigned shared, hipStream_t stream, void **arguments);
