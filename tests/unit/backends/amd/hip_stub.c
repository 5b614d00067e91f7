// Stands in for libamdhip64.so: the functions that tritonx/backends/amd/driver.py calls, on host memory, after
// hip_runtime_api.h of HIP 6 and later. Nothing is computed: launches are recorded, and the functions named stub_… are
// for the tests. HIP_STUB_DEVICES is the number of devices (2).
// Time is a count of milliseconds, of which a launch takes 1 and a memset 100.

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef int hipError_t;
enum {
    hipSuccess = 0,
    hipErrorInvalidValue = 1,
    hipErrorOutOfMemory = 2,
    hipErrorInvalidConfiguration = 9,
    hipErrorNoDevice = 100,
    hipErrorInvalidDevice = 101,
    hipErrorInvalidImage = 200,
    hipErrorInvalidHandle = 400,
    hipErrorNotFound = 500,
    hipErrorNotReady = 600,
};

enum { MEMORY = 64 << 20, MAX_ALLOCATIONS = 1024, MAX_LAUNCHES = 1024, MAX_BLOCK = 256 };

// ---- failures on demand, and the last error

static char failing[64];
static hipError_t failure;
static _Thread_local hipError_t last_error;
static int calls_of_set_device, calls_of_properties;

void stub_fail(const char *function, hipError_t error) {
    strncpy(failing, function, sizeof failing - 1);
    failure = error;
}

hipError_t stub_last_error(void) { return last_error; }
int stub_calls_of_set_device(void) { return calls_of_set_device; }
int stub_calls_of_properties(void) { return calls_of_properties; }

static hipError_t done(const char *function, hipError_t error) {
    if (strcmp(failing, function) == 0) {
        failing[0] = 0;
        error = failure;
    }
    if (error != hipSuccess) last_error = error;
    return error;
}

#define RETURN(error) return done(__func__, error)

hipError_t hipGetLastError(void) {
    hipError_t error = last_error;
    last_error = hipSuccess;
    return error;
}

// ---- devices

static _Thread_local int current;

static int devices(void) {
    const char *count = getenv("HIP_STUB_DEVICES");
    return count ? atoi(count) : 2;
}

hipError_t hipGetDeviceCount(int *count) {
    *count = devices();
    RETURN(*count ? hipSuccess : hipErrorNoDevice);
}

hipError_t hipGetDevice(int *device) {
    *device = current;
    RETURN(hipSuccess);
}

hipError_t hipSetDevice(int device) {
    calls_of_set_device++;
    if (device < 0 || device >= devices()) RETURN(hipErrorInvalidDevice);
    current = device;
    RETURN(hipSuccess);
}

hipError_t hipDeviceSynchronize(void) { RETURN(hipSuccess); }

#ifdef HIP_5

hipError_t hipRuntimeGetVersion(int *version) {
    *version = 50731921;
    RETURN(hipSuccess);
}

#else

hipError_t hipRuntimeGetVersion(int *version) {
    *version = 60342131;
    RETURN(hipSuccess);
}

typedef struct {
    char name[256];
    char uuid[16];
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap;
    int multiProcessorCount;
    int others[44];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount;
    int unifiedAddressing;
    int memoryClockRate;
    int memoryBusWidth;
    int l2CacheSize;
    int more[135];
    char gcnArchName[256];
    char rest[56];
} hipDeviceProp_tR0600;

_Static_assert(offsetof(hipDeviceProp_tR0600, gcnArchName) == 1160, "as in hip_runtime_api.h");
_Static_assert(sizeof(hipDeviceProp_tR0600) == 1472, "as in hip_runtime_api.h");

