/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the answers should be: the definitions of the routines, as loops in long double, one type
 * for all four. Nothing here is shared with the library. Those of LAPACK are in
 * reference_lapack.c, and residuals, where answers are not one alone, in reference_drivers.c.
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
#include "reference.h"

const void *reference_data(const operand_t *operand) {
    return operand->written ? operand->pristine : operand->data;
}

view_t reference_view(const problem_t *p, int which, structure_t structure, int trans) {
    return (view_t){p, &p->operand[which], structure, trans};
}

value_t reference_at(const view_t *view, int64_t i, int64_t j) {
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
    value_t value = value_load(view->operand->type, reference_data(view->operand),
                               operand_index(view->operand, i, j, 0));
    if (view->structure == HERMITIAN && diagonal)
        return creall(value);
    if (negate)
        return -value;
    return conjugate ? conjl(value) : value;
}

void *reference_zeroed(size_t count, size_t element_bytes) {
    void *array = calloc(count > 0 ? count : 1, element_bytes);
    if (!array)
        tool_fail("no memory for the reference");
    return array;
}
value_t *reference_allocate(int64_t count) {
    return reference_zeroed((size_t)(count > 0 ? count : 0), sizeof(value_t));
}

/* A view as a plain column-major array. */
value_t *reference_dense(const view_t *view, int64_t rows, int64_t columns) {
    value_t *dense = reference_allocate(rows * columns);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            dense[i + j * rows] = reference_at(view, i, j);
    return dense;
}

/* Half of the distance from 1 to the next number. */
long double reference_unit(jdatatype_t type) {
    return type == JDATATYPE_F16    ? 0x1p-11L
           : type == JDATATYPE_BF16 ? 0x1p-8L
           : type_is_single(type)   ? 0x1p-24L
                                    : 0x1p-53L;
}

