hipError_t hipModuleLoadData(hipModule_t *m, const void *image) { return load((void **)m, image); }
hipError_t hipModuleGetFunction(hipFunction_t *f, hipModule_t m, const char *name) { return find((void **)f, m, name); }
hipError_t hipModuleUnload(hipModule_t m) { printf("unload %d\n", *(int *)m); return 0; }
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
    unsigned shared, hipStream_t s, void **arguments, void **extra) {
    (void)shared; (void)extra; return launch(f, x, y, z, tx * ty * tz, s, arguments); }
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty,
    unsigned tz, unsigned shared, hipStream_t s, void **arguments) {
    (void)shared; printf("cooperative\n"); return launch(f, x, y, z, tx * ty * tz, s, arguments); }
