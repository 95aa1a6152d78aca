/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A logged call run again by jblas-bench has the same status, takes the same rung and is logged in
 * the same words, but for the number of its handle: whatever workspace there was, under every
 * promise of the handle, with any scalars, and also where it was refused. */

#include "jblas_routines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jalloc/borrow.h"
#include "replay.h"

enum { MEMORY_BYTES = 1 << 16 };
static unsigned char memory[MEMORY_BYTES] __attribute__((aligned(64)));

/* What one call met, and what became of it. */
typedef struct outcome {
    jstatus_t status;
    /* The lowest that was taken, of plans within plans too; -1: none, or the call failed. */
    int rung;
} outcome_t;

static outcome_t outcome_of(jhandle_t *handle, jstatus_t status) {
    outcome_t outcome = {status, -1};
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    JEXPECT_OK(jhandle_get_stats(handle, &stats));
    for (int rung = 0; rung < JHANDLE_MAX_RUNGS && !jstatus_is_error(status); ++rung)
        if (stats.rung_count[rung] > 0)
            outcome.rung = rung;
    return outcome;
}

/* A handle in some mode with some workspace, often less than `asked`. */
static jhandle_t *draw_handle(size_t asked) {
    const int mode = (int)jtest_random_between(JHANDLE_MODE_DEFAULT, JHANDLE_MODE_USER_OWNED);
    const size_t sizes[] = {64, asked / 2, asked, asked + 4096};
    size_t bytes = sizes[jtest_random_between(0, 3)];
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.pointer_mode = jtest_random_bool() ? JPOINTER_MODE_DEVICE : JPOINTER_MODE_HOST;
    options.result_policy = jtest_random_bool() ? JRESULT_POLICY_SAME_BITS : JRESULT_POLICY_FAST;
    options.accuracy = jtest_random_bool() ? JACCURACY_NORMWISE : JACCURACY_COMPONENTWISE;
    options.preallocate_bytes = mode == JHANDLE_MODE_PREALLOCATE ? bytes + 64 : 0;
    jhandle_t *handle = NULL;
    JEXPECT_OK(jhandle_create(&options, &handle));
    if (mode == JHANDLE_MODE_MANUAL)
        JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, jtest_random_bool() ? bytes : 0));
    if (mode == JHANDLE_MODE_USER_OWNED) /* perhaps with no granule in it */
        JEXPECT_OK(jhandle_set_workspace(handle, memory,
                                         bytes < MEMORY_BYTES ? bytes / 2 + 1 : MEMORY_BYTES));
    if (mode == JHANDLE_MODE_DEFAULT && jtest_random_bool()) {
        jborrow_t borrow;
        JEXPECT_OK(jborrow_begin(&borrow, handle, "before", 1, &bytes));
        JEXPECT_OK(jborrow_end(&borrow));
    }
    if (jtest_random_bool())
        JEXPECT_OK(jhandle_set_budget(handle, bytes + 1));
    if (jtest_random_between(0, 3) == 0)
        JEXPECT_OK(jhandle_seal(handle));
    return handle;
}

static void draw_scalar(blas_case_t *c, int which) {
    static const double odd[] = {0.0,       -0.0,   NAN,     INFINITY,
                                 -INFINITY, 5e-324, 1.0 / 3, -1.7976931348623157e308};
    double parts[2];
    for (int i = 0; i < 2; ++i)
        parts[i] = odd[jtest_random_between(0, 7)];
    const bool single = c->compute_type != JDATATYPE_F64 && c->compute_type != JDATATYPE_F64_C;
    for (int i = 0; i < 2; ++i)
        if (single)
            ((float *)(void *)c->scalar[which])[i] = (float)parts[i];
        else
            ((double *)(void *)c->scalar[which])[i] = parts[i];
}

/* Spoils an argument: perhaps the call is refused. */
static void spoil(blas_case_t *c) {
    blas_operand_t *o = &c->operand[jtest_random_between(0, BLAS_OPERANDS - 1)];
    int *const enums[] = {(int *)&c->side, (int *)&c->transa, (int *)&c->transb, (int *)&c->uplo,
                          (int *)&c->diag};
    jdatatype_t *const types[] = {&c->types[jtest_random_between(0, 2)], &c->cs_type,
                                  &c->compute_type, &c->compute_type};
    int64_t *const sizes[] = {&c->m, &c->n, &c->k, &c->ku, &c->batch_count};
    switch (jtest_random_between(0, 4)) {
    case 3: /* some that do not go together, or none */
        *types[jtest_random_between(0, 3)] = (jdatatype_t)jtest_random_between(-1, 8);
        break;
    case 0: /* no other that is valid: operands have room for the shapes that were drawn */
        *enums[jtest_random_between(0, 4)] = (int)jtest_random_between(-1, JBLAS_NO_TRANSPOSE - 1);
        break;
    case 1: *sizes[jtest_random_between(0, 4)] = -jtest_random_between(0, 5); break;
    case 2:
        if (o->kind == BLAS_MATRIX)
            o->ld = jtest_random_bool() ? -o->ld : INT64_MAX / 3;
        break;
    default: c->pointer[jtest_random_between(0, BLAS_POINTERS - 1)] = NULL; break;
    }
}

JTEST_EACH_FUNCTION(JblasReplay, ALoggedCallRunAgainIsTheSameCall) {
    jtest_setenv("JALLOC_LAYER", "2");
    for (int64_t round = jtest_iterations(12); round > 0 && !jtest_has_failure(); --round) {
        const bool large = param->routine->level == 3 && round % 3 == 0;
        BLAS_CASE(c, param, .low = large ? 60 : 1,
                  .high = large                        ? 140
                          : param->routine->level == 1 ? 9000
                                                       : 40);
        jhandle_t *handle = draw_handle(0);
        const size_t asked = blas_query(handle, c);
        JEXPECT_OK(jhandle_destroy(handle));
        handle = draw_handle(asked);
        for (int which = 0; which < 2 && round % 4 == 1; ++which)
            draw_scalar(c, which);
        if (round % 4 == 2)
            spoil(c);

        /* The call, perhaps while its caller borrows. */
        jborrow_t callers;
        const size_t some = round % 5 == 0 ? 64 : 0;
        const bool nested = jborrow_begin(&callers, handle, "caller", 1, &some) == JSTATUS_SUCCESS;
        JEXPECT_OK(jhandle_clear_stats(handle));
        jtest_log_clear();
        const jstatus_t status = blas_call(handle, c);
        const outcome_t want = outcome_of(handle, status);
        if (nested)
            JEXPECT_OK(jborrow_end(&callers));

        char *logged = replay_logged();
        JASSERT_TRUE(logged != NULL);
        JSCOPED_TRACE("%s", logged);
        jtest_log_clear();
        const replayed_t replayed = replay(logged, false);
        JASSERT_TRUE(replayed.understood);
        JEXPECT_STATUS(replayed.status, want.status);
        JEXPECT_EQ(replayed.rung, want.rung);
        /* None where the replay's query was refused. */
        char *again = replay_logged();
        if (again != NULL)
            JEXPECT_TRUE(replay_is_alike(again, logged));
        if (!jstatus_is_error(want.status))
            JEXPECT_TRUE(again != NULL);
        free(logged), free(again);
        JEXPECT_OK(jhandle_destroy(handle));
    }
}
