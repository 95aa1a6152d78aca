/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Solves, inverses and factorizations have the residual of substitution, element by element,
 * whatever the matrix:
 *
 *     trsm    |B - op(A) X| <= c k u |op(A)||X|        trtri   |X A - I| <= c n u |X||A|
 *     potrf   |A - L L^H|   <= c n u |L||L^H|
 *
 * and only what depends on an infinity, a NaN or a zero pivot is not finite. Triangles that are
 * well conditioned, badly (in the diagonal blocks too), scaled to the ends of the range; right-hand
 * sides of solutions whose elements have all sizes, so that rows nearly cancel. Judged in long
 * double. */

#include "jblas_reference.h"
#include "jtest.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "blas/algorithms/product.h"
#include "lapack/lapack.h"
#include "operation/operation.h"

static const jdatatype_t types[] = {JDATATYPE_F32, JDATATYPE_F64, JDATATYPE_F32_C, JDATATYPE_F64_C};

typedef enum {
    WELL_CONDITIONED,
    MINUS_ONES, /* ones on the diagonal, -1 below: the inverse grows by two in each row */
    KAHAN,
    /* Off a diagonal of ones, in the last rows alone: errors grow by 100 in each. */
    HUNDREDS,
    SMALL_PIVOTS,    /* there too */
    GRADED,          /* rows and columns of all scales */
    SUBNORMAL_PIVOT, /* a row, so that its unknown is of the size of the others */
    HUGE_PIVOT,      /* its reciprocal is subnormal */
    NEAR_OVERFLOW,
    NEAR_UNDERFLOW,
    KINDS
} triangle_kind_t;
static const char *const kind_names[] = {"well conditioned",     "-1 below",     "Kahan",
                                         "100 off the diagonal", "small pivots", "graded",
                                         "a subnormal pivot",    "a huge pivot", "near overflow",
                                         "near underflow"};

static bool is_single(jdatatype_t type) { return type == JDATATYPE_F32 || type == JDATATYPE_F32_C; }

static wide_t random_unit(jdatatype_t type) {
    wide_t value = jtest_random_double(-1, 1);
    if (wide_is_complex((int)type))
        __imag__ value = jtest_random_double(-1, 1);
    return value;
}

/* M, lower, of the rows of which unknowns are found in turn. */
static void fill_lower(jdatatype_t type, triangle_kind_t kind, int64_t n, wide_t *m) {
    const int digits = is_single(type) ? 4 : 10, top = is_single(type) ? 126 : 1022;
    const int64_t special = jtest_random_between(0, n - 1);
    long double s = 0.3L, c = sqrtl(1 - s * s);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j) {
            wide_t value =
                i == j ? 1 + 0.5L * random_unit(type) : random_unit(type) / (long double)n;
            switch (kind) {
            case MINUS_ONES: value = i == j ? 1 : -1; break;
            case KAHAN: value = (i == j ? 1 : -c) * powl(0.95L, (long double)i); break;
            case HUNDREDS: value = i == j ? 1 : j >= n - 8 ? 100 * random_unit(type) : value; break;
            case SMALL_PIVOTS: value *= j < n - 8 ? 1 : i == j ? 1e-3L : (long double)n; break;
            case GRADED:
                value *= powl(10, (long double)((i * 7 + 3) % digits - (j * 5) % digits));
                break;
            case SUBNORMAL_PIVOT: value *= i == special ? ldexpl(1, -top - 10) : 1; break;
            case HUGE_PIVOT:
                value *= i != special ? 1 : i == j ? ldexpl(1.5L, top) : ldexpl(1, top - 10);
                break;
            case NEAR_OVERFLOW: value = ldexpl(1, top - 3) * value; break;
            case NEAR_UNDERFLOW: value = ldexpl(1, -top + 1) * value; break;
            default: break;
            }
            m[i + j * n] = value;
        }
}

typedef struct solve {
    jdatatype_t type;
    jblas_side_t side;
    jblas_uplo_t uplo;
    jblas_operation_t operation;
    jblas_diagonal_t diagonal;
    int64_t order, count;
    void *a, *b;
    wide_t *m, *x, *want; /* M as A holds it, the solution, B; unknowns are rows */
} solve_t;

