/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A loop of which one round was recorded is the same program as one of which all were. */

#include "handle_helper.h"
#include "jalloc/program.h"

static jstatus_t routine(jhandle_t *handle, int64_t n) {
    const int64_t shape[] = {n};
    jplan_t plan;
    jplan_init(&plan, handle, "routine", "n", shape);
    jplan_add(&plan, "buffer", 1, 0, 1, (const size_t[]){jalloc_mul(n, 64)});
    jplan_add(&plan, "nothing", 1, 0, 0, NULL);
    JALLOC_ANSWER_SIZE_QUERY(handle, &plan);
    return JSTATUS_SUCCESS;
}

/* What is recorded of `rounds` rounds, each of which counts so many times. */
static jprogram_info_t info_of(jhandle_t *handle, int rounds, uint64_t times) {
    jprogram_t *program = NULL;
    jprogram_info_t info = JPROGRAM_INFO_INIT;
    JEXPECT_OK(jprogram_create(&program));
    JEXPECT_OK(jprogram_record(program, handle));
    for (int i = 0; i < rounds; ++i) {
        JEXPECT_FALSE(jstatus_is_error(routine(handle, 3)));
        JEXPECT_FALSE(jstatus_is_error(routine(handle, 5)));
        JEXPECT_FALSE(jstatus_is_error(routine(handle, 3)));
    }
    JEXPECT_OK(jprogram_stop_repeated(program, handle, times));
    JEXPECT_OK(jprogram_choose(program, 192));
    JEXPECT_OK(jprogram_get_info(program, &info));
    jprogram_call_t call = JPROGRAM_CALL_INIT;
    JEXPECT_OK(jprogram_get_call(program, 0, &call));
    JEXPECT_EQ(call.times, 2 * times * (uint64_t)rounds);
    JEXPECT_OK(jprogram_destroy(program));
    return info;
}

JTEST(ProgramRepeated, ARoundThatCountsManyTimesIsAllOfThem) {
    jhandle_t *handle = make_handle(0);
    const jprogram_info_t recorded = info_of(handle, 6, 1), counted = info_of(handle, 2, 3);
    JEXPECT_EQ(counted.call_count, recorded.call_count);
    JEXPECT_EQ(counted.size_bytes, recorded.size_bytes);
    JEXPECT_EQ(counted.degraded_count, recorded.degraded_count);
    JEXPECT_EQ(counted.degraded_count, 6u);
    JEXPECT_NEAR(counted.seconds, recorded.seconds, 1e-12);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(ProgramRepeated, NoTimesAreRefusedAndTheRecordingGoesOn) {
    jprogram_t *program = NULL;
    jhandle_t *handle = make_handle(0);
    JASSERT_OK(jprogram_create(&program));
    JEXPECT_STATUS(jprogram_stop_repeated(program, handle, 2), JSTATUS_SIZE_QUERY_MISMATCH);
    JEXPECT_OK(jprogram_record(program, handle));
    JEXPECT_FALSE(jstatus_is_error(routine(handle, 3)));
    JEXPECT_STATUS(jprogram_stop_repeated(program, handle, 0), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jprogram_stop_repeated(NULL, handle, 2), JSTATUS_INVALID_POINTER);
    JEXPECT_TRUE(jhandle_is_size_query(handle));
    JEXPECT_OK(jprogram_stop_repeated(program, handle, 2));
    JEXPECT_OK(jprogram_destroy(program));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A count that does not fit is no count, be it of one recording or with those before. */
JTEST(ProgramRepeated, MoreCallsThanCanBeCountedAreRefused) {
    jprogram_t *program = NULL;
    jhandle_t *handle = make_handle(0);
    jprogram_call_t call = JPROGRAM_CALL_INIT;
    JASSERT_OK(jprogram_create(&program));
    const uint64_t times[] = {UINT64_MAX / 2, UINT64_MAX / 2 + 1, 1, UINT64_MAX / 4 + 1};
    const jstatus_t expected[] = {JSTATUS_SUCCESS, JSTATUS_INVALID_SIZE, JSTATUS_SUCCESS,
                                  JSTATUS_INVALID_SIZE};
    for (int i = 0; i < 4; ++i) {
        JEXPECT_OK(jprogram_record(program, handle));
        JEXPECT_FALSE(jstatus_is_error(routine(handle, 3)));
        if (i % 2 != 0)
            JEXPECT_FALSE(jstatus_is_error(routine(handle, 5)));
        JEXPECT_STATUS(jprogram_stop_repeated(program, handle, times[i]), expected[i]);
        JEXPECT_FALSE(jhandle_is_size_query(handle));
        JEXPECT_OK(jprogram_get_call(program, 0, &call));
        JEXPECT_EQ(call.times, UINT64_MAX / 2 + (i > 1));
    }
    JEXPECT_STATUS(jprogram_get_call(program, 1, &call), JSTATUS_INVALID_VALUE);
    JEXPECT_OK(jprogram_destroy(program));
    JEXPECT_OK(jhandle_destroy(handle));
}
