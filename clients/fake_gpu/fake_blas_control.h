/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_BLAS_CONTROL_H
#define JALLOC_CLIENTS_FAKE_BLAS_CONTROL_H

/* What a test can ask of the fake vendor's BLAS and tell it. The module that has one (the CUDA
 * flavour) exports one object of this type by the name fake_blas_control. Faults are counted with
 * the runtime's. */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an injected failure is. */
typedef enum fake_blas_failure_t {
    FAKE_BLAS_NO_MEMORY,
    FAKE_BLAS_EXECUTION_FAILED,
    FAKE_BLAS_NOT_SUPPORTED
} fake_blas_failure_t;

typedef struct fake_blas_control_t {
    /* Before the first call of jblas in the process: the library is not there; one function of it
     * is not. */
    void (*set_present)(bool present);
    void (*set_missing)(const char *function);

    /* The n-th call from now on fails, once; 0: none. And whether it has. */
    void (*fail_after)(uint64_t n, fake_blas_failure_t failure);
    bool (*has_failed)(void);

    /* Calls since reset_counts(), by a name such as "Sgemm" or "SetStream"; NULL: of all that
     * compute. */
    void (*reset_counts)(void);
    uint64_t (*count)(const char *function);
    uint64_t (*count_handles)(void);         /* made in this process */
    uint64_t (*count_handles_refused)(void); /* which a thread that was capturing asked for */
} fake_blas_control_t;

extern __attribute__((visibility("default"))) const fake_blas_control_t fake_blas_control;

#ifdef __cplusplus
}
#endif
#endif
