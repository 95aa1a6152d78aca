/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The workspace of the host's products: how much the panels are, that it only grows with what they
 * are for, and which rung runs in how much. That nothing outside of it is touched, and that answers
 * are right, jblas_workspace_test.c and jblas_bits_test.c say. */

#include "handle_helper.h"
#include "jblas_routines.h"

#include "blas/algorithms/product.h"
#include "blas/kernels/kernels.h"
#include "blas/routine/setup.h"

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

static const int product_functions[] = {
    BLAS_INDEX_sgemm,  BLAS_INDEX_dgemm,  BLAS_INDEX_cgemm,  BLAS_INDEX_zgemm,
    BLAS_INDEX_ssymm,  BLAS_INDEX_zhemm,  BLAS_INDEX_dsyrk,  BLAS_INDEX_cherk,
    BLAS_INDEX_dsyr2k, BLAS_INDEX_zher2k, BLAS_INDEX_zherkx, BLAS_INDEX_sgemmt,
    BLAS_INDEX_ztrmm,  BLAS_INDEX_dtrmm,  BLAS_INDEX_hgemm,  BLAS_INDEX_bgemm,
};

static void function_name(const void *function, char *name) {
    blas_function_name(&blas_functions[*(const int *)function], name);
}
#define EACH_PRODUCT(name) JTEST_P_NAMED(JblasPanels, name, int, product_functions, function_name)

static ji_primitive_t primitive_of(const blas_function_t *function) {
    return wide_is_half((int)function->type)               ? JI_GEMM_HALF
           : strcmp(function->routine->name, "gemmt") == 0 ? JI_GEMMT
           : strcmp(function->routine->name, "herkx") == 0 ? JI_HERKX
                                                           : JI_GEMM;
}

static ji_panel_bytes_t wanted(jhandle_t *handle, const blas_function_t *function, int64_t m,
                               int64_t n, int64_t k) {
    return ji_call_panel_bytes(handle, primitive_of(function), function->type, m, n, k);
}

