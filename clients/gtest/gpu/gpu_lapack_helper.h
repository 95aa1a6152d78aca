/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_GPU_GPU_LAPACK_HELPER_H
#define JALLOC_CLIENTS_GTEST_GPU_GPU_LAPACK_HELPER_H

/* Calls of what the vendor's LAPACK computes, by routines and types that are values: a problem is
 * all that one call takes and gives, on the device and as it was, and what must hold of it
 * afterwards, in long double. */

#include "fake_solver_control.h"
#include "gpu_device.h"
#include "jlapack_helper.h"

typedef enum solver {
    GETRF,
    GETRS,
    GESV,
    GEQRF,
    ORGQR,
    ORMQR,
    GELS,
    SYEVD,
    GESVD,
    SOLVERS
} solver_t;
extern const char *const solver_names[SOLVERS];

typedef struct problem {
    solver_t solver;
    int type;
    int64_t m, n, k;
    jblas_side_t side;
    jblas_operation_t trans;
    jblas_uplo_t uplo;
    jlapack_job_t job, job2;
    matrix_t a, b, c, values; /* on the host; a, b, c as LAPACK has them: B or U, V^H */
    void *device_a, *device_b, *device_c, *device_values;
    int64_t *ipiv;        /* of the device */
    int64_t *device_info; /* in device pointer mode */
    int64_t info;
} problem_t;

/* Drawn: shapes up to `most`, enumerators, leading dimensions. getrs, orgqr and ormqr have the
 * factorization before them in one call. */
void problem_make(problem_t *p, solver_t solver, int type, int64_t round, int64_t most);
void problem_free(problem_t *p);
#define PROBLEM(name, ...)                                                                         \
    __attribute__((cleanup(problem_free))) problem_t name;                                         \
    problem_make(&name, __VA_ARGS__)

/* Operands on the device are as keep() kept them. */
void problem_upload(problem_t *p);
/* The call, by the handle's pointer mode; in a size query without operands. */
jstatus_t problem_call(jhandle_t *handle, problem_t *p);
/* Waits for the stream, and brings operands and info to the host. */
void problem_download(jhandle_t *handle, problem_t *p);
/* What the routine promises; info is 0. */
void problem_right(problem_t *p);
/* All three. */
void problem_run(jhandle_t *handle, problem_t *p);

/* The bytes of the call's query; *host_bytes: of its host workspace. */
size_t problem_query(jhandle_t *handle, problem_t *p, size_t *host_bytes);

/* The control of the fake vendor's LAPACK, also where it is not to be used; NULL: there is none. */
const fake_solver_control_t *fake_solver_there(void);
/* Whether the device has the routines at all: no fake HIP, not JALLOC_VENDOR_BLAS=0. */
bool solver_is_there(void);
#define SOLVER_OR_SKIP()                                                                           \
    if (!solver_is_there())                                                                        \
    JSKIP("the device has no vendor's LAPACK")

/* EACH_SOLVER(IsRightInAnyShape) { ... (solver_t)*param ... } */
#define EACH_SOLVER(name) JTEST_P_NAMED(GpuLapack, name, int, gpu_solvers, gpu_solver_name)
static const int gpu_solvers[SOLVERS]
    __attribute__((unused)) = {GETRF, GETRS, GESV, GEQRF, ORGQR, ORMQR, GELS, SYEVD, GESVD};
static inline void gpu_solver_name(const void *solver, char *name) {
    strcpy(name, solver_names[*(const int *)solver]);
}

static inline jhandle_t *handle_on(jstream_t *stream, jpointer_mode_t mode) {
    jhandle_t *handle = gpu_make_handle_on(stream, 0);
    JEXPECT_OK(jhandle_set_pointer_mode(handle, mode));
    return handle;
}

static inline void expect_no_fault(void) {
    if (gpu_fake() != NULL)
        JEXPECT_EQ(gpu_fake()->faults(), 0);
}

#endif
