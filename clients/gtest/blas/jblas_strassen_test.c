/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* gemm by halvings, which on the host begins where tests do not go: the threshold is lowered.
 * Random shapes, odd ones among them, each rung in exactly its bytes beside an inaccessible page,
 * against long double within a bound of its own. */

#include "jblas_routines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/blas.h"

static ji_tuning_t saved;

static void lower_to(int64_t least) {
    saved = ji_host_tuning;
    ji_host_tuning.strassen_least[0] = ji_host_tuning.strassen_least[1] = least;
    ji_tuning_complete(&ji_host_tuning);
}
static void put_back(void) { ji_host_tuning = saved; }

static jhandle_t *normwise_handle(void) {
    jhandle_t *handle = NULL;
    JEXPECT_OK(jhandle_create(NULL, &handle));
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_NORMWISE));
    return handle;
}

static const int functions[] = {BLAS_INDEX_sgemm, BLAS_INDEX_dgemm};

/* Higham's bound for l halvings down to depth k', which the norms bound. */
static bool within_norms(blas_case_t *c, int levels) {
    const long double depth = ceill((long double)c->k / (1 << levels)),
                      unit = wide_epsilon(c->operand[2].element) / 2;
    const long double factor = powl(18, levels) * (depth * depth + 6 * depth);
    return blas_within(
        c, unit * (wide_abs(c->alpha) * factor * blas_largest(c, 0) * blas_largest(c, 1) +
                   4 * wide_abs(c->beta) * blas_largest(c, 2)));
}

/* Elements of A and B become of all sizes, each at random, so that quarters do not resemble each
 * other. */
static void spread(blas_case_t *c) {
    for (int which = 0; which < 2; ++which) {
        blas_operand_t *o = &c->operand[which];
        for (int64_t j = 0; j < o->columns && !o->unread; ++j)
            for (int64_t i = 0; i < o->rows; ++i) {
                const int64_t at = blas_index(o, 0, i, j);
                const long double size = powl(10, jtest_random_double(-12, 0));
                wide_put(o->data, o->element, at, size * wide_get(o->data, o->element, at));
            }
        memcpy(o->before, o->region, o->region_bytes);
    }
}

