/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Inverses on the host, and solves that are a triangle or Cholesky: getri, lauum, potri, trtrs,
 * posv, held against the definition in long double. */

#include <math.h>

#include "jlapack_helper.h"

#define EACH_TYPE(name) JLAPACK_EACH_TYPE(JlapackInverse, name)

/* ---- Calls by a type that is a value ---- */

#define BY_TYPE(type, CALL)                                                                        \
    switch (type) {                                                                                \
    case JDATATYPE_F32: return CALL(s);                                                            \
    case JDATATYPE_F64: return CALL(d);                                                            \
    case JDATATYPE_F32_C: return CALL(c);                                                          \
    default: return CALL(z);                                                                       \
    }

static jstatus_t call_getrf(jhandle_t *h, int type, int64_t n, void *a, int64_t lda, int64_t *ipiv,
                            int64_t *info) {
#define CALL(t) jlapack_##t##getrf(h, n, n, a, lda, ipiv, info)
    BY_TYPE(type, CALL)
#undef CALL
}
static jstatus_t call_potrf(jhandle_t *h, int type, jblas_uplo_t uplo, int64_t n, void *a,
                            int64_t lda, int64_t *info) {
#define CALL(t) jblas_##t##potrf(h, uplo, n, a, lda, info)
    BY_TYPE(type, CALL)
#undef CALL
}
static jstatus_t call_getri(jhandle_t *h, int type, int64_t n, void *a, int64_t lda,
                            const int64_t *ipiv, int64_t *info) {
#define CALL(t) jlapack_##t##getri(h, n, a, lda, ipiv, info)
    BY_TYPE(type, CALL)
#undef CALL
}
static jstatus_t call_lauum(jhandle_t *h, int type, jblas_uplo_t uplo, int64_t n, void *a,
                            int64_t lda) {
#define CALL(t) jlapack_##t##lauum(h, uplo, n, a, lda)
    BY_TYPE(type, CALL)
#undef CALL
}
static jstatus_t call_potri(jhandle_t *h, int type, jblas_uplo_t uplo, int64_t n, void *a,
                            int64_t lda, int64_t *info) {
#define CALL(t) jlapack_##t##potri(h, uplo, n, a, lda, info)
    BY_TYPE(type, CALL)
#undef CALL
}
static jstatus_t call_posv(jhandle_t *h, int type, jblas_uplo_t uplo, int64_t n, int64_t nrhs,
                           void *a, int64_t lda, void *b, int64_t ldb, int64_t *info) {
#define CALL(t) jlapack_##t##posv(h, uplo, n, nrhs, a, lda, b, ldb, info)
    BY_TYPE(type, CALL)
#undef CALL
}
static jstatus_t call_trtrs(jhandle_t *h, int type, jblas_uplo_t uplo, jblas_operation_t trans,
                            jblas_diagonal_t diag, int64_t n, int64_t nrhs, const void *a,
                            int64_t lda, void *b, int64_t ldb, int64_t *info) {
#define CALL(t) jlapack_##t##trtrs(h, uplo, trans, diag, n, nrhs, a, lda, b, ldb, info)
    BY_TYPE(type, CALL)
#undef CALL
}

/* ---- What is expected ---- */

static int64_t draw_order(int64_t round) {
    return jtest_random_between(0, round % 4 == 0 ? 150 : round % 2 == 0 ? 40 : 9);
}
static jblas_uplo_t draw_uplo(void) {
    return jtest_random_between(0, 1) ? JBLAS_UPPER : JBLAS_LOWER;
}
static bool is_stored(jblas_uplo_t uplo, int64_t i, int64_t j) {
    return uplo == JBLAS_UPPER ? i <= j : i >= j;
}
static wide_t conjugate(wide_t value) {
    __imag__ value = -__imag__ value;
    return value;
}

/* What the Hermitian matrix of that triangle has at (i, j). */
static wide_t hermitian(const matrix_t *a, const void *data, jblas_uplo_t uplo, int64_t i,
                        int64_t j) {
    return is_stored(uplo, i, j) ? element(a, data, i, j) : conjugate(element(a, data, j, i));
}

