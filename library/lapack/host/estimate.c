/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Higham's estimate of the 1-norm of a matrix B that is known by products with it and with its
 * adjoint: a search for the column with the largest sum (Hager 1984; Higham 1988, ACM TOMS 14,
 * algorithm 4.1, and its complex form). It is a lower bound, mostly exact, by four or five
 * products.
 *
 *     x = B (1 ... 1), of which the signs, by B^H, say in which column to look next; that column;
 *     its signs; and so on until signs repeat or the sum no longer grows, five columns at most.
 *     Last comes a vector of alternating signs that grows, against matrices on which signs cancel.
 *
 * Here B is an inverse by its factors, and may be as large as the numbers' range, or larger: of a
 * matrix that is nearly singular. So a product is x 2^exponent, and a solve that goes beyond what
 * is safe is done again by a loop that scales all of x, by powers of two, before a step that could
 * overflow. The first try is the primitive, and nearly always enough: whatever overflows in it is
 * still infinite or NaN at its end. */

#include "lapack/estimate.h"
#include "lapack/number.h"

#include <math.h>

typedef enum outcome { DONE, SINGULAR, NOT_A_NUMBER } outcome_t;

/* Parts are kept below 2^this: a sum of very many is then a number still. */
static int safe_exponent(jdatatype_t type) { return ji_real_of(type) == JDATATYPE_F32 ? 100 : 900; }

/* ---- Elements ---- */

static ji_number_t get(jdatatype_t type, const void *x, int64_t i) {
    return ji_number_load(type, ji_at(type, x, i, 0, 0));
}

static void put(jdatatype_t type, void *x, int64_t i, ji_number_t value) {
    ji_number_store(type, ji_at(type, x, i, 0, 0), value.re, value.im);
}

static double larger_part(ji_number_t value) {
    const double re = fabs(value.re), im = fabs(value.im);
    return isnan(re) || re > im ? re : im;
}

static ji_number_t scaled(ji_number_t value, int exponent) {
    return (ji_number_t){ldexp(value.re, exponent), ldexp(value.im, exponent)};
}

/* The e of a number in [2^(e-1), 2^e). */
static int exponent_of(double number) {
    int exponent = 0;
    (void)frexp(number, &exponent);
    return exponent;
}

double ji_largest_part(jdatatype_t type, int64_t n, const void *x) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        const double part = larger_part(get(type, x, i));
        if (!(part <= largest || isnan(largest)))
            largest = part;
    }
    return largest;
}

/* ---- Solves ---- */

/* x 2^*exponent stays what it is; parts are 2^by times smaller, if that is more than 0. */
static void shrink(const ji_inverse_t *b, void *x, int by, int *exponent) {
    if (by <= 0)
        return;
    for (int64_t i = 0; i < b->n; i++)
        put(b->head.type, x, i, scaled(get(b->head.type, x, i), -by));
    *exponent += by;
}

/* a / b, of which the exponents are those of the larger parts. */
static ji_number_t quotient(ji_number_t a, int of_a, ji_number_t b, int of_b) {
    const ji_number_t x = scaled(a, -of_a), y = scaled(b, -of_b);
    const double square = y.re * y.re + y.im * y.im;
    return scaled(
        (ji_number_t){(x.re * y.re + x.im * y.im) / square, (x.im * y.re - x.re * y.im) / square},
        of_a - of_b);
}

/* Element (i, j) of the triangle, or of its adjoint. */
static ji_number_t triangle_at(const ji_inverse_t *b, bool adjoint, int64_t i, int64_t j) {
    const jdatatype_t type = b->head.type;
    ji_number_t value =
        get(type, adjoint ? ji_at(type, b->a, j, i, b->lda) : ji_at(type, b->a, i, j, b->lda), 0);
    if (adjoint)
        value.im = -value.im;
    return value;
}

/* x loses q times column j of rows [first, end). */
static outcome_t careful_update(const ji_inverse_t *b, bool adjoint, int64_t first, int64_t end,
                                int64_t j, void *x, int *exponent) {
    const jdatatype_t type = b->head.type;
    const int safe = safe_exponent(type);
    double largest = 0;
    for (int64_t i = first; i < end; i++) {
        const double part = larger_part(triangle_at(b, adjoint, i, j));
        if (!(part <= largest || isnan(largest)))
            largest = part;
    }
    if (!isfinite(largest))
        return NOT_A_NUMBER;

    /* A part of a product is less than 2^(both exponents + 1). */
    ji_number_t q = get(type, x, j);
    shrink(b, x, exponent_of(larger_part(q)) + exponent_of(largest) + 2 - safe, exponent);
    q = get(type, x, j);
    double after = 0;
    for (int64_t i = first; i < end; i++) {
        const ji_number_t t = triangle_at(b, adjoint, i, j);
        ji_number_t own = get(type, x, i);
        own.re -= q.re * t.re - q.im * t.im;
        own.im -= q.re * t.im + q.im * t.re;
        put(type, x, i, own);
        after = fmax(after, larger_part(own));
    }
    shrink(b, x, exponent_of(after) + 1 - safe, exponent);
    return DONE;
}

