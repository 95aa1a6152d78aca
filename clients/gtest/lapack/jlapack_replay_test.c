/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jblas-bench understands what the log says of jlapack's calls: of each function of each row, right
 * and refused; and of what a LAPACK computes the answers are right when they are run again. */

#include <stdio.h>
#include <stdlib.h>

#include "jlapack_guest_helper.h"
#include "replay.h"

/* ---- Each function ---- */

/* What a call has: sizes of 0 and enumerators that are none, or those of a call that lacks its
 * pointers alone. */
typedef struct call {
    bool valid;
    int64_t size, ld;
} call_t;

#define PASS(t, kind, ...) PASS_##kind(__VA_ARGS__)
#define PASS_ENUM(name, which) , call->valid ? PASS_##which : 0
#define PASS_SIDE JBLAS_LEFT
#define PASS_UPLO JBLAS_UPPER
#define PASS_DIAGONAL JBLAS_NON_UNIT
#define PASS_NORM JLAPACK_ONE_NORM
#define PASS_OPERATION JBLAS_CONJUGATE_TRANSPOSE
#define PASS_HERMITIAN_OPERATION JBLAS_CONJUGATE_TRANSPOSE
#define PASS_VECTORS JLAPACK_VECTORS
#define PASS_PARTS JLAPACK_ALL
#define PASS_RANGE JLAPACK_RANGE_INDICES
#define PASS_SIZE(name) , call->size
#define PASS_SCALAR(name, of) , NULL
#define PASS_RESULT(name, of) , NULL
#define PASS_NUMBER(name, ...) , NULL
#define PASS_MATRIX(name, ...) , NULL, call->ld
#define PASS_INDICES(name, ...) , NULL
#define PASS_FACTORS(name, ...) , NULL
#define PASS_REALS(name, ...) , NULL
#define PASS_STRIDE(name) , 4 * call->ld
#define PASS_COUNT(name) , call->size

#define CALL_OF(form, routine) JI_FUNCTIONS_##routine(CALL_, form)
#define CALL_(form, routine, t, function)                                                          \
    static jstatus_t JI_NAME_OF(form, call_##function)(jhandle_t * handle, const call_t *call) {   \
        return JI_PUBLIC(form, function)(handle JI_ARGUMENTS_OF(form, routine, PASS, t));          \
    }
#define CALLS(routine, level) CALL_OF(PLAIN, routine)
#define CALLS_OF_BATCHES(routine, level) CALL_OF(POINTERS, routine) CALL_OF(STRIDED, routine)
JI_LAPACK_ROUTINE_LIST(CALLS)
JI_LAPACK_GUEST_ROUTINE_LIST(CALLS)
JI_LAPACK_BATCHED_LIST(CALLS_OF_BATCHES)