value_t reference_alpha(const problem_t *p) {
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
    value_t *a = reference_dense(&A, m, k), *b = reference_dense(&B, k, n),
            *sum = reference_allocate(m);
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
void reference_substitute_vector(const value_t *t, int64_t row, int64_t column, int64_t n,
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

/* op(A) X = X's right-hand sides, in place in operand `which`; or X op(A) on the right. A is
 * triangular. */
void reference_substitute(problem_t *p, value_t **want, int which, view_t A, int side, int64_t m,
                          int64_t n, value_t alpha) {
    bool left = side == JBLAS_LEFT;
    int64_t order = left ? m : n, others = left ? n : m;
    value_t *a = reference_dense(&A, order, order), *x = reference_allocate(order);
    bool lower = (p->options->uplo == JBLAS_LOWER) == !ji_is_transposed((jblas_operation_t)A.trans);
    const operand_t *X = &p->operand[which];
    for (int64_t other = 0; other < others; other++) {
        for (int64_t i = 0; i < order; i++)
            x[i] =
                alpha *
                want[which][left ? operand_index(X, i, other, 0) : operand_index(X, other, i, 0)];
        /* From the right, op(A) acts as its transpose. */
        reference_substitute_vector(a, left ? 1 : order, left ? order : 1, order, lower == left,
                                    false, x);
        for (int64_t i = 0; i < order; i++)
            want[which][left ? operand_index(X, i, other, 0) : operand_index(X, other, i, 0)] =
                x[i];
    }
    free(a);
    free(x);
}

/* ---- Level 1: x is operand 1, y operand 2 ---- */

static value_t element(const problem_t *p, int which, int64_t i) {
    view_t view = reference_view(p, which, GENERAL, JBLAS_NO_TRANSPOSE);
    return reference_at(&view, i, 0);
}
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
    want[OPERANDS][0] += reference_alpha(p);
    p->magnitude += fabsl(creall(reference_alpha(p)));
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
        want[2][operand_index(&p->operand[2], i, 0, 0)] += reference_alpha(p) * element(p, 1, i);
}
void naive_axpby(problem_t *p, value_t **want) {
    for (int64_t i = 0; i < p->options->n; i++) {
        value_t *y = &want[2][operand_index(&p->operand[2], i, 0, 0)];
        *y = reference_alpha(p) * element(p, 1, i) + (beta_of(p) == 0 ? 0 : beta_of(p) * *y);
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
    const value_t c = creall(reference_alpha(p)), s = beta_of(p);
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
        want[1][operand_index(&p->operand[1], i, 0, 0)] *= reference_alpha(p);
}

/* ---- Level 2 ---- */

void naive_gemv(problem_t *p, value_t **want) {
    if (p->options->m <= 0 || p->options->n <= 0)
        return; /* the BLAS does not even scale y */
    product(p, want, 2, reference_view(p, 0, GENERAL, p->options->transa),
            reference_view(p, 1, GENERAL, JBLAS_NO_TRANSPOSE), p->operand[2].rows, 1,
            p->operand[1].rows, reference_alpha(p), beta_of(p), ALL);
}
static void outer_product(problem_t *p, value_t **want, int y, int trans, region_t region) {
    product(p, want, 0, reference_view(p, 1, GENERAL, JBLAS_NO_TRANSPOSE),
            reference_view(p, y, GENERAL, trans), p->operand[0].rows, p->operand[0].columns, 1,
            reference_alpha(p), 1, region);
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
    return region == SKEW_TRIANGLE ? -reference_alpha(p) : reference_alpha(p);
}
static value_t second_alpha(const problem_t *p, region_t region) {
    return region == HERMITIAN_TRIANGLE ? conjl(reference_alpha(p)) : reference_alpha(p);
}
/* What was added by the first product stays. */
static void outer_products(problem_t *p, value_t **want, int transpose, region_t region) {
    const int64_t n = p->options->n;
    view_t x = reference_view(p, 1, GENERAL, JBLAS_NO_TRANSPOSE),
           y = reference_view(p, 2, GENERAL, JBLAS_NO_TRANSPOSE);
    view_t xt = reference_view(p, 1, GENERAL, transpose),
           yt = reference_view(p, 2, GENERAL, transpose);
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
    product(p, want, 2, reference_view(p, 0, structure, JBLAS_NO_TRANSPOSE),
            reference_view(p, 1, GENERAL, JBLAS_NO_TRANSPOSE), n, 1, n, reference_alpha(p),
            beta_of(p), ALL);
}
void naive_symv(problem_t *p, value_t **want) { structured_vector_product(p, want, SYMMETRIC); }
void naive_skewsymv(problem_t *p, value_t **want) { structured_vector_product(p, want, SKEW); }
void naive_hemv(problem_t *p, value_t **want) { structured_vector_product(p, want, HERMITIAN); }
void naive_trmv(problem_t *p, value_t **want) {
    int64_t n = p->options->n;
    product(p, want, 1, reference_view(p, 0, TRIANGULAR, p->options->transa),
            reference_view(p, 1, GENERAL, JBLAS_NO_TRANSPOSE), n, 1, n, 1, 0, ALL);
}
void naive_trsv(problem_t *p, value_t **want) {
    reference_substitute(p, want, 1, reference_view(p, 0, TRIANGULAR, p->options->transa),
                         JBLAS_LEFT, p->options->n, 1, 1);
}

/* ---- Level 3, extensions, solvers ---- */

void naive_gemm(problem_t *p, value_t **want) {
    const options_t *o = p->options;
    view_t A = reference_view(p, 0, GENERAL, o->transa),
           B = reference_view(p, 1, GENERAL, o->transb);
    product(p, want, 2, A, B, o->m, o->n, o->k, reference_alpha(p), beta_of(p), ALL);
}
static void structured_product(problem_t *p, value_t **want, structure_t structure, int trans,
                               int output, value_t beta) {
    const options_t *o = p->options;
    view_t A = reference_view(p, 0, structure, trans),
           B = reference_view(p, 1, GENERAL, JBLAS_NO_TRANSPOSE);
    if (o->side == JBLAS_LEFT)
        product(p, want, output, A, B, o->m, o->n, o->m, reference_alpha(p), beta, ALL);
    else
        product(p, want, output, B, A, o->m, o->n, o->n, reference_alpha(p), beta, ALL);
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
    reference_substitute(p, want, 1, reference_view(p, 0, TRIANGULAR, o->transa), o->side, o->m,
                         o->n, reference_alpha(p));
}
/* Of operand 0 and the transpose of another, or of itself. */
static void rank_k(problem_t *p, value_t **want, int second, int transpose, region_t region) {
    const options_t *o = p->options;
    int other = o->transa == JBLAS_NO_TRANSPOSE ? transpose : JBLAS_NO_TRANSPOSE;
    product(p, want, 2, reference_view(p, 0, GENERAL, o->transa),
            reference_view(p, second, GENERAL, other), o->n, o->n, o->k, reference_alpha(p),
            beta_of(p), region);
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
    product(p, want, 2, reference_view(p, 0, GENERAL, o->transa),
            reference_view(p, 1, GENERAL, other), o->n, o->n, o->k, first_alpha(p, region),
            beta_of(p), region);
    product(p, want, 2, reference_view(p, 1, GENERAL, o->transa),
            reference_view(p, 0, GENERAL, other), o->n, o->n, o->k, second_alpha(p, region), 1,
            region);
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
    product(p, want, 2, reference_view(p, 0, GENERAL, o->transa),
            reference_view(p, 1, GENERAL, o->transb), o->n, o->n, o->k, reference_alpha(p),
            beta_of(p), TRIANGLE);
}

void naive_geam(problem_t *p, value_t **want) {
    const options_t *o = p->options;
    view_t A = reference_view(p, 0, GENERAL, o->transa),
           B = reference_view(p, 1, GENERAL, o->transb);
    for (int64_t j = 0; j < o->n; j++)
        for (int64_t i = 0; i < o->m; i++)
            want[2][operand_index(&p->operand[2], i, j, 0)] =
                reference_alpha(p) * reference_at(&A, i, j) + beta_of(p) * reference_at(&B, i, j);
}

void naive_dgmm(problem_t *p, value_t **want) {
    const bool left = p->options->side == JBLAS_LEFT;
    view_t a = reference_view(p, 0, GENERAL, JBLAS_NO_TRANSPOSE);
    for (int64_t j = 0; j < p->operand[2].columns; j++)
        for (int64_t i = 0; i < p->operand[2].rows; i++)
            want[2][operand_index(&p->operand[2], i, j, 0)] =
                reference_at(&a, i, j) * element(p, 1, left ? i : j);
}
void naive_omatcopy(problem_t *p, value_t **want) {
    view_t a = reference_view(p, 0, GENERAL, p->options->transa);
    for (int64_t j = 0; j < p->operand[1].columns; j++)
        for (int64_t i = 0; i < p->operand[1].rows; i++)
            want[1][operand_index(&p->operand[1], i, j, 0)] =
                reference_alpha(p) * reference_at(&a, i, j);
}
void naive_imatcopy(problem_t *p, value_t **want) {
    const operand_t after = operand_later(&p->operand[0]);
    const view_t view = reference_view(p, 0, GENERAL, p->options->transa);
    for (int64_t j = 0; j < after.columns; j++)
        for (int64_t i = 0; i < after.rows; i++)
            want[0][operand_index(&after, i, j, 0)] =
                reference_alpha(p) * reference_at(&view, i, j);
}
static void copy_triangle(problem_t *p, value_t **want, int from, int to) {
    const bool lower = p->options->uplo == JBLAS_LOWER;
    const view_t view = reference_view(p, from, GENERAL, JBLAS_NO_TRANSPOSE);
    for (int64_t j = 0; j < p->options->n; j++)
        for (int64_t i = lower ? j : 0; i < (lower ? p->options->n : j + 1); i++)
            want[to][operand_index(&p->operand[to], i, j, 0)] = reference_at(&view, i, j);
}
void naive_trttp(problem_t *p, value_t **want) { copy_triangle(p, want, 0, 1); }
void naive_tpttr(problem_t *p, value_t **want) { copy_triangle(p, want, 1, 0); }
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

/* The matrices of an operand by their norm, where a reference says what they should be; whatever
 * lies between, bit by bit. */
static void compare_operand(const problem_t *p, int which, const value_t *want, difference_t *d) {
    const operand_t after = operand_later(&p->operand[which]), *x = &after;
    char *inside = reference_zeroed(x->elements, 1);
    for (int64_t batch = 0; batch < x->batch; batch++)
        for (int64_t j = 0; j < x->columns; j++)
            for (int64_t i = 0; i < x->rows; i++) {
                size_t index = operand_index(x, i, j, batch);
                inside[index] = 1;
                if (p->routine->reference != NULL)
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
            want[i] = reference_allocate((int64_t)p->operand[i].elements);
            for (size_t e = 0; e < p->operand[i].elements; e++)
                want[i][e] = value_load(p->operand[i].type, p->operand[i].pristine, e);
        }
    value_t *const results = want[OPERANDS] = reference_allocate(p->items + 1);
    p->magnitude = 0;
    for (int64_t item = 0; item < p->items; item++) {
        go_to_item(p, item);
        want[OPERANDS] = results + item;
        if (p->routine->reference != NULL)
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
    *bound = 10 *
             (type_is_half(p->type) ? reference_unit(JDATATYPE_F32) : reference_unit(p->type)) *
             (long double)((p->terms > 0 ? p->terms : 0) + 10);
    /* Each element is rounded once more, at most half a unit of its last place. */
    for (int i = 0; i < OPERANDS; i++)
        if (p->operand[i].written)
            *bound += 1.01L * reference_unit(p->operand[i].type);
    if (p->routine->residual != NULL)
        return d.error == 0 ? reference_residual(p) : d.error;
    long double scale =
        p->magnitude > 0 ? p->magnitude : sqrtl(d.norm > 0 ? d.norm : d.unchanged_norm);
    return d.error == 0 ? 0 : sqrtl(d.error) / scale;
}
