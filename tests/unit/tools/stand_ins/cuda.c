CUresult cuModuleLoadData(CUmodule *m, const void *image) { return load((void **)m, image); }
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) { return find((void **)f, m, name); }
CUresult cuModuleUnload(CUmodule m) { printf("unload %d\n", *(int *)m); return 0; }
CUresult cuFuncSetAttribute(CUfunction f, int a, int v) { (void)f; printf("attribute %d %d\n", a, v); return 0; }
CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz, unsigned shared,
    CUstream s, void **arguments, void **extra) { (void)shared; (void)extra; return launch(f, x, y, z, tx * ty * tz, s, arguments); }
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **arguments, void **extra) {
    (void)extra;
    for (unsigned i = 0; i < c->numAttrs; i++) printf("with %d %u\n", c->attrs[i].id, c->attrs[i].value.clusterDim.x);
    return launch(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->hStream, arguments); }