typedef struct function {
    const char *name;
    bool guest;
    jstatus_t (*call)(jhandle_t *handle, const call_t *call);
} function_t;
#define ROW_OF(form, routine) JI_FUNCTIONS_##routine(ROW_, form)
#define ROW_(form, routine, t, function)                                                           \
    {NAME(JI_NAME_OF(form, function)), false, JI_NAME_OF(form, call_##function)},
#define ROW_OF_GUEST(context, routine, t, function) {#function, true, call_##function},
#define NAME(name) NAME_(name)
#define NAME_(name) #name
#define ROWS(routine, level) ROW_OF(PLAIN, routine)
#define ROWS_OF_BATCHES(routine, level) ROW_OF(POINTERS, routine) ROW_OF(STRIDED, routine)
#define ROWS_OF_GUESTS(routine, level) JI_FUNCTIONS_##routine(ROW_OF_GUEST, )
static const function_t functions[] = {JI_LAPACK_ROUTINE_LIST(ROWS) JI_LAPACK_BATCHED_LIST(
    ROWS_OF_BATCHES) JI_LAPACK_GUEST_ROUTINE_LIST(ROWS_OF_GUESTS)};
static void function_name(const void *parameter, char *name) {
    strcpy(name, ((const function_t *)parameter)->name);
}

/* The call is traced, and logged as what jblas-bench runs again: refused alike, in the same words.
 */
static void expect_replay(jhandle_t *handle, const function_t *function, const call_t *call,
                          jstatus_t expected) {
    char name[64];
    snprintf(name, sizeof name, "jlapack_%s(handle=", function->name);
    jtest_log_clear();
    JEXPECT_STATUS(function->call(handle, call), expected);
    JEXPECT_SUBSTR(jtest_log_text(), name);
    char *logged = replay_logged();
    JASSERT_TRUE(logged != NULL);
    JSCOPED_TRACE("%s", logged);

    jtest_log_clear();
    const replayed_t replayed = replay(logged, false);
    JASSERT_TRUE(replayed.understood);
    JEXPECT_STATUS(replayed.status, expected);
    char *again = replay_logged();
    if (call->valid || again != NULL) /* the query is refused, of which nothing is logged */
        JEXPECT_TRUE(again != NULL && replay_is_alike(again, logged));
    free(logged), free(again);
}

JTEST_P_NAMED(JlapackReplay, EachFunctionIsUnderstood, function_t, functions, function_name) {
    if (param->guest && ji_lapack_guest_load() != JSTATUS_SUCCESS)
        JSKIP("there is no LAPACK");
    jtest_setenv("JALLOC_LAYER", "3");
    jhandle_t *handle = make_handle(0);
    jtest_log_clear();
    const jstatus_t refused = param->call(handle, &(call_t){false, 0, 0});
    JEXPECT_TRUE(jstatus_is_error(refused));
    expect_replay(handle, param, &(call_t){false, 0, 0}, refused);
    expect_replay(handle, param, &(call_t){true, 2, 5}, JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- What a LAPACK computes ---- */

JLAPACK_EACH_ROUTINE(JlapackReplay, ALoggedCallRunAgainIsRight) {
    if (ji_lapack_guest_load() != JSTATUS_SUCCESS)
        JSKIP("there is no LAPACK");
    jtest_setenv("JALLOC_LAYER", "2");
    for (int64_t round = jtest_iterations(16); round > 0 && !jtest_has_failure(); --round) {
        problem_t p __attribute__((cleanup(problem_free))) =
            problem_draw(param->routine, param->type, round, 40);
        static const jlapack_range_t ranges[] = {JLAPACK_RANGE_ALL, JLAPACK_RANGE_VALUES,
                                                 JLAPACK_RANGE_INDICES};
        p.range = ranges[round % 3];
        p.il = p.n > 0 ? jtest_random_between(1, p.n) : 1;
        p.iu = p.n > 0 ? jtest_random_between(p.il, p.n) : 1;
        p.above = p.above_s = (float)jtest_random_between(-3, 0);
        p.up_to = p.up_to_s = (float)jtest_random_between(1, 3);
        p.rcond = p.rcond_s = round % 2 ? -1 : 0.25F;

        jhandle_t *handle = make_handle(0);
        JEXPECT_OK(jhandle_set_result_policy(handle, round / 2 % 2 ? JRESULT_POLICY_SAME_BITS
                                                                   : JRESULT_POLICY_FAST));
        jtest_log_clear();
        const jstatus_t status = problem_call(handle, &p);
        char *logged = replay_logged();
        JASSERT_TRUE(logged != NULL);
        JSCOPED_TRACE("%s", logged);
        jtest_log_clear();
        const replayed_t replayed = replay(logged, true);
        JASSERT_TRUE(replayed.understood);
        JEXPECT_STATUS(replayed.status, status);
        JEXPECT_TRUE(replayed.good);
        char *again = replay_logged();
        JEXPECT_TRUE(again != NULL && replay_is_alike(again, logged));
        free(logged), free(again);
        JEXPECT_OK(jhandle_destroy(handle));
    }
}
