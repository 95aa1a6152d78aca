/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the answers should be: the definitions of the routines, as loops in long double, one type
 * for all four. Nothing here is shared with the library.
 *
 * A view reads element (i, j) of op(A) for a matrix that is general, symmetric, Hermitian or
 * triangular, transposed or not, with a vector as a matrix of one column; so a product is a
 * product, whichever routine it is, and there are two more loops: substitution and Cholesky's.
 * Error bound of the comparison: 10 u (terms + 10), with u the type's unit roundoff and `terms` the
 * length of the sums. The theory of rounding gives u times terms to first order for the products of
 * random matrices and the well conditioned triangular ones used here; one wrong element is far
 * above. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/primitives/operation.h"
#include "problem.h"

typedef enum structure { GENERAL, SYMMETRIC, HERMITIAN, SKEW, TRIANGULAR } structure_t;

typedef struct view {
    const problem_t *problem;
    const operand_t *operand;
    structure_t structure;
    int trans; /* as in the BLAS */
} view_t;

static const void *view_data(const operand_t *operand) {
    return operand->written ? operand->pristine : operand->data;
}

static view_t view_of(const problem_t *p, int which, structure_t structure, int trans) {
    return (view_t){p, &p->operand[which], structure, trans};
}

static value_t view_at(const view_t *view, int64_t i, int64_t j) {
    const options_t *o = view->problem->options;
    if (ji_is_transposed((jblas_operation_t)view->trans)) {
        int64_t swap = i;
        i = j;
        j = swap;
    }
    bool conjugate = ji_is_conjugated((jblas_operation_t)view->trans), diagonal = i == j;
    bool negate = false;
    if (view->structure == SKEW && diagonal)
        return 0;
    if (view->structure != GENERAL && !diagonal && (o->uplo == JBLAS_LOWER) != (i > j)) {
        /* Not stored. */
        if (view->structure == TRIANGULAR)
            return 0;
        int64_t swap = i;
        i = j;
        j = swap;
        conjugate ^= view->structure == HERMITIAN;
        negate = view->structure == SKEW;
    }
    if (!operand_has(view->operand, i, j))
        return 0;
    if (view->structure == TRIANGULAR && diagonal && o->diag == JBLAS_UNIT &&
        strchr(view->problem->routine->shape, 'D'))
        return 1;
    value_t value = value_load(view->operand->type, view_data(view->operand),
                               operand_index(view->operand, i, j, 0));
    if (view->structure == HERMITIAN && diagonal)
        return creall(value);
    if (negate)
        return -value;
    return conjugate ? conjl(value) : value;
}

static void *allocate_zeroed(size_t count, size_t element_bytes) {
    void *array = calloc(count > 0 ? count : 1, element_bytes);
    if (!array) {
        fprintf(stderr, "jblas-bench: no memory for the reference\n");
        exit(1);
    }
    return array;
}
static value_t *allocate(int64_t count) {
    return allocate_zeroed((size_t)(count > 0 ? count : 0), sizeof(value_t));
}

/* A view as a plain column-major array. */
static value_t *view_dense(const view_t *view, int64_t rows, int64_t columns) {
    value_t *dense = allocate(rows * columns);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            dense[i + j * rows] = view_at(view, i, j);
    return dense;
}

/* Half of the distance from 1 to the next number. */
static long double unit_of(jdatatype_t type) {
    return type == JDATATYPE_F16    ? 0x1p-11L
           : type == JDATATYPE_BF16 ? 0x1p-8L
           : type_is_single(type)   ? 0x1p-24L
                                    : 0x1p-53L;
}

static value_t alpha_of(const problem_t *p) {
    return value_load(problem_scalar_type(p, p->routine->real_alpha), &p->alpha, 0);
}
static value_t beta_of(const problem_t *p) {
    return value_load(problem_scalar_type(p, p->routine->real_beta), &p->beta, 0);
}

/* Which elements of the result are written: all, or a triangle; Hermitian: the diagonal becomes
 * real; skew: without it. */
typedef enum region { ALL, TRIANGLE, HERMITIAN_TRIANGLE, SKEW_TRIANGLE } region_t;

/* C = alpha A B + beta C, with A m x k and B k x n; C is operand `which`. */
static void product(problem_t *p, value_t **want, int which, view_t A, view_t B, int64_t m,
                    int64_t n, int64_t k, value_t alpha, value_t beta, region_t region) {
    if (region == HERMITIAN_TRIANGLE && (alpha == 0 || k == 0) && beta == 1)
        return; /* the BLAS leaves even the diagonal alone */
    const operand_t *C = &p->operand[which];
    value_t *a = view_dense(&A, m, k), *b = view_dense(&B, k, n), *sum = allocate(m);
    bool lower = p->options->uplo == JBLAS_LOWER, complex_type = type_is_complex(p->type);
    for (int64_t j = 0; j < n; j++) {
        int64_t own = region != SKEW_TRIANGLE; /* the diagonal's */
        int64_t first = region != ALL && lower ? j + !own : 0,
                last = region != ALL && !lower ? j + own : m;
        memset(sum, 0, (size_t)m * sizeof *sum);
        for (int64_t l = 0; l < k; l++)
            if (complex_type)
                for (int64_t i = first; i < last; i++)
                    sum[i] += a[i + l * m] * b[l + j * k];
            else
                for (int64_t i = first; i < last; i++)
                    sum[i] += creall(a[i + l * m]) * creall(b[l + j * k]);
        for (int64_t i = first; i < last; i++) {
            value_t *c = &want[which][operand_index(C, i, j, 0)];
            *c = alpha * sum[i] + (beta == 0 ? 0 : beta * *c);
            if (region == HERMITIAN_TRIANGLE && i == j)
                *c = creall(*c);
        }
    }
    free(a);
    free(b);
    free(sum);
}

/* x := inv(T) x with a triangle, `unit` with a diagonal of ones; a lower one is solved forward. T's
 * element (i, l) is at t[i row + l column]. */
static void substitute_vector(const value_t *t, int64_t row, int64_t column, int64_t n,
                              bool forward, bool unit, value_t *x) {
    for (int64_t q = 0; q < n; q++) {
        const int64_t i = forward ? q : n - 1 - q;
        for (int64_t done = 0; done < q; done++) {
            const int64_t l = forward ? done : n - 1 - done;
            x[i] -= t[i * row + l * column] * x[l];
        }
        if (!unit)
            x[i] /= t[i * row + i * column];
    }
}

/* The same of all columns of operand 1, n x nrhs. */
static void substitute_columns(problem_t *p, value_t **want, const value_t *t, bool forward,
                               bool unit) {
    const int64_t n = p->options->n;
    for (int64_t j = 0; j < p->options->nrhs; j++)
        substitute_vector(t, 1, n, n, forward, unit,
                          &want[1][operand_index(&p->operand[1], 0, j, 0)]);
}

/* op(A) X = X's right-hand sides, in place in operand `which`; or X op(A) on the right. A is
 * triangular. */