static solve_t solve_make(jdatatype_t type, int64_t order, int64_t count, int combination) {
    static const jblas_operation_t operations[] = {JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE,
                                                   JBLAS_CONJUGATE_TRANSPOSE};
    const size_t element = jhandle_sizeof_datatype(type);
    solve_t s = {.type = type,
                 .side = combination & 1 ? JBLAS_LEFT : JBLAS_RIGHT,
                 .uplo = combination & 2 ? JBLAS_UPPER : JBLAS_LOWER,
                 .diagonal = combination & 4 ? JBLAS_UNIT : JBLAS_NON_UNIT,
                 .operation = operations[combination / 8 % 3],
                 .order = order,
                 .count = count,
                 .a = malloc((size_t)(order * order) * element),
                 .b = malloc((size_t)(order * count) * element),
                 .m = calloc((size_t)(order * order), sizeof(wide_t)),
                 .x = calloc((size_t)(order * count), sizeof(wide_t)),
                 .want = calloc((size_t)(order * count), sizeof(wide_t))};
    JEXPECT_TRUE(s.a != NULL && s.b != NULL && s.m != NULL && s.x != NULL && s.want != NULL);
    return s;
}

static void solve_free(solve_t *s) {
    free(s->a), free(s->b), free(s->m), free(s->x), free(s->want);
}

/* Where unknown q, found in this order, stands among the rows of A, and its element of B. */
static int64_t solve_at(const solve_t *s, int64_t q) {
    const bool transposed = (s->operation != JBLAS_NO_TRANSPOSE) == (s->side == JBLAS_LEFT);
    return (s->uplo == JBLAS_UPPER) != transposed ? s->order - 1 - q : q;
}
static int64_t solve_b(const solve_t *s, int64_t q, int64_t rhs) {
    const int64_t row = solve_at(s, q);
    return s->side == JBLAS_LEFT ? row + rhs * s->order : rhs + row * s->count;
}

/* Stores M in A and makes B of a solution, both rounded; m and want become what is stored. */
static void solve_store(solve_t *s) {
    const bool transposed = (s->operation != JBLAS_NO_TRANSPOSE) == (s->side == JBLAS_LEFT);
    const int type = (int)s->type;
    for (int64_t i = 0; i < s->order * s->order; ++i)
        wide_put(s->a, type, i, NAN);
    for (int64_t q = 0; q < s->order; ++q)
        for (int64_t p = 0; p <= q; ++p) {
            const int64_t i = solve_at(s, transposed ? p : q), j = solve_at(s, transposed ? q : p);
            wide_t *m = &s->m[q + p * s->order];
            if (q == p && s->diagonal == JBLAS_UNIT) {
                *m = 1;
                continue;
            }
            wide_t stored = *m;
            if (s->operation == JBLAS_CONJUGATE_TRANSPOSE)
                __imag__ stored = -__imag__ stored;
            wide_put(s->a, type, i + j * s->order, stored);
            stored = wide_get(s->a, type, i + j * s->order);
            if (s->operation == JBLAS_CONJUGATE_TRANSPOSE)
                __imag__ stored = -__imag__ stored;
            *m = stored;
        }
    for (int64_t rhs = 0; rhs < s->count; ++rhs)
        for (int64_t q = 0; q < s->order; ++q) {
            wide_t sum = 0;
            for (int64_t p = 0; p <= q; ++p)
                sum += s->m[q + p * s->order] * s->x[p + rhs * s->order];
            wide_put(s->b, type, solve_b(s, q, rhs), sum);
            s->want[q + rhs * s->order] = wide_get(s->b, type, solve_b(s, q, rhs));
        }
}

/* Solutions: of one size, and of all sizes. */
static void solve_choose(solve_t *s) {
    const double digits = is_single(s->type) ? 5 : 12;
    for (int64_t rhs = 0; rhs < s->count; ++rhs)
        for (int64_t q = 0; q < s->order; ++q) {
            const long double size = rhs % 2 ? powl(10, -jtest_random_double(0, digits)) : 1;
            s->x[q + rhs * s->order] = size * random_unit(s->type) / 2;
        }
}