// Device 0 is like an MI300X, device 1 has less of everything.
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *found, int device) {
    calls_of_properties++;
    if (device < 0 || device >= devices()) RETURN(hipErrorInvalidDevice);
    memset(found, 0, sizeof *found);
    strcpy(found->name, "stub");
    strcpy(found->gcnArchName, device == 0 ? "gfx942:sramecc+:xnack-" : "gfx1100");
    found->sharedMemPerBlock = device == 0 ? 65536 : 1024;
    found->regsPerBlock = 65536;
    found->warpSize = device == 0 ? 64 : 32;
    found->maxThreadsPerBlock = device == 0 ? 1024 : 512;
    found->clockRate = 2100000;
    found->multiProcessorCount = device == 0 ? 304 : 96;
    found->memoryClockRate = 1300000;
    found->memoryBusWidth = device == 0 ? 8192 : 384;
    found->l2CacheSize = 4 << 20;
    RETURN(hipSuccess);
}

#endif

// ---- memory

static struct {
    char *address;
    size_t size;
    int device;
} allocations[MAX_ALLOCATIONS];

static int allocation_of(const void *pointer, size_t size) {
    const char *address = pointer;
    for (int i = 0; i < MAX_ALLOCATIONS; i++)
        if (allocations[i].address && address >= allocations[i].address &&
            address + size <= allocations[i].address + allocations[i].size)
            return i;
    return -1;
}

int stub_device_of(const void *pointer) {
    int i = allocation_of(pointer, 0);
    return i < 0 ? -1 : allocations[i].device;
}

hipError_t hipMalloc(void **pointer, size_t size) {
    *pointer = NULL;
    if (size > MEMORY) RETURN(hipErrorOutOfMemory);
    for (int i = 0; i < MAX_ALLOCATIONS; i++)
        if (!allocations[i].address) {
            // of 256 bytes, as HIP's are
            *pointer = allocations[i].address = aligned_alloc(256, (size + 255) & ~(size_t)255);
            allocations[i].size = size;
            allocations[i].device = current;
            RETURN(hipSuccess);
        }
    RETURN(hipErrorOutOfMemory);
}

hipError_t hipFree(void *pointer) {
    int i = allocation_of(pointer, 0);
    if (i < 0 || allocations[i].address != pointer) RETURN(hipErrorInvalidValue);
    free(pointer);
    allocations[i].address = NULL;
    RETURN(hipSuccess);
}

hipError_t hipMemcpy(void *destination, const void *source, size_t size, int kind) {
    int to = allocation_of(destination, size), from = allocation_of(source, size);
    if (kind == 1 ? to < 0 || from >= 0 : kind == 2 ? to >= 0 || from < 0 : 1) RETURN(hipErrorInvalidValue);
    memcpy(destination, source, size);
    RETURN(hipSuccess);
}

static float now;

hipError_t hipMemsetAsync(void *pointer, int value, size_t size, void *stream) {
    (void)stream;
    if (allocation_of(pointer, size) < 0) RETURN(hipErrorInvalidValue);
    memset(pointer, value, size);
    now += 100;
    RETURN(hipSuccess);
}

// ---- modules and launches

typedef struct {
    int device;
    const char *image;
} Module;

typedef struct {
    Module *module;
    char name[64];
} Function;

typedef struct {
    const char *name;
    const char *image;
    unsigned grid[3], block[3], shared;
    void *stream;
    int device;
    size_t size;
    char parameters[MAX_BLOCK];
    int cooperative;
} Launch;

static Launch launches[MAX_LAUNCHES];
static int launched;

int stub_launched(void) { return launched; }
const Launch *stub_launch(int i) { return &launches[i]; }

hipError_t hipModuleLoadData(Module **module, const char *image) {
    *module = NULL;
    if (memcmp(image, "\177ELF", 4) != 0) RETURN(hipErrorInvalidImage);
    *module = malloc(sizeof **module);
    **module = (Module){current, image};
    RETURN(hipSuccess);
}

int unloaded_modules, busy;

hipError_t hipModuleUnload(Module *module) {
    if (module->device != current) RETURN(hipErrorInvalidValue);
    unloaded_modules++;
    free(module);
    RETURN(hipSuccess);
}

