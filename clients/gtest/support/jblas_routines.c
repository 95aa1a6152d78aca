/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The table of routines. What a routine's row says (rows.h) becomes its signature, the shapes of
 * its operands and its calls; what it computes is said here, a few lines apiece. How cases are
 * drawn and judged stands in jblas_case.c. */

#include "jblas_routines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Shapes ---- */

/* OPERAND_gemm_b: the place of gemm's B among its operands, and of a result behind them. */
#define OPERAND(routine, kind, ...) OPERAND_##kind(routine, __VA_ARGS__)
#define OPERAND_ENUM(routine, name, which)
#define OPERAND_LENGTH(routine, name)
#define OPERAND_SIZE(routine, name)
#define OPERAND_SCALAR(routine, name, of)
#define OPERAND_RESULT(routine, name, of) OPERAND_##routine##_##name,
#define OPERAND_NUMBER(routine, name, ...) OPERAND_##routine##_##name,
#define OPERAND_VECTOR(routine, name, ...) OPERAND_##routine##_##name,
#define OPERAND_MATRIX(routine, name, ...) OPERAND_##routine##_##name,
#define OPERAND_PACKED(routine, name, ...) OPERAND_##routine##_##name,
#define OPERAND_LEADING(routine, name, ...)
#define OPERAND_TYPED_VECTOR(routine, name, ...) OPERAND_##routine##_##name,
#define OPERAND_TYPED_MATRIX(routine, name, ...) OPERAND_##routine##_##name,
#define OPERANDS(routine, level)                                                                   \
    enum { JI_ARGUMENTS_##routine(OPERAND, routine) OPERANDS_##routine };
JI_ROUTINE_LIST(OPERANDS)
JI_LAPACK_DEVICE_LIST(OPERANDS)

typedef enum structure {
    STRUCTURE_GENERAL,
    STRUCTURE_SYMMETRIC,
    STRUCTURE_HERMITIAN,
    STRUCTURE_SKEW,
    STRUCTURE_TRIANGULAR,
    STRUCTURE_INVERTED,
    STRUCTURE_FACTOR,
    STRUCTURE_DEFINITE
} structure_t;

static void shape_result(blas_case_t *c, int which, int element, int64_t numbers, bool read) {
    c->operand[which] = (blas_operand_t){.kind = BLAS_RESULT,
                                         .element = element,
                                         .written = true,
                                         .unread = !read,
                                         .rows = numbers,
                                         .columns = 1,
                                         .ld = 1,
                                         .count = c->batch_count,
                                         .stride = 1};
}

/* One number, or some in a row. */
static void shape_number(blas_case_t *c, int which, int element, int64_t numbers, bool written,
                         bool read) {
    shape_result(c, which, element, numbers, read);
    c->operand[which].kind = BLAS_NUMBER;
    c->operand[which].written = written;
    c->operand[which].height = numbers;
}

static void shape_vector(blas_case_t *c, int which, int64_t n, bool written, bool read) {
    c->operand[which] = (blas_operand_t){.kind = BLAS_VECTOR,
                                         .element = (int)c->types[which],
                                         .written = written,
                                         .unread = !read,
                                         .rows = n,
                                         .columns = 1,
                                         .count = c->batch_count};
}

static void shape_matrix(blas_case_t *c, int which, int64_t rows, int64_t columns,
                         structure_t structure, bool written, bool read) {
    const bool strict = structure == STRUCTURE_SKEW || (blas_has(c, 'D') && c->diag == JBLAS_UNIT);
    c->operand[which] = (blas_operand_t){.kind = BLAS_MATRIX,
                                         .element = (int)c->types[which],
                                         .written = written,
                                         .unread = !read,
                                         .rows = rows,
                                         .columns = columns,
                                         .height = rows,
                                         .count = c->batch_count};
    blas_operand_t *o = &c->operand[which];
    if (structure != STRUCTURE_GENERAL)
        o->part = c->uplo == JBLAS_UPPER ? (strict ? BLAS_STRICTLY_UPPER : BLAS_UPPER)
                                         : (strict ? BLAS_STRICTLY_LOWER : BLAS_LOWER);
    if (structure == STRUCTURE_HERMITIAN || structure == STRUCTURE_DEFINITE)
        o->hermitian = wide_is_complex(o->element);
    if (structure == STRUCTURE_INVERTED || structure == STRUCTURE_FACTOR)
        o->dominance = BLAS_SOLVABLE;
    if (structure == STRUCTURE_DEFINITE)
        o->dominance = BLAS_POSITIVE_DEFINITE;
}

static void shape_later(blas_operand_t *o, int64_t rows, int64_t columns) {
    o->later.moves = true;
    o->later.rows = rows, o->later.columns = columns;
}

/* What SHAPE_MATRIX has made of the array becomes the matrix that it holds. */
static void shape_band(blas_operand_t *o, int64_t rows, int64_t below, int64_t above) {
    o->is_band = true;
    o->rows = rows;
    o->below = below, o->above = above;
}
#define AS_PLAIN(rows, columns)
#define AS_OPERATED(trans, m, n)
#define AS_SIDED(m, n)
#define AS_BAND(m, n, kl, ku) shape_band(o, args->m, args->kl, args->ku)
#define AS_TRIANGLE_BAND(n, k)                                                                     \
    shape_band(o, args->n, args->uplo == JBLAS_UPPER ? 0 : args->k,                                \
               args->uplo == JBLAS_UPPER ? args->k : 0)

#define SHAPE(routine, kind, ...) SHAPE_##kind(routine, __VA_ARGS__)
#define SHAPE_ENUM(routine, name, which)
#define SHAPE_LENGTH(routine, name)
#define SHAPE_SIZE(routine, name)
#define SHAPE_SCALAR(routine, name, of)
#define SHAPE_RESULT(routine, name, of)                                                            \
    shape_result(args, OPERAND_##routine##_##name, RESULT_##of, 1, false);
#define SHAPE_NUMBER(routine, name, of, access, read)                                              \
    shape_number(args, OPERAND_##routine##_##name, RESULT_##of, NUMBERS_##of, IS_##access,         \
                 IS_READ_##read);
#define SHAPE_VECTOR(routine, name, inc, access, count, read)                                      \
    shape_vector(args, OPERAND_##routine##_##name, JI_COUNT_##count, IS_##access, IS_READ_##read);
#define SHAPE_MATRIX(routine, name, ld, access, structure, shape, read)                            \
    shape_matrix(args, OPERAND_##routine##_##name, JI_ROWS_##shape, JI_COLUMNS_##shape,            \
                 STRUCTURE_##structure, IS_##access, IS_READ_##read);                              \
    {                                                                                              \
        blas_operand_t *o = &args->operand[OPERAND_##routine##_##name];                            \
        (void)o;                                                                                   \
        AS_##shape;                                                                                \
    }
#define SHAPE_PACKED(routine, name, access, structure, order, read)                                \
    shape_matrix(args, OPERAND_##routine##_##name, args->order, args->order,                       \
                 STRUCTURE_##structure, IS_##access, IS_READ_##read);                              \
    args->operand[OPERAND_##routine##_##name].kind = BLAS_PACKED;
#define SHAPE_LEADING(routine, ld, name, shape)                                                    \
    shape_later(&args->operand[OPERAND_##routine##_##name], JI_ROWS_##shape, JI_COLUMNS_##shape);
#define SHAPE_TYPED_VECTOR(routine, name, type, inc, ...)                                          \
    SHAPE_VECTOR(routine, name, inc, __VA_ARGS__)
#define SHAPE_TYPED_MATRIX(routine, name, type, ld, ...)                                           \
    SHAPE_MATRIX(routine, name, ld, __VA_ARGS__)
#define RESULT_ELEMENT (int)args->compute_type
#define RESULT_REAL wide_real_of((int)args->compute_type)
#define RESULT_PARAMETERS RESULT_ELEMENT
#define RESULT_WIDE JDATATYPE_F64
#define RESULT_INDEX WIDE_I64
#define NUMBERS_ELEMENT 1
#define NUMBERS_REAL 1
#define NUMBERS_PARAMETERS 5
#define IS_READ false
#define IS_WRITTEN true
#define IS_READ_ALWAYS true
#define IS_READ_NEVER false
#define IS_READ_ALPHA (args->alpha != 0)
#define IS_READ_BETA (args->beta != 0)
#define IS_READ_PRODUCT (args->alpha != 0 && args->k != 0)

#define SHAPES(routine, level)                                                                     \
    static void shape_##routine(blas_case_t *args) { JI_ARGUMENTS_##routine(SHAPE, routine) }
JI_ROUTINE_LIST(SHAPES)
JI_LAPACK_DEVICE_LIST(SHAPES)

/* ---- References ---- */

typedef enum { GENERAL, TRIANGULAR, SYMMETRIC, HERMITIAN, SKEW } form_t;

static const unsigned char *before(const blas_operand_t *o) {
    return o->before + (o->data - o->region);
}

/* The operand as it was before the call, widened; missing triangles filled in as the form says. */
static wide_matrix_t load(blas_case_t *c, int which, int64_t item, form_t form) {
    const blas_operand_t *o = &c->operand[which];
    wide_matrix_t a = wide_zeros(&c->arena, o->rows, o->columns);
    const bool strict = o->part == BLAS_STRICTLY_UPPER || o->part == BLAS_STRICTLY_LOWER;
    const bool upper = o->part == BLAS_UPPER || o->part == BLAS_STRICTLY_UPPER;
    a.real = !wide_is_complex(o->element);
    if (o->is_band)
        a.below = o->below, a.above = o->above;
    if (form == TRIANGULAR)
        *(upper ? &a.below : &a.above) = 0;
    else if (form != GENERAL) /* a triangle and its mirror image */
        *(upper ? &a.below : &a.above) = upper ? a.above : a.below;
    for (int64_t j = 0; j < o->columns; ++j)
        for (int64_t i = 0; i < o->rows; ++i) {
            if (!blas_is_part(o, i, j)) {
                if (form == TRIANGULAR && strict && i == j)
                    *wide_at(a, i, j) = 1;
                continue;
            }
            wide_t value = wide_get(before(o), o->element, blas_index(o, c->item + item, i, j));
            if (o->hermitian && i == j)
                value = __real__ value;
            *wide_at(a, i, j) = value;
            if ((form == SYMMETRIC || form == HERMITIAN || form == SKEW) && i != j) {
                if (form == HERMITIAN)
                    __imag__ value = -__imag__ value;
                if (form == SKEW)
                    value = -value;
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
static void want_product(blas_case_t *c, int which, int64_t item, wide_t alpha, wide_matrix_t a,
                         wide_matrix_t b, wide_t beta) {
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
/* |re| + |im| rounded as the type rounds it, so that ties are its ties. The first NaN is found
 * before everything. */
static void reference_iam(blas_case_t *c, double sign) {
    wide_matrix_t x = load(c, 0, 0, GENERAL);
    const bool narrow = wide_epsilon(c->operand[0].element) > 1e-10;
    double best = 0;
    int64_t place = 0;
    for (int64_t i = 0; i < x.rows && c->operand[0].ld > 0; ++i) {
        const double size = narrow ? (double)(float)wide_abs(x.e[i]) : (double)wide_abs(x.e[i]);
        if (place == 0 || (!isnan(best) && !(sign * size <= best)))
            best = sign * size, place = i + 1;
    }
    want_value(c, 1, place, 0);
}
static void reference_iamax(blas_case_t *c) { reference_iam(c, 1); }
static void reference_iamin(blas_case_t *c) { reference_iam(c, -1); }
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
/* How much coarser an operand is than what is computed in: with an increment of 0 it is rounded to
 * its own type after each step. */
static long double rounding(const blas_case_t *c, int which) {
    return fmaxl(wide_epsilon(c->operand[which].element) / wide_epsilon((int)c->compute_type), 1);
}
static void reference_axpy(blas_case_t *c) {
    want_product(c, 1, 0, c->alpha, load(c, 0, 0, GENERAL), one(c), 1);
    wide_matrix_t want = c->operand[1].want[0], y = scaled(c, 1, 0, 1);
    if (c->operand[1].ld != 0 || want.rows <= 0)
        return;
    for (int64_t i = 1; i < want.rows; ++i) /* all into one element */
        want.e[0] += want.e[i] - y.e[i], want.bound[0] += want.bound[i];
    want.bound[0] *= rounding(c, 1);
    for (int64_t i = 1; i < want.rows; ++i)
        want.e[i] = want.e[0], want.bound[i] = want.bound[0];
    c->depth = want.rows;
}
/* Each pair becomes H times it, one after the other where an increment is 0. */
static void rotate(blas_case_t *c, wide_t h11, wide_t h12, wide_t h21, wide_t h22) {
    wide_matrix_t x = scaled(c, 0, 0, 1), y = scaled(c, 1, 0, 1);
    for (int64_t i = 0; i < x.rows; ++i) {
        wide_t *a = element_of(c, x, 0, i), *b = element_of(c, y, 1, i), before = *a;
        long double *bound_a = &x.bound[a - x.e], *bound_b = &y.bound[b - y.e], largest = *bound_a;
        *a = h11 * before + h12 * *b, *bound_a = wide_abs(h11) * largest + wide_abs(h12) * *bound_b;
        *b = h21 * before + h22 * *b, *bound_b = wide_abs(h21) * largest + wide_abs(h22) * *bound_b;
    }
    for (int64_t i = 1; i < x.rows; ++i) { /* what was written last is in all elements */
        if (c->operand[0].ld == 0)
            x.e[i] = x.e[0], x.bound[i] = x.bound[0];
        if (c->operand[1].ld == 0)
            y.e[i] = y.e[0], y.bound[i] = y.bound[0];
    }
    const bool recurs = c->operand[0].ld == 0 || c->operand[1].ld == 0;
    const long double steps = recurs ? fmaxl(rounding(c, 0), rounding(c, 1)) : 1;
    for (int64_t i = 0; i < x.rows; ++i)
        x.bound[i] *= steps, y.bound[i] *= steps;
    c->operand[0].want[0] = x, c->operand[1].want[0] = y;
    c->depth = recurs ? 2 * x.rows : 2;
}
static void reference_rot(blas_case_t *c) {
    wide_t conjugate = c->s;
    __imag__ conjugate = -__imag__ c->s;
    rotate(c, __real__ c->c, c->s, -conjugate, __real__ c->c);
}
static void reference_rotm(blas_case_t *c) {
    const int type = (int)c->function->type;
    const wide_t flag = wide_get(c->scalar, type, 0);
    wide_t h[4]; /* h11, h21, h12, h22, as they stand behind the flag */
    for (int i = 0; i < 4; ++i)
        h[i] = wide_get(c->scalar, type, 1 + i);
    if (flag == -2)
        rotate(c, 1, 0, 0, 1);
    else if (flag == -1)
        rotate(c, h[0], h[2], h[1], h[3]);
    else if (flag == 0)
        rotate(c, 1, h[2], h[1], 1);
    else
        rotate(c, h[0], 1, -1, h[3]);
}
/* With an increment of 0 each step sees what the one before it wrote. */
static void reference_axpby(blas_case_t *c) {
    wide_matrix_t x = load(c, 0, 0, GENERAL), y = scaled(c, 1, 0, 1);
    if (c->beta == 0) /* not read: NaN */
        y = wide_zeros(&c->arena, x.rows, 1);
    for (int64_t i = 0; i < x.rows; ++i) {
        wide_t *to = element_of(c, y, 1, i);
        long double *bound = &y.bound[to - y.e];
        *bound = wide_abs(c->beta) * *bound;
        *to = c->beta == 0 ? 0 : c->beta * *to;
        if (c->alpha != 0)
            *to += c->alpha * x.e[i], *bound += wide_abs(c->alpha) * wide_abs(x.e[i]);
    }
    for (int64_t i = 1; i < y.rows && c->operand[1].ld == 0; ++i)
        y.e[i] = y.e[0], y.bound[i] = y.bound[0];
    c->operand[1].want[0] = y;
    c->depth = c->operand[1].ld == 0 ? 2 * y.rows : 2;
}
static void dot(blas_case_t *c, jblas_operation_t operation) {
    wide_matrix_t want = wide_zeros(&c->arena, 1, 1);
    wide_multiply_add(1, operate(c, load(c, 0, 0, GENERAL), operation), load(c, 1, 0, GENERAL),
                      want);
    c->operand[2].want[0] = want;
    c->depth = c->n;
}
/* And dsdot, which has no alpha. */
static void reference_sdsdot(blas_case_t *c) {
    dot(c, JBLAS_TRANSPOSE);
    wide_matrix_t want = c->operand[2].want[0];
    if (blas_has(c, 'a'))
        *want.e += c->alpha, *want.bound += wide_abs(c->alpha);
}
/* The number of an operand that is one, before the call; and what it should be. */
static long double number(blas_case_t *c, int which) {
    return __real__ load(c, which, 0, GENERAL).e[0];
}
static void want_number(blas_case_t *c, int which, wide_t value, long double bound) {
    wide_matrix_t want = wide_zeros(&c->arena, 1, 1);
    *want.e = value, *want.bound = bound;
    c->operand[which].want[0] = want;
}
/* Of numbers that are not 0. */
static void reference_rotg(blas_case_t *c) {
    const wide_t a = load(c, 0, 0, GENERAL).e[0], b = load(c, 1, 0, GENERAL).e[0];
    const long double size_a = hypotl(__real__ a, __imag__ a),
                      size_b = hypotl(__real__ b, __imag__ b);
    const long double h = hypotl(size_a, size_b);
    const bool complex = wide_is_complex(c->operand[0].element);
    wide_t conjugate = b, sign = a / size_a;
    __imag__ conjugate = -__imag__ b;
    if (!complex)
        sign = __real__(size_a > size_b ? a : b) > 0 ? 1 : -1;
    const wide_t cosine = complex ? size_a / h : a / (sign * h);
    const wide_t sine = complex ? sign * conjugate / h : b / (sign * h);

    want_number(c, 0, sign * h, h);
    if (complex)
        want_number(c, 1, b, 0);
    else if (size_a > size_b)
        want_number(c, 1, sine, wide_abs(sine));
    else
        want_number(c, 1, 1 / cosine, wide_abs(1 / cosine));
    want_number(c, 2, cosine, wide_abs(cosine));
    want_number(c, 3, sine, size_b / h);
    c->depth = 1;
}
/* Of numbers near 1, which need not be rescaled. */
static void reference_rotmg(blas_case_t *c) {
    const long double d1 = number(c, 0), d2 = number(c, 1), x1 = number(c, 2);
    const long double y1 = number(c, 3), q1 = d1 * x1 * x1, q2 = d2 * y1 * y1;
    const bool leads = fabsl(q1) > fabsl(q2);
    const long double u = q2 == 0 ? 1 : leads ? 1 + q2 / q1 : 1 + q1 / q2;
    const long double flag = d1 < 0 ? -1 : q2 == 0 ? -2 : leads ? 0 : q2 < 0 ? -1 : 1;
    const long double worse = 1 + 1 / fabsl(u); /* what cancels in u is lost in the quotients */
    want_number(c, 0, flag == -2 ? d1 : flag == -1 ? 0 : flag == 0 ? d1 / u : d2 / u, 0);
    want_number(c, 1, flag == -2 ? d2 : flag == -1 ? 0 : flag == 0 ? d2 / u : d1 / u, 0);
    want_number(c, 2, flag == -2 ? x1 : flag == -1 ? 0 : flag == 0 ? x1 * u : y1 * u, 0);
    for (int which = 0; which < 3 && flag >= 0; ++which)
        c->operand[which].want[0].bound[0] = worse * wide_abs(c->operand[which].want[0].e[0]);

    wide_matrix_t param = load(c, 4, 0, GENERAL); /* what is implied stays */
    param.e[0] = flag;
    if (flag == 0)
        param.e[2] = -y1 / x1, param.e[3] = d2 * y1 / (d1 * x1);
    if (flag == 1)
        param.e[1] = d1 * x1 / (d2 * y1), param.e[4] = x1 / y1;
    for (int i = 1; i < 5; ++i) {
        if (flag == -1)
            param.e[i] = 0;
        const bool is_computed = flag == 0 ? i == 2 || i == 3 : flag == 1 && (i == 1 || i == 4);
        param.bound[i] = is_computed ? wide_abs(param.e[i]) : 0;
    }
    c->operand[4].want[0] = param;
    c->depth = 1;
}
static void reference_dot(blas_case_t *c) { dot(c, JBLAS_TRANSPOSE); }
static void reference_dotc(blas_case_t *c) { dot(c, JBLAS_CONJUGATE_TRANSPOSE); }
static void reference_gemv(blas_case_t *c) {
    if (c->m == 0 || c->n == 0) /* as in BLAS: y is not scaled */
        c->operand[2].written = false;
    want_product(c, 2, 0, c->alpha, operate(c, load(c, 0, 0, GENERAL), c->transa),
                 load(c, 1, 0, GENERAL), c->beta);
}
static void ger(blas_case_t *c, jblas_operation_t operation) {
    want_product(c, 2, 0, c->alpha, load(c, 0, 0, GENERAL),
                 operate(c, load(c, 1, 0, GENERAL), operation), 1);
}
static void reference_ger(blas_case_t *c) { ger(c, JBLAS_TRANSPOSE); }
static void reference_gerc(blas_case_t *c) { ger(c, JBLAS_CONJUGATE_TRANSPOSE); }
static void reference_symv(blas_case_t *c) {
    want_product(c, 2, 0, c->alpha, load(c, 0, 0, SYMMETRIC), load(c, 1, 0, GENERAL), c->beta);
}
/* Nothing is multiplied with the diagonal: below it, and above it. */
static void reference_skewsymv(blas_case_t *c) {
    wide_matrix_t lower = load(c, 0, 0, SKEW), upper = lower, x = load(c, 1, 0, GENERAL);
    lower.above = upper.below = -1;
    want_product(c, 2, 0, c->alpha, lower, x, c->beta);
    if (c->alpha != 0)
        wide_multiply_add(c->alpha, upper, x, c->operand[2].want[0]);
}
static void reference_hemv(blas_case_t *c) {
    want_product(c, 2, 0, c->alpha, load(c, 0, 0, HERMITIAN), load(c, 1, 0, GENERAL), c->beta);
}
static void reference_syr(blas_case_t *c) {
    wide_matrix_t x = load(c, 0, 0, GENERAL);
    want_product(
        c, 1, 0, c->alpha, x,
        operate(c, x, c->operand[1].hermitian ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE), 1);
    c->quick = c->alpha == 0;
}
/* want of operand 2 = alpha A B^o + second B A^o + beta of what it was, with o the transpose, or
 * the conjugate one where it is Hermitian. */
static void want_rank_2_by(blas_case_t *c, wide_t alpha, wide_t second, wide_matrix_t a,
                           wide_matrix_t b, wide_t beta) {
    const jblas_operation_t other =
        c->operand[2].hermitian ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE;
    want_product(c, 2, 0, alpha, a, operate(c, b, other), beta);
    if (alpha != 0)
        wide_multiply_add(second, b, operate(c, a, other), c->operand[2].want[0]);
    c->depth = 2 * a.columns;
}
/* The second alpha is the conjugate one where it is Hermitian. */
static void want_rank_2(blas_case_t *c, wide_matrix_t a, wide_matrix_t b, wide_t beta) {
    wide_t second = c->alpha;
    if (c->operand[2].hermitian)
        __imag__ second = -__imag__ second;
    want_rank_2_by(c, c->alpha, second, a, b, beta);
}
static void reference_syr2(blas_case_t *c) {
    want_rank_2(c, load(c, 0, 0, GENERAL), load(c, 1, 0, GENERAL), 1);
    c->quick = c->alpha == 0;
}
static void reference_skewsyr2(blas_case_t *c) {
    want_rank_2_by(c, -c->alpha, c->alpha, load(c, 0, 0, GENERAL), load(c, 1, 0, GENERAL), 1);
}
static void reference_trmv(blas_case_t *c) {
    want_product(c, 1, 0, 1, operate(c, load(c, 0, 0, TRIANGULAR), c->transa),
                 load(c, 1, 0, GENERAL), 0);
}
static void reference_trsv(blas_case_t *c) {
    wide_matrix_t x = scaled(c, 1, 0, 1);
    x.real = !wide_is_complex(c->operand[1].element);
    wide_solve(operate(c, load(c, 0, 0, TRIANGULAR), c->transa), x);
    c->operand[1].want[0] = x;
    c->depth = c->n;
}
static void reference_gemm(blas_case_t *c) {
    want_product(c, 2, 0, c->alpha, operate(c, load(c, 0, 0, GENERAL), c->transa),
                 operate(c, load(c, 1, 0, GENERAL), c->transb), c->beta);
}
static void symm(blas_case_t *c, form_t form) {
    wide_matrix_t a = load(c, 0, 0, form), b = load(c, 1, 0, GENERAL);
    want_product(c, 2, 0, c->alpha, c->side == JBLAS_LEFT ? a : b, c->side == JBLAS_LEFT ? b : a,
                 c->beta);
}
static void reference_symm(blas_case_t *c) { symm(c, SYMMETRIC); }
static void reference_hemm(blas_case_t *c) { symm(c, HERMITIAN); }
static void reference_skewsymm(blas_case_t *c) { symm(c, SKEW); }
static void reference_syrk(blas_case_t *c) {
    const jblas_operation_t other =
        c->operand[1].hermitian ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE;
    wide_matrix_t a = operate(c, load(c, 0, 0, GENERAL), c->transa);
    want_product(c, 1, 0, c->alpha, a, operate(c, a, other), c->beta);
    c->quick = c->beta == 1 && (c->alpha == 0 || c->k == 0);
}
static void reference_syr2k(blas_case_t *c) {
    want_rank_2(c, operate(c, load(c, 0, 0, GENERAL), c->trans),
                operate(c, load(c, 1, 0, GENERAL), c->trans), c->beta);
    c->quick = c->beta == 1 && (c->alpha == 0 || c->k == 0);
}
static void reference_skewsyr2k(blas_case_t *c) {
    want_rank_2_by(c, -c->alpha, c->alpha, operate(c, load(c, 0, 0, GENERAL), c->trans),
                   operate(c, load(c, 1, 0, GENERAL), c->trans), c->beta);
}
/* For any A and B; what should be Hermitian is taken to be. */
static void reference_syrkx(blas_case_t *c) {
    const bool hermitian = c->operand[2].hermitian;
    const jblas_operation_t other = hermitian ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_TRANSPOSE;
    want_product(c, 2, 0, c->alpha, operate(c, load(c, 0, 0, GENERAL), c->trans),
                 operate(c, operate(c, load(c, 1, 0, GENERAL), c->trans), other), c->beta);
    for (int64_t i = 0; i < c->n && hermitian; ++i)
        __imag__ *wide_at(c->operand[2].want[0], i, i) = 0;
    c->quick = c->beta == 1 && (c->alpha == 0 || c->k == 0);
}
static void reference_trmm(blas_case_t *c) {
    if (c->alpha == 0) { /* A and B are not read */
        want_product(c, 1, 0, 0, one(c), one(c), 0);
        return;
    }
    wide_matrix_t a = operate(c, load(c, 0, 0, TRIANGULAR), c->transa), b = load(c, 1, 0, GENERAL);
    want_product(c, 1, 0, c->alpha, c->side == JBLAS_LEFT ? a : b, c->side == JBLAS_LEFT ? b : a,
                 0);
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
/* Of a product of two numbers there is one rounding, or a few where they are complex. */
static void reference_dgmm(blas_case_t *c) {
    wide_matrix_t a = load(c, 0, 0, GENERAL), x = load(c, 1, 0, GENERAL);
    for (int64_t j = 0; j < a.columns; ++j)
        for (int64_t i = 0; i < a.rows; ++i) {
            const wide_t by = x.e[c->side == JBLAS_LEFT ? i : j];
            *wide_at(a, i, j) *= by;
            *wide_bound_at(a, i, j) = wide_abs(*wide_at(a, i, j));
        }
    c->operand[2].want[0] = a;
    c->depth = 1;
}
static void reference_imatcopy(blas_case_t *c) {
    const blas_operand_t *a = &c->operand[0];
    wide_matrix_t want = wide_zeros(&c->arena, a->later.rows, a->later.columns);
    if (c->alpha != 0)
        wide_add(c->alpha, operate(c, load(c, 0, 0, GENERAL), c->trans), want);
    c->operand[0].want[0] = want;
    c->depth = 1;
}
static void reference_trttp(blas_case_t *c) {
    c->operand[1].want[0] = load(c, 0, 0, GENERAL);
    c->depth = 0;
}
static void reference_omatcopy(blas_case_t *c) {
    const blas_operand_t *b = &c->operand[1];
    wide_matrix_t want = wide_zeros(&c->arena, b->rows, b->columns);
    if (c->alpha != 0)
        wide_add(c->alpha, operate(c, load(c, 0, 0, GENERAL), c->trans), want);
    c->operand[1].want[0] = want;
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

/* ---- The table ---- */

#define reference_dotu reference_dot
#define reference_dsdot reference_sdsdot
#define reference_csscal reference_scal
#define reference_zdscal reference_scal
#define reference_geru reference_ger
#define reference_her reference_syr
#define reference_herk reference_syrk
#define reference_her2 reference_syr2
#define reference_gbmv reference_gemv
#define reference_sbmv reference_symv
#define reference_hbmv reference_hemv
#define reference_spmv reference_symv
#define reference_hpmv reference_hemv
#define reference_spr reference_syr
#define reference_hpr reference_syr
#define reference_spr2 reference_syr2
#define reference_hpr2 reference_syr2
#define reference_tbmv reference_trmv
#define reference_tbsv reference_trsv
#define reference_tpmv reference_trmv
#define reference_tpsv reference_trsv
#define reference_her2k reference_syr2k
#define reference_tpttr reference_trttp
#define reference_gemmt reference_gemm
#define reference_gemmtr reference_gemm
#define reference_symv_complex reference_symv
#define reference_syr_complex reference_syr
#define reference_syr2_complex reference_syr2
#define reference_gemm3m reference_gemm
#define reference_herkx reference_syrkx
#define reference_gemm_ex reference_gemm
#define reference_axpy_ex reference_axpy
#define reference_dot_ex reference_dot
#define reference_dotc_ex reference_dotc
#define reference_nrm2_ex reference_nrm2
#define reference_asum_ex reference_asum
#define reference_scal_ex reference_scal
#define reference_rot_ex reference_rot
#define reference_trsm_ex reference_trsm

#define LETTER(routine, kind, ...) LETTER_##kind(routine, __VA_ARGS__)
#define LETTER_ENUM(routine, name, which) LETTER_##name,
#define LETTER_LENGTH(routine, name) LETTER_##name,
#define LETTER_SIZE(routine, name) LETTER_##name,
#define LETTER_SCALAR(routine, name, of) LETTER_##name##_##of,
#define LETTER_RESULT(routine, name, of) '0' + OPERAND_##routine##_##name,
#define LETTER_NUMBER(routine, name, ...) '0' + OPERAND_##routine##_##name,
#define LETTER_VECTOR(routine, name, ...)                                                          \
    '0' + OPERAND_##routine##_##name, 'x' + OPERAND_##routine##_##name,
#define LETTER_MATRIX(routine, name, ...) LETTER_VECTOR(routine, name, )
#define LETTER_STRIDE(routine, name)                                                               \
    OPERAND_##routine##_##name < 2 ? 'p' + OPERAND_##routine##_##name                              \
                                   : 's' - 2 + OPERAND_##routine##_##name,
#define LETTER_NUMBER_STRIDE(routine, name) LETTER_STRIDE(routine, name)
#define LETTER_PACKED(routine, name, ...) LETTER_RESULT(routine, name, )
#define LETTER_LEADING(routine, name, ...) 'Y',
#define LETTER_TYPED_VECTOR(routine, name, ...)                                                    \
    '0' + OPERAND_##routine##_##name, 'F' + OPERAND_##routine##_##name,                            \
        'x' + OPERAND_##routine##_##name,
#define LETTER_TYPED_MATRIX(routine, name, ...) LETTER_TYPED_VECTOR(routine, name, )
#define LETTER_COUNT(routine, name) 'b',
#define LETTER_side 'S'
#define LETTER_uplo 'U'
#define LETTER_diag 'D'
#define LETTER_trans 'T'
#define LETTER_transa 'T'
#define LETTER_transb 'V'
#define LETTER_compute_type 'E'
#define LETTER_cs_type 'R'
#define LETTER_m 'm'
#define LETTER_n 'n'
#define LETTER_k 'k'
#define LETTER_nrhs 'k'
#define LETTER_kl 'k'
#define LETTER_ku 'l'
#define LETTER_alpha_ELEMENT 'a'
#define LETTER_alpha_SUM 'a'
#define LETTER_alpha_REAL 'A'
#define LETTER_c_REAL 'A'
#define LETTER_s_REAL 'C'
#define LETTER_c_CS 'a'
#define LETTER_s_CS 'c'
#define LETTER_param_PARAMETERS 'P'
#define LETTER_beta_ELEMENT 'c'
#define LETTER_beta_SUM 'c'
#define LETTER_beta_REAL 'C'

/* The last of a row says what all of them are. */
#define OPERATIONS(routine, kind, ...) OPERATIONS_##kind(__VA_ARGS__)
#define OPERATIONS_ENUM(name, which) OPERATIONS_##which
#define OPERATIONS_LENGTH(...)
#define OPERATIONS_SIZE(...)
#define OPERATIONS_SCALAR(...)
#define OPERATIONS_RESULT(...)
#define OPERATIONS_NUMBER(...)
#define OPERATIONS_VECTOR(...)
#define OPERATIONS_MATRIX(...)
#define OPERATIONS_PACKED(...)
#define OPERATIONS_LEADING(...)
#define OPERATIONS_TYPED_VECTOR(...)
#define OPERATIONS_TYPED_MATRIX(...)
#define OPERATIONS_SIDE
#define OPERATIONS_UPLO
#define OPERATIONS_DIAGONAL
#define OPERATIONS_DATATYPE
#define OPERATIONS_OPERATION | BLAS_OPERATIONS
#define OPERATIONS_ANY_OPERATION | BLAS_ANY_OPERATION
#define OPERATIONS_SYMMETRIC_OPERATION | BLAS_SYMMETRIC_OPERATION
#define OPERATIONS_HERMITIAN_OPERATION | BLAS_HERMITIAN_OPERATION

#define ROUTINE(routine, level)                                                                    \
    ROUTINE_OF(PLAIN, routine, level)                                                              \
    ROUTINE_OF(POINTERS, routine, level) ROUTINE_OF(STRIDED, routine, level)
#define ROUTINE_OF(form, routine, level)                                                           \
    static const char JI_NAME_OF(form, signature_##routine)[] = {                                  \
        JI_ARGUMENTS_OF(form, routine, LETTER, routine) 0};                                        \
    static const blas_routine_t JI_NAME_OF(form, routine_##routine) = {                            \
        TEXT(JI_NAME_OF(form, routine)),                                                           \
        JI_NAME_OF(form, signature_##routine),                                                     \
        (level) + !(level),                                                                        \
        (blas_operations_t)(0 JI_ARGUMENTS_##routine(OPERATIONS, routine)),                        \
        shape_##routine,                                                                           \
        reference_##routine};
#define TEXT(name) TEXT_OF(name)
#define TEXT_OF(name) #name
JI_ROUTINE_LIST(ROUTINE)
JI_LAPACK_DEVICE_LIST(ROUTINE)

#define PASS(routine, kind, ...) PASS_##kind(routine, __VA_ARGS__)
#define PASS_ENUM(routine, name, which) , c->name
#define PASS_LENGTH(routine, name) , c->name
#define PASS_SIZE(routine, name) , c->name
#define PASS_SCALAR(routine, name, of) , c->pointer[SCALAR_##name]
#define PASS_RESULT(routine, name, of) , c->pointer[OPERAND_##routine##_##name]
#define PASS_NUMBER(routine, name, ...) PASS_RESULT(routine, name, )
#define PASS_VECTOR(routine, name, ...)                                                            \
    PASS_RESULT(routine, name, ), c->operand[OPERAND_##routine##_##name].ld
#define PASS_MATRIX(routine, name, ...) PASS_VECTOR(routine, name, )
#define PASS_PACKED(routine, name, ...) PASS_RESULT(routine, name, )
#define PASS_LEADING(routine, leading, name, shape)                                                \
    , c->operand[OPERAND_##routine##_##name].later.ld
#define PASS_TYPED_VECTOR(routine, name, ...)                                                      \
    PASS_RESULT(routine, name, ), c->types[OPERAND_##routine##_##name],                            \
        c->operand[OPERAND_##routine##_##name].ld
#define PASS_TYPED_MATRIX(routine, name, ...) PASS_TYPED_VECTOR(routine, name, )
#define PASS_STRIDE(routine, name) , c->operand[OPERAND_##routine##_##name].stride
#define PASS_NUMBER_STRIDE(routine, name) PASS_STRIDE(routine, name)
#define PASS_COUNT(routine, name) , c->name
#define SCALAR_alpha BLAS_ALPHA
#define SCALAR_beta BLAS_BETA
#define SCALAR_c BLAS_ALPHA
#define SCALAR_s BLAS_BETA
#define SCALAR_param BLAS_ALPHA

#define CALL(form, routine, t, name)                                                               \
    static jstatus_t JI_NAME_OF(form, call_##name)(jhandle_t * handle, const blas_case_t *c) {     \
        return JI_PUBLIC(form, name)(handle JI_ARGUMENTS_OF(form, routine, PASS, routine));        \
    }
#define CALLS(routine, level)                                                                      \
    JI_FUNCTIONS_##routine(CALL, PLAIN) JI_FUNCTIONS_##routine(CALL, POINTERS)                     \
        JI_FUNCTIONS_##routine(CALL, STRIDED)
#define FUNCTION(form, routine, t, name)                                                           \
    {TEXT(JI_PUBLIC(form, name)), &JI_NAME_OF(form, routine_##routine), JI_TYPE_##t,               \
     JI_NAME_OF(form, call_##name)},
#define PLAIN_FUNCTIONS(routine, level) JI_FUNCTIONS_##routine(FUNCTION, PLAIN)
#define STRIDED_FUNCTIONS(routine, level) JI_FUNCTIONS_##routine(FUNCTION, STRIDED)
#define POINTERS_FUNCTIONS(routine, level) JI_FUNCTIONS_##routine(FUNCTION, POINTERS)
#define ALL_FUNCTIONS(LIST) LIST(PLAIN_FUNCTIONS) LIST(STRIDED_FUNCTIONS) LIST(POINTERS_FUNCTIONS)

/* In the order of BLAS_INDEX_. */
JI_LAPACK_DEVICE_LIST(CALLS)
#undef JI_PREFIX
#define JI_PREFIX jblas_
JI_ROUTINE_LIST(CALLS)
const blas_function_t blas_functions[BLAS_FUNCTION_COUNT] = {
    ALL_FUNCTIONS(JI_ROUTINE_LIST)
#undef JI_PREFIX
#define JI_PREFIX jlapack_
        ALL_FUNCTIONS(JI_LAPACK_DEVICE_LIST)};

void blas_function_name(const void *function, char *name) {
    const char *const whole = ((const blas_function_t *)function)->name;
    snprintf(name, JTEST_MAX_NAME + 1, "%s", strchr(whole, '_') + 1);
}