static void substitute(problem_t *p, value_t **want, int which, view_t A, int side, int64_t m,
                       int64_t n, value_t alpha) {
    bool left = side == JBLAS_LEFT;
    int64_t order = left ? m : n, others = left ? n : m;
    value_t *a = view_dense(&A, order, order), *x = allocate(order);
    bool lower = (p->options->uplo == JBLAS_LOWER) == !ji_is_transposed((jblas_operation_t)A.trans);
    const operand_t *X = &p->operand[which];
    for (int64_t other = 0; other < others; other++) {
        for (int64_t i = 0; i < order; i++)
            x[i] =
                alpha *
                want[which][left ? operand_index(X, i, other, 0) : operand_index(X, other, i, 0)];
        /* From the right, op(A) acts as its transpose. */
        substitute_vector(a, left ? 1 : order, left ? order : 1, order, lower == left, false, x);
        for (int64_t i = 0; i < order; i++)
            want[which][left ? operand_index(X, i, other, 0) : operand_index(X, other, i, 0)] =
                x[i];
    }
    free(a);
    free(x);
}

/* ---- Level 1: x is operand 1, y operand 2 ---- */

static value_t element(const problem_t *p, int which, int64_t i) {
    view_t view = view_of(p, which, GENERAL, JBLAS_NO_TRANSPOSE);
    return view_at(&view, i, 0);
}
static long double magnitude_1(value_t x) { return fabsl(creall(x)) + fabsl(cimagl(x)); }
/* The BLAS has asum, iamax and scal see no elements where the increment is not positive. */
static int64_t length_forward(const problem_t *p) {
    return p->options->incx <= 0 ? 0 : p->options->n;
}

void naive_asum(problem_t *p, value_t **want) {
    for (int64_t i = 0; i < length_forward(p); i++)
        want[OPERANDS][0] += magnitude_1(element(p, 1, i));
}
void naive_nrm2(problem_t *p, value_t **want) {
    long double sum = 0;
    for (int64_t i = 0; i < p->options->n; i++)
        sum += creall(element(p, 1, i) * conjl(element(p, 1, i)));
    want[OPERANDS][0] = sqrtl(sum);
}
/* The largest magnitude: the answer is right if the element it names has it. */
void naive_iamax(problem_t *p, value_t **want) {
    for (int64_t i = 0; i < length_forward(p); i++)
        if (magnitude_1(element(p, 1, i)) > creall(want[OPERANDS][0]))
            want[OPERANDS][0] = magnitude_1(element(p, 1, i));
}
void naive_iamin(problem_t *p, value_t **want) {
    for (int64_t i = 0; i < length_forward(p); i++)
        if (i == 0 || magnitude_1(element(p, 1, i)) < creall(want[OPERANDS][0]))
            want[OPERANDS][0] = magnitude_1(element(p, 1, i));
}
static void inner_product(problem_t *p, value_t **want, bool conjugate) {
    for (int64_t i = 0; i < p->options->n; i++) {
        value_t x = element(p, 1, i), y = element(p, 2, i);
        want[OPERANDS][0] += (conjugate ? conjl(x) : x) * y;
        p->magnitude += cabsl(x) * cabsl(y); /* the sum itself may be near zero */
    }
}
void naive_dot(problem_t *p, value_t **want) { inner_product(p, want, false); }
void naive_dotc(problem_t *p, value_t **want) { inner_product(p, want, true); }

void naive_dsdot(problem_t *p, value_t **want) { inner_product(p, want, false); }
void naive_sdsdot(problem_t *p, value_t **want) {
    inner_product(p, want, false);
    want[OPERANDS][0] += alpha_of(p);
    p->magnitude += fabsl(creall(alpha_of(p)));
}
void naive_rotg(problem_t *p, value_t **want) {
    value_t *a = want[0], *b = want[1];
    const long double size_a = cabsl(*a), size_b = cabsl(*b), h = hypotl(size_a, size_b);
    if (type_is_complex(p->type)) {
        *want[2] = size_a / h;
        *want[3] = *a / size_a * conjl(*b) / h;
        *a *= h / size_a;
        return;
    }
    const long double r = copysignl(h, creall(size_a > size_b ? *a : *b));
    *want[2] = *a / r, *want[3] = *b / r;
    *b = size_a > size_b ? *b / r : r / *a;
    *a = r;
}
/* Of numbers near 1, which need not be rescaled. */
void naive_rotmg(problem_t *p, value_t **want) {
    const value_t d1 = *want[0], d2 = *want[1], x1 = *want[2], y1 = element(p, 3, 0);
    value_t *h = want[4];
    const long double q1 = creall(d1 * x1 * x1), q2 = creall(d2 * y1 * y1);
    const bool leads = fabsl(q1) > fabsl(q2);
    const long double u = leads ? 1 + q2 / q1 : 1 + q1 / q2;
    const bool none = creall(d1) < 0 || (!leads && q2 < 0);
    h[0] = none ? -1 : q2 == 0 ? -2 : leads ? 0 : 1;
    if (none)
        *want[0] = *want[1] = *want[2] = h[1] = h[2] = h[3] = h[4] = 0;
    else if (leads && q2 != 0)
        h[2] = -y1 / x1, h[3] = d2 * y1 / (d1 * x1);
    else if (q2 != 0)
        h[1] = d1 * x1 / (d2 * y1), h[4] = x1 / y1;
    if (!none && q2 != 0)
        *want[0] = (leads ? d1 : d2) / u, *want[1] = (leads ? d2 : d1) / u,
        *want[2] = (leads ? x1 : y1) * u;
}
void naive_axpy(problem_t *p, value_t **want) {
    for (int64_t i = 0; i < p->options->n; i++)
        want[2][operand_index(&p->operand[2], i, 0, 0)] += alpha_of(p) * element(p, 1, i);
}
void naive_axpby(problem_t *p, value_t **want) {
    for (int64_t i = 0; i < p->options->n; i++) {
        value_t *y = &want[2][operand_index(&p->operand[2], i, 0, 0)];
        *y = alpha_of(p) * element(p, 1, i) + (beta_of(p) == 0 ? 0 : beta_of(p) * *y);
    }
}
static void rotate(problem_t *p, value_t **want, const value_t h[4]) {
    for (int64_t i = 0; i < p->options->n; i++) {
        value_t *x = &want[1][operand_index(&p->operand[1], i, 0, 0)], before = *x;
        value_t *y = &want[2][operand_index(&p->operand[2], i, 0, 0)];
        *x = h[0] * before + h[2] * *y;
        *y = h[1] * before + h[3] * *y;
    }
}
void naive_rot(problem_t *p, value_t **want) {
    const value_t c = creall(alpha_of(p)), s = beta_of(p);
    rotate(p, want, (value_t[]){c, -conjl(s), s, c});
}
void naive_rotm(problem_t *p, value_t **want) {
    static const bool implied[4][4] = {{1, 1, 1, 1}, {0}, {1, 0, 0, 1}, {0, 1, 1, 0}};
    static const int values[4][4] = {{1, 0, 0, 1}, {0}, {1, 0, 0, 1}, {0, -1, 1, 0}};
    const double flag = p->options->param[0];
    const int kind = flag == -2 ? 0 : flag < 0 ? 1 : flag == 0 ? 2 : 3;
    value_t h[4];
    for (int i = 0; i < 4; i++)
        h[i] = implied[kind][i] ? values[kind][i] : value_load(p->type, &p->param, (size_t)i + 1);
    rotate(p, want, h);
}
void naive_copy(problem_t *p, value_t **want) {
    for (int64_t i = 0; i < p->options->n; i++)
        want[2][operand_index(&p->operand[2], i, 0, 0)] = element(p, 1, i);
}
void naive_swap(problem_t *p, value_t **want) {
    naive_copy(p, want);
    for (int64_t i = 0; i < p->options->n; i++)
        want[1][operand_index(&p->operand[1], i, 0, 0)] = element(p, 2, i);
}
void naive_scal(problem_t *p, value_t **want) {
    for (int64_t i = 0; i < length_forward(p); i++)
        want[1][operand_index(&p->operand[1], i, 0, 0)] *= alpha_of(p);
}

