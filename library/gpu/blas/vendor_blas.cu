/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The vendor's library: loading it, and which primitives are given to it.
 *
 * Loaded, not linked. The library is looked for by the name of its binary interface
 * (libcublas.so.13) when the first primitive runs, along the run path of this module, and every
 * function by its name. If anything is missing it counts as not there, jalloc's kernels do
 * everything, and jdevice_properties_t says so by its `blas`. So it does with
 * JALLOC_VENDOR_BLAS=0. */

#include "gpu/blas/vendor_blas.h"

#if !GPU_HAS_BLAS

gpu_primitive_t gpu_vendor_primitive(gpu_device_t *, ji_primitive_t) { return nullptr; }
const char *gpu_vendor_blas_name(gpu_device_t *) { return nullptr; }
jstatus_t gpu_vendor_gemm_ex(const gpu_call_t *, const ji_matmat_t *, gpu_narrow_t, bool) {
    return JSTATUS_NOT_IMPLEMENTED;
}
bool gpu_vendor_has_bf16x9(gpu_device_t *) { return false; }
void gpu_vendor_forget_stream(gpu_device_t *, gpuStream_t, bool) {}

#else

#include <dlfcn.h>
#include <stdio.h>

#include <mutex>

#include "gpu/blas/vendor_call.h"

vendor_api_t vendor_api;

static std::once_flag vendor_once;
static char vendor_name[64]; /* empty: there is none */
static int vendor_version;   /* major * 100 + minor */

static bool vendor_find_functions(vendor_api_t *api, void *library) {
#define X(name)                                                                                    \
    api->name = (decltype(api->name))GPU_BLAS_FIND(library, GPU_BLAS_STRING(GPU_BLAS_(name)));     \
    if (api->name == nullptr)                                                                      \
        return false;
    GPU_BLAS_HELPER_LIST(X)
#undef X
#define X(name)                                                                                    \
    api->name = (decltype(api->name))GPU_BLAS_FIND(library, GPU_BLAS_STRING(GPU_BLAS_64(name)));   \
    if (api->name == nullptr)                                                                      \
        return false;
    GPU_BLAS_COMPUTE_LIST(X)
#undef X

    api->SetWorkspace = (decltype(api->SetWorkspace))GPU_BLAS_FIND(
        library, GPU_BLAS_STRING(GPU_BLAS_(SetWorkspace)));

    return true;
}

static void vendor_load() {
    if (!gpu_services->vendor_blas)
        return;

    void *library = GPU_BLAS_OPEN(GPU_BLAS_LIBRARY);
    if (library == nullptr)
        return;

    if (!vendor_find_functions(&vendor_api, library)) {
        GPU_BLAS_CLOSE(library);
        return;
    }

    int major = 0, minor = 0;
    GPU_BLAS_GET_VERSION(vendor_api, &major, &minor);
    vendor_version = major * 100 + minor;
    snprintf(vendor_name, sizeof vendor_name, GPU_BLAS_NAME " %d.%d", major, minor);
}

const char *gpu_vendor_blas_name(gpu_device_t *) {
    std::call_once(vendor_once, vendor_load);
    return vendor_name[0] != '\0' ? vendor_name : nullptr;
}

gpu_primitive_t gpu_vendor_primitive(gpu_device_t *device, ji_primitive_t primitive) {
    if (gpu_vendor_blas_name(device) == nullptr)
        return nullptr;

    switch (primitive) {
#define X(enumerator, name)                                                                        \
    case JI_##enumerator:                                                                          \
        return vendor_##name;
        VENDOR_PRIMITIVE_LIST(X)
#undef X
    default: return nullptr;
    }
}

bool gpu_vendor_has_bf16x9(gpu_device_t *device) {
#if defined(GPU_BLAS_BF16X9_SINCE)
    return gpu_vendor_blas_name(device) != nullptr && vendor_version >= GPU_BLAS_BF16X9_SINCE;
#else
    (void)device;
    return false;
#endif
}

#endif