hipError_t hipStreamQuery(void *stream) { RETURN(busy ? hipErrorNotReady : hipSuccess); }

hipError_t hipModuleGetFunction(Function **function, Module *module, const char *name) {
    *function = NULL;
    if (module->device != current) RETURN(hipErrorInvalidDevice);
    if (!*name) RETURN(hipErrorNotFound);
    *function = calloc(1, sizeof **function);
    (*function)->module = module;
    strncpy((*function)->name, name, sizeof (*function)->name - 1);
    RETURN(hipSuccess);
}

hipError_t hipModuleLaunchKernel(Function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, void *stream,
                                 void **parameters, void **extra) {
    if (!function) RETURN(hipErrorInvalidHandle);
    if (parameters || !extra || extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != (void *)3)
        RETURN(hipErrorInvalidValue);
    size_t size = *(size_t *)extra[3];
    if (size > MAX_BLOCK || launched == MAX_LAUNCHES) RETURN(hipErrorInvalidValue);
    if ((unsigned long long)grid_x * block_x >> 32 || !grid_x || !grid_y || !grid_z)
        RETURN(hipErrorInvalidConfiguration);
    if (function->module->device != current) RETURN(hipErrorInvalidDevice);
    Launch *launch = &launches[launched++];
    *launch = (Launch){function->name, function->module->image, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                       shared, stream, current, size, {0}};
    memcpy(launch->parameters, extra[1], size);
    now += 1;
    RETURN(hipSuccess);
}

static int parameter_count;
static size_t parameter_sizes[16];

// What a cooperative launch, which has no block of parameters, is given: so many of these sizes.
void stub_parameters(int count, const size_t *sizes) {
    parameter_count = count;
    memcpy(parameter_sizes, sizes, count * sizeof *sizes);
}

hipError_t hipModuleLaunchCooperativeKernel(Function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                            void *stream, void **parameters) {
    if (!function) RETURN(hipErrorInvalidHandle);
    if (!parameters || launched == MAX_LAUNCHES) RETURN(hipErrorInvalidValue);
    if (function->module->device != current) RETURN(hipErrorInvalidDevice);
    Launch *launch = &launches[launched++];
    *launch = (Launch){function->name, function->module->image, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                       shared, stream, current, 0, {0}};
    for (int i = 0; i < parameter_count; i++) {
        memcpy(launch->parameters + launch->size, parameters[i], parameter_sizes[i]);
        launch->size += parameter_sizes[i];
    }
    launch->cooperative = 1;
    now += 1;
    RETURN(hipSuccess);
}

// ---- events

typedef struct {
    int device;
    int recorded;
    float time;
} Event;

static int events;

int stub_events(void) { return events; }

hipError_t hipEventCreate(Event **event) {
    *event = NULL;
    hipError_t error = done(__func__, hipSuccess);
    if (error != hipSuccess) return error;
    *event = calloc(1, sizeof **event);
    (*event)->device = current;
    events++;
    return hipSuccess;
}

hipError_t hipEventRecord(Event *event, void *stream) {
    (void)stream;
    if (event->device != current) RETURN(hipErrorInvalidHandle);
    event->recorded = 1;
    event->time = now;
    RETURN(hipSuccess);
}

hipError_t hipEventQuery(Event *event) {
    RETURN(event->recorded ? hipSuccess : hipErrorInvalidHandle);
}

hipError_t hipEventSynchronize(Event *event) {
    RETURN(event->recorded ? hipSuccess : hipErrorInvalidHandle);
}

hipError_t hipEventElapsedTime(float *milliseconds, Event *start, Event *stop) {
    if (!start->recorded || !stop->recorded) RETURN(hipErrorInvalidHandle);
    *milliseconds = stop->time - start->time;
    RETURN(hipSuccess);
}

hipError_t hipEventDestroy(Event *event) {
    free(event);
    events--;
    RETURN(hipSuccess);
}
