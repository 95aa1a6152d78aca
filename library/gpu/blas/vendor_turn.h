/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_GPU_BLAS_VENDOR_TURN_H
#define JALLOC_GPU_BLAS_VENDOR_TURN_H

/* One turn with a handle of the vendor's library, for a call on a stream; vendor_turn.cu has why
 * there are turns. Only where there is a library: GPU_HAS_BLAS. */

#include "gpu/blas/vendor_blas.h"

/* The functions of the library; vendor_blas.cu finds them. */
struct vendor_api_t {
#define X(name) decltype(&GPU_BLAS_(name)) name;
    GPU_BLAS_HELPER_LIST(X)
#undef X
#define X(name) decltype(&GPU_BLAS_64(name)) name;
    GPU_BLAS_COMPUTE_LIST(X)
#undef X
    /* May be NULL. */
    gpublasStatus_t (*SetWorkspace)(gpublasHandle_t handle, void *workspace, size_t bytes);
};
extern vendor_api_t vendor_api;

/* -1, 0, 1 as floats and as doubles, each with a zero behind it: a complex number as well. */
struct vendor_constants_t {
    alignas(16) double doubles[3][2];
    alignas(16) float floats[3][4];
};

struct vendor_stream_t;
struct vendor_settings_t;

/* From construction to destruction the stream's handle, or one that it is lent, is this call's, and
 * set up for it. */
class vendor_turn {
  public:
    vendor_turn(const gpu_call_t *call, gpublasPointerMode_t mode);
    ~vendor_turn();
    vendor_turn(const vendor_turn &) = delete;
    vendor_turn &operator=(const vendor_turn &) = delete;

    jstatus_t status; /* not implemented: nothing was said, and jalloc's kernels can do it */
    gpublasHandle_t handle() const;
    const char *constants() const; /* a vendor_constants_t on the device */
    /* Not implemented where the library cannot do it at all, or not now; and no message. */
    jstatus_t check(gpublasStatus_t code, const char *function) const;

  private:
    vendor_stream_t *entry;
    bool lent;               /* the entry is another stream's */
    const gpuError_t before; /* the runtime's last error then: the program's */

    jstatus_t set_up(const gpu_call_t *call, gpublasPointerMode_t mode, uint64_t capture);
    jstatus_t make_ready(const gpu_call_t *call);
    jstatus_t settle(const vendor_settings_t &wanted);
};

#endif