/* x = inv(op(T)) x by columns of op(T), with every part below 2^safe. */
static outcome_t solve_carefully(const ji_inverse_t *b, const ji_step_t *step, bool adjoint,
                                 void *x, int *exponent) {
    const jdatatype_t type = b->head.type;
    const int safe = safe_exponent(type);
    const bool forward = (step->uplo == JBLAS_LOWER) != adjoint;
    const double largest = ji_largest_part(type, b->n, x);
    if (!isfinite(largest))
        return NOT_A_NUMBER;
    shrink(b, x, exponent_of(largest) + 1 - safe, exponent);

    for (int64_t turn = 0; turn < b->n; turn++) {
        const int64_t j = forward ? turn : b->n - 1 - turn;
        ji_number_t own = get(type, x, j);
        if (larger_part(own) == 0)
            continue;
        if (step->diag == JBLAS_NON_UNIT) { /* neither 0 nor infinite: look_at_diagonals() */
            const ji_number_t pivot = triangle_at(b, adjoint, j, j);
            const int by = exponent_of(larger_part(pivot));
            shrink(b, x, exponent_of(larger_part(own)) - by + 3 - safe, exponent);
            own = get(type, x, j);
            put(type, x, j, quotient(own, exponent_of(larger_part(own)), pivot, by));
        }
        const outcome_t outcome = forward ? careful_update(b, adjoint, j + 1, b->n, j, x, exponent)
                                          : careful_update(b, adjoint, 0, j, j, x, exponent);
        if (outcome != DONE)
            return outcome;
    }
    return DONE;
}

static void copy(const ji_inverse_t *b, const void *from, void *to) {
    memcpy(to, from, (size_t)b->n * ji_sizeof(b->head.type));
}

static void *vector_of(const ji_inverse_t *b, int number) {
    return (char *)b->vectors + ji_vectors_bytes(b->head.type, b->n, number);
}

static outcome_t solve(const ji_inverse_t *b, const ji_step_t *step, bool adjoint, void *x,
                       int *exponent) {
    const jdatatype_t type = b->head.type;
    ji_matvec_t triangle = {.head = b->head,
                            .uplo = step->uplo,
                            .trans = adjoint ? JBLAS_CONJUGATE_TRANSPOSE : JBLAS_NO_TRANSPOSE,
                            .diag = step->diag,
                            .n = b->n,
                            .a = b->a,
                            .lda = b->lda,
                            .x = x,
                            .incx = 1};
    void *const kept = vector_of(b, 1);
    copy(b, x, kept);
    ji_host_primitives[JI_TRSV](&triangle);
    if (ji_largest_part(type, b->n, x) < ldexp(1, safe_exponent(type) - 1))
        return DONE;

    copy(b, kept, x);
    return solve_carefully(b, step, adjoint, x, exponent);
}

/* ---- Products with B ---- */

static outcome_t weigh(const ji_inverse_t *b, void *x, int *exponent) {
    const jdatatype_t type = b->head.type, real = ji_real_of(type);
    const double largest = ji_largest_part(real, b->n, b->weights);
    if (!isfinite(largest))
        return NOT_A_NUMBER;
    shrink(b, x,
           exponent_of(ji_largest_part(type, b->n, x)) + exponent_of(largest) + 1 -
               safe_exponent(type),
           exponent);
    for (int64_t i = 0; i < b->n; i++) {
        const double weight = ji_real_at(real, ji_at(real, b->weights, i, 0, 0), 0);
        const ji_number_t own = get(type, x, i);
        put(type, x, i, (ji_number_t){weight * own.re, weight * own.im});
    }
    return DONE;
}

/* x 2^*exponent = B x, or B^H x. */
static outcome_t multiply(const ji_inverse_t *b, bool adjoint, void *x, int *exponent) {
    const bool turned = adjoint != b->adjoint;
    outcome_t outcome = DONE;
    *exponent = 0;

    if (b->weights != NULL && adjoint)
        outcome = weigh(b, x, exponent);
    if (b->ipiv != NULL && !turned)
        ji_exchange(b->head.type, x, b->n, 1, b->ipiv, 0, b->n, false);
    for (int s = 0; s < b->steps && outcome == DONE; s++) {
        const ji_step_t *step = &b->step[turned ? b->steps - 1 - s : s];
        outcome = solve(b, step, step->adjoint != turned, x, exponent);
    }
    if (b->ipiv != NULL && turned)
        ji_exchange(b->head.type, x, b->n, 1, b->ipiv, 0, b->n, true);
    if (b->weights != NULL && !adjoint && outcome == DONE)
        outcome = weigh(b, x, exponent);
    return outcome;
}

/* ---- The search ---- */

