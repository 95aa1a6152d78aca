/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Requirements: each step is exact, sums are what trying everything gives, and nothing is lost
 * where memory ends. */

#include "kernel_helper.h"

#include <math.h>
#include <stdio.h>

enum { MOST_KERNELS = 8 };

static void draw_kernels(size_t count, kernel_t *kernels) {
    for (size_t i = 0; i < count; ++i)
        kernels[i] = kernel_random((int64_t)i);
}

static jrequirement_t *requirement_of(jhandle_t *handle, size_t count, const kernel_t *kernels) {
    jrequirement_t *requirement = NULL;
    JEXPECT_OK(jhandle_start_requirement_query(handle));
    for (size_t i = 0; i < count; ++i)
        JEXPECT_FALSE(jstatus_is_error(kernel_call(handle, &kernels[i], NULL)));
    JEXPECT_OK(jhandle_stop_requirement_query(handle, &requirement));
    return requirement;
}

static size_t least_bytes(const kernel_t *kernel) {
    size_t least = SIZE_MAX;
    for (uint32_t i = 0; i < kernel->rung_count; ++i)
        if (kernel_bytes(kernel, i) < least)
            least = kernel_bytes(kernel, i);
    return least;
}

/* With exactly a step's bytes each call takes the rung that it should, in memory with a page behind
 * it that nobody may touch, and their times are what the step says. */
static void check_step(jhandle_t *handle, const jrequirement_step_t *step, size_t count,
                       const kernel_t *kernels) {
    double seconds = 0;
    uint64_t degraded = 0;
    lend_guarded(handle, step->size_bytes);
    for (size_t i = 0; i < count; ++i) {
        int rung = -1;
        const jstatus_t status = kernel_call(handle, &kernels[i], &rung);
        JEXPECT_FALSE(jstatus_is_error(status));
        JEXPECT_EQ(rung, kernel_rung_within(&kernels[i], step->size_bytes));
        seconds += kernel_seconds(handle, &kernels[i], (uint32_t)rung);
        degraded += status == JSTATUS_PERF_DEGRADED;
    }
    JEXPECT_NEAR(step->seconds, seconds, 1e-12 * seconds);
    JEXPECT_EQ(step->degraded_count, degraded);
}

