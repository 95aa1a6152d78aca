/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Operands. They are shared: everybody works on the same memory in turn, so nobody's lies better.
 *
 * What works in place is called again and again on what it left. Triangles and definite matrices
 * are therefore nearly the identity: a solve, a product, a factor or an inverse then changes
 * little, and numbers neither grow nor vanish into subnormal ones, whose speed is another. */

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "bench_product.h"

enum { ALIGNMENT = 64, MIN_RESULT_BYTES = 64 };

int type_index(char type) { return (int)(strchr("sdcz", type) - "sdcz"); }

static size_t element_bytes(char type) {
    static const size_t bytes[] = {4, 8, 8, 16};
    return bytes[type_index(type)];
}

static void store(char type, void *data, size_t index, double real, double imaginary) {
    switch (type) {
    case 's': ((float *)data)[index] = (float)real; break;
    case 'd': ((double *)data)[index] = real; break;
    case 'c':
        ((float *)data)[2 * index] = (float)real;
        ((float *)data)[2 * index + 1] = (float)imaginary;
        break;
    default:
        ((double *)data)[2 * index] = real;
        ((double *)data)[2 * index + 1] = imaginary;
        break;
    }
}

/* ---- What they are filled with ---- */

static void fill_random(uint64_t *seed, char type, void *data, size_t elements) {
    for (size_t i = 0; i < elements; i++) {
        double real = bench_random(seed);
        store(type, data, i, real, bench_random(seed));
    }
}

static void fill_near_identity(uint64_t *seed, char type, void *data, size_t order) {
    for (size_t i = 0; i < order * order; i++) {
        double real = 1e-6 * bench_random(seed), imaginary = 1e-6 * bench_random(seed);
        bool diagonal = i % (order + 1) == 0;
        store(type, data, i, diagonal ? 1 : real, diagonal ? 0 : imaginary);
    }
}

/* Squares of the tiny ones vanish, and of half of the mixed ones overflow. */
static void fill_vector(uint64_t *seed, const problem_t *p, void *data, size_t elements) {
    double huge = type_is_single(p->type) ? 1e30 : 1e200;
    for (size_t i = 0; i < elements; i++) {
        double x = bench_random(seed), y = bench_random(seed), scale = 1;
        if (p->fill == FILL_ZERO)
            scale = 0;
        else if (p->fill == FILL_TINY || (p->fill == FILL_MIXED && i % 2 == 0))
            scale = 1 / huge;
        else if (p->fill == FILL_MIXED)
            scale = huge;
        store(p->type, data, i, scale * x, scale * y);
    }
}

/* ---- Making them ---- */

typedef struct extent {
    int64_t rows, columns;
} extent_t;

static extent_t transposed_if(bool transposes, int64_t rows, int64_t columns) {
    return transposes ? (extent_t){columns, rows} : (extent_t){rows, columns};
}

/* The stored sizes of a, b and c; 0: the routine has no such operand. */
static void extents_of(const problem_t *p, extent_t *a, extent_t *b, extent_t *c) {
    const int64_t m = p->m, n = p->n, k = p->k, order = p->side == JBLAS_LEFT ? m : n;
    const bool ta = p->transa != JBLAS_NO_TRANSPOSE, tb = p->transb != JBLAS_NO_TRANSPOSE;
    *a = *b = (extent_t){0, 0};
    *c = (extent_t){m, n};
    switch (p->routine->shape) {
    case SHAPE_GEMM: *a = transposed_if(ta, m, k), *b = transposed_if(tb, k, n); break;
    case SHAPE_GEMMT:
        *a = transposed_if(ta, n, k), *b = transposed_if(tb, k, n), *c = (extent_t){n, n};
        break;
    case SHAPE_SYMM: *a = (extent_t){order, order}, *b = (extent_t){m, n}; break;
    case SHAPE_SYR2K: *b = transposed_if(ta, n, k); /* fall through */
    case SHAPE_SYRK: *a = transposed_if(ta, n, k), *c = (extent_t){n, n}; break;
    case SHAPE_TRMM: *a = (extent_t){order, order}; break;
    case SHAPE_POTRF: *c = (extent_t){n, n}; break;
    case SHAPE_GEMV:
        *a = (extent_t){m, n}, *b = (extent_t){ta ? m : n, 1}, *c = (extent_t){ta ? n : m, 1};
        break;
    case SHAPE_SYMV: *a = (extent_t){n, n}, *b = *c = (extent_t){n, 1}; break;
    case SHAPE_GER: *a = (extent_t){m, 1}, *b = (extent_t){n, 1}; break;
    case SHAPE_AXPY: *a = *c = (extent_t){n, 1}; break;
    case SHAPE_DOT: *b = (extent_t){n, 1}; /* fall through */
    case SHAPE_REDUCE: *a = (extent_t){n, 1}, *c = (extent_t){1, 1}; break;
    }
}