/* ---- Level 2 ---- */

void naive_gemv(problem_t *p, value_t **want) {
    if (p->options->m <= 0 || p->options->n <= 0)
        return; /* the BLAS does not even scale y */
    product(p, want, 2, view_of(p, 0, GENERAL, p->options->transa),
            view_of(p, 1, GENERAL, JBLAS_NO_TRANSPOSE), p->operand[2].rows, 1, p->operand[1].rows,
            alpha_of(p), beta_of(p), ALL);
}
static void outer_product(problem_t *p, value_t **want, int y, int trans, region_t region) {
    product(p, want, 0, view_of(p, 1, GENERAL, JBLAS_NO_TRANSPOSE), view_of(p, y, GENERAL, trans),
            p->operand[0].rows, p->operand[0].columns, 1, alpha_of(p), 1, region);
}
void naive_ger(problem_t *p, value_t **want) { outer_product(p, want, 2, JBLAS_TRANSPOSE, ALL); }
void naive_gerc(problem_t *p, value_t **want) {
    outer_product(p, want, 2, JBLAS_CONJUGATE_TRANSPOSE, ALL);
}
void naive_syr(problem_t *p, value_t **want) {
    outer_product(p, want, 1, JBLAS_TRANSPOSE, TRIANGLE);
}
void naive_her(problem_t *p, value_t **want) {
    outer_product(p, want, 1, JBLAS_CONJUGATE_TRANSPOSE, HERMITIAN_TRIANGLE);
}
/* The scalars of the two products that a rank-2 update is. */
static value_t first_alpha(const problem_t *p, region_t region) {
    return region == SKEW_TRIANGLE ? -alpha_of(p) : alpha_of(p);
}
static value_t second_alpha(const problem_t *p, region_t region) {
    return region == HERMITIAN_TRIANGLE ? conjl(alpha_of(p)) : alpha_of(p);
}
/* What was added by the first product stays. */
static void outer_products(problem_t *p, value_t **want, int transpose, region_t region) {
    const int64_t n = p->options->n;
    view_t x = view_of(p, 1, GENERAL, JBLAS_NO_TRANSPOSE),
           y = view_of(p, 2, GENERAL, JBLAS_NO_TRANSPOSE);
    view_t xt = view_of(p, 1, GENERAL, transpose), yt = view_of(p, 2, GENERAL, transpose);
    product(p, want, 0, x, yt, n, n, 1, first_alpha(p, region), 1, region);
    product(p, want, 0, y, xt, n, n, 1, second_alpha(p, region), 1, region);
}
void naive_syr2(problem_t *p, value_t **want) {
    outer_products(p, want, JBLAS_TRANSPOSE, TRIANGLE);
}
void naive_her2(problem_t *p, value_t **want) {
    outer_products(p, want, JBLAS_CONJUGATE_TRANSPOSE, HERMITIAN_TRIANGLE);
}
void naive_skewsyr2(problem_t *p, value_t **want) {
    outer_products(p, want, JBLAS_TRANSPOSE, SKEW_TRIANGLE);
}
static void structured_vector_product(problem_t *p, value_t **want, structure_t structure) {
    int64_t n = p->options->n;
    product(p, want, 2, view_of(p, 0, structure, JBLAS_NO_TRANSPOSE),
            view_of(p, 1, GENERAL, JBLAS_NO_TRANSPOSE), n, 1, n, alpha_of(p), beta_of(p), ALL);
}
void naive_symv(problem_t *p, value_t **want) { structured_vector_product(p, want, SYMMETRIC); }
void naive_skewsymv(problem_t *p, value_t **want) { structured_vector_product(p, want, SKEW); }
void naive_hemv(problem_t *p, value_t **want) { structured_vector_product(p, want, HERMITIAN); }
void naive_trmv(problem_t *p, value_t **want) {
    int64_t n = p->options->n;
    product(p, want, 1, view_of(p, 0, TRIANGULAR, p->options->transa),
            view_of(p, 1, GENERAL, JBLAS_NO_TRANSPOSE), n, 1, n, 1, 0, ALL);
}
void naive_trsv(problem_t *p, value_t **want) {
    substitute(p, want, 1, view_of(p, 0, TRIANGULAR, p->options->transa), JBLAS_LEFT, p->options->n,
               1, 1);
}

/* ---- Level 3, extensions, solvers ---- */

void naive_gemm(problem_t *p, value_t **want) {
    const options_t *o = p->options;
    view_t A = view_of(p, 0, GENERAL, o->transa), B = view_of(p, 1, GENERAL, o->transb);
    product(p, want, 2, A, B, o->m, o->n, o->k, alpha_of(p), beta_of(p), ALL);
}
static void structured_product(problem_t *p, value_t **want, structure_t structure, int trans,
                               int output, value_t beta) {
    const options_t *o = p->options;
    view_t A = view_of(p, 0, structure, trans), B = view_of(p, 1, GENERAL, JBLAS_NO_TRANSPOSE);
    if (o->side == JBLAS_LEFT)
        product(p, want, output, A, B, o->m, o->n, o->m, alpha_of(p), beta, ALL);
    else
        product(p, want, output, B, A, o->m, o->n, o->n, alpha_of(p), beta, ALL);
}
void naive_symm(problem_t *p, value_t **want) {
    structured_product(p, want, SYMMETRIC, JBLAS_NO_TRANSPOSE, 2, beta_of(p));
}
void naive_skewsymm(problem_t *p, value_t **want) {
    structured_product(p, want, SKEW, JBLAS_NO_TRANSPOSE, 2, beta_of(p));
}
void naive_hemm(problem_t *p, value_t **want) {
    structured_product(p, want, HERMITIAN, JBLAS_NO_TRANSPOSE, 2, beta_of(p));
}
void naive_trmm(problem_t *p, value_t **want) {
    structured_product(p, want, TRIANGULAR, p->options->transa, 1, 0);
}
void naive_trsm(problem_t *p, value_t **want) {
    const options_t *o = p->options;
    substitute(p, want, 1, view_of(p, 0, TRIANGULAR, o->transa), o->side, o->m, o->n, alpha_of(p));
}
/* Of operand 0 and the transpose of another, or of itself. */
static void rank_k(problem_t *p, value_t **want, int second, int transpose, region_t region) {
    const options_t *o = p->options;
    int other = o->transa == JBLAS_NO_TRANSPOSE ? transpose : JBLAS_NO_TRANSPOSE;
    product(p, want, 2, view_of(p, 0, GENERAL, o->transa), view_of(p, second, GENERAL, other), o->n,
            o->n, o->k, alpha_of(p), beta_of(p), region);
}
void naive_syrk(problem_t *p, value_t **want) { rank_k(p, want, 0, JBLAS_TRANSPOSE, TRIANGLE); }
void naive_herk(problem_t *p, value_t **want) {
    rank_k(p, want, 0, JBLAS_CONJUGATE_TRANSPOSE, HERMITIAN_TRIANGLE);
}
void naive_syrkx(problem_t *p, value_t **want) { rank_k(p, want, 1, JBLAS_TRANSPOSE, TRIANGLE); }
void naive_herkx(problem_t *p, value_t **want) {
    rank_k(p, want, 1, JBLAS_CONJUGATE_TRANSPOSE, HERMITIAN_TRIANGLE);
}