/* Each set of kernels that the processor has, in turn; the one before is in use again behind. */
static void with_each_set(void (*check)(jhandle_t *handle, const blas_function_t *function),
                          int function) {
    jhandle_t *handle = blas_make_handle(NULL);
    JEXPECT_OK(jhandle_start_size_query(handle)); /* the first call chooses the set */
    BLAS_CASE(first, &blas_functions[function], .low = 1, .high = 1);
    JEXPECT_FALSE(jstatus_is_error(blas_call(handle, first)));
    JEXPECT_OK(jhandle_stop_size_query(handle, &(size_t){0}));

    const ji_kernel_set_t *before = ji_kernels;
    for (size_t i = 0; ji_kernel_set_at(i) != NULL; i++) {
        if (!ji_kernel_set_is_here(ji_kernel_set_at(i)))
            continue;
        ji_kernel_set_use(ji_kernel_set_at(i));
        JSCOPED_TRACE("%s", ji_kernels->name);
        check(handle, &blas_functions[function]);
    }
    ji_kernel_set_use(before);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Sizes ---- */

static int64_t draw_size(void) {
    static const int64_t most[] = {40, 300, 3000, 100000};
    return jtest_random_between(1, most[jtest_random_between(0, 3)]);
}

static size_t bytes_of(jhandle_t *handle, blas_case_t *c, int64_t m, int64_t n, int64_t k,
                       int threads) {
    blas_resize(c, m, n, k);
    JEXPECT_OK(jhandle_set_threads(handle, threads));
    return blas_query(handle, c);
}

typedef struct panels_of {
    size_t queried, small;
} panels_of_t;

static panels_of_t panels_of(jhandle_t *handle, blas_case_t *c, int64_t m, int64_t n, int64_t k,
                             int threads) {
    const size_t queried = bytes_of(handle, c, m, n, k, threads);
    return (panels_of_t){queried, wanted(handle, c->function, m, n, k).packed_small};
}

/* What is asked for grows with sizes and threads, or stays. */
static void never_falls(jhandle_t *handle, const blas_function_t *function) {
    BLAS_CASE(c, function, .low = 2, .high = 2, .plain = true, .hollow = true);
    for (int64_t round = jtest_iterations(40); round > 0; round--) {
        const int64_t m = draw_size(), n = draw_size(), k = draw_size(), more = draw_size();
        const int threads = (int)jtest_random_between(1, 8);
        const panels_of_t bytes = panels_of(handle, c, m, n, k, threads);
        JSCOPED_TRACE("%s, %d threads, +%ld", blas_describe(c), threads, (long)more);

        const panels_of_t larger[] = {panels_of(handle, c, m + more, n, k, threads),
                                      panels_of(handle, c, m, n + more, k, threads),
                                      panels_of(handle, c, m, n, k + more, threads),
                                      panels_of(handle, c, m, n, k, threads + 1)};
        for (int i = 0; i < 4; i++) {
            JEXPECT_LE(bytes.queried, larger[i].queried);
            JEXPECT_LE(bytes.small, larger[i].small);
        }
    }
}
EACH_PRODUCT(BytesNeverFallWhereSizesGrow) { with_each_set(never_falls, *param); }

/* 12 MiB and 1 MiB a thread at most; what is enough to be packed, 256 KiB a thread. */
static void stays_below_its_caps(jhandle_t *handle, const blas_function_t *function) {
    BLAS_CASE(c, function, .low = 2, .high = 2, .plain = true, .hollow = true);
    for (int64_t round = jtest_iterations(40); round > 0; round--) {
        const int64_t m = draw_size(), n = draw_size(), k = draw_size();
        const int threads = (int)jtest_random_between(1, 8);
        JSCOPED_TRACE("%ld x %ld x %ld, %d threads", (long)m, (long)n, (long)k, threads);

        JEXPECT_LE(bytes_of(handle, c, m, n, k, threads), 12 * MIB + (size_t)threads * MIB);
        const ji_panel_bytes_t bytes = wanted(handle, function, m, n, k);
        JEXPECT_LE(bytes.packed_small, (size_t)threads * 256 * KIB);
        JEXPECT_LE(bytes.packed_small, bytes.packed);
    }
}
EACH_PRODUCT(BytesStayBelowTheirCaps) { with_each_set(stays_below_its_caps, *param); }

/* The orders are jblas.h's. */
static void small_ones_ask_for_nothing(jhandle_t *handle, const blas_function_t *function) {
    const bool is_half = wide_is_half((int)function->type),
               is_complex = wide_is_complex((int)function->type);
    const int64_t most = is_half                                        ? 23
                         : strcmp(function->routine->name, "gemm") != 0 ? (is_complex ? 32 : 64)
                                                                        : (is_complex ? 80 : 128);
    BLAS_CASE(c, function, .low = 2, .high = 2, .plain = true, .hollow = true);

    for (int64_t n = 1; n <= most; n++)
        JEXPECT_EQ(bytes_of(handle, c, n, n, n, 8), 0);
    JEXPECT_GT(bytes_of(handle, c, 2 * most, 2 * most, 2 * most, 8), 0);
}
EACH_PRODUCT(SmallOnesAskForNothing) { with_each_set(small_ones_ask_for_nothing, *param); }

/* ---- Rungs ---- */

static void expect_rung(jhandle_t *handle, blas_case_t *c, size_t bytes, int rung) {
    JEXPECT_OK(jhandle_set_workspace(handle, bytes == 0 ? NULL : jtest_guard_pages(bytes), bytes));
    JEXPECT_OK(jhandle_clear_stats(handle));
    blas_restore(c);
    JEXPECT_STATUS(blas_call(handle, c), rung == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
    const jhandle_stats_t stats = stats_of(handle);
    JEXPECT_EQ(stats.rung_count[rung], 1);
    JEXPECT_EQ(stats.degraded_count, rung > 0);
    JEXPECT_LE(stats.high_watermark_bytes, bytes);
    JEXPECT_EQ(stats.allocation_count, 0);
    blas_right(c);
}

/* In exactly the bytes of a rung that one runs, in a granule less the next. */
static void rungs_are_by_bytes(jhandle_t *handle, const blas_function_t *function) {
    const size_t granule = jdevice_granule_bytes(jhandle_device(handle));
    BLAS_CASE(c, function, .m = 150, .n = 150, .k = 150, .plain = true);
    for (int threads = 1; threads <= 3; threads += 2) {
        JEXPECT_OK(jhandle_set_threads(handle, threads));
        const ji_panel_bytes_t bytes = wanted(handle, function, 150, 150, 150);
        JSCOPED_TRACE("%s, %d threads", blas_describe(c), threads);
        JEXPECT_EQ(blas_query(handle, c), bytes.packed);
        JEXPECT_GT(bytes.packed_small, granule);

        const int small = bytes.packed > bytes.packed_small;
        expect_rung(handle, c, bytes.packed, 0);
        if (small)
            expect_rung(handle, c, bytes.packed - granule, 1);
        expect_rung(handle, c, bytes.packed_small, small);
        expect_rung(handle, c, bytes.packed_small - granule, small + 1);
        JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
    }
}
EACH_PRODUCT(RungsAreByBytes) { with_each_set(rungs_are_by_bytes, *param); }

/* Where a CBLAS computes it packs for itself; what it has not is jblas's own as ever. */
EACH_PRODUCT(BesideACblasOwnProductsHaveTheirRungs) {
    const blas_function_t *function = &blas_functions[*param];
    const char *computing; /* asked, so that no call below sets the host up and chooses anew */
    JASSERT_OK(jblas_get_host_blas(&computing));
    if (jblas_cblas_kernel_at(0) == NULL)
        JSKIP("there is no CBLAS");

    const bool was_own = blas_is_own();
    ji_host_choose(true);
    if (primitive_of(function) == JI_GEMM) {
        jhandle_t *handle = blas_make_handle(NULL);
        BLAS_CASE(c, function, .m = 150, .n = 150, .k = 150, .hollow = true);
        JEXPECT_EQ(blas_query(handle, c), 0);
        JEXPECT_OK(jhandle_destroy(handle));
    } else {
        with_each_set(rungs_are_by_bytes, *param);
    }
    ji_host_choose(!was_own);
}
