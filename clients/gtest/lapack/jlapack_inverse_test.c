/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Inverses on the host, and solves that are a triangle or Cholesky: getri, lauum, potri, trtrs,
 * posv, held against the definition in long double. */

#include "blas/routine/setup.h"
#include "jlapack_helper.h"

#define EACH_TYPE(name) JLAPACK_EACH_TYPE(JlapackInverse, name)

/* ---- What is expected ---- */

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

/* ---- getri ---- */

EACH_TYPE(InvertsByLu) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(32); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = draw_size(round, 150);
        MATRIX(a, *param, n, n);
        int64_t *ipiv = jtest_guard_pages((size_t)n * sizeof *ipiv), info = -1;
        JSCOPED_TRACE("n %ld, ld %ld", (long)n, (long)a.ld);
        JEXPECT_OK(JLAPACK_CALL(*param, getrf, handle, n, n, a.data, a.ld, ipiv, &info));
        JEXPECT_EQ(info, 0);
        info = -1;
        JEXPECT_OK(JLAPACK_CALL(*param, getri, handle, n, a.data, a.ld, ipiv, &info));
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
        JEXPECT_OK(JLAPACK_CALL(*param, getri, handle, n, a.data, a.ld, ipiv, &info));
        JEXPECT_EQ(info, zero + 1);
        JEXPECT_OK(JLAPACK_CALL(*param, potri, handle, uplo, n, a.data, a.ld, &info));
        JEXPECT_EQ(info, zero + 1);

        MATRIX(b, *param, n, 3);
        JEXPECT_OK(JLAPACK_CALL(*param, trtrs, handle, uplo, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, n,
                                3, a.data, a.ld, b.data, b.ld, &info));
        JEXPECT_EQ(info, zero + 1);
        JEXPECT_EQ(memcmp(a.data, a.before, a.bytes), 0);
        JEXPECT_EQ(memcmp(b.data, b.before, b.bytes), 0);
        JEXPECT_OK(JLAPACK_CALL(*param, trtrs, handle, uplo, JBLAS_NO_TRANSPOSE, JBLAS_UNIT, n, 3,
                                a.data, a.ld, b.data, b.ld, &info));
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
        JEXPECT_OK(JLAPACK_CALL(*param, getrf, handle, n, n, a.data, a.ld, ipiv, &info));
        JEXPECT_OK(JLAPACK_CALL(*param, getri, handle, n, a.data, a.ld, ipiv, &info));
        JEXPECT_OK(JLAPACK_CALL(*param, potri, handle, draw_uplo(), n, a.data, a.ld, &info));
        JEXPECT_OK(JLAPACK_CALL(*param, lauum, handle, draw_uplo(), n, a.data, a.ld));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Cholesky and triangles ---- */

EACH_TYPE(InvertsByCholesky) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(32); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = draw_size(round, 150);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        make_definite(&a);
        int64_t info = -1;
        JSCOPED_TRACE("n %ld, uplo %d", (long)n, (int)uplo);
        JEXPECT_OK(JLAPACK_CALL(*param, potrf, handle, uplo, n, a.data, a.ld, &info));
        JEXPECT_EQ(info, 0);
        info = -1;
        JEXPECT_OK(JLAPACK_CALL(*param, potri, handle, uplo, n, a.data, a.ld, &info));
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
        const int64_t n = draw_size(round, 150);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        JEXPECT_OK(JLAPACK_CALL(*param, lauum, handle, uplo, n, a.data, a.ld));
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

/* Two may be inverted at once that share a square: neither reads or writes what is the other's, and
 * of a unit triangle the diagonal is. */
