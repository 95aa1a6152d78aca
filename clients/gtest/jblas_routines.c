/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The table of routines: for each its signature, the shapes of its operands and its reference, a few lines apiece; then
 * the calls, generated for each function. How cases are drawn and judged stands in jblas_case.c. */

#include "jblas_routines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Shapes ----------------------------------------------------------------------------------------------------- */

static int real_of(int type) { return wide_real_of(type); }

static blas_operand_t *vector(blas_case_t *c, int which, int64_t n) {
    blas_operand_t *o = &c->operand[which];
    *o = (blas_operand_t){.kind = BLAS_VECTOR, .element = (int)c->function->type, .rows = n, .columns = 1, .count = 1};
    return o;
}

static blas_operand_t *matrix(blas_case_t *c, int which, int64_t rows, int64_t columns) {
    blas_operand_t *o = &c->operand[which];
    *o = (blas_operand_t){.kind = BLAS_MATRIX,
                          .element = (int)c->function->type,
                          .rows = rows,
                          .columns = columns,
                          .count = blas_has(c, 'b') ? c->batch : 1};
    return o;
}

static blas_operand_t *operated(blas_case_t *c, int which, jblas_operation_t operation, int64_t rows, int64_t columns) {
    return operation == JBLAS_NO_TRANSPOSE ? matrix(c, which, rows, columns) : matrix(c, which, columns, rows);
}

static blas_operand_t *triangle(blas_case_t *c, int which, int64_t n) {
    blas_operand_t *o = matrix(c, which, n, n);
    const bool strict = blas_has(c, 'D') && c->diag == JBLAS_UNIT;
    o->part = c->uplo == JBLAS_UPPER ? (strict ? BLAS_STRICTLY_UPPER : BLAS_UPPER)
                                     : (strict ? BLAS_STRICTLY_LOWER : BLAS_LOWER);
    return o;
}

static blas_operand_t *hermitian(blas_case_t *c, int which, int64_t n) {
    blas_operand_t *o = triangle(c, which, n);
    o->hermitian = wide_is_complex(o->element);
    return o;
}

static void result(blas_case_t *c, int which, int element) {
    c->operand[which] = (blas_operand_t){
        .kind = BLAS_RESULT, .element = element, .written = true, .rows = 1, .columns = 1, .ld = 1, .count = 1};
}

