/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_GPU_GPU_DEVICE_H
#define JALLOC_CLIENTS_GTEST_GPU_GPU_DEVICE_H

/* The GPU that the tests run on: JALLOC_TEST_DEVICE ("cuda:0" if it is not set), from the module
 * that JALLOC_MODULE_PATH finds (the fake ones if it is not set). */

#include "fake_gpu_control.h"
#include "jblas_routines.h"
#include "jtest.h"

/* The device; the test ends with a failure where there is none. Never NULL. */
jdevice_t *gpu_device(void);
const char *gpu_device_name(void);
const char *gpu_module_path(void); /* the folder of its module */

/* The control of the fake runtime behind gpu_device(); NULL on a real GPU. */
const fake_gpu_control_t *gpu_fake(void);

/* For tests that play the application: the fake runtime's control, or one over CUDA's runtime that
 * has what concerns graphs and streams and nothing else. NULL: a real GPU whose runtime this
 * program was built without. */
const fake_gpu_control_t *gpu_program(void);
#define GPU_NO_PROGRAM "the tests were built without this GPU's runtime, to play the application"

/* JALLOC_VENDOR_BLAS was 0 when the device was opened. */
bool gpu_vendor_blas_is_off(void);

/* From which sizes a way pays on the device, for tests that lower them. */
struct ji_tuning *gpu_tuning(void);

/* A handle on the device, in default mode on the NULL stream. */
jhandle_t *gpu_make_handle(void);
jhandle_t *gpu_make_handle_on(jstream_t *stream, size_t preallocate_bytes);
/* One that takes all rungs there are; what componentwise leaves of them has its own tests. */
jhandle_t *gpu_make_normwise_handle(void);

/* Memory of the device, aligned to its granule; and between it and the host, done on return. */
void *gpu_take(size_t size_bytes);
void gpu_give(void *pointer, size_t size_bytes);
void gpu_upload(void *device, const void *host, size_t size_bytes);
void gpu_download(void *host, const void *device, size_t size_bytes);

/* The call of a case on a handle of the device: operands, with their canaries, are copied to the
 * device before and back after; so are scalars and results in device pointer mode. Waits for the
 * handle's stream. blas_right() judges it. */
jstatus_t gpu_blas_call(jhandle_t *handle, blas_case_t *c);

/* The same in parts, for calls that are not to be waited for. */
typedef struct gpu_case {
    blas_case_t *c;
    void *region[BLAS_OPERANDS];
    void *table[BLAS_OPERANDS]; /* a batch's pointers */
    void *scalars;
    void *pointer[BLAS_POINTERS]; /* the host's, while the device's stand in c->pointer */
} gpu_case_t;
void gpu_case_begin(gpu_case_t *g, jhandle_t *handle, blas_case_t *c);
void gpu_case_end(gpu_case_t *g, bool download);

/* Whether an operand is conjugated without being transposed. */
static inline bool gpu_conjugates_alone(const blas_case_t *c) {
    return (blas_has(c, 'T') && c->transa == JBLAS_CONJUGATE) ||
           (blas_has(c, 'V') && c->transb == JBLAS_CONJUGATE);
}

#endif
