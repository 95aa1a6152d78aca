/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_FAKE_SOLVER_CONTROL_H
#define JALLOC_CLIENTS_FAKE_SOLVER_CONTROL_H

/* What a test can ask of the fake vendor's LAPACK and tell it. The module that has one (the CUDA
 * flavour) exports one object of this type by the name fake_solver_control. Faults are counted with
 * the runtime's. */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an injected failure is. */
typedef enum fake_solver_failure_t {
    FAKE_SOLVER_NO_MEMORY,
    FAKE_SOLVER_EXECUTION_FAILED,
    FAKE_SOLVER_NOT_SUPPORTED,
    FAKE_SOLVER_INVALID_VALUE
} fake_solver_failure_t;

typedef struct fake_solver_control_t {
    /* Before the first call of it in the process: the library is not there; one function of it is
     * not. */
    void (*set_present)(bool present);
    void (*set_missing)(const char *function);

    /* The n-th call from now on fails, once; 0: none. And whether it has. */
    void (*fail_after)(uint64_t n, fake_solver_failure_t failure);
    bool (*has_failed)(void);
    /* What the calls that compute from now on say of themselves; 0: the truth. */
    void (*set_info)(int info);

    /* Calls since reset_counts(), by a name such as "Xgetrf" or "SetStream"; NULL: of all that
     * compute. */
    void (*reset_counts)(void);
    uint64_t (*count)(const char *function);
    uint64_t (*count_handles)(void); /* made in this process */
} fake_solver_control_t;

extern __attribute__((visibility("default"))) const fake_solver_control_t fake_solver_control;

#ifdef __cplusplus
}
#endif
#endif
