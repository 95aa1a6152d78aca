/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solvers on a GPU: every rung at orders around tiles, leaves and bases; info, and what A holds
 * when it is not 0. */

#include "gpu_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/primitives/primitive.h"

static const int solves[] = {BLAS_INDEX_strsm, BLAS_INDEX_dtrsm, BLAS_INDEX_ctrsm,
                             BLAS_INDEX_ztrsm};
static const int triangular_inverses[] = {BLAS_INDEX_strtri, BLAS_INDEX_dtrtri, BLAS_INDEX_ctrtri,
                                          BLAS_INDEX_ztrtri};
static const int factorizations[] = {BLAS_INDEX_spotrf, BLAS_INDEX_dpotrf, BLAS_INDEX_cpotrf,
                                     BLAS_INDEX_zpotrf};
static const int factored_solves[] = {BLAS_INDEX_spotrs, BLAS_INDEX_dpotrs, BLAS_INDEX_cpotrs,
                                      BLAS_INDEX_zpotrs};
static const int all_solvers[] = {
    BLAS_INDEX_strsm,  BLAS_INDEX_dtrsm,  BLAS_INDEX_ctrsm,  BLAS_INDEX_ztrsm,
    BLAS_INDEX_strtri, BLAS_INDEX_dtrtri, BLAS_INDEX_ctrtri, BLAS_INDEX_ztrtri,
    BLAS_INDEX_spotrf, BLAS_INDEX_dpotrf, BLAS_INDEX_cpotrf, BLAS_INDEX_zpotrf,
    BLAS_INDEX_spotrs, BLAS_INDEX_dpotrs, BLAS_INDEX_cpotrs, BLAS_INDEX_zpotrs};

static int64_t info_of(const blas_case_t *c) {
    return (int64_t) __real__ wide_get(c->operand[1].data, WIDE_I64, 0);
}

static void keep_as_it_is(blas_operand_t *o) { memcpy(o->before, o->region, o->region_bytes); }

static void set_diagonal(blas_case_t *c, int64_t i, wide_t value) {
    blas_operand_t *a = &c->operand[0];
    wide_put(a->data, a->element, blas_index(a, 0, i, i), value);
    keep_as_it_is(a);
}

/* The call with just so much workspace that this rung is the best that fits. False: there is no
 * such rung. */
static bool call_on_rung(jhandle_t *handle, blas_case_t *c, int rung, jstatus_t *status) {
    const size_t bytes = blas_query(handle, c), granule = jdevice_granule_bytes(gpu_device());
    if (bytes == 0 && rung > 0)
        return false;
    size_t given = rung == 0 ? bytes : bytes - granule;
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    blas_restore(c);
    for (;; given = given / 2 / granule * granule) {
        if (given > 0)
            JEXPECT_OK(jhandle_set_workspace_size(handle, given));
        /* Else default mode grows. */
        JEXPECT_OK(jhandle_set_budget(handle, given > 0 ? JALLOC_UNLIMITED : 1));
        JEXPECT_OK(jhandle_clear_stats(handle));
        *status = gpu_blas_call(handle, c);
        JEXPECT_OK(jhandle_get_stats(handle, &stats));
        JEXPECT_OK(jhandle_set_workspace_size(handle, 0));
        JEXPECT_OK(jhandle_set_budget(handle, JALLOC_UNLIMITED));
        if (stats.rung_count[rung] == 1 || given == 0 || jtest_has_failure())
            break;
        blas_restore(c);
    }
    return stats.rung_count[rung] == 1 || bytes == 0; /* the only way need not be a plan's */
}

/* How many rungs the call has: "substitution" alone, where inversion does not pay; "inverse" and
 * that; and between them, of solves, "inverse-strips" and "inverse-64". Whether the strips are less
 * than all of the solution, so that their rung is ever taken: not with one leaf, and not where the
 * products of the inverses are what needs most. */