/* |A X - I| <= 30 n u |A||X|, by norms of columns summed, as LAPACK's testers measure. */
typedef wide_t (*element_of_t)(const matrix_t *a, const void *data, jblas_uplo_t uplo, int64_t i,
                               int64_t j);
static wide_t general(const matrix_t *a, const void *data, jblas_uplo_t uplo, int64_t i,
                      int64_t j) {
    (void)uplo;
    return element(a, data, i, j);
}
static long double norm_of(const matrix_t *a, const void *data, element_of_t of,
                           jblas_uplo_t uplo) {
    long double norm = 0;
    for (int64_t j = 0; j < a->columns; j++) {
        long double sum = 0;
        for (int64_t i = 0; i < a->rows; i++)
            sum += wide_abs(of(a, data, uplo, i, j));
        norm = fmaxl(norm, sum);
    }
    return norm;
}
static void expect_inverse(const matrix_t *a, element_of_t of, jblas_uplo_t uplo) {
    const int64_t n = a->rows;
    long double off = 0;
    for (int64_t j = 0; j < n; j++) {
        long double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            wide_t entry = i == j ? -1 : 0;
            for (int64_t k = 0; k < n; k++)
                entry += of(a, a->before, uplo, i, k) * of(a, a->data, uplo, k, j);
            sum += wide_abs(entry);
        }
        off = fmaxl(off, sum);
    }
    const long double norms = norm_of(a, a->before, of, uplo) * norm_of(a, a->data, of, uplo);
    JASSERT_TRUE(off <= 30 * (long double)(n + 1) * wide_epsilon(a->type) * norms);
}

/* The other triangle is as it was. */
static void expect_other_triangle(const matrix_t *a, jblas_uplo_t uplo) {
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++)
            if (!is_stored(uplo, i, j))
                JASSERT_TRUE(now_at(a, i, j) == before_at(a, i, j));
}

/* Positive definite, and no worse conditioned than its order. */
static void make_definite(matrix_t *a) {
    for (int64_t i = 0; i < a->rows; i++)
        wide_put(a->data, a->type, i * (a->ld + 1),
                 (long double)a->rows + fabsl(__real__ now_at(a, i, i)));
    keep(a);
}

/* ---- getri ---- */

EACH_TYPE(InvertsByLu) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(32); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = draw_order(round);
        MATRIX(a, *param, n, n);
        int64_t *ipiv = jtest_guard_pages((size_t)n * sizeof *ipiv), info = -1;
        JSCOPED_TRACE("n %ld, ld %ld", (long)n, (long)a.ld);
        JEXPECT_OK(call_getrf(handle, *param, n, a.data, a.ld, ipiv, &info));
        JEXPECT_EQ(info, 0);
        info = -1;
        JEXPECT_OK(call_getri(handle, *param, n, a.data, a.ld, ipiv, &info));
        JEXPECT_EQ(info, 0);
        expect_inverse(&a, general, JBLAS_UPPER);
        expect_padding(&a);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A zero pivot: info says which, and the factor stays. */
