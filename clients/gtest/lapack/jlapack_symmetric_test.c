/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Symmetric and Hermitian indefinite matrices on the host: sytrf, sytrs, sysv and hetrf, hetrs,
 * hesv, held against the definition in long double. */

#include <math.h>

#include "jlapack_helper.h"

#define EACH_TYPE(name) JLAPACK_EACH_TYPE(JlapackSymmetric, name)

/* ---- Calls by a type and a symmetry that are values ---- */

/* Hermitian ones have names of their own. */
#define CALL(type, hermitian, routine, ...)                                                        \
    ((hermitian) ? JLAPACK_CALL_Q(type, sy##routine, he##routine, __VA_ARGS__)                     \
                 : JLAPACK_CALL(type, sy##routine, __VA_ARGS__))

static bool draw_hermitian(int type) {
    return wide_is_complex(type) && jtest_random_between(0, 1) == 1;
}
/* What the matrix of that triangle has at (i, j). */
static wide_t full(const matrix_t *a, const void *data, jblas_uplo_t uplo, bool hermitian,
                   int64_t i, int64_t j) {
    wide_t value = is_stored(uplo, i, j) ? element(a, data, i, j) : element(a, data, j, i);
    if (hermitian && i == j)
        __imag__ value = 0;
    return hermitian && !is_stored(uplo, i, j) ? conjugate(value) : value;
}

/* Of kinds that are chosen among pivots in every way: any; no diagonal, so all blocks are of two;
 * a large one, so none is; one that is small in places; and rows of very different sizes. */
static void shape(matrix_t *a) {
    const int64_t kind = a->rows > 1 ? jtest_random_between(0, 4) : 0; /* one zero is singular */
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t i = 0; i < a->rows; i++) {
            wide_t value = now_at(a, i, j);
            if (i == j && (kind == 1 || (kind == 3 && i % 3 == 0)))
                value = 0;
            if (i == j && kind == 2)
                value *= (long double)a->rows;
            if (kind == 4)
                value *= ldexpl(1, (int)((i * 7 + j * 7) % 11 + (i + j) % 5));
            wide_put(a->data, a->type, i + j * a->ld, value);
        }
    keep(a);
}

/* ---- The factor ---- */

typedef struct wide_pair {
    wide_t value;
    long double bound;
} wide_pair_t;

/* Rows i and j of m, and columns. */
static void exchange(wide_pair_t *m, int64_t n, int64_t i, int64_t j) {
    for (int64_t k = 0; k < n; k++) {
        const wide_pair_t here = m[i + k * n];
        m[i + k * n] = m[j + k * n], m[j + k * n] = here;
    }
    for (int64_t k = 0; k < n; k++) {
        const wide_pair_t here = m[k + i * n];
        m[k + i * n] = m[k + j * n], m[k + j * n] = here;
    }
}

/* m := L m L^H, where L is the identity but for column c, which is A's in rows [first, end); m is 0
 * outside [low, high). */
static void apply_column(const matrix_t *a, bool hermitian, wide_pair_t *m, int64_t c,
                         int64_t first, int64_t end, int64_t low, int64_t high) {
    const int64_t n = a->rows;
    for (int64_t j = low; j < high; j++)
        for (int64_t i = first; i < end && m[c + j * n].bound > 0; i++) {
            m[i + j * n].value += now_at(a, i, c) * m[c + j * n].value;
            m[i + j * n].bound += wide_abs(now_at(a, i, c)) * m[c + j * n].bound;
        }
    for (int64_t j = first; j < end; j++) {
        const wide_t l = hermitian ? conjugate(now_at(a, j, c)) : now_at(a, j, c);
        for (int64_t i = low; i < high; i++) {
            m[i + j * n].value += l * m[i + c * n].value;
            m[i + j * n].bound += wide_abs(l) * m[i + c * n].bound;
        }
    }
}

/* What the factor is one of: the blocks of D, and from the last one that was eliminated to the
 * first what LAPACK says of its columns and interchanges. |A - that| is within gamma |L||D||L|^H
 * element by element, and within gamma by norm of the largest element that any step had. */
static void expect_factor(const matrix_t *a, jblas_uplo_t uplo, bool hermitian,
                          const int64_t *ipiv) {
    const int64_t n = a->rows, step = uplo == JBLAS_LOWER ? -1 : 1;
    const long double gamma =
        (long double)(n + 8) * (wide_is_complex(a->type) ? 16 : 4) * wide_epsilon(a->type);
    wide_pair_t *const m = calloc((size_t)(n * n + 1), sizeof *m);
    long double largest = 0;

    for (int64_t k = uplo == JBLAS_LOWER ? n - 1 : 0; k >= 0 && k < n; k += step) {
        const bool is_pair = ipiv[k] < 0;
        const int64_t inner = k, outer = is_pair ? k + step : k,
                      other = (is_pair ? -ipiv[k] : ipiv[k]) - 1;
        JASSERT_TRUE(outer >= 0 && outer < n && other >= 0 && other < n);
        JASSERT_TRUE(uplo == JBLAS_LOWER ? other >= inner : other <= inner);
        JASSERT_EQ(ipiv[outer], ipiv[inner]);

        for (int c = 0; c < 1 + is_pair; c++)
            for (int r = 0; r < 1 + is_pair; r++) {
                const int64_t i = k + r * step, j = k + c * step;
                wide_pair_t *const own = &m[i + j * n];
                own->value = full(a, a->data, uplo, hermitian, i, j);
                own->bound = wide_abs(own->value);
            }
        if (hermitian)
            JASSERT_TRUE(__imag__ now_at(a, k, k) == 0);

        const int64_t first = uplo == JBLAS_LOWER ? inner + 1 : 0,
                      end = uplo == JBLAS_LOWER ? n : inner;
        const int64_t low = uplo == JBLAS_LOWER ? outer : 0,
                      high = uplo == JBLAS_LOWER ? n : outer + 1;
        apply_column(a, hermitian, m, inner, first, end, low, high);
        if (is_pair)
            apply_column(a, hermitian, m, outer, first, end, low, high);
        exchange(m, n, inner, other);
        for (int64_t j = low; j < high; j++)
            for (int64_t i = low; i < high; i++)
                largest = fmaxl(largest, wide_abs(m[i + j * n].value));
        k = outer;
    }

    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            const long double off =
                wide_abs(m[i + j * n].value - full(a, a->before, uplo, hermitian, i, j));
            JASSERT_TRUE(off <= gamma * m[i + j * n].bound);
            JASSERT_TRUE(off <= 4 * gamma * largest);
            if (!is_stored(uplo, i, j))
                JASSERT_TRUE(now_at(a, i, j) == before_at(a, i, j));
        }
    free(m);
}

EACH_TYPE(FactorsAnyOrder) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(48); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = draw_size(round, 150);
        const bool hermitian = draw_hermitian(*param);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        shape(&a);
        int64_t *ipiv = jtest_guard_pages((size_t)n * sizeof *ipiv), info = -1;
        JSCOPED_TRACE("n %ld, ld %ld, uplo %d, hermitian %d", (long)n, (long)a.ld, (int)uplo,
                      hermitian);
        JEXPECT_OK(CALL(*param, hermitian, trf, handle, uplo, n, a.data, a.ld, ipiv, &info));
        JEXPECT_EQ(info, 0);
        expect_factor(&a, uplo, hermitian, ipiv);
        expect_padding(&a);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Of many panels. */
EACH_TYPE(FactorsALargeMatrix) {
    jhandle_t *handle = make_handle(0);
    for (int round = 0; round < 2; round++) {
        const bool hermitian = draw_hermitian(*param);
        const jblas_uplo_t uplo = round % 2 ? JBLAS_UPPER : JBLAS_LOWER;
        MATRIX(a, *param, 210, 210);
        shape(&a);
        int64_t ipiv[210], info = -1;
        JEXPECT_OK(CALL(*param, hermitian, trf, handle, uplo, 210, a.data, a.ld, ipiv, &info));
        JEXPECT_EQ(info, 0);
        expect_factor(&a, uplo, hermitian, ipiv);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Nothing overflows that need not: powers of two change nothing else. */
EACH_TYPE(ScalesWithTheMatrix) {
    jhandle_t *handle = make_handle(0);
    const int most = wide_real_of(*param) == JDATATYPE_F32 ? 60 : 480;
    for (int64_t round = jtest_iterations(8); round > 0; --round) {
        const int64_t n = jtest_random_between(1, 60);
        const bool hermitian = draw_hermitian(*param);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        MATRIX(b, *param, n, n);
        const long double scale = ldexpl(1, round % 2 ? most : -most);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                wide_put(b.data, *param, i + j * b.ld, scale * now_at(&a, i, j));
        int64_t of_a[60], of_b[60], info = -1;
        JEXPECT_OK(CALL(*param, hermitian, trf, handle, uplo, n, a.data, a.ld, of_a, &info));
        JEXPECT_OK(CALL(*param, hermitian, trf, handle, uplo, n, b.data, b.ld, of_b, &info));
        JEXPECT_EQ(info, 0);
        JEXPECT_EQ(memcmp(of_a, of_b, (size_t)n * sizeof *of_a), 0);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                JASSERT_TRUE(!is_stored(uplo, i, j) || isfinite(wide_abs(now_at(&b, i, j))));
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Pivots ---- */

/* Which they are, of matrices of two rows, as LAPACK has them. */
EACH_TYPE(ChoosesPivots) {
    static const struct {
        double a, b, c; /* a b; b c */
        int64_t lower[2], upper[2];
    } cases[] = {{0, 1, 0, {-2, -2}, {-1, -1}},       {1, 0.5, 1, {1, 2}, {1, 2}},
                 {0.01, 1, 5, {2, 2}, {1, 2}},        {5, 1, 0.01, {1, 2}, {1, 1}},
                 {0.01, 1, 0.02, {-2, -2}, {-1, -1}}, {0.7, 1, 0, {1, 2}, {1, 1}},
                 {0.6, 1, 0, {-2, -2}, {-1, -1}},     {0, 0, 1, {1, 2}, {1, 2}}};
    jhandle_t *handle = make_handle(0);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (int k = 0; k < 4; k++) {
            const bool hermitian = wide_is_complex(*param) && k % 2;
            const jblas_uplo_t uplo = k / 2 ? JBLAS_UPPER : JBLAS_LOWER;
            const int64_t *const wanted = k / 2 ? cases[c].upper : cases[c].lower;
            MATRIX(a, *param, 2, 2);
            int64_t ipiv[2] = {0}, info = -1;
            wide_put(a.data, *param, 0, cases[c].a);
            wide_put(a.data, *param, 1, cases[c].b);
            wide_put(a.data, *param, a.ld, cases[c].b);
            wide_put(a.data, *param, a.ld + 1, cases[c].c);
            JSCOPED_TRACE("case %d, uplo %d", (int)c, (int)uplo);
            JEXPECT_OK(CALL(*param, hermitian, trf, handle, uplo, 2, a.data, a.ld, ipiv, &info));
            JEXPECT_EQ(ipiv[0], wanted[0]);
            JEXPECT_EQ(ipiv[1], wanted[1]);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Zeros on a diagonal matrix's diagonal: info has the one that is met first, B is as it was. */
EACH_TYPE(SaysWhichBlockIsZero) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(12); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = jtest_random_between(1, 100), one = jtest_random_between(0, n - 1),
                      other = jtest_random_between(0, n - 1), less = one < other ? one : other;
        const bool hermitian = draw_hermitian(*param);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        MATRIX(b, *param, n, 3);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                wide_put(a.data, *param, i + j * a.ld, i != j || i == one || i == other ? 0 : 2);
        keep(&a);
        int64_t ipiv[100], info = -1;
        JEXPECT_OK(CALL(*param, hermitian, sv, handle, uplo, n, 3, a.data, a.ld, ipiv, b.data, b.ld,
                        &info));
        JEXPECT_EQ(info, 1 + (uplo == JBLAS_LOWER ? less : one + other - less));
        JEXPECT_EQ(memcmp(a.data, a.before, a.bytes), 0);
        JEXPECT_EQ(memcmp(b.data, b.before, b.bytes), 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* Of few ranks, in small integers: what is left is rounding, which a column has in its own way and
 * as the row of another one: the two may say of one element that it is 0 and that it is not. */
EACH_TYPE(FactorsWhatIsLeftOfFewRanks) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(1000); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = jtest_random_between(2, round % 8 == 0 ? 40 : 9),
                      ranks = jtest_random_between(1, n);
        const bool hermitian = draw_hermitian(*param);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        long double of[40], sums[40][40] = {{0}};
        for (int64_t r = 0; r < ranks; r++) {
            const long double weight = (long double)jtest_random_between(-2, 2) / 2;
            for (int64_t i = 0; i < n; i++)
                of[i] = (long double)jtest_random_between(-2, 2);
            for (int64_t j = 0; j < n; j++)
                for (int64_t i = 0; i < n; i++)
                    sums[i][j] += of[i] * weight * of[j];
        }
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                wide_put(a.data, *param, i + j * a.ld, sums[i][j]);
        keep(&a);

        int64_t ipiv[40], info = -1;
        JSCOPED_TRACE("n %ld, uplo %d, hermitian %d", (long)n, (int)uplo, hermitian);
        JEXPECT_OK(CALL(*param, hermitian, trf, handle, uplo, n, a.data, a.ld, ipiv, &info));
        expect_factor(&a, uplo, hermitian, ipiv);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The factorization is complete where a row and a column are 0. */
EACH_TYPE(FactorsASingularMatrix) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(12); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = jtest_random_between(1, 80), zero = jtest_random_between(0, n - 1);
        const bool hermitian = draw_hermitian(*param);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        for (int64_t i = 0; i < n; i++) {
            wide_put(a.data, *param, i + zero * a.ld, 0);
            wide_put(a.data, *param, zero + i * a.ld, 0);
        }
        keep(&a);
        int64_t ipiv[80], info = -1;
        JEXPECT_OK(CALL(*param, hermitian, trf, handle, uplo, n, a.data, a.ld, ipiv, &info));
        JASSERT_TRUE(info > 0 && info <= n);
        JEXPECT_TRUE(ipiv[info - 1] > 0 && now_at(&a, info - 1, info - 1) == 0);
        expect_factor(&a, uplo, hermitian, ipiv);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

EACH_TYPE(EndsWithNanAndInfinity) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(32); round > 0; --round) {
        const int64_t n = jtest_random_between(1, 100), many = jtest_random_between(1, 4);
        const bool hermitian = draw_hermitian(*param);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        MATRIX(b, *param, n, 2);
        shape(&a);
        for (int64_t i = 0; i < many; i++)
            wide_put(a.data, *param,
                     jtest_random_between(0, n - 1) + jtest_random_between(0, n - 1) * a.ld,
                     (i + round) % 2 == 0 ? NAN : INFINITY);
        int64_t *ipiv = jtest_guard_pages((size_t)n * sizeof *ipiv), info = -1;
        JEXPECT_OK(CALL(*param, hermitian, trf, handle, uplo, n, a.data, a.ld, ipiv, &info));
        JEXPECT_OK(
            CALL(*param, hermitian, trs, handle, uplo, n, 2, a.data, a.ld, ipiv, b.data, b.ld));
        for (int64_t i = 0; i < n; i++)
            JASSERT_TRUE(ipiv[i] != 0 && ipiv[i] >= -n && ipiv[i] <= n);
        expect_padding(&a);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Solves ---- */

/* |A X - B| <= c n u |A||X| by norms; what the elements of these matrices grow by is in c. */
static void expect_solution(const matrix_t *a, jblas_uplo_t uplo, bool hermitian,
                            const matrix_t *x) {
    const int64_t n = a->rows;
    long double norm = 0;
    for (int64_t i = 0; i < n; i++) {
        long double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += wide_abs(full(a, a->before, uplo, hermitian, i, j));
        norm = fmaxl(norm, sum);
    }
    for (int64_t j = 0; j < x->columns; j++) {
        long double largest = 0;
        for (int64_t i = 0; i < n; i++)
            largest = fmaxl(largest, wide_abs(now_at(x, i, j)));
        for (int64_t i = 0; i < n; i++) {
            wide_t sum = 0;
            for (int64_t k = 0; k < n; k++)
                sum += full(a, a->before, uplo, hermitian, i, k) * now_at(x, k, j);
            JASSERT_TRUE(wide_abs(sum - before_at(x, i, j)) <=
                         30 * (long double)(n + 1) * wide_epsilon(a->type) * norm * largest);
        }
    }
}

EACH_TYPE(SolvesAnyShape) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(48); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = draw_size(round, 150),
                      nrhs = jtest_random_between(0, round % 8 == 0 ? 300 : 9);
        const bool hermitian = draw_hermitian(*param);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        MATRIX(b, *param, n, nrhs);
        shape(&a);
        int64_t *ipiv = jtest_guard_pages((size_t)n * sizeof *ipiv), info = -1;
        JSCOPED_TRACE("n %ld, nrhs %ld, uplo %d, hermitian %d", (long)n, (long)nrhs, (int)uplo,
                      hermitian);
        JEXPECT_OK(CALL(*param, hermitian, trf, handle, uplo, n, a.data, a.ld, ipiv, &info));
        void *const factor = malloc(a.bytes + 1), *const solution = malloc(b.bytes + 1);
        memcpy(factor, a.data, a.bytes);
        JEXPECT_OK(
            CALL(*param, hermitian, trs, handle, uplo, n, nrhs, a.data, a.ld, ipiv, b.data, b.ld));
        JEXPECT_EQ(memcmp(factor, a.data, a.bytes), 0);
        expect_solution(&a, uplo, hermitian, &b);
        expect_padding(&b);

        /* sysv is both. */
        memcpy(solution, b.data, b.bytes);
        memcpy(a.data, a.before, a.bytes), memcpy(b.data, b.before, b.bytes);
        info = -1;
        JEXPECT_OK(CALL(*param, hermitian, sv, handle, uplo, n, nrhs, a.data, a.ld, ipiv, b.data,
                        b.ld, &info));
        JEXPECT_EQ(info, 0);
        JEXPECT_EQ(memcmp(factor, a.data, a.bytes), 0);
        JEXPECT_EQ(memcmp(solution, b.data, b.bytes), 0);
        free(factor), free(solution);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The other triangle and, of Hermitian ones, imaginary parts on the diagonal are not read. */
EACH_TYPE(ReadsOneTriangle) {
    jhandle_t *handle = make_handle(0);
    for (int64_t round = jtest_iterations(12); round > 0 && !jtest_has_failure(); --round) {
        const int64_t n = jtest_random_between(1, 90);
        const bool hermitian = draw_hermitian(*param);
        const jblas_uplo_t uplo = draw_uplo();
        MATRIX(a, *param, n, n);
        MATRIX(b, *param, n, 5);
        shape(&a);
        void *const factor = malloc(a.bytes), *const solution = malloc(b.bytes);
        int64_t ipiv[90], info = -1;
        for (int pass = 0; pass < 2; pass++) {
            memcpy(a.data, a.before, a.bytes), memcpy(b.data, b.before, b.bytes);
            for (int64_t j = 0; j < n && pass == 1; j++)
                for (int64_t i = 0; i < n; i++) {
                    wide_t value = now_at(&a, i, j);
                    if (!is_stored(uplo, i, j))
                        value = NAN;
                    else if (hermitian && i == j)
                        __imag__ value = NAN;
                    wide_put(a.data, *param, i + j * a.ld, value);
                }
            JEXPECT_OK(CALL(*param, hermitian, sv, handle, uplo, n, 5, a.data, a.ld, ipiv, b.data,
                            b.ld, &info));
            if (pass == 0)
                memcpy(solution, b.data, b.bytes), memcpy(factor, a.data, a.bytes);
        }
        JEXPECT_EQ(memcmp(solution, b.data, b.bytes), 0);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                if (is_stored(uplo, i, j))
                    JASSERT_TRUE(now_at(&a, i, j) == element(&a, factor, i, j));

        /* Nor by the solve. */
        memcpy(b.data, b.before, b.bytes);
        for (int64_t j = 0; j < n && hermitian; j++) {
            wide_t value = now_at(&a, j, j);
            __imag__ value = NAN;
            wide_put(a.data, *param, j + j * a.ld, value);
        }
        JEXPECT_OK(
            CALL(*param, hermitian, trs, handle, uplo, n, 5, a.data, a.ld, ipiv, b.data, b.ld));
        JEXPECT_EQ(memcmp(solution, b.data, b.bytes), 0);
        free(solution), free(factor);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Workspace, threads, failures ---- */

static jstatus_t do_sytrf(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0];
    return JLAPACK_CALL(a->type, sytrf, handle, JBLAS_LOWER, a->rows, a->data, a->ld, x->ipiv,
                        &x->info);
}
static jstatus_t do_hetrf(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0];
    return JLAPACK_CALL_Q(a->type, sytrf, hetrf, handle, JBLAS_UPPER, a->rows, a->data, a->ld,
                          x->ipiv, &x->info);
}
static jstatus_t do_sytrs(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const b = x->operand[1];
    return JLAPACK_CALL(a->type, sytrs, handle, JBLAS_UPPER, a->rows, b->columns, a->data, a->ld,
                        x->ipiv, b->data, b->ld);
}
static jstatus_t do_hetrs(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const b = x->operand[1];
    return JLAPACK_CALL_Q(a->type, sytrs, hetrs, handle, JBLAS_LOWER, a->rows, b->columns, a->data,
                          a->ld, x->ipiv, b->data, b->ld);
}
static jstatus_t do_sysv(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const b = x->operand[1];
    return JLAPACK_CALL(a->type, sysv, handle, JBLAS_UPPER, a->rows, b->columns, a->data, a->ld,
                        x->ipiv, b->data, b->ld, &x->info);
}
static jstatus_t do_hesv(jhandle_t *handle, jlapack_case_t *x) {
    const matrix_t *const a = x->operand[0], *const b = x->operand[1];
    return JLAPACK_CALL_Q(a->type, sysv, hesv, handle, JBLAS_LOWER, a->rows, b->columns, a->data,
                          a->ld, x->ipiv, b->data, b->ld, &x->info);
}

/* Of an order whose columns take room, and are looked at in strips without it. Solves have pivots
 * of their own, such as a factor may have. */
static void expect_of_each(int type, void (*expect)(jlapack_case_t *)) {
    enum { MOST = 1100, FEW = 300, RIGHT = 80 };
    const int64_t n = 4096 / (int64_t)wide_sizeof(type) + 70;
    MATRIX(a, type, n, n);
    MATRIX(c, type, FEW, FEW);
    MATRIX(b, type, FEW, RIGHT);
    int64_t ipiv[MOST], upper[FEW], lower[FEW];
    for (int64_t k = 0; k < FEW; k++) {
        const bool pair = k % 3 != 2; /* rows 3 i and 3 i + 1 */
        const int64_t first = pair ? k - k % 3 : k;
        upper[k] = (pair ? -1 : 1) * (1 + k % 7 * first / 7);
        lower[k] = (pair ? -1 : 1) * (FEW - k % 5 * (FEW - 1 - first - pair) / 5);
        if (pair && k % 3 == 1)
            upper[k] = upper[k - 1], lower[k] = lower[k - 1];
    }
    shape(&c);
    jlapack_case_t cases[] = {JLAPACK_CASE(sytrf, &a),     JLAPACK_CASE(hetrf, &a),
                              JLAPACK_CASE(sysv, &c, &b),  JLAPACK_CASE(hesv, &c, &b),
                              JLAPACK_CASE(sytrs, &c, &b), JLAPACK_CASE(hetrs, &c, &b)};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        cases[k].ipiv = k < 4 ? ipiv : k == 4 ? upper : lower;
        expect(&cases[k]);
    }
}

EACH_TYPE(AnyWorkspaceAndThreadsGiveTheSameBits) { expect_of_each(*param, expect_same_bits); }
EACH_TYPE(EachAllocationMayFail) { expect_of_each(*param, expect_each_allocation_may_fail); }

/* ---- Refusals ---- */

JTEST(JlapackSymmetric, RefusesWhatIsWrongByName) {
    double a[4] = {4, 1, 1, 4}, b[2] = {1, 2};
    int64_t ipiv[2] = {1, 2}, info = -7;
    jhandle_t *h = make_handle(0);
    const jblas_uplo_t up = JBLAS_UPPER, odd = (jblas_uplo_t)7;

#define REFUSED(...) JLAPACK_REFUSED(h, __VA_ARGS__)
    REFUSED(jlapack_dsytrf(h, odd, 2, a, 2, ipiv, &info), JSTATUS_INVALID_VALUE, "uplo = 7");
    REFUSED(jlapack_dsytrf(h, up, -1, a, 2, ipiv, &info), JSTATUS_INVALID_SIZE, "dsytrf: n = -1");
    REFUSED(jlapack_dsytrf(h, up, 2, a, 1, ipiv, &info), JSTATUS_INVALID_SIZE, "lda = 1");
    REFUSED(jlapack_dsytrf(h, up, 2, NULL, 2, ipiv, &info), JSTATUS_INVALID_POINTER, "a is NULL");
    REFUSED(jlapack_dsytrf(h, up, 2, a, 2, NULL, &info), JSTATUS_INVALID_POINTER, "ipiv is NULL");
    REFUSED(jlapack_dsytrf(h, up, 2, a, 2, ipiv, NULL), JSTATUS_INVALID_POINTER, "info is NULL");
    REFUSED(jlapack_zhetrf(h, up, 2, NULL, 2, ipiv, &info), JSTATUS_INVALID_POINTER,
            "jlapack_zhetrf: a is NULL");
    REFUSED(jlapack_dsytrs(h, up, 2, -1, a, 2, ipiv, b, 2), JSTATUS_INVALID_SIZE, "nrhs = -1");
    REFUSED(jlapack_dsytrs(h, up, 2, 1, a, 2, ipiv, b, 1), JSTATUS_INVALID_SIZE, "ldb = 1");
    REFUSED(jlapack_dsytrs(h, up, 2, 1, a, 2, NULL, b, 2), JSTATUS_INVALID_POINTER, "ipiv is NULL");
    REFUSED(jlapack_dsysv(h, up, 2, 1, a, 2, ipiv, NULL, 2, &info), JSTATUS_INVALID_POINTER,
            "b is NULL");
    REFUSED(jlapack_dsysv(h, up, 2, 1, a, 2, ipiv, b, 2, NULL), JSTATUS_INVALID_POINTER,
            "info is NULL");
#undef REFUSED
    JEXPECT_EQ(info, -7);
    JEXPECT_EQ(a[0], 4);

    JEXPECT_OK(jlapack_dsytrf(h, up, 0, NULL, 1, NULL, &info));
    JEXPECT_EQ(info, 0);
    info = -7;
    JEXPECT_OK(jlapack_dsysv(h, up, 0, 1, NULL, 1, NULL, NULL, 1, &info));
    JEXPECT_EQ(info, 0);
    JEXPECT_OK(jlapack_dsytrs(h, up, 2, 0, a, 2, ipiv, NULL, 2));
    JEXPECT_OK(jhandle_destroy(h));
}