static void shape_x_real(blas_case_t *c) { vector(c, 0, c->n), result(c, 1, real_of((int)c->function->type)); }
static void shape_x_index(blas_case_t *c) { vector(c, 0, c->n), result(c, 1, WIDE_I64); }
static void shape_dot(blas_case_t *c) { vector(c, 0, c->n), vector(c, 1, c->n), result(c, 2, (int)c->function->type); }
static void shape_xy(blas_case_t *c) { vector(c, 0, c->n), vector(c, 1, c->n)->written = true; }
static void shape_scal(blas_case_t *c) { vector(c, 0, c->n)->written = true; }
static void shape_swap(blas_case_t *c) { shape_xy(c), c->operand[0].written = true; }
static void shape_gemv(blas_case_t *c) {
    const bool plain = c->transa == JBLAS_NO_TRANSPOSE;
    matrix(c, 0, c->m, c->n), vector(c, 1, plain ? c->n : c->m), vector(c, 2, plain ? c->m : c->n)->written = true;
}
static void shape_ger(blas_case_t *c) {
    vector(c, 0, c->m), vector(c, 1, c->n), matrix(c, 2, c->m, c->n)->written = true;
}
static void shape_symv(blas_case_t *c) { triangle(c, 0, c->n), vector(c, 1, c->n), vector(c, 2, c->n)->written = true; }
static void shape_hemv(blas_case_t *c) { shape_symv(c), hermitian(c, 0, c->n); }
static void shape_syr(blas_case_t *c) { vector(c, 0, c->n), triangle(c, 1, c->n)->written = true; }
static void shape_her(blas_case_t *c) { vector(c, 0, c->n), hermitian(c, 1, c->n)->written = true; }
static void shape_trmv(blas_case_t *c) { triangle(c, 0, c->n), vector(c, 1, c->n)->written = true; }
static void shape_trsv(blas_case_t *c) { shape_trmv(c), c->operand[0].dominance = BLAS_SOLVABLE; }
static void shape_gemm(blas_case_t *c) {
    operated(c, 0, c->transa, c->m, c->k), operated(c, 1, c->transb, c->k, c->n);
    matrix(c, 2, c->m, c->n)->written = true;
}
static void shape_symm(blas_case_t *c) {
    triangle(c, 0, c->side == JBLAS_LEFT ? c->m : c->n), matrix(c, 1, c->m, c->n);
    matrix(c, 2, c->m, c->n)->written = true;
}
static void shape_hemm(blas_case_t *c) { shape_symm(c), hermitian(c, 0, c->operand[0].rows); }
static void shape_syrk(blas_case_t *c) { operated(c, 0, c->transa, c->n, c->k), triangle(c, 1, c->n)->written = true; }
static void shape_herk(blas_case_t *c) { operated(c, 0, c->transa, c->n, c->k), hermitian(c, 1, c->n)->written = true; }
static void shape_trmm(blas_case_t *c) {
    triangle(c, 0, c->side == JBLAS_LEFT ? c->m : c->n), matrix(c, 1, c->m, c->n)->written = true;
}
static void shape_trsm(blas_case_t *c) { shape_trmm(c), c->operand[0].dominance = BLAS_SOLVABLE; }
static void shape_geam(blas_case_t *c) {
    operated(c, 0, c->transa, c->m, c->n), operated(c, 1, c->transb, c->m, c->n);
    matrix(c, 2, c->m, c->n)->written = true;
}
static void shape_trtri(blas_case_t *c) {
    blas_operand_t *a = triangle(c, 0, c->n);
    a->written = true;
    a->dominance = BLAS_SOLVABLE;
    result(c, 1, WIDE_I64);
}
static void shape_potrf(blas_case_t *c) {
    blas_operand_t *a = hermitian(c, 0, c->n);
    a->written = true;
    a->dominance = BLAS_POSITIVE_DEFINITE;
    result(c, 1, WIDE_I64);
}
static void shape_potrs(blas_case_t *c) { /* A as potrf leaves it: imaginary parts of the diagonal zero */
    triangle(c, 0, c->n)->dominance = BLAS_SOLVABLE, matrix(c, 1, c->n, c->k)->written = true;
}

/* ---- References ------------------------------------------------------------------------------------------------- */

typedef enum { GENERAL, TRIANGULAR, SYMMETRIC, HERMITIAN } form_t;

static const unsigned char *before(const blas_operand_t *o) { return o->before + (o->data - o->region); }

/* The operand as it was before the call, widened; missing triangles filled in as the form says. */
static wide_matrix_t load(blas_case_t *c, int which, int64_t item, form_t form) {
    const blas_operand_t *o = &c->operand[which];
    wide_matrix_t a = wide_zeros(&c->arena, o->rows, o->columns);
    const bool strict = o->part == BLAS_STRICTLY_UPPER || o->part == BLAS_STRICTLY_LOWER;
    const bool upper = o->part == BLAS_UPPER || o->part == BLAS_STRICTLY_UPPER;
    a.real = !wide_is_complex(o->element);
    if (form == TRIANGULAR)
        a.band = upper ? WIDE_UPPER : WIDE_LOWER;
    for (int64_t j = 0; j < o->columns; ++j)
        for (int64_t i = 0; i < o->rows; ++i) {
            if (!blas_is_part(o, i, j)) {
                if (form == TRIANGULAR && strict && i == j)
                    *wide_at(a, i, j) = 1;
                continue;
            }
            wide_t value = wide_get(before(o), o->element, blas_index(o, item, i, j));
            if (o->hermitian && i == j)
                value = __real__ value;
            *wide_at(a, i, j) = value;
            if ((form == SYMMETRIC || form == HERMITIAN) && i != j) {
                if (form == HERMITIAN)
                    __imag__ value = -__imag__ value;
                *wide_at(a, j, i) = value;
            }
        }
    return a;
}