static jstatus_t solve_run(jhandle_t *handle, solve_t *s) {
    const float one_c[2] = {1, 0};
    const double one_z[2] = {1, 0};
    const void *one = is_single(s->type) ? (const void *)one_c : (const void *)one_z;
    const int64_t m = s->side == JBLAS_LEFT ? s->order : s->count,
                  n = s->side == JBLAS_LEFT ? s->count : s->order;
    ji_matmat_t call = {.head = {.type = s->type},
                        .side = s->side,
                        .uplo = s->uplo,
                        .transa = s->operation,
                        .diag = s->diagonal,
                        .m = m,
                        .n = n,
                        .alpha.pointer = one,
                        .a = s->a,
                        .lda = s->order,
                        .b = s->b,
                        .ldb = m};
    return ji_call_trsm(handle, &call);
}

/* Whether jblas solves this itself: on processors whose vectors make it pay. Else it is the CBLAS's
 * own trsm, of which nothing is promised at the ends of the range. */
static bool solve_is_packed(jhandle_t *handle, solve_t *s) {
    size_t bytes = 0;
    JEXPECT_OK(jhandle_start_size_query(handle));
    (void)solve_run(handle, s);
    JEXPECT_OK(jhandle_stop_size_query(handle, &bytes));
    return bytes > 0;
}

/* The largest residual over k u |M||X|, and what underflow adds. */
static double solve_residual(const solve_t *s) {
    const long double unit = wide_epsilon((int)s->type) / 2,
                      least = is_single(s->type) ? 0x1p-149L : 0x1p-1074L;
    long double worst = 0;
    for (int64_t rhs = 0; rhs < s->count; ++rhs)
        for (int64_t q = 0; q < s->order; ++q)
            s->x[q + rhs * s->order] = wide_get(s->b, (int)s->type, solve_b(s, q, rhs));
    for (int64_t rhs = 0; rhs < s->count; ++rhs)
        for (int64_t q = 0; q < s->order; ++q) {
            wide_t rest = s->want[q + rhs * s->order];
            long double bound = 0, row = 1;
            for (int64_t p = 0; p <= q; ++p) {
                const wide_t m = s->m[q + p * s->order], x = s->x[p + rhs * s->order];
                rest -= m * x;
                bound += wide_abs(m) * wide_abs(x);
                row += wide_abs(m);
            }
            bound = bound * unit * (long double)(q + 8) + least * row * (long double)(q + 8);
            const long double ratio = wide_abs(rest) / bound;
            worst = ratio <= worst ? worst : ratio; /* a NaN stays */
        }
    return (double)worst;
}