static void fill_the_rest(matrix_t *a, jblas_uplo_t uplo, jblas_diagonal_t diag,
                          long double value) {
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++)
            if (!is_stored(uplo, i, j) || (i == j && diag == JBLAS_UNIT))
                wide_put(a->before, a->type, i + j * a->ld, value);
}
static void expect_the_rest_alone(jhandle_t *handle, matrix_t *a, jblas_uplo_t uplo,
                                  jblas_diagonal_t diag) {
    static const long double others[] = {1, NAN, INFINITY};
    char *const wanted = malloc(a->bytes + 1);
    for (int k = 0; k < 3; k++) {
        int64_t info = -1;
        fill_the_rest(a, uplo, diag, others[k]);
        memcpy(a->data, a->before, a->bytes);
        JEXPECT_OK(
            JLAPACK_CALL(a->type, trtri, handle, uplo, diag, a->rows, a->data, a->ld, &info));
        JEXPECT_EQ(info, 0);
        if (k == 0)
            memcpy(wanted, a->data, a->bytes);

        matrix_t expected = {.type = a->type, .rows = a->rows, .columns = a->columns, .ld = a->ld};
        expected.before = wanted;
        fill_the_rest(&expected, uplo, diag, others[k]);
        JEXPECT_EQ(memcmp(a->data, wanted, a->bytes), 0);
    }
    free(wanted);
}
EACH_TYPE(ATriangleLeavesTheRestAlone) {
    jhandle_t *handle = make_handle(0);
    for (int64_t n = 1; n <= 600 && !jtest_has_failure(); n += n < 70 ? 1 : 53)
        for (int each = 0; each < 4; each++) {
            const jblas_uplo_t uplo = each % 2 ? JBLAS_LOWER : JBLAS_UPPER;
            const jblas_diagonal_t diag = each < 2 ? JBLAS_UNIT : JBLAS_NON_UNIT;
            MATRIX(a, *param, n, n);
            JSCOPED_TRACE("n %ld, uplo %d, diag %d", (long)n, (int)uplo, (int)diag);
            for (int64_t j = 0; j < n; j++) /* so that nothing overflows */
                for (int64_t i = 0; i < n; i++)
                    wide_put(a.data, *param, i + j * a.ld,
                             i == j ? 2 : now_at(&a, i, j) / (long double)n);
            keep(&a);
            expect_the_rest_alone(handle, &a, uplo, diag);
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
        const int64_t n = draw_size(round, 150), nrhs = jtest_random_between(0, 9);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        MATRIX(b, *param, n, nrhs);
        make_definite(&a);
        int64_t info = -1;
        JEXPECT_OK(
            JLAPACK_CALL(*param, posv, handle, uplo, n, nrhs, a.data, a.ld, b.data, b.ld, &info));
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
        JEXPECT_OK(JLAPACK_CALL(*param, posv, handle, draw_uplo(), n, 2, a.data, a.ld, b.data, b.ld,
                                &info));
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
        const int64_t n = draw_size(round, 150), nrhs = jtest_random_between(0, 9);
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
        JEXPECT_OK(JLAPACK_CALL(*param, trtrs, handle, uplo, trans,
                                triangle_is_unit ? JBLAS_UNIT : JBLAS_NON_UNIT, n, nrhs, a.data,
                                a.ld, b.data, b.ld, &info));
        JEXPECT_EQ(info, 0);
        expect_solution(&a, triangle, uplo, trans, &b);
        JEXPECT_EQ(memcmp(a.data, a.before, a.bytes), 0);
        expect_padding(&b);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Workspace, threads, failures ---- */

static jstatus_t do_getri(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0];
    return JLAPACK_CALL(a->type, getri, handle, a->rows, a->data, a->ld, x->ipiv, &x->info);
}
static jstatus_t do_potri(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0];
    return JLAPACK_CALL(a->type, potri, handle, JBLAS_LOWER, a->rows, a->data, a->ld, &x->info);
}
static jstatus_t do_lauum(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0];
    return JLAPACK_CALL(a->type, lauum, handle, JBLAS_UPPER, a->rows, a->data, a->ld);
}
static jstatus_t do_posv(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const b = x->operand[1];
    return JLAPACK_CALL(a->type, posv, handle, JBLAS_UPPER, a->rows, b->columns, a->data, a->ld,
                        b->data, b->ld, &x->info);
}
static jstatus_t do_trtrs(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const b = x->operand[1];
    return JLAPACK_CALL(a->type, trtrs, handle, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT,
                        a->rows, b->columns, a->data, a->ld, b->data, b->ld, &x->info);
}