/* beta times what the operand was; zeros when beta is 0, whatever it was. */
static wide_matrix_t scaled(blas_case_t *c, int which, int64_t item, wide_t beta) {
    const blas_operand_t *o = &c->operand[which];
    wide_matrix_t a = wide_zeros(&c->arena, o->rows, o->columns);
    if (beta != 0)
        wide_add(beta, load(c, which, item, GENERAL), a);
    return a;
}

static wide_matrix_t operate(blas_case_t *c, wide_matrix_t a, jblas_operation_t operation) {
    return wide_operate(&c->arena, a, operation);
}

/* want of operand `which` = alpha A B + beta of what it was. */
static void want_product(blas_case_t *c, int which, int64_t item, wide_t alpha, wide_matrix_t a, wide_matrix_t b,
                         wide_t beta) {
    wide_matrix_t want = scaled(c, which, item, beta);
    if (alpha != 0)
        wide_multiply_add(alpha, a, b, want);
    c->operand[which].want[item] = want;
    c->depth = a.columns;
}

static wide_matrix_t one(blas_case_t *c) { return wide_identity(&c->arena, 1); }

static void want_value(blas_case_t *c, int which, long double value, int64_t depth) {
    wide_matrix_t want = wide_zeros(&c->arena, 1, 1);
    *want.e = value;
    *want.bound = fabsl(value);
    c->operand[which].want[0] = want;
    c->depth = depth;
}