/* By every rung, all enums. Of order 72 and 300: blocks, leaves and what is between them. */
JTEST_P(JblasResidual, SolvesHaveThatOfSubstitution, jdatatype_t, types) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int kind = 0; kind < KINDS && !jtest_has_failure(); ++kind)
        for (int combination = 0; combination < 24 && !jtest_has_failure(); ++combination) {
            const bool grows =
                kind == MINUS_ONES || kind == KAHAN || kind == HUNDREDS || kind == SMALL_PIVOTS;
            if ((combination & 4) && kind >= SMALL_PIVOTS)
                continue; /* the diagonal is what it is about */
            solve_t s = solve_make(*param, !grows && combination % 8 == kind % 8 ? 300 : 72, 33,
                                   combination);
            fill_lower(s.type, (triangle_kind_t)kind, s.order, s.m);
            solve_choose(&s);
            solve_store(&s);
            const bool packed = solve_is_packed(handle, &s);
            const int rung = combination % 3;
            JSCOPED_TRACE("%s, order %d, combination %d", kind_names[kind], (int)s.order,
                          combination);
            JEXPECT_OK(jhandle_set_workspace_size(handle, rung == 0   ? 0
                                                          : rung == 1 ? JI_PACKED_SMALL_BYTES
                                                                      : 64));
            const jstatus_t status = solve_run(handle, &s);
            if (rung == 1 && packed)
                JEXPECT_FALSE(jstatus_is_error(status));
            else
                JEXPECT_STATUS(status,
                               rung == 2 && packed ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS);
            JEXPECT_LE(solve_residual(&s), 2.0);
            solve_free(&s);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* What is not finite after substitution one unknown after the other, and nothing else. */
JTEST_P(JblasResidual, OnlyWhatDependsOnItIsNotFinite, jdatatype_t, types) {
    enum { NAN_IN_B, INFINITY_IN_B, ZERO_PIVOT, INFINITE_PIVOT, POISONS };
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int poison = 0; poison < POISONS; ++poison)
        for (int combination = 0; combination < 24 && !jtest_has_failure(); ++combination) {
            if (poison >= ZERO_PIVOT && (combination & 4))
                continue;
            solve_t s = solve_make(*param, combination % 5 ? 72 : 290, 33, combination);
            const int64_t q = jtest_random_between(0, s.order - 1),
                          rhs = jtest_random_between(0, s.count - 1);
            fill_lower(s.type, WELL_CONDITIONED, s.order, s.m);
            solve_choose(&s);
            solve_store(&s);
            if (poison < ZERO_PIVOT)
                wide_put(s.b, (int)s.type, solve_b(&s, q, rhs),
                         poison == NAN_IN_B ? NAN : INFINITY);
            else
                wide_put(s.a, (int)s.type, solve_at(&s, q) * (s.order + 1),
                         poison == ZERO_PIVOT ? 0 : INFINITY);
            JEXPECT_OK(solve_run(handle, &s));
            for (int64_t r = 0; r < s.count; ++r)
                for (int64_t i = 0; i < s.order; ++i) {
                    const wide_t got = wide_get(s.b, (int)s.type, solve_b(&s, i, r));
                    const bool finite =
                        isfinite((double)__real__ got) && isfinite((double)__imag__ got);
                    bool want =
                        i < q || (poison < ZERO_PIVOT && r != rhs) || poison == INFINITE_PIVOT;
                    JSCOPED_TRACE("poison %d at %d of %d, combination %d: element %d of side %d",
                                  poison, (int)q, (int)s.order, combination, (int)i, (int)r);
                    if (poison == INFINITE_PIVOT && i >= q && wide_is_complex((int)s.type))
                        continue; /* x / (infinity + 0 i) is 0 or NaN, as one divides */
                    JASSERT_EQ(finite, want);
                    if (poison == ZERO_PIVOT && i == q && !wide_is_complex((int)s.type))
                        /* As a number by 0 is, and not NaN. */
                        JASSERT_TRUE(isinf((double)__real__ got));
                }
            solve_free(&s);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* The inverse X of A, column-major; upper triangles are the transposes of lower ones. */
JTEST_P(JblasResidual, InversesHaveOne, jdatatype_t, types) {
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int kind = 0; kind < SUBNORMAL_PIVOT && !jtest_has_failure(); ++kind)
        for (int upper = 0; upper < 2; ++upper) {
            const int64_t n = kind == HUNDREDS || kind == SMALL_PIVOTS     ? 14
                              : kind == WELL_CONDITIONED || kind == GRADED ? 210
                                                                           : 90;
            const long double unit = wide_epsilon((int)*param) / 2;
            /* Right, plain: M is A's transpose. */
            solve_t s = solve_make(*param, n, 1, upper ? 2 : 0);
            fill_lower(s.type, (triangle_kind_t)kind, n, s.m);
            solve_store(&s);
            wide_t *a = malloc((size_t)(n * n) * sizeof *a),
                   *x = malloc((size_t)(n * n) * sizeof *x);
            for (int64_t i = 0; i < n * n; ++i)
                a[i] = wide_get(s.a, (int)s.type, i);
            int64_t info = -1;
            JEXPECT_OK(*param == JDATATYPE_F32
                           ? jlapack_strtri(handle, s.uplo, s.diagonal, n, s.a, n, &info)
                       : *param == JDATATYPE_F64
                           ? jlapack_dtrtri(handle, s.uplo, s.diagonal, n, s.a, n, &info)
                       : *param == JDATATYPE_F32_C
                           ? jlapack_ctrtri(handle, s.uplo, s.diagonal, n, s.a, n, &info)
                           : jlapack_ztrtri(handle, s.uplo, s.diagonal, n, s.a, n, &info));
            JEXPECT_EQ(info, 0);
            for (int64_t i = 0; i < n * n; ++i)
                x[i] = wide_get(s.a, (int)s.type, i);
            double worst = 0;
            for (int64_t j = 0; j < n; ++j)
                for (int64_t i = 0; i < n; ++i) {
                    const int64_t low = i < j ? i : j, high = i < j ? j : i;
                    wide_t sum = i == j ? -1 : 0;
                    long double bound = 0;
                    if (upper ? i > j : i < j)
                        continue;
                    for (int64_t p = low; p <= high; ++p) {
                        sum += x[i + p * n] * a[p + j * n];
                        bound += wide_abs(x[i + p * n]) * wide_abs(a[p + j * n]);
                    }
                    worst = fmax(worst, (double)(wide_abs(sum) /
                                                 (bound * unit * (long double)(high - low + 8))));
                }
            JSCOPED_TRACE("%s, %s", kind_names[kind], upper ? "upper" : "lower");
            JEXPECT_LE(worst, 2.0);
            free(a), free(x);
            solve_free(&s);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A = L L^H of an L that is well conditioned, has a badly conditioned diagonal block, or is
 * graded. */
JTEST_P(JblasResidual, FactorizationsHaveThatOfCholesky, jdatatype_t, types) {
    enum { ORDER = 200 };
    const long double small = is_single(*param) ? 0.02L : 1e-5L;
    jhandle_t *handle = NULL;
    JASSERT_OK(jhandle_create(NULL, &handle));
    for (int kind = 0; kind < 3; ++kind)
        for (int upper = 0; upper < 2; ++upper) {
            const long double unit = wide_epsilon((int)*param) / 2;
            const size_t elements = (size_t)ORDER * ORDER;
            wide_t *l = calloc(elements, sizeof *l), *a = calloc(elements, sizeof *a);
            void *matrix = malloc(elements * jhandle_sizeof_datatype(*param));
            for (int64_t j = 0; j < ORDER; ++j)
                for (int64_t i = j; i < ORDER; ++i) {
                    l[i + j * ORDER] =
                        i == j ? (kind == 1 && j == 3 ? small : 1) : 0.1L * random_unit(*param);
                    if (kind == 2)
                        l[i + j * ORDER] *= powl(10, (long double)(i * 7 % 15 - 7));
                }
            for (int64_t j = 0; j < ORDER; ++j)
                for (int64_t i = 0; i < ORDER; ++i) {
                    wide_t sum = 0;
                    for (int64_t p = 0; p <= (i < j ? i : j); ++p)
                        sum += l[i + p * ORDER] * ~l[j + p * ORDER];
                    wide_put(matrix, (int)*param, i + j * ORDER, sum);
                    a[i + j * ORDER] = wide_get(matrix, (int)*param, i + j * ORDER);
                }
            int64_t info = -1;
            ji_matmat_t call = {.head = {.type = (jdatatype_t)*param},
                                .uplo = upper ? JBLAS_UPPER : JBLAS_LOWER,
                                .n = ORDER,
                                .a = matrix,
                                .lda = ORDER,
                                .info = &info};
            JEXPECT_OK(ji_call_potrf(handle, &call));
            JSCOPED_TRACE("kind %d, %s", kind, upper ? "upper" : "lower");
            JEXPECT_EQ(info, 0);
            for (int64_t j = 0; j < ORDER; ++j) /* upper: L^H */
                for (int64_t i = j; i < ORDER; ++i)
                    l[i + j * ORDER] = upper ? ~wide_get(matrix, (int)*param, j + i * ORDER)
                                             : wide_get(matrix, (int)*param, i + j * ORDER);
            double worst = 0;
            for (int64_t j = 0; j < ORDER; ++j)
                for (int64_t i = j; i < ORDER; ++i) {
                    wide_t sum = a[i + j * ORDER];
                    long double bound = 0;
                    for (int64_t p = 0; p <= j; ++p) {
                        sum -= l[i + p * ORDER] * ~l[j + p * ORDER];
                        bound += wide_abs(l[i + p * ORDER]) * wide_abs(l[j + p * ORDER]);
                    }
                    worst = fmax(worst,
                                 (double)(wide_abs(sum) / (bound * unit * (long double)(j + 8))));
                }
            JEXPECT_LE(worst, 2.0);
            free(l), free(a), free(matrix);
        }
    JEXPECT_OK(jhandle_destroy(handle));
}