static int rungs_of(const blas_case_t *c, bool *has_strips) {
    const char *name = c->function->routine->name;
    int64_t order = c->n, rhs = c->k;
    *has_strips = false;
    if (strcmp(name, "trtri") == 0)
        return c->n > 64 ? 2 : 1;
    if (strcmp(name, "trsm") == 0) {
        order = c->side == JBLAS_LEFT ? c->m : c->n;
        rhs = c->side == JBLAS_LEFT ? c->n : c->m;
    } else if (strcmp(name, "potrf") == 0) {
        *has_strips = c->n > gpu_tuning()->factor_strip;
        return c->n <= 128 ? 1 : *has_strips ? 3 : 2;
    }
    *has_strips = order > 128 && rhs > 16; /* between, nothing is tested */
    return order < 64 || rhs < 8 ? 1 : order > 64 ? 4 : 2;
}

/* The rung that is taken after this one; rungs_of() after the last. */
static int next_rung(const blas_case_t *c, int rung) {
    bool has_strips;
    const int rungs = rungs_of(c, &has_strips);
    return rungs == 4 && rung == 0 && !has_strips ? 2 : rung + 1;
}
static int all_rungs(const blas_case_t *c) {
    bool has_strips;
    return rungs_of(c, &has_strips);
}

/* Each rung there should be is there, says whether it is the best one, and is right. */
static void case_is_right_on_each_rung(blas_case_t *c) {
    jhandle_t *handle = gpu_make_normwise_handle();
    const int rungs = all_rungs(c);
    JEXPECT_OK(jhandle_set_pointer_mode(handle, jtest_random_bool() ? JPOINTER_MODE_DEVICE
                                                                    : JPOINTER_MODE_HOST));
    for (int rung = 0; rung <= rungs && !jtest_has_failure(); rung = next_rung(c, rung)) {
        JSCOPED_TRACE("%s, rung %d of %d", blas_describe(c), rung, rungs);
        jstatus_t status = JSTATUS_INTERNAL_ERROR;
        JEXPECT_EQ(call_on_rung(handle, c, rung, &status), rung < rungs);
        if (rung >= rungs)
            break;
        JEXPECT_STATUS(status, rung == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
        blas_right(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

static void each_rung_is_right(int index, int64_t low, int64_t high) {
    BLAS_CASE(c, &blas_functions[index], .low = low, .high = high, .plain = true);
    case_is_right_on_each_rung(c);
}

static void each_order(int index, const int64_t *orders, size_t count) {
    for (size_t i = 0; i < count && !jtest_has_failure(); ++i)
        each_rung_is_right(index, orders[i], orders[i]);
    for (int64_t i = jtest_iterations(2); i > 0 && !jtest_has_failure(); --i)
        each_rung_is_right(index, 40, 200);
}
#define EACH_ORDER(index, ...)                                                                     \
    each_order(index, (const int64_t[]){__VA_ARGS__},                                              \
               sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

JTEST_P(GpuSolver, TrsmOnEachRung, int, solves) {
    EACH_ORDER(*param, 63, 64, 65, 97, 127, 128, 129, 161, 224, 330);
    /* Leaves that come last or first, and all enums. */
    for (int64_t i = 0; i < 6 && !jtest_has_failure(); ++i)
        each_rung_is_right(*param, 129, 170);
}

/* The products of the inverses need more than the solution then. */
JTEST_P(GpuSolver, TrsmOfFewRightHandSides, int, solves) {
    for (int found = 0, draw = 0; found < 3 && draw < 10000 && !jtest_has_failure(); ++draw) {
        BLAS_CASE(c, &blas_functions[*param], .low = 8, .high = 200, .plain = true);
        const bool left = c->side == JBLAS_LEFT;
        if ((left ? c->m : c->n) < 128 || (left ? c->n : c->m) > 16)
            continue;
        case_is_right_on_each_rung(c);
        ++found;
    }
}

/* Leaves larger than the least, whole ones and not. */
JTEST_P(GpuSolver, TrsmByLargeLeaves, int, solves) {
    const ji_tuning_t saved = *gpu_tuning();
    gpu_tuning()->triangle_leaf = gpu_tuning()->triangle_small_leaf = 32;
    gpu_tuning()->triangle_largest_leaf = 64;
    gpu_tuning()->processors = INT64_MAX;
    each_rung_is_right(*param, 256, 320);
    *gpu_tuning() = saved;
}

JTEST_P(GpuSolver, PotrsOnEachRung, int, factored_solves) { EACH_ORDER(*param, 64, 65, 129, 140); }

JTEST_P(GpuSolver, TrtriOnEachRung, int, triangular_inverses) {
    EACH_ORDER(*param, 1, 31, 32, 33, 64, 65, 95, 96, 97, 128, 129, 200);
}

JTEST_P(GpuSolver, PotrfOnEachRung, int, factorizations) {
    EACH_ORDER(*param, 1, 2, 31, 32, 33, 65, 96, 127, 128, 129, 160, 200, 257);
}

/* Several wide blocks, several strips of a panel: the last of each whole, with one column, with one
 * row too few. */
JTEST_P(GpuSolver, PotrfByWideBlocksAndStrips, int, factorizations) {
    const ji_tuning_t saved = *gpu_tuning();
    gpu_tuning()->factor_wide = 256;
    gpu_tuning()->factor_strip = 192;
    for (int64_t n = 511; n <= 513 && !jtest_has_failure(); ++n)
        each_rung_is_right(*param, n, n);
    for (int64_t i = jtest_iterations(2); i > 0 && !jtest_has_failure(); --i)
        each_rung_is_right(*param, 260, 460);
    *gpu_tuning() = saved;
}

/* Componentwise, solves and factorizations have substitution alone, and an inverse is made by
 * halves. */
JTEST_P(GpuSolver, ComponentwiseNothingIsMultipliedByInversesOfBlocks, int, all_solvers) {
    const bool inverts = strcmp(blas_functions[*param].routine->name, "trtri") == 0;
    static const int64_t orders[] = {33, 64, 65, 100, 129, 200};
    jhandle_t *handle = gpu_make_handle();
    for (size_t i = 0; i < sizeof orders / sizeof *orders && !jtest_has_failure(); ++i) {
        BLAS_CASE(c, &blas_functions[*param], .low = orders[i], .high = orders[i], .plain = true);
        const int rungs = inverts && orders[i] > 64 ? 2 : 1;
        JEXPECT_EQ(blas_query(handle, c) > 0, rungs > 1);
        for (int rung = 0; rung <= rungs && !jtest_has_failure(); ++rung) {
            JSCOPED_TRACE("%s, rung %d of %d", blas_describe(c), rung, rungs);
            jstatus_t status = JSTATUS_INTERNAL_ERROR;
            JEXPECT_EQ(call_on_rung(handle, c, rung, &status), rung < rungs);
            if (rung == rungs)
                break;
            JEXPECT_STATUS(status, rung == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
            blas_right(c);
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* More than one strip of right-hand sides on the lower rung. */
JTEST_P(GpuSolver, TrsmOfManyRightHandSides, int, solves) {
    enum { ORDER = 70, COUNT = 1029 };
    const jdatatype_t type = blas_functions[*param].type;
    const size_t element = wide_sizeof((int)type);
    jhandle_t *handle = gpu_make_normwise_handle();
    for (int i = 0; i < 2 && !jtest_has_failure(); ++i) {
        BLAS_CASE(c, &blas_functions[*param], .low = ORDER, .high = ORDER, .plain = true,
                  .tight = true);
        blas_operand_t *b = &c->operand[1];
        c->side = i == 0 ? JBLAS_LEFT : JBLAS_RIGHT;
        /* B's ORDER columns (rows) again and again, so that the answer for one of them is that for
         * all. */
        const int64_t m = i == 0 ? ORDER : COUNT, n = i == 0 ? COUNT : ORDER;
        unsigned char *wide = malloc((size_t)(m * n) * element);
        for (int64_t column = 0; column < n; ++column)
            for (int64_t row = 0; row < m; ++row)
                wide_put(
                    wide, b->element, row + column * m,
                    wide_get(b->data, b->element, blas_index(b, 0, row % ORDER, column % ORDER)));
        void *device = gpu_take((size_t)(m * n) * element);
        for (int rung = 0; rung < 4 && !jtest_has_failure(); ++rung) {
            gpu_case_t g;
            gpu_upload(device, wide, (size_t)(m * n) * element);
            blas_restore(c);
            c->m = m, c->n = n, b->ld = m;
            const size_t bytes = blas_query(handle, c);
            JEXPECT_OK(rung < 3 ? jhandle_set_workspace_size(
                                      handle, rung == 0   ? bytes
                                              : rung == 1 ? bytes - 256
                                                          : bytes - ORDER * 129 * element)
                                : jhandle_set_budget(handle, 1));
            JEXPECT_OK(jhandle_clear_stats(handle));
            gpu_case_begin(&g, handle, c);
            void *own = c->pointer[1];
            c->pointer[1] = device;
            JEXPECT_STATUS(blas_call(handle, c),
                           rung == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
            c->pointer[1] = own;
            JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
            gpu_case_end(&g, false);
            c->m = c->n = b->ld = ORDER;
            jhandle_stats_t stats = {.struct_size = sizeof stats};
            JEXPECT_OK(jhandle_get_stats(handle, &stats));
            JEXPECT_EQ(stats.rung_count[rung], 1);
            unsigned char *answer = malloc((size_t)(m * n) * element);
            gpu_download(answer, device, (size_t)(m * n) * element);
            for (int64_t first = 0; first + ORDER <= COUNT && !jtest_has_failure();
                 first += ORDER) {
                JSCOPED_TRACE("%s, rung %d, right-hand sides from %ld on", blas_describe(c), rung,
                              (long)first);
                for (int64_t column = 0; column < ORDER; ++column)
                    for (int64_t row = 0; row < ORDER; ++row)
                        wide_put(b->data, b->element, blas_index(b, 0, row, column),
                                 wide_get(answer, b->element,
                                          i == 0 ? row + (first + column) * m
                                                 : first + row + column * m));
                blas_right(c);
            }
            free(answer);
            JEXPECT_OK(jhandle_set_workspace_size(handle, 0));
            JEXPECT_OK(jhandle_set_budget(handle, JALLOC_UNLIMITED));
        }
        gpu_give(device, (size_t)(m * n) * element);
        free(wide);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* An alpha that turns out to be 0 on the device: B is 0, though A and B hold NaN. */
JTEST_P(GpuSolver, AlphaZeroOnTheDeviceReadsNothing, int, solves) {
    jhandle_t *handle = gpu_make_normwise_handle();
    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
    BLAS_CASE(c, &blas_functions[*param], .low = 65, .high = 140, .alpha_zero = true);
    for (int rung = 0; rung < all_rungs(c) && !jtest_has_failure(); rung = next_rung(c, rung)) {
        JSCOPED_TRACE("%s, rung %d", blas_describe(c), rung);
        jstatus_t status;
        JEXPECT_TRUE(call_on_rung(handle, c, rung, &status));
        blas_right(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A right-hand side that is not a number spoils its own solution alone. */
JTEST_P(GpuSolver, NanStaysInItsRightHandSide, int, solves) {
    jhandle_t *handle = gpu_make_normwise_handle();
    BLAS_CASE(c, &blas_functions[*param], .low = 65, .high = 140, .plain = true);
    blas_operand_t *b = &c->operand[1];
    const int64_t i = jtest_random_between(0, c->m - 1), j = jtest_random_between(0, c->n - 1);
    c->function->routine->reference(c); /* of the numbers as they were */
    c->has_reference = true;
    const wide_t number = wide_get(b->data, b->element, blas_index(b, 0, i, j));
    for (int rung = 0; rung < all_rungs(c) && !jtest_has_failure(); rung = next_rung(c, rung)) {
        JSCOPED_TRACE("%s, rung %d, NaN at (%ld, %ld)", blas_describe(c), rung, (long)i, (long)j);
        jstatus_t status;
        wide_put(b->data, b->element, blas_index(b, 0, i, j), NAN);
        keep_as_it_is(b);
        JEXPECT_TRUE(call_on_rung(handle, c, rung, &status));
        JEXPECT_TRUE(isnan((double)__real__ wide_get(b->data, b->element, blas_index(b, 0, i, j))));
        const int64_t count = c->side == JBLAS_LEFT ? c->m : c->n;
        for (int64_t q = 0; q < count; ++q) { /* what may be NaN is replaced by the answer */
            const int64_t row = c->side == JBLAS_LEFT ? q : i,
                          column = c->side == JBLAS_LEFT ? j : q;
            wide_put(b->data, b->element, blas_index(b, 0, row, column),
                     *wide_at(b->want[0], row, column));
        }
        blas_right(c);
        memcpy(b->region, b->before, b->region_bytes);
        wide_put(b->data, b->element, blas_index(b, 0, i, j), number);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A zero on the diagonal: nothing is computed, its 1-based place is told, the status is success. */
JTEST_P(GpuSolver, TrtriTellsTheFirstZeroAndLeavesTheRest, int, triangular_inverses) {
    jhandle_t *handle = gpu_make_normwise_handle();
    for (int64_t round = jtest_iterations(10); round > 0 && !jtest_has_failure(); --round) {
        BLAS_CASE(c, &blas_functions[*param], .low = 1, .high = round % 2 == 0 ? 150 : 70);
        if (c->diag == JBLAS_UNIT)
            continue; /* its diagonal is not looked at, and holds NaN */
        const int64_t zero = round % 5 == 0 ? c->n : jtest_random_between(1, c->n);
        set_diagonal(c, zero - 1, 0);
        set_diagonal(c, jtest_random_between(zero, c->n) - 1, 0);
        JEXPECT_OK(jhandle_set_pointer_mode(handle, round % 3 == 0 ? JPOINTER_MODE_DEVICE
                                                                   : JPOINTER_MODE_HOST));
        for (int rung = 0; rung < all_rungs(c) && !jtest_has_failure(); rung = next_rung(c, rung)) {
            JSCOPED_TRACE("%s, rung %d, zero at %ld", blas_describe(c), rung, (long)zero);
            jstatus_t status;
            JEXPECT_TRUE(call_on_rung(handle, c, rung, &status));
            JEXPECT_STATUS(status, rung == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
            JEXPECT_EQ(info_of(c), zero);
            memset(c->operand[1].data, 0xff, sizeof(int64_t));
            blas_unchanged(c);
        }
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Where potrf stops: the order of the minor; the factor of the one before it; nothing outside of
 * the triangle touched. */
static void potrf_stops_at(jhandle_t *handle, blas_case_t *c, int64_t bad, wide_t value) {
    blas_operand_t *a = &c->operand[0];
    if (!c->has_reference)
        /* Of the whole matrix: up to `bad` it is the same factor. */
        c->function->routine->reference(c);
    c->has_reference = true;
    const wide_t number = wide_get(a->data, a->element, blas_index(a, 0, bad - 1, bad - 1));
    set_diagonal(c, bad - 1, value);
    for (int rung = 0; rung < all_rungs(c) && !jtest_has_failure(); rung = next_rung(c, rung)) {
        JSCOPED_TRACE("%s, rung %d, %Lg at %ld", blas_describe(c), rung,
                      (long double)__real__ value, (long)bad);
        jstatus_t status;
        JEXPECT_TRUE(call_on_rung(handle, c, rung, &status));
        JEXPECT_STATUS(status, rung == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
        JEXPECT_EQ(info_of(c), bad);
        const long double allowed = 64 * wide_epsilon(a->element) * (long double)c->n;
        for (int64_t j = 0; j < c->n; ++j)
            for (int64_t i = 0; i < c->n; ++i) {
                const wide_t got = wide_get(a->data, a->element, blas_index(a, 0, i, j));
                if (!blas_is_part(a, i, j))
                    JASSERT_TRUE(isnan((double)__real__ got));
                else if (i < bad - 1 && j < bad - 1)
                    JASSERT_NEAR((double)wide_abs(got - *wide_at(a->want[0], i, j)), 0,
                                 (double)allowed);
            }
    }
    blas_restore(c);
    wide_put(a->data, a->element, blas_index(a, 0, bad - 1, bad - 1), number);
    keep_as_it_is(a);
}

JTEST_P(GpuSolver, PotrfStopsAtTheFirstMinorThatIsNotPositive, int, factorizations) {
    jhandle_t *handle = gpu_make_normwise_handle();
    for (int uplo = 0; uplo < 2; ++uplo) {
        BLAS_CASE(c, &blas_functions[*param], .low = 150, .high = 210);
        static const int64_t places[] = {1,  2,  31,  32,  33,  64,  65,  66,
                                         96, 97, 127, 128, 129, 130, 149, 150};
        for (size_t i = 0; i < sizeof places / sizeof *places && !jtest_has_failure(); i += 2) {
            JEXPECT_OK(jhandle_set_pointer_mode(handle, i % 4 == 0 ? JPOINTER_MODE_DEVICE
                                                                   : JPOINTER_MODE_HOST));
            potrf_stops_at(handle, c, places[i + (uplo != 0)],
                           i % 3 == 0   ? (wide_t)NAN
                           : i % 3 == 1 ? 0
                                        : -1);
        }
        if (!jtest_has_failure())
            potrf_stops_at(handle, c, c->n, -1);
    }
    for (int64_t round = jtest_iterations(6); round > 0 && !jtest_has_failure(); --round) {
        BLAS_CASE(c, &blas_functions[*param], .low = 1, .high = 64);
        potrf_stops_at(handle, c, jtest_random_between(1, c->n), round % 2 ? 0 : -2);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* One more row asks for an eighth more at most, where leaves become larger; the first bytes are in
 * proportion to the operands. */
JTEST_P(GpuSolver, RequirementIsContinuous, int, all_solvers) {
    jhandle_t *handle = gpu_make_normwise_handle();
    blas_requirement_is_continuous(handle, &blas_functions[*param], 1.125);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* info cannot come to the host out of a capture: refused before anything is in the graph. On the
 * device it can. */
JTEST_P(GpuSolver, InfoUnderCapture, int, factorizations) {
    const fake_gpu_control_t *program = gpu_program(), *fake = gpu_fake();
    if (program == NULL)
        JSKIP(GPU_NO_PROGRAM);
    const size_t live = jtest_metadata_live_count();
    jhandle_t *handle = gpu_make_normwise_handle();
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(gpu_device(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    BLAS_CASE(c, &blas_functions[*param], .low = 150, .high = 150);
    gpu_case_t g;
    const size_t bytes = blas_query(handle, c);
    void *workspace = gpu_take(bytes);
    JEXPECT_OK(jhandle_set_workspace(handle, workspace, bytes));
    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
    gpu_case_begin(&g, handle, c);
    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_HOST));
    void *native = jstream_native(gpu_device(), stream);
    JEXPECT_EQ(program->begin_capture(native), 0);
    if (fake != NULL)
        fake->reset_counts();
    JEXPECT_STATUS(blas_call(handle, c), JSTATUS_CAPTURING);
    if (fake != NULL)
        JEXPECT_EQ(fake->count("LaunchKernel"), 0);
    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
    JEXPECT_OK(blas_call(handle, c));
    if (fake != NULL)
        JEXPECT_GT(fake->count("LaunchKernel"), 0);
    void *graph = program->end_capture(native);
    JASSERT_NOT_NULL(graph);
    JEXPECT_EQ(program->launch_graph(graph, native), 0);
    JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
    gpu_case_end(&g, true);
    blas_right(c);
    program->destroy_graph(graph);
    JEXPECT_OK(jhandle_destroy(handle));
    gpu_give(workspace, bytes);
    JEXPECT_OK(jstream_destroy(stream));
    /* What a graph owned, the runtime releases from a thread of its own. */
    for (int waited = 0; waited < 500 && jtest_metadata_live_count() > live; ++waited)
        jtest_sleep_ms(10);
}

/* ---- Launches ---- */

/* A routine of doubles; what is not its own is not looked at. */
typedef struct counted {
    jblas_side_t side;
    jblas_uplo_t uplo;
    int64_t m, n; /* potrf: n */
} counted_t;

static jstatus_t counted_potrf(jhandle_t *handle, const counted_t *c, double *memory) {
    return jlapack_dpotrf(handle, c->uplo, c->n, memory, c->n, (int64_t *)memory);
}

/* A handle on a stream that can be captured. */
typedef struct counter {
    jhandle_t *handle;
    jstream_t *stream;
} counter_t;

static counter_t counter_make(jaccuracy_t accuracy, jpointer_mode_t mode) {
    counter_t counter = {gpu_make_handle(), NULL};
    JEXPECT_OK(jstream_create(gpu_device(), &counter.stream));
    JEXPECT_OK(jhandle_set_stream(counter.handle, counter.stream));
    JEXPECT_OK(jhandle_set_accuracy(counter.handle, accuracy));
    JEXPECT_OK(jhandle_set_pointer_mode(counter.handle, mode));
    return counter;
}
static void counter_end(counter_t *counter) {
    JEXPECT_OK(jhandle_destroy(counter->handle));
    JEXPECT_OK(jstream_destroy(counter->stream));
}

static jstatus_t counted_trsm(jhandle_t *handle, const counted_t *c, double *memory) {
    const double one = 1;
    return jblas_dtrsm(handle, c->side, c->uplo, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, c->m, c->n,
                       &one, memory, c->side == JBLAS_LEFT ? c->m : c->n, memory, c->m);
}

/* Kernels and calls of the vendor's BLAS that a call enqueues in all the workspace it wants.
 * Counted in a capture that nobody launches: nothing is computed, so operands need not be there. */
static int64_t launches_of(const counter_t *counter,
                           jstatus_t (*call)(jhandle_t *, const counted_t *, double *),
                           const counted_t *c) {
    static const char *const names[] = {"LaunchKernel", "blas:Dgemm", "blas:DgemmStridedBatched",
                                        "blas:Dsyrk",   "blas:Dtrsm", "blas:Dgeam"};
    const fake_gpu_control_t *fake = gpu_fake();
    void *native = jstream_native(gpu_device(), counter->stream);
    double *memory = gpu_take(sizeof(double));
    size_t bytes = 0;
    int64_t launches = 0;
    JEXPECT_OK(jhandle_start_size_query(counter->handle));
    JEXPECT_FALSE(jstatus_is_error(call(counter->handle, c, memory)));
    JEXPECT_OK(jhandle_stop_size_query(counter->handle, &bytes));
    JEXPECT_OK(jhandle_set_workspace_size(counter->handle, bytes));
    JEXPECT_EQ(fake->begin_capture(native), 0);
    fake->reset_counts();
    JEXPECT_OK(call(counter->handle, c, memory));
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        launches += (int64_t)fake->count(names[i]);
    void *graph = fake->end_capture(native);
    JEXPECT_TRUE(graph != NULL);
    fake->destroy_graph(graph);
    JEXPECT_OK(jhandle_set_workspace_size(counter->handle, 0));
    gpu_give(memory, sizeof(double));
    return launches;
}

/* A copy, a base and, but for the last block, a product for each block of 128; another product for
 * each that has others of its wide block to its left; what the rest loses for each wide block but
 * the last; and info. */
JTEST(GpuSolver, PotrfLaunchesLittle) {
    static const int64_t orders[] = {129, 256, 512, 513, 1000, 2048, 4100, 8192, 16384};
    if (gpu_fake() == NULL)
        JSKIP("a real GPU does not count");
    counter_t counter = counter_make(JACCURACY_NORMWISE, JPOINTER_MODE_DEVICE);
    for (size_t i = 0; i < 2 * sizeof orders / sizeof *orders && !jtest_has_failure(); ++i) {
        const counted_t c = {.uplo = i % 2 == 0 ? JBLAS_LOWER : JBLAS_UPPER, .n = orders[i / 2]};
        const int64_t blocks = (c.n + 127) / 128, wide = (c.n + 511) / 512;
        const int64_t launches = launches_of(&counter, counted_potrf, &c);
        JSCOPED_TRACE("order %ld", (long)c.n);
        JEXPECT_EQ(launches, blocks + blocks + (blocks - 1) + (blocks - wide) + (wide - 1) + 1);
        if (c.n == 8192)
            JEXPECT_LE(launches, 300);
    }
    counter_end(&counter);
}

/* With leaves of L and n unknowns: n/L products and n/L - 1 between leaves, what the inverses take
 * if all are whole, and a copy. At most half as many more where they are not. */
JTEST(GpuSolver, TrsmLaunchesLittle) {
    static const struct {
        int64_t order, rhs, leaf;
    } shapes[] = {{64, 64, 128},     {100, 8, 128},      {200, 200, 128},    {256, 64, 128},
                  {500, 4096, 128},  {1023, 64, 128},    {1024, 64, 256},    {1030, 64, 256},
                  {1500, 256, 256},  {2047, 4096, 256},  {2048, 64, 512},    {2048, 4096, 512},
                  {2500, 4096, 512}, {4095, 4096, 512},  {4100, 1, 0},       {5000, 8320, 512},
                  {5000, 8321, 256}, {5000, 16768, 256}, {8192, 64, 512},    {8192, 4096, 512},
                  {8191, 256, 512},  {8200, 256, 512},   {4096, 16769, 128}, {16384, 1000, 512}};
    if (gpu_fake() == NULL)
        JSKIP("a real GPU does not count");
    const ji_tuning_t saved = *gpu_tuning();
    gpu_tuning()->processors = 132;
    counter_t counter = counter_make(JACCURACY_NORMWISE, JPOINTER_MODE_HOST);
    for (size_t i = 0; i < 4 * sizeof shapes / sizeof *shapes && !jtest_has_failure(); ++i) {
        const int64_t order = shapes[i / 4].order, rhs = shapes[i / 4].rhs,
                      leaf = shapes[i / 4].leaf;
        const bool left = i % 2 == 0;
        const counted_t c = {.side = left ? JBLAS_LEFT : JBLAS_RIGHT,
                             .uplo = i % 4 < 2 ? JBLAS_LOWER : JBLAS_UPPER,
                             .m = left ? order : rhs,
                             .n = left ? rhs : order};
        const int64_t launches = launches_of(&counter, counted_trsm, &c);
        JSCOPED_TRACE("%ld unknowns, %ld right-hand sides", (long)order, (long)rhs);
        if (leaf == 0) { /* substitution */
            JEXPECT_EQ(launches, 1);
            continue;
        }
        const int64_t leaves = (order + leaf - 1) / leaf, doublings = leaf == 128   ? 2
                                                                      : leaf == 256 ? 3
                                                                                    : 4;
        const int64_t needed = leaves + (leaves - 1) + 1 + 2 * doublings + 1;
        JEXPECT_LE(2 * launches, 3 * needed);
        if (order % leaf == 0)
            JEXPECT_EQ(launches, needed);
    }
    counter_end(&counter);
    *gpu_tuning() = saved;
}

/* The runtime fails at its n-th call: that is said, or it did no harm; and the next call is as
 * ever. */
JTEST_P(GpuSolver, EachFailureOfTheRuntimeIsSaid, int, all_solvers) {
    const fake_gpu_control_t *fake = gpu_fake();
    if (fake == NULL)
        JSKIP("a real GPU does not fail on request");
    jhandle_t *handle = gpu_make_normwise_handle();
    BLAS_CASE(c, &blas_functions[*param], .low = 70, .high = 80, .plain = true);
    JEXPECT_OK(jhandle_set_workspace_size(handle, blas_query(handle, c)));
    JEXPECT_OK(gpu_blas_call(handle, c)); /* what is made once is there */
    bool failed = true;
    int64_t failures = 0;
    for (uint64_t n = 1; failed && !jtest_has_failure(); ++n) {
        gpu_case_t g;
        blas_restore(c);
        gpu_case_begin(&g, handle, c);
        fake->fail_after(n, n % 2 ? FAKE_GPU_UNKNOWN_ERROR : FAKE_GPU_OUT_OF_MEMORY);
        const jstatus_t status = blas_call(handle, c);
        failed = fake->has_failed();
        fake->fail_after(0, FAKE_GPU_UNKNOWN_ERROR);
        JSCOPED_TRACE("%s, call %d of the runtime", blas_describe(c), (int)n);
        JEXPECT_TRUE(failed || status == JSTATUS_SUCCESS);
        failures += jstatus_is_error(status);
        JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        gpu_case_end(&g, status == JSTATUS_SUCCESS);
        if (status == JSTATUS_SUCCESS)
            blas_right(c);
    }
    JEXPECT_GT(failures, 2);
    JEXPECT_OK(jhandle_destroy(handle));
}