/* Each of them with the same operands: diagonally dominant, a factor, a triangle and a definite
 * matrix that each of them takes. */
static void expect_of_each(int type, void (*expect)(jlapack_case_t *)) {
    enum { N = 300, RIGHT = 40 };
    MATRIX(a, type, N, N);
    MATRIX(b, type, N, RIGHT);
    int64_t *ipiv = jtest_guard_pages(N * sizeof *ipiv);
    make_definite(&a);
    for (int64_t i = 0; i < N; i++)
        ipiv[i] = jtest_random_between(i + 1, N);
    jlapack_case_t cases[] = {JLAPACK_CASE(getri, &a), JLAPACK_CASE(potri, &a),
                              JLAPACK_CASE(lauum, &a), JLAPACK_CASE(posv, &a, &b),
                              JLAPACK_CASE(trtrs, &a, &b)};
    cases[0].ipiv = ipiv;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        expect(&cases[c]);
}

EACH_TYPE(AnyWorkspaceAndThreadsGiveTheSameBits) { expect_of_each(*param, expect_same_bits); }
/* U and L are inverted at once where there are two threads: an executor's, too, whose parts have
 * none of their own, in any order; and not where there are more. */
static int executor_threads, executor_pairs;
static int executor_available(void *context) { return *(const int *)context; }
static void executor_run(void *context, int count, void (*part)(void *argument, int index),
                         void *argument) {
    (void)context;
    executor_pairs += count == 2;
    while (count-- > 0)
        part(argument, count);
}
EACH_TYPE(ExecutorsGiveTheSameBits) {
    enum { N = 200 }; /* a size whose products are not shared */
    static const jexecutor_t executor = {sizeof executor, &executor_threads, executor_available,
                                         executor_run};
    MATRIX(a, *param, N, N);
    make_definite(&a);
    int64_t ipiv[N];
    for (int64_t i = 0; i < N; i++)
        ipiv[i] = jtest_random_between(i + 1, N);
    jlapack_case_t getri = JLAPACK_CASE(getri, &a);
    getri.ipiv = ipiv;

    jhandle_t *handle = make_handle(0);
    JEXPECT_OK(jhandle_set_threads(handle, 1));
    JEXPECT_OK(case_run(handle, &getri));
    char *const wanted = case_results(&getri);
    JEXPECT_OK(jhandle_set_threads(handle, 0));
    JEXPECT_OK(jhandle_set_executor(handle, &executor));
    for (executor_threads = 1; executor_threads <= 4; executor_threads++) {
        executor_pairs = 0;
        JEXPECT_OK(case_run(handle, &getri));
        case_expect(&getri, wanted);
        JEXPECT_EQ(executor_pairs, executor_threads == 2 && !ji_host_has_guest());
    }
    free(wanted);
    JEXPECT_OK(jhandle_destroy(handle));
}

EACH_TYPE(EachAllocationMayFail) { expect_of_each(*param, expect_each_allocation_may_fail); }

/* ---- Refusals ---- */

JTEST(JlapackInverse, RefusesWhatIsWrongByName) {
    double a[4] = {4, 1, 1, 4}, b[2] = {1, 2};
    int64_t ipiv[2] = {1, 2}, info = -7;
    jhandle_t *h = make_handle(0);
    const jblas_uplo_t up = JBLAS_UPPER, odd = (jblas_uplo_t)7;
    const jblas_operation_t plain = JBLAS_NO_TRANSPOSE;
    const jblas_diagonal_t unit = JBLAS_UNIT;

#define REFUSED(...) JLAPACK_REFUSED(h, __VA_ARGS__)
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