static void reference_asum(blas_case_t *c) { /* as in BLAS: a negative increment is no vector */
    wide_matrix_t x = load(c, 0, 0, GENERAL);
    long double sum = 0;
    for (int64_t i = 0; i < x.rows && c->operand[0].ld > 0; ++i)
        sum += wide_abs(x.e[i]);
    want_value(c, 1, sum, c->n);
}
static void reference_nrm2(blas_case_t *c) { /* long double has the exponents for any square */
    wide_matrix_t x = load(c, 0, 0, GENERAL);
    long double sum = 0;
    for (int64_t i = 0; i < x.rows; ++i)
        sum += __real__ x.e[i] * __real__ x.e[i] + __imag__ x.e[i] * __imag__ x.e[i];
    want_value(c, 1, sqrtl(sum), c->n);
}
/* |re| + |im| rounded as the type rounds it, so that ties are its ties. A NaN is larger than everything. */
static void reference_iamax(blas_case_t *c) {
    wide_matrix_t x = load(c, 0, 0, GENERAL);
    const bool narrow = wide_epsilon(c->operand[0].element) > 1e-10;
    double largest = -1;
    int64_t place = 0;
    for (int64_t i = 0; i < x.rows && c->operand[0].ld > 0; ++i) {
        const double size = narrow ? (double)(float)wide_abs(x.e[i]) : (double)wide_abs(x.e[i]);
        if (!isnan(largest) && !(size <= largest))
            largest = size, place = i + 1;
    }
    want_value(c, 1, place, 0);
}
/* With an increment of 0 all elements of a written vector are one: whatever was written last. */
static wide_t *element_of(const blas_case_t *c, wide_matrix_t v, int which, int64_t i) {
    return &v.e[c->operand[which].ld == 0 ? 0 : i];
}
static void want_exactly(blas_case_t *c, int which, wide_matrix_t v) {
    for (int64_t i = 0; i < v.rows; ++i) {
        v.e[i] = *element_of(c, v, which, i);
        v.bound[i] = 0;
    }
    c->operand[which].want[0] = v;
    c->depth = 0;
}
static void reference_copy(blas_case_t *c) {
    wide_matrix_t x = scaled(c, 0, 0, 1), y = scaled(c, 1, 0, 1);
    for (int64_t i = 0; i < y.rows; ++i)
        *element_of(c, y, 1, i) = x.e[i];
    want_exactly(c, 1, y);
}
static void reference_swap(blas_case_t *c) {
    wide_matrix_t x = scaled(c, 0, 0, 1), y = scaled(c, 1, 0, 1);
    for (int64_t i = 0; i < y.rows; ++i) {
        wide_t *a = element_of(c, x, 0, i), *b = element_of(c, y, 1, i);
        const wide_t before = *a;
        *a = *b, *b = before;
    }
    want_exactly(c, 0, x), want_exactly(c, 1, y);
}
static void reference_scal(blas_case_t *c) {
    if (c->operand[0].ld <= 0) /* as in BLAS: nothing is done */
        c->operand[0].written = false;
    want_product(c, 0, 0, c->alpha, load(c, 0, 0, GENERAL), one(c), 0);
}
static void reference_axpy(blas_case_t *c) {
    want_product(c, 1, 0, c->alpha, load(c, 0, 0, GENERAL), one(c), 1);
    wide_matrix_t want = c->operand[1].want[0], y = scaled(c, 1, 0, 1);
    if (c->operand[1].ld != 0 || want.rows <= 0)
        return;
    for (int64_t i = 1; i < want.rows; ++i) /* all into one element */
        want.e[0] += want.e[i] - y.e[i], want.bound[0] += want.bound[i];
    for (int64_t i = 1; i < want.rows; ++i)
        want.e[i] = want.e[0], want.bound[i] = want.bound[0];
    c->depth = want.rows;
}
static void dot(blas_case_t *c, jblas_operation_t operation) {
    wide_matrix_t want = wide_zeros(&c->arena, 1, 1);
    wide_multiply_add(1, operate(c, load(c, 0, 0, GENERAL), operation), load(c, 1, 0, GENERAL), want);
    c->operand[2].want[0] = want;
    c->depth = c->n;
}
static void reference_dot(blas_case_t *c) { dot(c, JBLAS_TRANSPOSE); }
static void reference_dotc(blas_case_t *c) { dot(c, JBLAS_CONJUGATE_TRANSPOSE); }
static void reference_gemv(blas_case_t *c) {
    if (c->m == 0 || c->n == 0) /* as in BLAS: y is not scaled */
        c->operand[2].written = false;
    want_product(c, 2, 0, c->alpha, operate(c, load(c, 0, 0, GENERAL), c->transa), load(c, 1, 0, GENERAL), c->beta);
}
static void ger(blas_case_t *c, jblas_operation_t operation) {
    want_product(c, 2, 0, c->alpha, load(c, 0, 0, GENERAL), operate(c, load(c, 1, 0, GENERAL), operation), 1);
}
static void reference_ger(blas_case_t *c) { ger(c, JBLAS_TRANSPOSE); }
static void reference_gerc(blas_case_t *c) { ger(c, JBLAS_CONJUGATE_TRANSPOSE); }
static void reference_symv(blas_case_t *c) {
    want_product(c, 2, 0, c->alpha, load(c, 0, 0, SYMMETRIC), load(c, 1, 0, GENERAL), c->beta);
}
static void reference_hemv(blas_case_t *c) {
    want_product(c, 2, 0, c->alpha, load(c, 0, 0, HERMITIAN), load(c, 1, 0, GENERAL), c->beta);
}
static void reference_syr(blas_case_t *c) {
    wide_matrix_t x = load(c, 0, 0, GENERAL);
    want_product(c, 1, 0, c->alpha, x,
                 operate(c, x, c->operand[1].hermitian ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE), 1);
    c->quick = c->alpha == 0;
}
static void reference_trmv(blas_case_t *c) {
    want_product(c, 1, 0, 1, operate(c, load(c, 0, 0, TRIANGULAR), c->transa), load(c, 1, 0, GENERAL), 0);
}
static void reference_trsv(blas_case_t *c) {
    wide_matrix_t x = scaled(c, 1, 0, 1);
    x.real = !wide_is_complex(c->operand[1].element);
    wide_solve(operate(c, load(c, 0, 0, TRIANGULAR), c->transa), x);
    c->operand[1].want[0] = x;
    c->depth = c->n;
}
static void reference_gemm(blas_case_t *c) {
    for (int64_t item = 0; item < c->operand[2].count; ++item)
        want_product(c, 2, item, c->alpha, operate(c, load(c, 0, item, GENERAL), c->transa),
                     operate(c, load(c, 1, item, GENERAL), c->transb), c->beta);
}
static void symm(blas_case_t *c, form_t form) {
    wide_matrix_t a = load(c, 0, 0, form), b = load(c, 1, 0, GENERAL);
    want_product(c, 2, 0, c->alpha, c->side == JBLAS_LEFT ? a : b, c->side == JBLAS_LEFT ? b : a, c->beta);
}
static void reference_symm(blas_case_t *c) { symm(c, SYMMETRIC); }
static void reference_hemm(blas_case_t *c) { symm(c, HERMITIAN); }
static void reference_syrk(blas_case_t *c) {
    const jblas_operation_t other = c->operand[1].hermitian ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE;
    wide_matrix_t a = operate(c, load(c, 0, 0, GENERAL), c->transa);
    want_product(c, 1, 0, c->alpha, a, operate(c, a, other), c->beta);
    c->quick = c->beta == 1 && (c->alpha == 0 || c->k == 0);
}
static void reference_trmm(blas_case_t *c) {
    if (c->alpha == 0) { /* A and B are not read */
        want_product(c, 1, 0, 0, one(c), one(c), 0);
        return;
    }
    wide_matrix_t a = operate(c, load(c, 0, 0, TRIANGULAR), c->transa), b = load(c, 1, 0, GENERAL);
    want_product(c, 1, 0, c->alpha, c->side == JBLAS_LEFT ? a : b, c->side == JBLAS_LEFT ? b : a, 0);
}
static void reference_trsm(blas_case_t *c) { /* on the right: A^T X^T = B^T */
    wide_matrix_t x = scaled(c, 1, 0, c->alpha);
    x.real = !wide_is_complex(c->operand[1].element);
    c->depth = c->operand[0].rows;
    if (c->alpha != 0) {
        wide_matrix_t a = operate(c, load(c, 0, 0, TRIANGULAR), c->transa);
        if (c->side == JBLAS_LEFT) {
            wide_solve(a, x);
        } else {
            x = operate(c, x, JBLAS_TRANSPOSE);
            wide_solve(operate(c, a, JBLAS_TRANSPOSE), x);
            x = operate(c, x, JBLAS_TRANSPOSE);
        }
    }
    c->operand[1].want[0] = x;
}
static void reference_geam(blas_case_t *c) {
    wide_matrix_t want = wide_zeros(&c->arena, c->m, c->n);
    if (c->alpha != 0)
        wide_add(c->alpha, operate(c, load(c, 0, 0, GENERAL), c->transa), want);
    if (c->beta != 0)
        wide_add(c->beta, operate(c, load(c, 1, 0, GENERAL), c->transb), want);
    c->operand[2].want[0] = want;
    c->depth = 1;
}
static void reference_trtri(blas_case_t *c) {
    wide_matrix_t x = wide_identity(&c->arena, c->n);
    x.real = !wide_is_complex(c->operand[0].element);
    wide_solve(load(c, 0, 0, TRIANGULAR), x);
    want_value(c, 1, 0, 0);
    c->operand[0].want[0] = x;
    c->depth = c->n;
}
static void reference_potrf(blas_case_t *c) { /* U = L^H of the same matrix */
    wide_matrix_t a = load(c, 0, 0, HERMITIAN);
    want_value(c, 1, (long double)wide_cholesky(a), 0);
    c->operand[0].want[0] = c->uplo == JBLAS_LOWER ? a : operate(c, a, JBLAS_CONJUGATE_TRANSPOSE);
    c->depth = c->n;
}
static void reference_potrs(blas_case_t *c) {
    wide_matrix_t x = scaled(c, 1, 0, 1), a = load(c, 0, 0, TRIANGULAR);
    x.real = !wide_is_complex(c->operand[1].element);
    wide_matrix_t adjoint = operate(c, a, JBLAS_CONJUGATE_TRANSPOSE);
    wide_solve(c->uplo == JBLAS_LOWER ? a : adjoint, x);
    wide_solve(c->uplo == JBLAS_LOWER ? adjoint : a, x);
    c->operand[1].want[0] = x;
    c->depth = 2 * c->n;
}