EACH_TYPE(KeepsAFactorThatIsSingular) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(12); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = jtest_random_between(1, 80), zero = jtest_random_between(0, n - 1);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        wide_put(a.data, *param, zero * (a.ld + 1), 0);
        keep(&a);
        int64_t *ipiv = jtest_guard_pages((size_t)n * sizeof *ipiv), info = -1;
        for (int64_t i = 0; i < n; i++)
            ipiv[i] = n;
        JEXPECT_OK(call_getri(handle, *param, n, a.data, a.ld, ipiv, &info));
        JEXPECT_EQ(info, zero + 1);
        JEXPECT_OK(call_potri(handle, *param, uplo, n, a.data, a.ld, &info));
        JEXPECT_EQ(info, zero + 1);

        MATRIX(b, *param, n, 3);
        JEXPECT_OK(call_trtrs(handle, *param, uplo, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, n, 3,
                              a.data, a.ld, b.data, b.ld, &info));
        JEXPECT_EQ(info, zero + 1);
        JEXPECT_EQ(memcmp(a.data, a.before, a.bytes), 0);
        JEXPECT_EQ(memcmp(b.data, b.before, b.bytes), 0);
        JEXPECT_OK(call_trtrs(handle, *param, uplo, JBLAS_NO_TRANSPOSE, JBLAS_UNIT, n, 3, a.data,
                              a.ld, b.data, b.ld, &info));
        JEXPECT_EQ(info, 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

EACH_TYPE(EndsWithNanAndInfinity) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(8); round > 0; --round) {
        const int64_t n = jtest_random_between(1, 100);
        MATRIX(a, *param, n, n);
        wide_put(a.data, *param, jtest_random_between(0, n - 1) * (a.ld + 1),
                 round % 2 == 0 ? NAN : INFINITY);
        int64_t *ipiv = jtest_guard_pages((size_t)n * sizeof *ipiv), info = -1;
        JEXPECT_OK(call_getrf(handle, *param, n, a.data, a.ld, ipiv, &info));
        JEXPECT_OK(call_getri(handle, *param, n, a.data, a.ld, ipiv, &info));
        JEXPECT_OK(call_potri(handle, *param, draw_uplo(), n, a.data, a.ld, &info));
        JEXPECT_OK(call_lauum(handle, *param, draw_uplo(), n, a.data, a.ld));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Cholesky and triangles ---- */

EACH_TYPE(InvertsByCholesky) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(32); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = draw_order(round);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        make_definite(&a);
        int64_t info = -1;
        JSCOPED_TRACE("n %ld, uplo %d", (long)n, (int)uplo);
        JEXPECT_OK(call_potrf(handle, *param, uplo, n, a.data, a.ld, &info));
        JEXPECT_EQ(info, 0);
        info = -1;
        JEXPECT_OK(call_potri(handle, *param, uplo, n, a.data, a.ld, &info));
        JEXPECT_EQ(info, 0);
        expect_inverse(&a, hermitian, uplo);
        expect_other_triangle(&a, uplo);
        expect_padding(&a);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Element by element. */
EACH_TYPE(MultipliesATriangleByItsAdjoint) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(24); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = draw_order(round);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        JEXPECT_OK(call_lauum(handle, *param, uplo, n, a.data, a.ld));
        const long double gamma = (long double)(n + 8) * 4 * wide_epsilon(*param);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++) {
                if (!is_stored(uplo, i, j))
                    continue;
                wide_t sum = 0;
                long double bound = 0;
                for (int64_t k = i > j ? i : j; k < n; k++) {
                    const wide_t x = uplo == JBLAS_UPPER ? before_at(&a, i, k)
                                                         : conjugate(before_at(&a, k, i)),
                                 y = uplo == JBLAS_UPPER ? conjugate(before_at(&a, j, k))
                                                         : before_at(&a, k, j);
                    sum += x * y;
                    bound += wide_abs(x) * wide_abs(y);
                }
                JASSERT_TRUE(wide_abs(sum - now_at(&a, i, j)) <= gamma * bound);
                if (i == j)
                    JASSERT_TRUE(__imag__ now_at(&a, i, j) == 0);
            }
        expect_other_triangle(&a, uplo);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* |A X - B| <= c n u |A||X| by norms, with a matrix that is no worse conditioned than its order. */
static void expect_solution(const matrix_t *a, element_of_t of, jblas_uplo_t uplo,
                            jblas_operation_t trans, const matrix_t *x) {
    const int64_t n = a->rows;
    const long double norm = norm_of(a, a->before, of, uplo);
    for (int64_t j = 0; j < x->columns; j++) {
        long double largest = 0;
        for (int64_t i = 0; i < n; i++)
            largest = fmaxl(largest, wide_abs(now_at(x, i, j)));
        for (int64_t i = 0; i < n; i++) {
            wide_t sum = 0;
            for (int64_t k = 0; k < n; k++) {
                const bool plain = trans == JBLAS_NO_TRANSPOSE;
                wide_t e = of(a, a->before, uplo, plain ? i : k, plain ? k : i);
                if (trans == JBLAS_CONJUGATE_TRANSPOSE)
                    e = conjugate(e);
                sum += e * now_at(x, k, j);
            }
            JASSERT_TRUE(wide_abs(sum - before_at(x, i, j)) <=
                         30 * (long double)(n + 1) * wide_epsilon(a->type) * norm * largest);
        }
    }
}