static void rank_2k(problem_t *p, value_t **want, int transpose, region_t region) {
    const options_t *o = p->options;
    const int other = o->transa == JBLAS_NO_TRANSPOSE ? transpose : JBLAS_NO_TRANSPOSE;
    product(p, want, 2, view_of(p, 0, GENERAL, o->transa), view_of(p, 1, GENERAL, other), o->n,
            o->n, o->k, first_alpha(p, region), beta_of(p), region);
    product(p, want, 2, view_of(p, 1, GENERAL, o->transa), view_of(p, 0, GENERAL, other), o->n,
            o->n, o->k, second_alpha(p, region), 1, region);
}
void naive_skewsyr2k(problem_t *p, value_t **want) {
    rank_2k(p, want, JBLAS_TRANSPOSE, SKEW_TRIANGLE);
}
void naive_syr2k(problem_t *p, value_t **want) { rank_2k(p, want, JBLAS_TRANSPOSE, TRIANGLE); }
void naive_her2k(problem_t *p, value_t **want) {
    rank_2k(p, want, JBLAS_CONJUGATE_TRANSPOSE, HERMITIAN_TRIANGLE);
}
void naive_gemmt(problem_t *p, value_t **want) {
    const options_t *o = p->options;
    product(p, want, 2, view_of(p, 0, GENERAL, o->transa), view_of(p, 1, GENERAL, o->transb), o->n,
            o->n, o->k, alpha_of(p), beta_of(p), TRIANGLE);
}

void naive_geam(problem_t *p, value_t **want) {
    const options_t *o = p->options;
    view_t A = view_of(p, 0, GENERAL, o->transa), B = view_of(p, 1, GENERAL, o->transb);
    for (int64_t j = 0; j < o->n; j++)
        for (int64_t i = 0; i < o->m; i++)
            want[2][operand_index(&p->operand[2], i, j, 0)] =
                alpha_of(p) * view_at(&A, i, j) + beta_of(p) * view_at(&B, i, j);
}

/* Writes a dense triangular matrix where the routine stores its triangle; a unit diagonal is not
 * stored. */
static void store_triangle(problem_t *p, value_t **want, const value_t *dense, bool unit) {
    int64_t n = p->options->n;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            if (i == j ? !unit : (p->options->uplo == JBLAS_LOWER) == (i > j))
                want[0][operand_index(&p->operand[0], i, j, 0)] = dense[i + j * n];
}

/* Of the order n, dense. */
static value_t *identity(int64_t n) {
    value_t *x = allocate(n * n);
    for (int64_t j = 0; j < n; j++)
        x[j + j * n] = 1;
    return x;
}

/* The inverse of the triangle of operand 0, dense. */
static value_t *triangle_inverse(problem_t *p) {
    const int64_t n = p->options->n;
    view_t A = view_of(p, 0, TRIANGULAR, JBLAS_NO_TRANSPOSE);
    value_t *a = view_dense(&A, n, n), *x = identity(n);
    for (int64_t j = 0; j < n; j++)
        substitute_vector(a, 1, n, n, p->options->uplo == JBLAS_LOWER, false, x + j * n);
    free(a);
    return x;
}

void naive_trtri(problem_t *p, value_t **want) {
    value_t *x = triangle_inverse(p);
    store_triangle(p, want, x, p->options->diag == JBLAS_UNIT);
    free(x);
}

/* U U^H or L^H L of a dense triangle, which is given back. */
static void store_with_adjoint(problem_t *p, value_t **want, value_t *t) {
    const int64_t n = p->options->n;
    const bool upper = p->options->uplo == JBLAS_UPPER;
    value_t *product = allocate(n * n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t l = i > j ? i : j; l < n; l++)
                product[i + j * n] +=
                    upper ? t[i + l * n] * conjl(t[j + l * n]) : conjl(t[l + i * n]) * t[l + j * n];
    store_triangle(p, want, product, false);
    free(product);
    free(t);
}

void naive_lauum(problem_t *p, value_t **want) {
    view_t A = view_of(p, 0, TRIANGULAR, JBLAS_NO_TRANSPOSE);
    store_with_adjoint(p, want, view_dense(&A, p->options->n, p->options->n));
}
void naive_potri(problem_t *p, value_t **want) { store_with_adjoint(p, want, triangle_inverse(p)); }

void naive_dgmm(problem_t *p, value_t **want) {
    const bool left = p->options->side == JBLAS_LEFT;
    view_t a = view_of(p, 0, GENERAL, JBLAS_NO_TRANSPOSE);
    for (int64_t j = 0; j < p->operand[2].columns; j++)
        for (int64_t i = 0; i < p->operand[2].rows; i++)
            want[2][operand_index(&p->operand[2], i, j, 0)] =
                view_at(&a, i, j) * element(p, 1, left ? i : j);
}
void naive_omatcopy(problem_t *p, value_t **want) {
    view_t a = view_of(p, 0, GENERAL, p->options->transa);
    for (int64_t j = 0; j < p->operand[1].columns; j++)
        for (int64_t i = 0; i < p->operand[1].rows; i++)
            want[1][operand_index(&p->operand[1], i, j, 0)] = alpha_of(p) * view_at(&a, i, j);
}
void naive_imatcopy(problem_t *p, value_t **want) {
    const operand_t after = operand_later(&p->operand[0]);
    const view_t view = view_of(p, 0, GENERAL, p->options->transa);
    for (int64_t j = 0; j < after.columns; j++)
        for (int64_t i = 0; i < after.rows; i++)
            want[0][operand_index(&after, i, j, 0)] = alpha_of(p) * view_at(&view, i, j);
}
static void copy_triangle(problem_t *p, value_t **want, int from, int to) {
    const bool lower = p->options->uplo == JBLAS_LOWER;
    const view_t view = view_of(p, from, GENERAL, JBLAS_NO_TRANSPOSE);
    for (int64_t j = 0; j < p->options->n; j++)
        for (int64_t i = lower ? j : 0; i < (lower ? p->options->n : j + 1); i++)
            want[to][operand_index(&p->operand[to], i, j, 0)] = view_at(&view, i, j);
}
void naive_trttp(problem_t *p, value_t **want) { copy_triangle(p, want, 0, 1); }
void naive_tpttr(problem_t *p, value_t **want) { copy_triangle(p, want, 1, 0); }
/* Cholesky's factor of A, dense, with its adjoint above it. */
static value_t *cholesky_of(problem_t *p) {
    int64_t n = p->options->n;
    view_t A = view_of(p, 0, HERMITIAN, JBLAS_NO_TRANSPOSE);
    value_t *l = view_dense(&A, n, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            value_t sum = l[i + j * n];
            for (int64_t c = 0; c < j; c++)
                sum -= l[i + c * n] * conjl(l[j + c * n]);
            l[i + j * n] = i == j ? sqrtl(creall(sum)) : sum / l[j + j * n];
        }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < j; i++)
            l[i + j * n] = conjl(l[j + i * n]);
    return l;
}
/* The same; A becomes what it should be. */
static value_t *cholesky_wanted(problem_t *p, value_t **want) {
    value_t *l = cholesky_of(p);
    store_triangle(p, want, l, false);
    return l;
}