static double sum_of(const ji_inverse_t *b, const void *x) {
    double sum = 0;
    for (int64_t i = 0; i < b->n; i++) {
        const ji_number_t own = get(b->head.type, x, i);
        sum += hypot(own.re, own.im);
    }
    return sum;
}

/* The first of the largest. */
static int64_t place_of_largest(const ji_inverse_t *b, const void *x, double *largest) {
    int64_t place = 0;
    *largest = -1;
    for (int64_t i = 0; i < b->n; i++) {
        const ji_number_t own = get(b->head.type, x, i);
        const double size = hypot(own.re, own.im);
        if (size > *largest)
            *largest = size, place = i;
    }
    return place;
}

/* signs = those of x, x / |x| of complex ones. Whether they are real and were the same. */
static bool take_signs(const ji_inverse_t *b, const void *x, void *signs) {
    const jdatatype_t type = b->head.type;
    bool same = !ji_is_complex(type);
    for (int64_t i = 0; i < b->n; i++) {
        const ji_number_t own = get(type, x, i);
        const double size = hypot(own.re, own.im);
        const ji_number_t sign =
            size == 0 ? (ji_number_t){1, 0} : (ji_number_t){own.re / size, own.im / size};
        same = same && sign.re == get(type, signs, i).re;
        put(type, signs, i, sign);
    }
    return same;
}

static bool is_more(ji_scaled_t a, ji_scaled_t b) {
    const int of_a = exponent_of(a.value) + a.exponent, of_b = exponent_of(b.value) + b.exponent;
    if (a.value == 0 || b.value == 0 || of_a != of_b)
        return b.value == 0 ? a.value > 0 : a.value > 0 && of_a > of_b;
    return ldexp(a.value, -exponent_of(a.value)) > ldexp(b.value, -exponent_of(b.value));
}

/* x = B x; its sum, where that is more, becomes *most. */
static outcome_t try_vector(const ji_inverse_t *b, void *x, double norm, ji_scaled_t *most,
                            bool *grew) {
    ji_scaled_t sum = {0, 0};
    const outcome_t outcome = multiply(b, false, x, &sum.exponent);
    if (outcome != DONE)
        return outcome;

    sum.value = sum_of(b, x) / norm;
    *grew = is_more(sum, *most);
    if (*grew)
        *most = sum;
    return DONE;
}

/* What is on the diagonals decides, whether the search would meet it or not. */
static outcome_t look_at_diagonals(const ji_inverse_t *b) {
    outcome_t outcome = DONE;
    for (int s = 0; s < b->steps; s++)
        for (int64_t i = 0; i < b->n && b->step[s].diag == JBLAS_NON_UNIT; i++) {
            const double size = larger_part(triangle_at(b, false, i, i));
            if (!isfinite(size))
                return NOT_A_NUMBER;
            if (size == 0)
                outcome = SINGULAR;
        }
    return outcome;
}

static outcome_t search(const ji_inverse_t *b, ji_scaled_t *most) {
    const jdatatype_t type = b->head.type;
    void *const x = vector_of(b, 0), *const signs = vector_of(b, 2);
    bool grew;
    outcome_t outcome = look_at_diagonals(b);
    if (outcome != DONE)
        return outcome;
    for (int64_t i = 0; i < b->n; i++)
        put(type, x, i, (ji_number_t){1, 0}), put(type, signs, i, (ji_number_t){0, 0});
    outcome = try_vector(b, x, (double)b->n, most, &grew);
    if (outcome != DONE || b->n == 1)
        return outcome;

    int64_t column = -1;
    for (int columns = 0; columns < 5; columns++) {
        int exponent;
        double largest;
        if (take_signs(b, x, signs))
            break;
        copy(b, signs, x);
        outcome = multiply(b, true, x, &exponent);
        if (outcome != DONE)
            return outcome;

        const int64_t place = place_of_largest(b, x, &largest);
        if (column >= 0) {
            const ji_number_t before = get(type, x, column);
            if (hypot(before.re, before.im) == largest)
                break;
        }
        column = place;
        for (int64_t i = 0; i < b->n; i++)
            put(type, x, i, (ji_number_t){i == column, 0});
        outcome = try_vector(b, x, 1, most, &grew);
        if (outcome != DONE)
            return outcome;
        if (!grew)
            break;
    }

    const double rest = (double)(b->n - 1);
    for (int64_t i = 0; i < b->n; i++) {
        const double size = 1 + (double)i / rest;
        put(type, x, i, (ji_number_t){i % 2 == 0 ? size : -size, 0});
    }
    return try_vector(b, x, 1.5 * (double)b->n, most, &grew);
}

ji_scaled_t ji_estimate(const ji_inverse_t *inverse) {
    ji_scaled_t most = {0, 0};
    switch (search(inverse, &most)) {
    case DONE: return most;
    case SINGULAR: return (ji_scaled_t){(double)INFINITY, 0};
    default: return (ji_scaled_t){(double)NAN, 0};
    }
}