EACH_TYPE(SolvesByCholesky) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(24); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = draw_order(round), nrhs = jtest_random_between(0, 9);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        MATRIX(b, *param, n, nrhs);
        make_definite(&a);
        int64_t info = -1;
        JEXPECT_OK(call_posv(handle, *param, uplo, n, nrhs, a.data, a.ld, b.data, b.ld, &info));
        JEXPECT_EQ(info, 0);
        expect_solution(&a, hermitian, uplo, JBLAS_NO_TRANSPOSE, &b);
        expect_other_triangle(&a, uplo);
        expect_padding(&b);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* An indefinite matrix: info has the minor, and B is as it was. */
EACH_TYPE(SolvesNothingWithAnIndefiniteMatrix) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(12); round > 0; --round) {
        const int64_t n = jtest_random_between(1, 80), bad = jtest_random_between(0, n - 1);
        MATRIX(a, *param, n, n);
        MATRIX(b, *param, n, 2);
        make_definite(&a);
        wide_put(a.data, *param, bad * (a.ld + 1), -1);
        int64_t info = -1;
        JEXPECT_OK(call_posv(handle, *param, draw_uplo(), n, 2, a.data, a.ld, b.data, b.ld, &info));
        JEXPECT_EQ(info, bad + 1);
        JEXPECT_EQ(memcmp(b.data, b.before, b.bytes), 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The triangle that `uplo` and `unit` make of a matrix. */
static bool triangle_is_unit;
static wide_t triangle(const matrix_t *a, const void *data, jblas_uplo_t uplo, int64_t i,
                       int64_t j) {
    if (i == j && triangle_is_unit)
        return 1;
    return is_stored(uplo, i, j) ? element(a, data, i, j) : 0;
}

EACH_TYPE(SolvesWithATriangle) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(24); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = draw_order(round), nrhs = jtest_random_between(0, 9);
        const jblas_uplo_t uplo = draw_uplo();
        const jblas_operation_t trans =
            (jblas_operation_t)jtest_random_between(JBLAS_NO_TRANSPOSE, JBLAS_CONJUGATE_TRANSPOSE);
        triangle_is_unit = round % 3 == 0;
        MATRIX(a, *param, n, n);
        MATRIX(b, *param, n, nrhs);
        for (int64_t j = 0; j < n; j++) /* small beside the diagonal: well conditioned */
            for (int64_t i = 0; i < n; i++)
                wide_put(a.data, *param, i + j * a.ld,
                         i == j ? 2 : now_at(&a, i, j) / (long double)n);
        keep(&a);
        int64_t info = -1;
        JEXPECT_OK(call_trtrs(handle, *param, uplo, trans,
                              triangle_is_unit ? JBLAS_UNIT : JBLAS_NON_UNIT, n, nrhs, a.data, a.ld,
                              b.data, b.ld, &info));
        JEXPECT_EQ(info, 0);
        expect_solution(&a, triangle, uplo, trans, &b);
        JEXPECT_EQ(memcmp(a.data, a.before, a.bytes), 0);
        expect_padding(&b);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Workspace, threads, failures ---- */

/* A call of each, over the same operands. */
enum { N = 300, RIGHT = 40 };
typedef struct operands {
    matrix_t *a, *b;
    int64_t *ipiv;
} operands_t;
typedef jstatus_t (*call_t)(jhandle_t *handle, const operands_t *o, int64_t *info);

static jstatus_t do_getri(jhandle_t *handle, const operands_t *o, int64_t *info) {
    return call_getri(handle, o->a->type, N, o->a->data, o->a->ld, o->ipiv, info);
}
static jstatus_t do_potri(jhandle_t *handle, const operands_t *o, int64_t *info) {
    return call_potri(handle, o->a->type, JBLAS_LOWER, N, o->a->data, o->a->ld, info);
}
static jstatus_t do_lauum(jhandle_t *handle, const operands_t *o, int64_t *info) {
    *info = 0;
    return call_lauum(handle, o->a->type, JBLAS_UPPER, N, o->a->data, o->a->ld);
}
static jstatus_t do_posv(jhandle_t *handle, const operands_t *o, int64_t *info) {
    return call_posv(handle, o->a->type, JBLAS_UPPER, N, RIGHT, o->a->data, o->a->ld, o->b->data,
                     o->b->ld, info);
}
static jstatus_t do_trtrs(jhandle_t *handle, const operands_t *o, int64_t *info) {
    return call_trtrs(handle, o->a->type, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, N, RIGHT,
                      o->a->data, o->a->ld, o->b->data, o->b->ld, info);
}
static const struct {
    const char *name;
    call_t call;
} calls[] = {{"getri", do_getri},
             {"potri", do_potri},
             {"lauum", do_lauum},
             {"posv", do_posv},
             {"trtrs", do_trtrs}};
#define CALLS (sizeof calls / sizeof calls[0])

/* Diagonally dominant: a factor, a triangle and a definite matrix that each of them takes. */
static operands_t make_operands(matrix_t *a, matrix_t *b) {
    const operands_t operands = {a, b, jtest_guard_pages(N * sizeof(int64_t))};
    make_definite(a);
    for (int64_t i = 0; i < N; i++)
        operands.ipiv[i] = jtest_random_between(i + 1, N);
    return operands;
}
static void restore(const operands_t *o) {
    memcpy(o->a->data, o->a->before, o->a->bytes);
    memcpy(o->b->data, o->b->before, o->b->bytes);
}

static size_t query(jhandle_t *handle, call_t call, const operands_t *o) {
    int64_t info = 0;
    size_t bytes = 0;
    JEXPECT_OK(jhandle_start_size_query(handle));
    JEXPECT_FALSE(jstatus_is_error(call(handle, o, &info)));
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    return bytes;
}

EACH_TYPE(AnyWorkspaceAndThreadsGiveTheSameBits) {
    MATRIX(a, *param, N, N);
    MATRIX(b, *param, N, RIGHT);
    const operands_t operands = make_operands(&a, &b);
    void *wanted_a = malloc(a.bytes), *wanted_b = malloc(b.bytes);
    for (size_t c = 0; c < CALLS; c++) {
        jhandle_t *handle = make_handle(0);
        JEXPECT_OK(jhandle_set_threads(handle, 1));
        const size_t bytes = query(handle, calls[c].call, &operands);
        JASSERT_GT(bytes, 0);

        const size_t sizes[] = {bytes, bytes - 64, bytes / 8, 0};
        for (size_t k = 0; k < 2 * sizeof sizes / sizeof sizes[0]; k++) {
            const size_t size = sizes[k / 2] / 64 * 64;
            JSCOPED_TRACE("%s: %zu of %zu bytes, %d threads", calls[c].name, size, bytes,
                          (int)(k % 2 + 1));
            JEXPECT_OK(jhandle_set_threads(handle, (int)(k % 2 + 1)));
            if (size > 0)
                JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(size), size));
            else
                JEXPECT_OK(jhandle_set_fixed_workspace_size(handle, 0));
            restore(&operands);
            int64_t info = -1;
            const jstatus_t status = calls[c].call(handle, &operands, &info);
            if (k % 2 == 0) /* more threads want more */
                JEXPECT_STATUS(status, k == 0 ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED);
            JEXPECT_EQ(info, 0);
            if (k == 0)
                memcpy(wanted_a, a.data, a.bytes), memcpy(wanted_b, b.data, b.bytes);
            JEXPECT_EQ(memcmp(a.data, wanted_a, a.bytes), 0);
            JEXPECT_EQ(memcmp(b.data, wanted_b, b.bytes), 0);
        }
        JEXPECT_OK(jhandle_destroy(handle));
    }
    free(wanted_a);
    free(wanted_b);
}