void naive_potrf(problem_t *p, value_t **want) { free(cholesky_wanted(p, want)); }

void naive_posv(problem_t *p, value_t **want) {
    value_t *l = cholesky_wanted(p, want);
    substitute_columns(p, want, l, true, false);
    substitute_columns(p, want, l, false, false);
    free(l);
}

void naive_potrs(problem_t *p, value_t **want) {
    const options_t *o = p->options;
    view_t plain = view_of(p, 0, TRIANGULAR, JBLAS_NO_TRANSPOSE),
           adjoint = view_of(p, 0, TRIANGULAR, JBLAS_CONJUGATE_TRANSPOSE);
    bool lower = o->uplo == JBLAS_LOWER;
    substitute(p, want, 1, lower ? plain : adjoint, JBLAS_LEFT, o->n, o->nrhs, 1);
    substitute(p, want, 1, lower ? adjoint : plain, JBLAS_LEFT, o->n, o->nrhs, 1);
}

void naive_trtrs(problem_t *p, value_t **want) {
    const options_t *o = p->options;
    substitute(p, want, 1, view_of(p, 0, TRIANGULAR, o->transa), JBLAS_LEFT, o->n, o->nrhs, 1);
}

/* A = P L U, m x n, in place, column-major; row i was exchanged with row[i]. */
static void eliminate(value_t *a, int64_t m, int64_t n, int64_t *row) {
    for (int64_t k = 0; k < m && k < n; k++) {
        row[k] = k;
        for (int64_t i = k + 1; i < m; i++)
            if (magnitude_1(a[i + k * m]) > magnitude_1(a[row[k] + k * m]))
                row[k] = i;
        for (int64_t j = 0; j < n; j++) {
            const value_t here = a[k + j * m];
            a[k + j * m] = a[row[k] + j * m], a[row[k] + j * m] = here;
        }
        for (int64_t i = k + 1; i < m; i++)
            a[i + k * m] /= a[k + k * m];
        for (int64_t j = k + 1; j < n; j++)
            for (int64_t i = k + 1; i < m; i++)
                a[i + j * m] -= a[i + k * m] * a[k + j * m];
    }
}

static void put_dense(problem_t *p, value_t **want, int which, const value_t *dense) {
    const operand_t *x = &p->operand[which];
    for (int64_t j = 0; j < x->columns; j++)
        for (int64_t i = 0; i < x->rows; i++)
            want[which][operand_index(x, i, j, 0)] = dense[i + j * x->rows];
}

static value_t *factor_of(problem_t *p) {
    const int64_t m = p->operand[0].rows, n = p->operand[0].columns;
    view_t A = view_of(p, 0, GENERAL, JBLAS_NO_TRANSPOSE);
    value_t *lu = view_dense(&A, m, n);
    int64_t *row = allocate_zeroed((size_t)m, sizeof *row);
    eliminate(lu, m, n, row);
    free(row);
    return lu;
}
/* The factor of A, which becomes what it should be. */
static value_t *factor_wanted(problem_t *p, value_t **want) {
    value_t *lu = factor_of(p);
    put_dense(p, want, 0, lu);
    return lu;
}

void naive_getrf(problem_t *p, value_t **want) { free(factor_wanted(p, want)); }

/* op(L U) X = B by op(L U), dense; no rows are exchanged. The triangle of L has ones. */
static void solve_factored(problem_t *p, value_t **want, const value_t *lu, bool plain) {
    substitute_columns(p, want, lu, true, plain);
    substitute_columns(p, want, lu, false, !plain);
}

void naive_getrs(problem_t *p, value_t **want) {
    const int64_t n = p->options->n;
    view_t A = view_of(p, 0, GENERAL, p->options->transa);
    value_t *lu = view_dense(&A, n, n);
    solve_factored(p, want, lu, p->options->transa == JBLAS_NO_TRANSPOSE);
    free(lu);
}

/* The diagonal dominates, so no rows are exchanged. */
void naive_gesv(problem_t *p, value_t **want) {
    value_t *lu = factor_wanted(p, want);
    solve_factored(p, want, lu, true);
    free(lu);
}

/* No rows are exchanged: L U X = I. */
static value_t *inverse_of_factor(problem_t *p) {
    const int64_t n = p->options->n;
    view_t A = view_of(p, 0, GENERAL, JBLAS_NO_TRANSPOSE);
    value_t *lu = view_dense(&A, n, n), *x = identity(n);
    for (int64_t j = 0; j < n; j++) {
        substitute_vector(lu, 1, n, n, true, true, x + j * n);
        substitute_vector(lu, 1, n, n, false, false, x + j * n);
    }
    free(lu);
    return x;
}
void naive_getri(problem_t *p, value_t **want) {
    value_t *x = inverse_of_factor(p);
    put_dense(p, want, 0, x);
    free(x);
}

/* The diagonal dominates, so no rows are exchanged and D's blocks are of one: A = L D L^T or L D
 * L^H, dense, where an upper triangle is eliminated from its last column on; A becomes what it
 * should be. */
static value_t *diagonalize(problem_t *p, value_t **want, structure_t structure) {
    const int64_t n = p->options->n;
    const bool lower = p->options->uplo == JBLAS_LOWER;
    const view_t A = view_of(p, 0, structure, JBLAS_NO_TRANSPOSE);
    value_t *a = view_dense(&A, n, n);
    for (int64_t step = 0; step < n; step++) {
        const int64_t k = lower ? step : n - 1 - step, first = lower ? k + 1 : 0,
                      end = lower ? n : k;
        for (int64_t j = first; j < end; j++)
            for (int64_t i = first; i < end; i++)
                a[i + j * n] -= a[i + k * n] / a[k + k * n] * a[k + j * n];
        for (int64_t i = first; i < end; i++)
            a[i + k * n] /= a[k + k * n];
    }
    store_triangle(p, want, a, false);
    return a;
}