static void *operand_make(char type, extent_t extent, int64_t *leading) {
    size_t bytes = (size_t)extent.rows * (size_t)extent.columns * element_bytes(type);
    *leading = extent.rows;
    bytes = bytes > MIN_RESULT_BYTES ? bytes : MIN_RESULT_BYTES;
    return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

size_t problem_result_bytes(const problem_t *p) { return p->c_elements * element_bytes(p->type); }

void problem_free(problem_t *p) {
    free(p->a), free(p->b), free(p->c), free(p->pristine);
    p->a = p->b = p->c = p->pristine = NULL;
}

void problem_restore(problem_t *p) { memcpy(p->c, p->pristine, problem_result_bytes(p)); }

bool problem_make(problem_t *p) {
    extent_t a, b, c;
    extents_of(p, &a, &b, &c);
    p->a = operand_make(p->type, a, &p->lda), p->b = operand_make(p->type, b, &p->ldb);
    p->c = operand_make(p->type, c, &p->ldc), p->pristine = operand_make(p->type, c, &p->ldc);
    if (p->a == NULL || p->b == NULL || p->c == NULL || p->pristine == NULL) {
        problem_free(p);
        return false;
    }

    p->c_elements = (size_t)c.rows * (size_t)c.columns;
    bool accumulates = p->routine->shape == SHAPE_AXPY || p->routine->shape == SHAPE_GER;
    store(p->type, &p->alpha, 0, accumulates ? 1e-6 : 1, 0);
    store(p->type, &p->beta, 0, options.beta, 0);
    uint64_t seed = 1;
    fill_random(&seed, p->type, p->b, (size_t)b.rows * (size_t)b.columns);
    if (p->routine->shape == SHAPE_TRMM)
        fill_near_identity(&seed, p->type, p->a, (size_t)a.rows);
    else
        fill_vector(&seed, p, p->a, (size_t)a.rows * (size_t)a.columns);
    if (p->routine->shape == SHAPE_POTRF)
        fill_near_identity(&seed, p->type, p->pristine, (size_t)c.rows);
    else
        fill_random(&seed, p->type, p->pristine, p->c_elements);
    problem_restore(p);
    return true;
}

/* ---- What came out ---- */

/* The terms of the longest sum, and so the errors that may add up. */
static double terms_of(const problem_t *p) {
    switch (p->routine->shape) {
    case SHAPE_GEMM:
    case SHAPE_GEMMT:
    case SHAPE_SYRK:
    case SHAPE_SYR2K: return (double)p->k;
    case SHAPE_GER:
    case SHAPE_AXPY: return 1;
    default: return (double)(p->m > p->n ? p->m : p->n);
    }
}

bool problem_agrees(const problem_t *p, const void *c) {
    const bool single = type_is_single(p->type);
    size_t numbers = p->c_elements * (type_is_complex(p->type) ? 2 : 1);
    if (p->routine->shape == SHAPE_REDUCE) /* a real number */
        numbers = 1;
    double largest = 0, difference = 0;
    for (size_t i = 0; i < numbers; i++) {
        double x = single ? ((const float *)p->c)[i] : ((const double *)p->c)[i];
        double y = single ? ((const float *)c)[i] : ((const double *)c)[i];
        largest = fmax(largest, fabs(x));
        difference = fmax(difference, fabs(x - y));
        if (isnan(x) != isnan(y))
            return false;
    }
    double epsilon = single ? (double)FLT_EPSILON : DBL_EPSILON;
    /* a sum of random signs may be small beside its terms */
    double scale = p->routine->shape == SHAPE_DOT ? sqrt(terms_of(p)) + largest : largest;
    return difference <= 8 * epsilon * (terms_of(p) + 8) * scale;
}

double problem_flops(const problem_t *p) {
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    const double order = p->side == JBLAS_LEFT ? m : n, factor = type_is_complex(p->type) ? 4 : 1;
    switch (p->routine->shape) {
    case SHAPE_GEMM: return factor * 2 * m * n * k;
    case SHAPE_GEMMT:
    case SHAPE_SYRK: return factor * n * n * k;
    case SHAPE_SYR2K: return factor * 2 * n * n * k;
    case SHAPE_SYMM: return factor * 2 * m * n * order;
    case SHAPE_TRMM: return factor * m * n * order;
    case SHAPE_POTRF: return factor * n * n * n / 3;
    case SHAPE_GEMV:
    case SHAPE_GER: return factor * 2 * m * n;
    case SHAPE_SYMV: return factor * 2 * n * n;
    default: return factor * 2 * n;
    }
}

/* What tells this problem from others of its routine. */
void problem_describe(const problem_t *p, char *text, size_t bytes) {
    const char *transpose = type_is_complex(p->type) ? "NTC" : "NT ";
    char options_text[16] = "", sizes[64];
    switch (p->routine->shape) {
    case SHAPE_GEMM:
    case SHAPE_GEMMT:
        snprintf(options_text, sizeof options_text, " %c%c",
                 transpose[p->transa - JBLAS_NO_TRANSPOSE],
                 transpose[p->transb - JBLAS_NO_TRANSPOSE]);
        break;
    case SHAPE_SYRK:
    case SHAPE_SYR2K:
    case SHAPE_GEMV:
        snprintf(options_text, sizeof options_text, " %c",
                 transpose[p->transa - JBLAS_NO_TRANSPOSE]);
        break;
    case SHAPE_SYMM:
    case SHAPE_TRMM:
        snprintf(options_text, sizeof options_text, " %s",
                 p->side == JBLAS_LEFT ? "left" : "right");
        break;
    default: break;
    }
    bool square = (p->m == p->n || p->m == 0) && (p->k == p->n || p->k == 0);
    if (square)
        snprintf(sizes, sizeof sizes, "%lld", (long long)p->n);
    else if (p->k != 0)
        snprintf(sizes, sizeof sizes, "%lldx%lldx%lld", (long long)p->m, (long long)p->n,
                 (long long)p->k);
    else
        snprintf(sizes, sizeof sizes, "%lldx%lld", (long long)p->m, (long long)p->n);
    snprintf(text, bytes, "%c%s%s %s%s%s", p->type, p->routine->name, options_text, sizes,
             p->variant ? " " : "", p->variant ? p->variant : "");
}