JTEST(Requirement, EachStepIsExactOverRandomPrograms) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(60); round > 0 && !jtest_has_failure(); --round) {
        kernel_t kernels[MOST_KERNELS];
        const size_t count = (size_t)jtest_random_between(1, MOST_KERNELS);
        draw_kernels(count, kernels);

        size_t queried;
        JEXPECT_OK(jhandle_start_size_query(handle));
        for (size_t i = 0; i < count; ++i)
            (void)kernel_call(handle, &kernels[i], NULL);
        JEXPECT_OK(jhandle_stop_size_query(handle, &queried));

        jrequirement_t *requirement = requirement_of(handle, count, kernels);
        const jrequirement_info_t info = info_of(requirement);
        JEXPECT_EQ(info.optimal_bytes, queried);
        JEXPECT_EQ(info.call_count, count);
        for (size_t i = 0; i < info.step_count; ++i) {
            const jrequirement_step_t step = step_of(requirement, i);
            JSCOPED_TRACE("step %zu of %zu, %zu bytes", i, info.step_count, step.size_bytes);
            check_step(handle, &step, count, kernels);
            jrequirement_step_t found = JREQUIREMENT_STEP_INIT;
            JEXPECT_OK(jrequirement_get_step_at(requirement, step.size_bytes + 63, &found));
            JEXPECT_EQ(found.size_bytes, step.size_bytes);
        }
        JEXPECT_EQ(step_of(requirement, 0).size_bytes, info.minimal_bytes);
        JEXPECT_EQ(step_of(requirement, info.step_count - 1).degraded_count, 0);

        /* A granule less: the call that is named fails. */
        if (info.minimal_bytes > 0) {
            jrequirement_step_t step = JREQUIREMENT_STEP_INIT;
            lend_guarded(handle, info.minimal_bytes - 64);
            bool named = false;
            for (size_t i = 0; i < count; ++i) {
                char name[JREQUIREMENT_CALL_BYTES];
                snprintf(name, sizeof name, "kernel n=%zu", i);
                const bool fails = least_bytes(&kernels[i]) > info.minimal_bytes - 64;
                JEXPECT_STATUS(jstatus_is_error(kernel_call(handle, &kernels[i], NULL))
                                   ? JSTATUS_MEMORY_ERROR
                                   : JSTATUS_SUCCESS,
                               fails ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
                named |= fails && strcmp(name, info.minimal_call) == 0;
            }
            JEXPECT_TRUE(named);
            JEXPECT_STATUS(jrequirement_get_step_at(requirement, info.minimal_bytes - 64, &step),
                           JSTATUS_MEMORY_ERROR);
            JEXPECT_SUBSTR(jstatus_last_message(), info.minimal_call);
            JEXPECT_SUBSTR(jstatus_last_message(), "64 more than");
        }
        JEXPECT_OK(jrequirement_destroy(requirement));
        JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The same as asked one by one and added up. */
JTEST(Requirement, OfPlansInOrderIsThatOfAQuery) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(60); round > 0 && !jtest_has_failure(); --round) {
        kernel_t kernels[MOST_KERNELS];
        jrequirement_t *parts[MOST_KERNELS], *sum = NULL;
        draw_kernels(MOST_KERNELS, kernels);
        for (size_t i = 0; i < MOST_KERNELS; ++i) {
            const jplan_t plan = kernel_plan(handle, &kernels[i]);
            JEXPECT_OK(jrequirement_create_call(handle, &plan, &parts[i]));
        }
        JEXPECT_OK(
            jrequirement_create_in_order(MOST_KERNELS, (const jrequirement_t *const *)parts, &sum));
        jrequirement_t *queried = requirement_of(handle, MOST_KERNELS, kernels);
        const jrequirement_info_t a = info_of(sum), b = info_of(queried);
        JASSERT_EQ(a.step_count, b.step_count);
        for (size_t i = 0; i < a.step_count; ++i) {
            const jrequirement_step_t x = step_of(sum, i), y = step_of(queried, i);
            JEXPECT_EQ(x.size_bytes, y.size_bytes);
            JEXPECT_NEAR(x.seconds, y.seconds, 1e-12 * y.seconds);
            JEXPECT_EQ(x.degraded_count, y.degraded_count);
            JEXPECT_STREQ(x.call, y.call);
        }
        for (size_t i = 0; i < MOST_KERNELS; ++i)
            JEXPECT_OK(jrequirement_destroy(parts[i]));
        JEXPECT_OK(jrequirement_destroy(sum));
        JEXPECT_OK(jrequirement_destroy(queried));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The least time of all divisions of `bytes` among three, the last step of each apart. */
static double best_division(const jrequirement_t *const parts[3], size_t bytes) {
    double best = INFINITY;
    const size_t counts[] = {info_of(parts[0]).step_count, info_of(parts[1]).step_count,
                             info_of(parts[2]).step_count};
    for (size_t a = 0; a < counts[0]; ++a)
        for (size_t b = 0; b < counts[1]; ++b)
            for (size_t c = 0; c < counts[2]; ++c) {
                const jrequirement_step_t x = step_of(parts[0], a), y = step_of(parts[1], b),
                                          z = step_of(parts[2], c);
                if (x.size_bytes + y.size_bytes + z.size_bytes <= bytes)
                    best = fmin(best, x.seconds + y.seconds + z.seconds);
            }
    return best;
}

JTEST(Requirement, AtOnceIsTheBestOfAllDivisions) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(30); round > 0 && !jtest_has_failure(); --round) {
        kernel_t kernels[6];
        jrequirement_t *parts[3], *sum = NULL;
        draw_kernels(6, kernels);
        size_t minimal = 0, optimal = 0;
        for (size_t i = 0; i < 3; ++i) {
            parts[i] = requirement_of(handle, 2, kernels + 2 * i);
            minimal += info_of(parts[i]).minimal_bytes;
            optimal += info_of(parts[i]).optimal_bytes;
        }
        const jrequirement_t *const read[] = {parts[0], parts[1], parts[2]};
        JEXPECT_OK(jrequirement_create_at_once(3, read, &sum));
        const jrequirement_info_t info = info_of(sum);
        JEXPECT_EQ(info.minimal_bytes, minimal);
        JEXPECT_EQ(info.optimal_bytes, optimal);
        JEXPECT_EQ(info.call_count, 6);
        for (size_t i = 0; i < info.step_count; ++i) {
            const jrequirement_step_t step = step_of(sum, i);
            const double best = best_division(read, step.size_bytes);
            if (i + 1 < info.step_count)
                JEXPECT_NEAR(step.seconds, best, 1e-12 * best);
            if (i > 0) {
                JEXPECT_GT(step.size_bytes, step_of(sum, i - 1).size_bytes);
                const double below = best_division(read, step.size_bytes - 1);
                JEXPECT_NEAR(step_of(sum, i - 1).seconds, below, 1e-12 * below);
            }
        }
        for (size_t i = 0; i < 3; ++i)
            JEXPECT_OK(jrequirement_destroy(parts[i]));
        JEXPECT_OK(jrequirement_destroy(sum));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Of parts with thousands of steps: near the best, the ends exact. */
JTEST(Requirement, LongStaircasesAreThinned) {
    jhandle_t *handle = make_handle(0);
    enum { CALLS = 1700 };
    jrequirement_t *part = NULL, *sum = NULL;
    JEXPECT_OK(jhandle_start_requirement_query(handle));
    for (int64_t i = 0; i < CALLS; ++i) {
        const kernel_t kernel = {.n = i,
                                 .rung_count = 3,
                                 .bytes = {{(size_t)(2 * i + 2) * 64}, {(size_t)i * 64 + 64}, {0}},
                                 .flops = {1e5, 2e5, 3e5 + 10 * (double)i}};
        JEXPECT_FALSE(jstatus_is_error(kernel_call(handle, &kernel, NULL)));
    }
    JEXPECT_OK(jhandle_stop_requirement_query(handle, &part));
    JEXPECT_GT(info_of(part).step_count, 2048);
    const jrequirement_t *const both[] = {part, part};
    JEXPECT_OK(jrequirement_create_at_once(2, both, &sum));

    const jrequirement_info_t of_part = info_of(part), info = info_of(sum);
    JEXPECT_EQ(info.minimal_bytes, 2 * of_part.minimal_bytes);
    JEXPECT_EQ(info.optimal_bytes, 2 * of_part.optimal_bytes);
    const double top = step_of(part, 0).seconds,
                 height = top - step_of(part, of_part.step_count - 1).seconds;
    for (int i = 1; i < 20; ++i) {
        const size_t bytes = info.optimal_bytes / 20 * (size_t)i;
        jrequirement_step_t step = JREQUIREMENT_STEP_INIT;
        JEXPECT_OK(jrequirement_get_step_at(sum, bytes, &step));
        double best = INFINITY; /* of halves and other simple divisions */
        for (size_t a = 0; a < of_part.step_count; a += 7) {
            const jrequirement_step_t x = step_of(part, a);
            jrequirement_step_t y = JREQUIREMENT_STEP_INIT;
            if (x.size_bytes <= bytes &&
                jrequirement_get_step_at(part, bytes - x.size_bytes, &y) == JSTATUS_SUCCESS)
                best = fmin(best, x.seconds + y.seconds);
        }
        JEXPECT_LE(step.seconds, best + 2 * height / 2000);
        JEXPECT_GE(step.seconds, 0);
    }
    JEXPECT_OK(jrequirement_destroy(part));
    JEXPECT_OK(jrequirement_destroy(sum));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Requirement, OfNothingOfABorrowAndOfRepetitions) {
    jhandle_t *handle = make_handle(0);
    const kernel_t kernel = {
        .n = 7, .rung_count = 2, .bytes = {{1000}, {100}}, .flops = {1e6, 3e6}};
    jrequirement_t *nothing = NULL, *alone = NULL, *one = NULL, *many = NULL, *around = NULL;
    JEXPECT_OK(jrequirement_create_in_order(0, NULL, &nothing));
    JEXPECT_EQ(info_of(nothing).optimal_bytes, 0);
    JEXPECT_EQ(info_of(nothing).step_count, 1);
    JEXPECT_STREQ(info_of(nothing).minimal_call, "");

    const size_t held[] = {100, 0, 65};
    JEXPECT_OK(jrequirement_create_borrow(handle, "mine", 3, held, NULL, &alone));
    JEXPECT_EQ(info_of(alone).minimal_bytes, 256);
    JEXPECT_EQ(info_of(alone).optimal_bytes, 256);
    JEXPECT_EQ(info_of(alone).call_count, 0);
    JEXPECT_STREQ(info_of(alone).minimal_call, "mine");

    one = requirement_of(handle, 1, &kernel);
    JEXPECT_OK(jrequirement_create_repeated(one, 5, &many));
    JEXPECT_EQ(info_of(many).call_count, 5);
    JEXPECT_NEAR(step_of(many, 0).seconds, 5 * step_of(one, 0).seconds, 1e-12);
    JEXPECT_EQ(step_of(many, 0).degraded_count, 5);
    JEXPECT_EQ(info_of(many).minimal_bytes, 128);

    JEXPECT_OK(jrequirement_create_borrow(handle, "mine", 3, held, many, &around));
    JEXPECT_EQ(info_of(around).minimal_bytes, 256 + 128);
    JEXPECT_EQ(info_of(around).optimal_bytes, 256 + 1024);
    JEXPECT_EQ(info_of(around).call_count, 5);
    JEXPECT_STREQ(info_of(around).minimal_call, "kernel n=7");
    lend_guarded(handle, 256 + 1024);
    {
        JALLOC_BORROW(mine, handle, 100, 0, 65);
        JEXPECT_TRUE(mine.ok);
        JEXPECT_OK(kernel_call(handle, &kernel, NULL));
    }
    jrequirement_t *const all[] = {nothing, alone, one, many, around};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        JEXPECT_OK(jrequirement_destroy(all[i]));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Requirement, MoreCallsThanCanBeCountedAreRefused) {
    jhandle_t *handle = make_handle(0);
    const kernel_t kernel = kernel_random(7);
    jrequirement_t *one = requirement_of(handle, 1, &kernel), *half = NULL, *all = NULL;
    JEXPECT_OK(jrequirement_create_repeated(one, UINT64_MAX / 2, &half));
    JEXPECT_STATUS(jrequirement_create_repeated(half, 3, &all), JSTATUS_INVALID_SIZE);
    const jrequirement_t *const parts[] = {half, half, one, one};
    JEXPECT_STATUS(jrequirement_create_in_order(4, parts, &all), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jrequirement_create_at_once(4, parts, &all), JSTATUS_INVALID_SIZE);
    JEXPECT_EQ(all, NULL);
    JEXPECT_OK(jrequirement_create_in_order(3, parts, &all));
    JEXPECT_EQ(info_of(all).call_count, UINT64_MAX);
    jrequirement_t *const made[] = {one, half, all};
    for (size_t i = 0; i < sizeof made / sizeof *made; ++i)
        JEXPECT_OK(jrequirement_destroy(made[i]));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Equal calls are counted, whether their names are one text or two. */
JTEST(Requirement, EqualCallsAreCounted) {
    jhandle_t *handle = make_handle(0);
    kernel_t kernel = kernel_random(3);
    jrequirement_t *requirement = NULL;
    JEXPECT_OK(jhandle_start_requirement_query(handle));
    for (int64_t i = 0; i < 1000; ++i) {
        kernel.n = i % 3;
        JEXPECT_FALSE(jstatus_is_error(kernel_call(handle, &kernel, NULL)));
    }
    JEXPECT_FALSE(jstatus_is_error(JALLOC_SET_OPTIMAL_SIZE(handle, 100000)));
    const uint64_t taken = jtest_metadata_allocation_count();
    JEXPECT_LT(taken, 20);
    JEXPECT_OK(jhandle_stop_requirement_query(handle, &requirement));
    JEXPECT_EQ(info_of(requirement).call_count, 1001);
    JEXPECT_EQ(info_of(requirement).optimal_bytes, 100032);
    JEXPECT_STREQ(info_of(requirement).optimal_call, "(unnamed)");
    JEXPECT_OK(jrequirement_destroy(requirement));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Requirement, SameBitsLeavesRungsOut) {
    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_SAME_BITS));
    const kernel_t kernel = {.n = 1, .rung_count = 3, .bytes = {{4096}, {640}, {64}}};
    jrequirement_t *requirement = requirement_of(handle, 1, &kernel);
    JEXPECT_EQ(info_of(requirement).step_count, 1); /* each rung has bits of its own */
    JEXPECT_EQ(info_of(requirement).optimal_bytes, 64);
    JEXPECT_STREQ(step_of(requirement, 0).rung, "third");
    JEXPECT_OK(jrequirement_destroy(requirement));
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(Requirement, MisuseIsRefused) {
    jhandle_t *handle = make_handle(0);
    jrequirement_t *requirement = NULL;
    size_t bytes = 1;
    jplan_t plan;
    jplan_init(&plan, handle, "empty", "", NULL);
    JEXPECT_STATUS(jrequirement_create_call(handle, &plan, &requirement), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jrequirement_create_call(NULL, &plan, &requirement), JSTATUS_INVALID_HANDLE);
    JEXPECT_STATUS(jrequirement_create_call(handle, NULL, &requirement), JSTATUS_INVALID_POINTER);
    jplan_add(&plan, "huge", 0, JALLOC_SIZE_OVERFLOW, 0, NULL);
    JEXPECT_STATUS(jrequirement_create_call(handle, &plan, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jrequirement_create_call(handle, &plan, &requirement), JSTATUS_INVALID_SIZE);
    const jprice_t wrong[] = {{-1, 0, 0}, {0, NAN, 0}, {0, 0, INFINITY}};
    for (int i = 0; i < 3; ++i) {
        jplan_init(&plan, handle, "wrong", "", NULL);
        jplan_add(&plan, "rung", 0, 0, 0, NULL);
        jplan_price(&plan, &wrong[i]);
        JEXPECT_STATUS(jrequirement_create_call(handle, &plan, &requirement),
                       JSTATUS_INVALID_VALUE);
    }
    jplan_init(&plan, handle, "wrong", "", NULL);
    jplan_price(&plan, &(const jprice_t){1, 1, 1}); /* of no rung */
    JEXPECT_STATUS(plan.status, JSTATUS_INVALID_VALUE);

    const size_t huge[] = {SIZE_MAX - 63, SIZE_MAX / 2};
    const size_t many[JBORROW_MAX_BUFFERS + 1] = {0};
    JEXPECT_STATUS(jrequirement_create_borrow(handle, "mine", 2, huge, NULL, &requirement),
                   JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jrequirement_create_borrow(handle, "mine", JBORROW_MAX_BUFFERS + 1, many, NULL,
                                              &requirement),
                   JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jrequirement_create_borrow(handle, "mine", 1, NULL, NULL, &requirement),
                   JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jrequirement_create_borrow(handle, "half", 1, huge + 1, NULL, &requirement));
    const jrequirement_t *const thrice[] = {requirement, requirement, requirement, NULL};
    jrequirement_t *sum = NULL;
    JEXPECT_STATUS(jrequirement_create_at_once(3, thrice, &sum), JSTATUS_INVALID_SIZE);
    JEXPECT_STATUS(jrequirement_create_at_once(4, thrice, &sum), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jrequirement_create_in_order(4, thrice, &sum), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jrequirement_create_in_order(1, NULL, &sum), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jrequirement_create_repeated(requirement, 0, &sum), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jrequirement_create_repeated(NULL, 1, &sum), JSTATUS_INVALID_POINTER);
    JEXPECT_NULL(sum);

    jrequirement_step_t step = JREQUIREMENT_STEP_INIT, unset = {0};
    jrequirement_info_t info = {0};
    JEXPECT_STATUS(jrequirement_get_step(requirement, 1, &step), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jrequirement_get_step(requirement, 0, &unset), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jrequirement_get_step(NULL, 0, &step), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jrequirement_get_step_at(requirement, SIZE_MAX, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_STATUS(jrequirement_get_info(requirement, &info), JSTATUS_INVALID_VALUE);
    JEXPECT_STATUS(jrequirement_get_info(NULL, &info), JSTATUS_INVALID_POINTER);
    JEXPECT_OK(jrequirement_destroy(requirement));
    JEXPECT_OK(jrequirement_destroy(NULL));

    /* The query's states. */
    JEXPECT_STATUS(jhandle_stop_requirement_query(handle, &sum), JSTATUS_SIZE_QUERY_MISMATCH);
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_STATUS(jhandle_start_requirement_query(handle), JSTATUS_SIZE_QUERY_MISMATCH);
    JEXPECT_STATUS(jhandle_stop_requirement_query(handle, &sum), JSTATUS_SIZE_QUERY_MISMATCH);
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    JEXPECT_OK(jhandle_start_requirement_query(handle));
    JEXPECT_STATUS(jhandle_start_size_query(handle), JSTATUS_SIZE_QUERY_MISMATCH);
    JEXPECT_STATUS(jhandle_stop_requirement_query(handle, NULL), JSTATUS_INVALID_POINTER);
    JEXPECT_TRUE(jhandle_is_size_query(handle));
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes)); /* the bytes alone */
    JEXPECT_EQ(bytes, 0);
    {
        JALLOC_BORROW(mine, handle, 1);
        JEXPECT_STATUS(jhandle_start_requirement_query(handle), JSTATUS_BUSY);
    }
    JEXPECT_STATUS(jhandle_start_requirement_query(NULL), JSTATUS_INVALID_HANDLE);
    JEXPECT_OK(jhandle_start_requirement_query(handle)); /* and it is destroyed meanwhile */
    JEXPECT_FALSE(jstatus_is_error(JALLOC_SET_OPTIMAL_SIZE(handle, 100)));
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Every way to one, with each allocation failing. */
JTEST(Requirement, NoMemoryIsSaidAndNothingIsLost) {
    jhandle_t *handle = make_handle(0);
    kernel_t kernels[3];
    draw_kernels(3, kernels);
    JFOR_EACH_FAILURE(i) {
        jrequirement_t *queried = NULL, *call = NULL, *borrow = NULL, *order = NULL, *once = NULL,
                       *many = NULL;
        jstatus_t status = jhandle_start_requirement_query(handle);
        if (status == JSTATUS_SUCCESS) {
            for (int k = 0; k < 3; ++k)
                JEXPECT_FALSE(jstatus_is_error(kernel_call(handle, &kernels[k], NULL)));
            status = jhandle_stop_requirement_query(handle, &queried);
        }
        JEXPECT_FALSE(jhandle_is_size_query(handle));
        const jplan_t plan = kernel_plan(handle, &kernels[0]);
        if (status == JSTATUS_SUCCESS)
            status = jrequirement_create_call(handle, &plan, &call);
        if (status == JSTATUS_SUCCESS)
            status = jrequirement_create_borrow(handle, "mine", 1, &(const size_t){64}, queried,
                                                &borrow);
        const jrequirement_t *const parts[] = {queried, call, borrow};
        if (status == JSTATUS_SUCCESS)
            status = jrequirement_create_in_order(3, parts, &order);
        if (status == JSTATUS_SUCCESS)
            status = jrequirement_create_at_once(3, parts, &once);
        if (status == JSTATUS_SUCCESS)
            status = jrequirement_create_repeated(once, 3, &many);
        JEXPECT_STATUS(status, jtest_metadata_failed() ? JSTATUS_MEMORY_ERROR : JSTATUS_SUCCESS);
        jrequirement_t *const all[] = {queried, call, borrow, order, once, many};
        for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
            JEXPECT_OK(jrequirement_destroy(all[k]));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}