static void solve_diagonalized(problem_t *p, value_t **want, const value_t *a, bool hermitian) {
    const int64_t n = p->options->n;
    const bool lower = p->options->uplo == JBLAS_LOWER;
    for (int64_t c = 0; c < p->options->nrhs; c++)
        for (int64_t step = 0; step < 2 * n; step++) {
            const bool back = step >= n;
            const int64_t turn = back ? 2 * n - 1 - step : step, k = lower ? turn : n - 1 - turn,
                          first = lower ? k + 1 : 0, end = lower ? n : k;
            value_t *const x = &want[1][operand_index(&p->operand[1], 0, c, 0)];
            for (int64_t i = first; i < end; i++) {
                const value_t l = a[i + k * n];
                if (back)
                    x[k] -= (hermitian ? conjl(l) : l) * x[i];
                else
                    x[i] -= l * x[k];
            }
            if (!back)
                x[k] /= a[k + k * n];
        }
}

static void symmetric(problem_t *p, value_t **want, structure_t structure, bool factor,
                      bool solve) {
    const view_t A = view_of(p, 0, structure, JBLAS_NO_TRANSPOSE);
    value_t *a =
        factor ? diagonalize(p, want, structure) : view_dense(&A, p->options->n, p->options->n);
    if (solve)
        solve_diagonalized(p, want, a, structure == HERMITIAN);
    free(a);
}
void naive_sytrf(problem_t *p, value_t **want) { symmetric(p, want, SYMMETRIC, true, false); }
void naive_hetrf(problem_t *p, value_t **want) { symmetric(p, want, HERMITIAN, true, false); }
void naive_sytrs(problem_t *p, value_t **want) { symmetric(p, want, SYMMETRIC, false, true); }
void naive_hetrs(problem_t *p, value_t **want) { symmetric(p, want, HERMITIAN, false, true); }
void naive_sysv(problem_t *p, value_t **want) { symmetric(p, want, SYMMETRIC, true, true); }
void naive_hesv(problem_t *p, value_t **want) { symmetric(p, want, HERMITIAN, true, true); }

/* Reflector l of the problem, m elements of v, and its tau; LQ's lie in rows, conjugated. */
static value_t reflector_of(const problem_t *p, bool by_rows, int64_t l, int64_t m, value_t *v) {
    const view_t A =
        view_of(p, 0, GENERAL, by_rows ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE);
    for (int64_t i = 0; i < m; i++)
        v[i] = i < l ? 0 : i == l ? 1 : view_at(&A, i, l);
    return value_load(p->type, view_data(&p->operand[1]), operand_index(&p->operand[1], l, 0, 0));
}

/* C = (I - tau v v^H) C, of columns [first, n); column-major, element (i, j) at i step + j next. */
static void reflect(int64_t m, int64_t first, int64_t n, const value_t *v, value_t tau, value_t *c,
                    int64_t step, int64_t next) {
    for (int64_t j = first; j < n; j++) {
        value_t sum = 0;
        for (int64_t i = 0; i < m; i++)
            sum += conjl(v[i]) * c[i * step + j * next];
        for (int64_t i = 0; i < m; i++)
            c[i * step + j * next] -= tau * sum * v[i];
    }
}

static long double squares_of(int64_t n, const value_t *x) {
    long double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += creall(x[i] * conjl(x[i]));
    return sum;
}

/* Of a, m x n, the column with the largest rest below row l comes to column l. */
static void exchange_largest(value_t *a, int64_t m, int64_t n, int64_t l) {
    int64_t largest = l;
    for (int64_t j = l + 1; j < n; j++)
        if (squares_of(m - l, a + l + j * m) > squares_of(m - l, a + l + largest * m))
            largest = j;
    for (int64_t i = 0; i < m; i++) {
        const value_t here = a[i + l * m];
        a[i + l * m] = a[i + largest * m], a[i + largest * m] = here;
    }
}

/* QR of a, m x n, in place, column-major; tau: min(m, n). */
static void factor_qr(value_t *a, int64_t m, int64_t n, bool pivots, value_t *tau) {
    value_t *v = allocate(m);
    for (int64_t l = 0; l < m && l < n; l++) {
        if (pivots)
            exchange_largest(a, m, n, l);
        value_t *column = a + l * m;
        const long double rest = squares_of(m - l - 1, column + l + 1);
        tau[l] = 0;
        if (rest > 0 || cimagl(column[l]) != 0) {
            const value_t alpha = column[l];
            const long double norm = sqrtl(rest + creall(alpha * conjl(alpha))),
                              beta = creall(alpha) < 0 ? norm : -norm;
            tau[l] = (beta - alpha) / beta;
            for (int64_t i = 0; i < m; i++)
                v[i] = i < l ? 0 : i == l ? 1 : column[i] / (alpha - beta);
            reflect(m, l + 1, n, v, conjl(tau[l]), a, 1, m);
            memcpy(column + l + 1, v + l + 1, (size_t)(m - l - 1) * sizeof *v);
            column[l] = beta;
        }
    }
    free(v);
}

/* The conjugate transpose of a, m x n, in its place. */
static value_t *turned(value_t *a, int64_t m, int64_t n) {
    value_t *t = allocate(m * n);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            t[j + i * n] = conjl(a[i + j * m]);
    free(a);
    return t;
}

/* The factor of A, or of A^H, which becomes what it should be. */
static value_t *factor_qr_wanted(problem_t *p, value_t **want, bool by_rows, bool pivots,
                                 value_t *tau) {
    const int64_t m = p->operand[0].rows, n = p->operand[0].columns;
    view_t A = view_of(p, 0, GENERAL, JBLAS_NO_TRANSPOSE);
    value_t *qr = view_dense(&A, m, n);
    if (by_rows)
        qr = turned(qr, m, n);
    factor_qr(qr, by_rows ? n : m, by_rows ? m : n, pivots, tau);

    value_t *stored = by_rows ? turned(qr, n, m) : qr;
    put_dense(p, want, 0, stored);
    return by_rows ? turned(stored, m, n) : stored;
}

static void factor_with_tau(problem_t *p, value_t **want, bool by_rows, bool pivots) {
    value_t *tau = allocate(p->operand[1].rows + 1);
    free(factor_qr_wanted(p, want, by_rows, pivots, tau));
    for (int64_t l = 0; l < p->operand[1].rows; l++)
        want[1][operand_index(&p->operand[1], l, 0, 0)] = tau[l];
    free(tau);
}
void naive_geqrf(problem_t *p, value_t **want) { factor_with_tau(p, want, false, false); }
void naive_gelqf(problem_t *p, value_t **want) { factor_with_tau(p, want, true, false); }
void naive_geqp3(problem_t *p, value_t **want) { factor_with_tau(p, want, false, true); }