/* ---- The table -------------------------------------------------------------------------------------------------- */

static const blas_routine_t routine_asum = {"asum", "n0x1", 1, shape_x_real, reference_asum},
                            routine_axpy = {"axpy", "na0x1y", 1, shape_xy, reference_axpy},
                            routine_copy = {"copy", "n0x1y", 1, shape_xy, reference_copy},
                            routine_dot = {"dot", "n0x1y2", 1, shape_dot, reference_dot},
                            routine_dotu = {"dotu", "n0x1y2", 1, shape_dot, reference_dot},
                            routine_dotc = {"dotc", "n0x1y2", 1, shape_dot, reference_dotc},
                            routine_iamax = {"iamax", "n0x1", 1, shape_x_index, reference_iamax},
                            routine_nrm2 = {"nrm2", "n0x1", 1, shape_x_real, reference_nrm2},
                            routine_scal = {"scal", "na0x", 1, shape_scal, reference_scal},
                            routine_rscal = {"rscal", "nA0x", 1, shape_scal, reference_scal},
                            routine_swap = {"swap", "n0x1y", 1, shape_swap, reference_swap},
                            routine_gemv = {"gemv", "Tmna0x1yc2z", 2, shape_gemv, reference_gemv},
                            routine_ger = {"ger", "mna0x1y2z", 2, shape_ger, reference_ger},
                            routine_geru = {"geru", "mna0x1y2z", 2, shape_ger, reference_ger},
                            routine_gerc = {"gerc", "mna0x1y2z", 2, shape_ger, reference_gerc},
                            routine_symv = {"symv", "Una0x1yc2z", 2, shape_symv, reference_symv},
                            routine_hemv = {"hemv", "Una0x1yc2z", 2, shape_hemv, reference_hemv},
                            routine_syr = {"syr", "Una0x1y", 2, shape_syr, reference_syr},
                            routine_her = {"her", "UnA0x1y", 2, shape_her, reference_syr},
                            routine_trmv = {"trmv", "UTDn0x1y", 2, shape_trmv, reference_trmv},
                            routine_trsv = {"trsv", "UTDn0x1y", 2, shape_trsv, reference_trsv},
                            routine_gemm = {"gemm", "TVmnka0x1yc2z", 3, shape_gemm, reference_gemm},
                            routine_hgemm = {"gemm", "TVmnkA0x1yC2z", 3, shape_gemm, reference_gemm},
                            routine_symm = {"symm", "SUmna0x1yc2z", 3, shape_symm, reference_symm},
                            routine_hemm = {"hemm", "SUmna0x1yc2z", 3, shape_hemm, reference_hemm},
                            routine_syrk = {"syrk", "UTnka0xc1y", 3, shape_syrk, reference_syrk},
                            routine_herk = {"herk", "UTnkA0xC1y", 3, shape_herk, reference_syrk},
                            routine_trmm = {"trmm", "SUTDmna0x1y", 3, shape_trmm, reference_trmm},
                            routine_trsm = {"trsm", "SUTDmna0x1y", 3, shape_trsm, reference_trsm},
                            routine_geam = {"geam", "TVmna0xc1y2z", 3, shape_geam, reference_geam},
                            routine_gemm_batched = {"gemm_batched", "TVmnka0x1yc2zb", 3, shape_gemm, reference_gemm},
                            routine_gemm_strided_batched = {"gemm_strided_batched", "TVmnka0xp1yqc2zsb", 3, shape_gemm,
                                                            reference_gemm},
                            routine_trtri = {"trtri", "UDn0x1", 3, shape_trtri, reference_trtri},
                            routine_potrf = {"potrf", "Un0x1", 3, shape_potrf, reference_potrf},
                            routine_potrs = {"potrs", "Unk0x1y", 3, shape_potrs, reference_potrs};