/* All operations, alpha and beta of all kinds, on both sides of the pointer mode. */
JTEST(JblasStrassen, RandomShapesByEachRung) {
    jhandle_t *handle = normwise_handle();
    lower_to(8);
    bool right = true;
    for (int64_t round = jtest_iterations(120); round > 0 && right; --round)
        for (size_t f = 0; f < 2 && right; ++f)
            for (int rung = 0; rung < 3 && right; ++rung) {
                BLAS_CASE(c, &blas_functions[functions[f]], .low = 8, .high = round % 4 ? 45 : 90,
                          .guard_before = rung == 1, .plain = round % 3 == 0,
                          .beta_zero = round % 5 == 0);
                if (c->alpha == 0)
                    continue;
                if (round % 3 == 1)
                    spread(c);
                JEXPECT_OK(jhandle_set_pointer_mode(handle, round % 2 ? JPOINTER_MODE_DEVICE
                                                                      : JPOINTER_MODE_HOST));
                const int64_t smallest =
                    c->m < c->n ? (c->m < c->k ? c->m : c->k) : (c->n < c->k ? c->n : c->k);
                const int levels = smallest >= 16 ? 2 : 1;
                if (rung > levels)
                    continue;
                const size_t bytes = blas_query(handle, c);
                JASSERT_GT(bytes, 0);
                size_t given = bytes;
                if (rung > 0) { /* what one halving needs, or less than that */
                    const size_t e = wide_sizeof(c->operand[2].element);
                    const int64_t hm = c->m / 2, hn = c->n / 2, hk = c->k / 2;
                    const size_t parts[3] = {(size_t)(hm * hk) * e, (size_t)(hk * hn) * e,
                                             (size_t)(hm * hn) * e};
                    size_t one = 0;
                    for (int i = 0; i < 3; ++i)
                        one += (parts[i] + 255) / 256 * 256;
                    given = rung == levels ? one - 64 : one;
                    JASSERT_LE(given, bytes - 64);
                }
                JEXPECT_OK(jhandle_clear_stats(handle));
                JEXPECT_OK(jhandle_set_workspace(
                    handle, blas_guard_pages(given, (int)c->function->type), given));
                JEXPECT_STATUS(blas_call(handle, c),
                               rung ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
                jhandle_stats_t stats = {.struct_size = sizeof stats};
                JEXPECT_OK(jhandle_get_stats(handle, &stats));
                JEXPECT_EQ(stats.rung_count[rung], 1);
                JEXPECT_LE(stats.high_watermark_bytes, given);
                right = within_norms(c, levels - rung);
                JEXPECT_OK(jhandle_set_workspace(handle, NULL, 0));
            }
    JEXPECT_OK(jhandle_destroy(handle));
    put_back();
}

/* Not the rungs' number alone: the work is done by halves. Sums of quarters of exact small integers
 * are exact, so the result is too, but for elements that only a sum makes infinite. */
JTEST(JblasStrassen, IsWhatRunsAboveItsThreshold) {
    enum { N = 32 };
    static double a[N * N], b[N * N], c[N * N];
    const double one = 1, zero = 0;
    jhandle_t *handle = normwise_handle();
    /* A11: S2 = A21 + A22 - A11 and S3 = A11 - A21 stay finite, A11 + A11 would not be formed */
    a[0] = 1e308;
    b[0] = 1;
    for (int halved = 0; halved < 2; ++halved) {
        if (halved)
            lower_to(16);
        for (int i = 0; i < N * N; ++i)
            c[i] = -1;
        JEXPECT_OK(jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, N, N, N, &one, a, N,
                               b, N, &zero, c, N));
        JEXPECT_EQ(c[0], 1e308);
        jhandle_stats_t stats = {.struct_size = sizeof stats};
        JEXPECT_OK(jhandle_get_stats(handle, &stats));
        JEXPECT_EQ(stats.rung_count[0], halved);
    }
    /* U = A11 B11 + S2 T2 has B11 in T2 as well: a large A11 meets a large B22 there, which it
     * never does in A B. */
    b[0] = 0;
    b[(N - 1) + (N - 1) * N] = 10;
    b[(N / 2) + (N / 2) * N] = 10;
    JEXPECT_OK(jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, N, N, N, &one, a, N, b,
                           N, &zero, c, N));
    bool finite = true;
    for (int i = 0; i < N * N; ++i)
        finite &= isfinite(c[i]) != 0;
    JEXPECT_FALSE(finite);
    JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_SAME_BITS)); /* and never then */
    JEXPECT_OK(jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, N, N, N, &one, a, N, b,
                           N, &zero, c, N));
    for (int i = 0; i < N * N; ++i)
        JASSERT_TRUE(isfinite(c[i]));
    JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_FAST)); /* nor componentwise */
    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_COMPONENTWISE));
    JEXPECT_OK(jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, N, N, N, &one, a, N, b,
                           N, &zero, c, N));
    for (int i = 0; i < N * N; ++i)
        JASSERT_TRUE(isfinite(c[i]));
    put_back();
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Each rung adds in an order of its own. */
JTEST(JblasStrassen, RungsHaveBitsOfTheirOwn) {
    jhandle_t *handle = normwise_handle();
    lower_to(8);
    for (size_t f = 0; f < 2; ++f) {
        BLAS_CASE(c, &blas_functions[functions[f]], .low = 64, .high = 64, .plain = true);
        unsigned char *answer[3] = {NULL};
        const size_t e = wide_sizeof(c->operand[2].element),
                     given[3] = {15 * 256 * e, 12 * 256 * e, 64};
        for (int rung = 0; rung < 3; ++rung) {
            JEXPECT_OK(jhandle_set_workspace_size(handle, given[rung]));
            blas_restore(c);
            JEXPECT_STATUS(blas_call(handle, c), rung ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
            for (int other = 0; other < rung; ++other)
                JEXPECT_FALSE(blas_same_as(c, answer[other]));
            answer[rung] = blas_snapshot(c);
        }
        for (int rung = 0; rung < 3; ++rung)
            free(answer[rung]);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    put_back();
}

/* Its need is in proportion to the operands, and grows by a quarter where a second halving
 * begins. */
JTEST(JblasStrassen, WorkspaceIsInProportion) {
    jhandle_t *handle = normwise_handle();
    lower_to(64);
    size_t before = 0;
    for (int64_t n = 64; n < 300; ++n) {
        BLAS_CASE(c, &blas_functions[BLAS_INDEX_dgemm], .low = n, .high = n, .plain = true,
                  .hollow = true);
        for (int which = 0; which < BLAS_OPERANDS; ++which)
            c->operand[which].ld = n;
        const size_t bytes = blas_query(handle, c);
        JASSERT_LE((double)bytes, (n < 128 ? 0.75 : 0.9375) * 8.0 * (double)(n * n) + 6 * 256);
        if (before > 0)
            JASSERT_LE((double)bytes, (n == 128 ? 1.3 : 1.1) * (double)before);
        before = bytes;
    }
    /* Near the end of sizes nothing wraps. */
    BLAS_CASE(huge, &blas_functions[BLAS_INDEX_dgemm], .low = 2, .high = 2, .plain = true,
              .hollow = true);
    huge->m = huge->n = huge->k = (int64_t)1 << 29;
    for (int which = 0; which < BLAS_OPERANDS; ++which)
        huge->operand[which].ld = huge->m;
    JEXPECT_GE(blas_query(handle, huge), (size_t)15 << 57);
    JEXPECT_OK(jhandle_destroy(handle));
    put_back();
}

/* The work in a created stream, and its failures. */
JTEST(JblasStrassen, InAStream) {
    jhandle_t *handle = normwise_handle();
    jstream_t *stream = NULL;
    lower_to(8);
    JASSERT_OK(jstream_create(jdevice_host(), &stream));
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    for (int64_t round = jtest_iterations(10); round > 0; --round) {
        BLAS_CASE(c, &blas_functions[BLAS_INDEX_dgemm], .low = 16, .high = 50, .plain = true);
        JEXPECT_OK(blas_call(handle, c));
        JEXPECT_OK(jstream_synchronize(jdevice_host(), stream));
        within_norms(c, 2);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
    put_back();
}