static void make_q(problem_t *p, value_t **want, bool by_rows) {
    const int64_t m = by_rows ? p->operand[0].columns : p->operand[0].rows,
                  n = by_rows ? p->operand[0].rows : p->operand[0].columns;
    value_t *q = allocate(m * n), *v = allocate(m);
    for (int64_t j = 0; j < n; j++)
        q[j + j * m] = 1;
    for (int64_t l = p->options->k - 1; l >= 0; l--) {
        const value_t tau = reflector_of(p, by_rows, l, m, v);
        reflect(m, 0, n, v, tau, q, 1, m);
    }
    if (by_rows)
        q = turned(q, m, n);
    put_dense(p, want, 0, q);
    free(q);
    free(v);
}
void naive_orgqr(problem_t *p, value_t **want) { make_q(p, want, false); }
void naive_orglq(problem_t *p, value_t **want) { make_q(p, want, true); }

/* C H is (H^H C^H)^H, and all of it is conjugated before and afterwards. LQ's Q is the adjoint. */
static void multiply_by_q(problem_t *p, value_t **want, bool by_rows) {
    const options_t *o = p->options;
    const int64_t m = o->m, n = o->n, k = o->k;
    const bool left = o->side == JBLAS_LEFT,
               plain = ji_is_transposed((jblas_operation_t)o->transa) == by_rows;
    const int64_t rows = left ? m : n;
    view_t C = view_of(p, 2, GENERAL, JBLAS_NO_TRANSPOSE);
    value_t *c = view_dense(&C, m, n), *v = allocate(rows);
    for (int64_t e = 0; !left && e < m * n; e++)
        c[e] = conjl(c[e]);
    for (int64_t b = 0; b < k; b++) {
        const value_t tau = reflector_of(p, by_rows, left == plain ? k - 1 - b : b, rows, v);
        reflect(rows, 0, left ? n : m, v, left == plain ? tau : conjl(tau), c, left ? 1 : m,
                left ? m : 1);
    }
    for (int64_t e = 0; !left && e < m * n; e++)
        c[e] = conjl(c[e]);
    put_dense(p, want, 2, c);
    free(c);
    free(v);
}
void naive_ormqr(problem_t *p, value_t **want) { multiply_by_q(p, want, false); }
void naive_ormlq(problem_t *p, value_t **want) { multiply_by_q(p, want, true); }

/* x = inv(R) x, or inv(R^H) x. */
static void solve_with_r(const value_t *qr, int64_t rows, int64_t order, bool adjoint, value_t *x) {
    for (int64_t turn = 0; turn < order; turn++) {
        const int64_t q = adjoint ? turn : order - 1 - turn;
        for (int64_t c = adjoint ? 0 : q + 1; c < (adjoint ? q : order); c++)
            x[q] -= (adjoint ? conjl(qr[c + q * rows]) : qr[q + c * rows]) * x[c];
        x[q] /= qr[q + q * rows]; /* which is real */
    }
}

/* x = Q^H x, or Q x. */
static void multiply_by_factor(const value_t *qr, int64_t rows, int64_t order, const value_t *tau,
                               bool adjoint, value_t *x) {
    value_t *v = allocate(rows);
    for (int64_t turn = 0; turn < order; turn++) {
        const int64_t l = adjoint ? turn : order - 1 - turn;
        for (int64_t i = 0; i < rows; i++)
            v[i] = i < l ? 0 : i == l ? 1 : qr[i + l * rows];
        reflect(rows, 0, 1, v, adjoint ? conjl(tau[l]) : tau[l], x, 1, rows);
    }
    free(v);
}

/* By QR of what has the more rows, A or A^H. */
void naive_gels(problem_t *p, value_t **want) {
    const int64_t m = p->options->m, n = p->options->n, nrhs = p->options->nrhs,
                  most = m < n ? n : m, least = m < n ? m : n;
    const bool squares = ji_is_transposed((jblas_operation_t)p->options->transa) == (m < n);
    view_t B = view_of(p, 1, GENERAL, JBLAS_NO_TRANSPOSE);
    value_t *tau = allocate(least + 1), *qr = factor_qr_wanted(p, want, m < n, false, tau),
            *b = view_dense(&B, most, nrhs);
    for (value_t *x = b; x < b + nrhs * most; x += most) {
        if (squares)
            multiply_by_factor(qr, most, least, tau, true, x);
        solve_with_r(qr, most, least, !squares, x);
        if (squares)
            continue;
        for (int64_t i = least; i < most; i++)
            x[i] = 0;
        multiply_by_factor(qr, most, least, tau, false, x);
    }
    put_dense(p, want, 1, b);
    free(tau), free(qr), free(b);
}

/* ---- Condition ---- */

/* The 1-norm, or of rows, of a, n x n. */
static long double norm_of(const value_t *a, int64_t n, bool by_rows) {
    long double most = 0;
    for (int64_t j = 0; j < n; j++) {
        long double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += cabsl(by_rows ? a[j + i * n] : a[i + j * n]);
        most = sum > most ? sum : most;
    }
    return most;
}

/* The condition of what x, which is freed, is the inverse of. What is estimated is at most three
 * times as much. */
static void store_condition(problem_t *p, value_t **want, long double norm, value_t *x) {
    const bool by_rows = p->options->norm == JLAPACK_INFINITY_NORM;
    const long double rcond =
        p->options->n > 0 ? 1 / (norm * norm_of(x, p->options->n, by_rows)) : 1;
    *want[OPERANDS] = rcond;
    p->magnitude = 2 * rcond / (10 * unit_of(p->type) * (long double)(p->terms + 10));
    free(x);
}

void naive_gecon(problem_t *p, value_t **want) {
    store_condition(p, want, creall(alpha_of(p)), inverse_of_factor(p));
}
void naive_pocon(problem_t *p, value_t **want) {
    const int64_t n = p->options->n;
    value_t *t = triangle_inverse(p), *x = allocate(n * n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t l = 0; l < n; l++)
                x[i + j * n] += p->options->uplo == JBLAS_UPPER
                                    ? t[i + l * n] * conjl(t[j + l * n])
                                    : conjl(t[l + i * n]) * t[l + j * n];
    free(t);
    store_condition(p, want, creall(alpha_of(p)), x);
}
void naive_trcon(problem_t *p, value_t **want) {
    const int64_t n = p->options->n;
    view_t A = view_of(p, 0, TRIANGULAR, JBLAS_NO_TRANSPOSE);
    value_t *a = view_dense(&A, n, n);
    const long double norm = norm_of(a, n, p->options->norm == JLAPACK_INFINITY_NORM);
    free(a);
    store_condition(p, want, norm, triangle_inverse(p));
}

/* ---- Refinement ---- */

void naive_factor(problem_t *p) {
    operand_t *af = &p->operand[3];
    const int64_t n = af->rows;
    const bool lu = af->fill == FILL_LU;
    value_t *factor = lu ? factor_of(p) : cholesky_of(p);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            if (lu || (p->options->uplo == JBLAS_UPPER ? i <= j : i >= j))
                value_store(af->type, af->data, operand_index(af, i, j, 0), factor[i + j * n]);
    free(factor);
}