#define OPERAND(i) c->pointer[i], c->operand[i].ld
#define STRIDE(i) c->operand[i].stride
#define ALPHA c->pointer[BLAS_ALPHA]
#define BETA c->pointer[BLAS_BETA]
#define ARGUMENTS_asum c->n, OPERAND(0), c->pointer[1]
#define ARGUMENTS_axpy c->n, ALPHA, OPERAND(0), OPERAND(1)
#define ARGUMENTS_copy c->n, OPERAND(0), OPERAND(1)
#define ARGUMENTS_dot c->n, OPERAND(0), OPERAND(1), c->pointer[2]
#define ARGUMENTS_dotu ARGUMENTS_dot
#define ARGUMENTS_dotc ARGUMENTS_dot
#define ARGUMENTS_iamax ARGUMENTS_asum
#define ARGUMENTS_nrm2 ARGUMENTS_asum
#define ARGUMENTS_scal c->n, ALPHA, OPERAND(0)
#define ARGUMENTS_rscal ARGUMENTS_scal
#define ARGUMENTS_swap ARGUMENTS_copy
#define ARGUMENTS_gemv c->transa, c->m, c->n, ALPHA, OPERAND(0), OPERAND(1), BETA, OPERAND(2)
#define ARGUMENTS_ger c->m, c->n, ALPHA, OPERAND(0), OPERAND(1), OPERAND(2)
#define ARGUMENTS_geru ARGUMENTS_ger
#define ARGUMENTS_gerc ARGUMENTS_ger
#define ARGUMENTS_symv c->uplo, c->n, ALPHA, OPERAND(0), OPERAND(1), BETA, OPERAND(2)
#define ARGUMENTS_hemv ARGUMENTS_symv
#define ARGUMENTS_syr c->uplo, c->n, ALPHA, OPERAND(0), OPERAND(1)
#define ARGUMENTS_her ARGUMENTS_syr
#define ARGUMENTS_trmv c->uplo, c->transa, c->diag, c->n, OPERAND(0), OPERAND(1)
#define ARGUMENTS_trsv ARGUMENTS_trmv
#define ARGUMENTS_gemm c->transa, c->transb, c->m, c->n, c->k, ALPHA, OPERAND(0), OPERAND(1), BETA, OPERAND(2)
#define ARGUMENTS_hgemm ARGUMENTS_gemm
#define ARGUMENTS_symm c->side, c->uplo, c->m, c->n, ALPHA, OPERAND(0), OPERAND(1), BETA, OPERAND(2)
#define ARGUMENTS_hemm ARGUMENTS_symm
#define ARGUMENTS_syrk c->uplo, c->transa, c->n, c->k, ALPHA, OPERAND(0), BETA, OPERAND(1)
#define ARGUMENTS_herk ARGUMENTS_syrk
#define ARGUMENTS_trmm c->side, c->uplo, c->transa, c->diag, c->m, c->n, ALPHA, OPERAND(0), OPERAND(1)
#define ARGUMENTS_trsm ARGUMENTS_trmm
#define ARGUMENTS_geam c->transa, c->transb, c->m, c->n, ALPHA, OPERAND(0), BETA, OPERAND(1), OPERAND(2)
#define ARGUMENTS_gemm_batched ARGUMENTS_gemm, c->batch
#define ARGUMENTS_gemm_strided_batched                                                                                 \
    c->transa, c->transb, c->m, c->n, c->k, ALPHA, OPERAND(0), STRIDE(0), OPERAND(1), STRIDE(1), BETA, OPERAND(2),     \
        STRIDE(2), c->batch
#define ARGUMENTS_trtri c->uplo, c->diag, c->n, OPERAND(0), c->pointer[1]
#define ARGUMENTS_potrf c->uplo, c->n, OPERAND(0), c->pointer[1]
#define ARGUMENTS_potrs c->uplo, c->n, c->k, OPERAND(0), OPERAND(1)

#define CALL(function, routine, type)                                                                                  \
    static jstatus_t call_##function(jhandle_t *handle, const blas_case_t *c) {                                        \
        return jblas_##function(handle, ARGUMENTS_##routine);                                                          \
    }
BLAS_FUNCTIONS(CALL)

#define ROW(function, routine, type) {"jblas_" #function, &routine_##routine, JDATATYPE_##type, call_##function},
const blas_function_t blas_functions[BLAS_FUNCTION_COUNT] = {BLAS_FUNCTIONS(ROW)};

void blas_function_name(const void *function, char *name) {
    snprintf(name, JTEST_MAX_NAME + 1, "%s", ((const blas_function_t *)function)->name + strlen("jblas_"));
}