/* The n-th allocation fails, for each n: the call says so and has written nothing, or has done it
 * all the same in less. */
EACH_TYPE(EachAllocationMayFail) {
    MATRIX(a, *param, N, N);
    MATRIX(b, *param, N, RIGHT);
    const operands_t operands = make_operands(&a, &b);
    for (size_t c = 0; c < CALLS; c++)
        for (uint64_t n = 1, failed = 1; failed != 0 && !jtest_has_failure(); n++) {
            jhandle_t *handle = make_handle(0);
            int64_t info = -1;
            restore(&operands);
            const uint64_t before = jtest_allocation_count();
            jtest_fail_allocation_after(n);
            const jstatus_t status = calls[c].call(handle, &operands, &info);
            failed = jtest_allocation_count() - before >= n;
            jtest_fail_allocation_after(0);
            if (jstatus_is_error(status)) {
                JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                JEXPECT_EQ(memcmp(a.data, a.before, a.bytes), 0);
                JEXPECT_EQ(memcmp(b.data, b.before, b.bytes), 0);
            } else {
                JEXPECT_EQ(info, 0);
            }
            JEXPECT_OK(jhandle_destroy(handle));
        }
}

/* ---- Refusals ---- */

JTEST(JlapackInverse, RefusesWhatIsWrongByName) {
    double a[4] = {4, 1, 1, 4}, b[2] = {1, 2};
    int64_t ipiv[2] = {1, 2}, info = -7;
    jhandle_t *h = make_handle(0);
    const jblas_uplo_t up = JBLAS_UPPER, odd = (jblas_uplo_t)7;
    const jblas_operation_t plain = JBLAS_NO_TRANSPOSE;
    const jblas_diagonal_t unit = JBLAS_UNIT;

#define REFUSED(call, status, words)                                                               \
    JEXPECT_STATUS(call, status);                                                                  \
    JEXPECT_SUBSTR(jhandle_last_message(h), words)
    REFUSED(jlapack_dgetri(h, -1, a, 2, ipiv, &info), JSTATUS_INVALID_SIZE, "dgetri: n = -1");
    REFUSED(jlapack_dgetri(h, 2, a, 1, ipiv, &info), JSTATUS_INVALID_SIZE, "lda = 1");
    REFUSED(jlapack_dgetri(h, 2, a, 2, NULL, &info), JSTATUS_INVALID_POINTER, "ipiv is NULL");
    REFUSED(jlapack_dgetri(h, 2, a, 2, ipiv, NULL), JSTATUS_INVALID_POINTER, "info is NULL");
    REFUSED(jlapack_dlauum(h, odd, 2, a, 2), JSTATUS_INVALID_VALUE, "uplo = 7");
    REFUSED(jlapack_dlauum(h, up, 2, NULL, 2), JSTATUS_INVALID_POINTER, "a is NULL");
    REFUSED(jlapack_dpotri(h, up, 2, a, 1, &info), JSTATUS_INVALID_SIZE, "lda = 1");
    REFUSED(jlapack_dposv(h, up, 2, 1, a, 2, b, 1, &info), JSTATUS_INVALID_SIZE, "ldb = 1");
    REFUSED(jlapack_dposv(h, up, 2, 1, a, 2, NULL, 2, &info), JSTATUS_INVALID_POINTER, "b is NULL");
    REFUSED(jlapack_dtrtrs(h, up, plain, unit, 2, -1, a, 2, b, 2, &info), JSTATUS_INVALID_SIZE,
            "nrhs = -1");
    REFUSED(jlapack_dtrtrs(h, up, plain, unit, 2, 1, a, 2, b, 2, NULL), JSTATUS_INVALID_POINTER,
            "info is NULL");
#undef REFUSED
    JEXPECT_EQ(info, -7);
    JEXPECT_EQ(a[0], 4);

    JEXPECT_OK(jlapack_dgetri(h, 0, NULL, 1, NULL, &info));
    JEXPECT_EQ(info, 0);
    info = -7;
    JEXPECT_OK(jlapack_dposv(h, up, 0, 1, NULL, 1, NULL, 1, &info));
    JEXPECT_EQ(info, 0);
    JEXPECT_OK(jlapack_dlauum(h, up, 0, NULL, 1));
    JEXPECT_OK(jhandle_destroy(h));
}