/* X is the solution, whatever it was. */
static void store_solution(problem_t *p, value_t **want, const value_t *factor, bool lu,
                           bool plain) {
    const int64_t n = p->options->n;
    const view_t B = view_of(p, 1, GENERAL, JBLAS_NO_TRANSPOSE);
    value_t *x = allocate(n + 1);
    for (int64_t j = 0; j < p->options->nrhs; j++) {
        for (int64_t i = 0; i < n; i++)
            x[i] = view_at(&B, i, j);
        substitute_vector(factor, 1, n, n, true, lu && plain, x);
        substitute_vector(factor, 1, n, n, false, lu && !plain, x);
        for (int64_t i = 0; i < n; i++)
            want[2][operand_index(&p->operand[2], i, j, 0)] = x[i];
    }
    free(x);
}

/* It converges: A stays as it was. */
void naive_dsgesv(problem_t *p, value_t **want) {
    value_t *lu = factor_of(p);
    store_solution(p, want, lu, true, true);
    free(lu);
}
void naive_dsposv(problem_t *p, value_t **want) {
    value_t *l = cholesky_of(p);
    store_solution(p, want, l, false, true);
    free(l);
}

/* X is the solution, whatever it was, of elements below 1; errors are a few times u n. */
static void store_refined(problem_t *p, value_t **want, const value_t *factor, bool lu,
                          bool plain) {
    store_solution(p, want, factor, lu, plain);
    for (int w = 4; w < OPERANDS; w++)
        for (int64_t j = 0; j < p->options->nrhs; j++)
            want[w][operand_index(&p->operand[w], j, 0, 0)] = 0;
    p->magnitude = 10;
}

void naive_gerfs(problem_t *p, value_t **want) {
    const bool plain = p->options->transa == JBLAS_NO_TRANSPOSE;
    value_t *lu = factor_of(p), *turned_lu = plain ? NULL : allocate(p->options->n * p->options->n);
    const int64_t n = p->options->n;
    for (int64_t e = 0; !plain && e < n * n; e++) {
        const value_t own = lu[e / n + e % n * n];
        turned_lu[e] = p->options->transa == JBLAS_TRANSPOSE ? own : conjl(own);
    }
    store_refined(p, want, plain ? lu : turned_lu, true, plain);
    free(lu), free(turned_lu);
}
void naive_porfs(problem_t *p, value_t **want) {
    value_t *l = cholesky_of(p);
    store_refined(p, want, l, false, true);
    free(l);
}

/* ---- Comparison ---- */

/* Sums of squares. What should have stayed as it was counts in the error, but not in the norm that
 * it is relative to: an untouched triangle must not make the error of the other look small. */
typedef struct difference {
    long double error, norm, unchanged_norm;
} difference_t;

static void difference_add(difference_t *d, value_t got, value_t want, bool changes) {
    long double error = cabsl(got - want), norm = cabsl(want);
    d->error += error * error;
    *(changes ? &d->norm : &d->unchanged_norm) += norm * norm;
}

/* The matrices of an operand by their norm; whatever lies between, bit by bit. */
static void compare_operand(const problem_t *p, int which, const value_t *want, difference_t *d) {
    const operand_t after = operand_later(&p->operand[which]), *x = &after;
    char *inside = allocate_zeroed(x->elements, 1);
    for (int64_t batch = 0; batch < x->batch; batch++)
        for (int64_t j = 0; j < x->columns; j++)
            for (int64_t i = 0; i < x->rows; i++) {
                size_t index = operand_index(x, i, j, batch);
                inside[index] = 1;
                difference_add(d, value_load(x->type, x->data, index), want[index],
                               want[index] != value_load(x->type, x->pristine, index));
            }
    for (size_t index = 0; index < x->elements; index++)
        if (!inside[index] && value_load(x->type, x->data, index) != want[index])
            d->error = INFINITY; /* written outside the matrix */
    free(inside);
}

static void go_to_item(problem_t *p, int64_t item) {
    for (int i = 0; i < OPERANDS; i++)
        p->operand[i].item = item;
    if (p->results != NULL)
        memcpy(&p->result, p->results + (size_t)item * p->result_bytes, p->result_bytes);
}

static void compare_result(const problem_t *p, value_t want, difference_t *d) {
    int64_t n = length_forward(p), index = p->result.index;
    const bool is_single = type_is_single(p->type) && p->routine->reference != naive_dsdot;
    if (p->routine->reference != naive_iamax && p->routine->reference != naive_iamin)
        difference_add(d, value_load(is_single ? JDATATYPE_F32_C : JDATATYPE_F64_C, &p->result, 0),
                       want, true);
    else if (n <= 0 ? index != 0 : index < 1 || index > n)
        d->error = INFINITY;
    else if (n > 0)
        difference_add(d, magnitude_1(element(p, 1, index - 1)), want, true);
}

long double problem_verify(problem_t *p, jhandle_t *handle, long double *bound) {
    value_t *want[OPERANDS + 1] = {NULL};
    bool any_written = false;
    for (int i = 0; i < OPERANDS; i++)
        if (p->operand[i].written) {
            any_written = true;
            want[i] = allocate((int64_t)p->operand[i].elements);
            for (size_t e = 0; e < p->operand[i].elements; e++)
                want[i][e] = value_load(p->operand[i].type, p->operand[i].pristine, e);
        }
    value_t *const results = want[OPERANDS] = allocate(p->items + 1);
    p->magnitude = 0;
    for (int64_t item = 0; item < p->items; item++) {
        go_to_item(p, item);
        want[OPERANDS] = results + item;
        p->routine->reference(p, want);
    }
    want[OPERANDS] = results;
    go_to_item(p, 0);
    for (int i = 0; i < OPERANDS; i++)
        if (p->operand[i].type == JDATATYPE_I32 && want[i] != NULL)
            for (size_t e = 0; e < p->operand[i].elements; e++) /* modulo 2^32 */
                want[i][e] = (int32_t)(uint32_t)(int64_t)creall(want[i][e]);

    problem_restore(p);
    problem_select(p, 0);
    difference_t d = {0, 0, 0};
    if (jstatus_is_error(p->routine->call(handle, p)))
        d.error = INFINITY;
    for (int i = 0; i < OPERANDS; i++)
        if (p->operand[i].written)
            compare_operand(p, i, want[i], &d);
    for (int64_t item = 0; item < p->items; item++) {
        go_to_item(p, item);
        if (!any_written)
            compare_result(p, results[item], &d);
        else if (p->result.index != 0) /* info */
            d.error = INFINITY;
    }
    go_to_item(p, 0);

    for (int i = 0; i <= OPERANDS; i++)
        free(want[i]);
    *bound = 10 * (type_is_half(p->type) ? unit_of(JDATATYPE_F32) : unit_of(p->type)) *
             (long double)((p->terms > 0 ? p->terms : 0) + 10);
    /* Each element is rounded once more, at most half a unit of its last place. */
    for (int i = 0; i < OPERANDS; i++)
        if (p->operand[i].written)
            *bound += 1.01L * unit_of(p->operand[i].type);
    long double scale =
        p->magnitude > 0 ? p->magnitude : sqrtl(d.norm > 0 ? d.norm : d.unchanged_norm);
    return d.error == 0 ? 0 : sqrtl(d.error) / scale;
}
