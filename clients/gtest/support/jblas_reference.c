/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The textbook's loops. Nothing here is fast, and nothing here is shared with what it is to judge.
 * Complex products are written out: C's own product repairs infinities, which BLAS does not. */

#include "jblas_reference.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct wide_chunk {
    struct wide_chunk *next;
    _Alignas(wide_t) char bytes[]; /* as calloc aligns */
};

static void *arena_take(wide_arena_t *arena, size_t bytes) {
    struct wide_chunk *chunk = calloc(1, sizeof *chunk + bytes + 1);
    if (!chunk)
        abort(); /* a test machine without memory */
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk->bytes;
}

void wide_arena_free(wide_arena_t *arena) {
    while (arena->chunks) {
        struct wide_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}

wide_matrix_t wide_zeros(wide_arena_t *arena, int64_t rows, int64_t columns) {
    const size_t count = rows > 0 && columns > 0 ? (size_t)(rows * columns) : 0;
    return (wide_matrix_t){rows,
                           columns,
                           arena_take(arena, count * sizeof(wide_t)),
                           arena_take(arena, count * sizeof(long double)),
                           WIDE_ALL,
                           WIDE_ALL,
                           true};
}

wide_matrix_t wide_identity(wide_arena_t *arena, int64_t order) {
    wide_matrix_t a = wide_zeros(arena, order, order);
    for (int64_t i = 0; i < order; ++i)
        *wide_at(a, i, i) = 1;
    return a;
}

wide_t wide_get(const void *array, int element, int64_t index) {
    switch (element) {
    case JDATATYPE_F32: return ((const float *)array)[index];
    case JDATATYPE_F64: return ((const double *)array)[index];
    case JDATATYPE_F32_C: return ((const jcomplex_f32_t *)array)[index];
    case JDATATYPE_F64_C: return ((const jcomplex_f64_t *)array)[index];
    case JDATATYPE_F16: return jalloc_f32_from_f16(((const jfloat16_t *)array)[index]);
    case JDATATYPE_I8: return ((const int8_t *)array)[index];
    case JDATATYPE_I32: return ((const int32_t *)array)[index];
    case JDATATYPE_BF16: return jalloc_f32_from_bf16(((const jbfloat16_t *)array)[index]);
    default: return ((const int64_t *)array)[index];
    }
}

void wide_put(void *array, int element, int64_t index, wide_t value) {
    switch (element) {
    case JDATATYPE_F32: ((float *)array)[index] = (float)__real__ value; break;
    case JDATATYPE_F64: ((double *)array)[index] = (double)__real__ value; break;
    case JDATATYPE_F32_C: ((jcomplex_f32_t *)array)[index] = (jcomplex_f32_t)value; break;
    case JDATATYPE_F64_C: ((jcomplex_f64_t *)array)[index] = (jcomplex_f64_t)value; break;
    case JDATATYPE_F16:
        ((jfloat16_t *)array)[index] = jalloc_f16_from_f32((float)__real__ value);
        break;
    case JDATATYPE_BF16:
        ((jbfloat16_t *)array)[index] = jalloc_bf16_from_f32((float)__real__ value);
        break;
    case JDATATYPE_I8: ((int8_t *)array)[index] = (int8_t) __real__ value; break;
    case JDATATYPE_I32: ((int32_t *)array)[index] = (int32_t) __real__ value; break;
    default: ((int64_t *)array)[index] = (int64_t) __real__ value; break;
    }
}

size_t wide_sizeof(int element) {
    return element == WIDE_I64 ? sizeof(int64_t) : jhandle_sizeof_datatype((jdatatype_t)element);
}

bool wide_is_complex(int element) {
    return element == JDATATYPE_F32_C || element == JDATATYPE_F64_C;
}

long double wide_epsilon(int element) {
    if (wide_is_half(element))
        return element == JDATATYPE_F16 ? 0x1p-10L : 0x1p-7L;
    return element == JDATATYPE_F32 || element == JDATATYPE_F32_C ? FLT_EPSILON : DBL_EPSILON;
}

static inline wide_t product(wide_t a, wide_t b, bool real) {
    wide_t c = 0;
    __real__ c = real ? __real__ a * __real__ b : __real__ a * __real__ b - __imag__ a * __imag__ b;
    if (!real)
        __imag__ c = __real__ a * __imag__ b + __imag__ a * __real__ b;
    return c;
}

static wide_t quotient(wide_t a, wide_t b, bool real) {
    wide_t conjugate = b;
    __imag__ conjugate = -__imag__ b;
    if (real)
        return __real__ a / __real__ b;
    const long double square = __real__ b * __real__ b + __imag__ b * __imag__ b;
    wide_t c = product(a, conjugate, false);
    __real__ c /= square;
    __imag__ c /= square;
    return c;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

wide_matrix_t wide_operate(wide_arena_t *arena, wide_matrix_t a, jblas_operation_t operation) {
    if (operation == JBLAS_NO_TRANSPOSE)
        return a;
    const bool plain = operation == JBLAS_CONJUGATE;
    wide_matrix_t b =
        plain ? wide_zeros(arena, a.rows, a.columns) : wide_zeros(arena, a.columns, a.rows);
    b.real = a.real;
    b.below = plain ? a.below : a.above, b.above = plain ? a.above : a.below;
    for (int64_t j = 0; j < a.columns; ++j)
        for (int64_t i = 0; i < a.rows; ++i) {
            const int64_t row = plain ? i : j, column = plain ? j : i;
            wide_t value = *wide_at(a, i, j);
            if (operation != JBLAS_TRANSPOSE)
                __imag__ value = -__imag__ value;
            *wide_at(b, row, column) = value;
            *wide_bound_at(b, row, column) = *wide_bound_at(a, i, j);
        }
    return b;
}

void wide_multiply_add(wide_t alpha, wide_matrix_t a, wide_matrix_t b, wide_matrix_t c) {
    const bool real = a.real && b.real;
    for (int64_t j = 0; j < c.columns; ++j)
        for (int64_t i = 0; i < c.rows; ++i) {
            /* Where both have elements. */
            const int64_t from = larger(0, larger(i - a.below, j - b.above));
            const int64_t to = smaller(a.columns - 1, smaller(i + a.above, j + b.below));
            wide_t sum = 0;
            long double bound = 0;
            for (int64_t l = from; l <= to; ++l) {
                const wide_t x = *wide_at(a, i, l), y = *wide_at(b, l, j);
                sum += product(x, y, real);
                bound += wide_abs(x) * wide_abs(y);
            }
            *wide_at(c, i, j) += product(alpha, sum, real && __imag__ alpha == 0);
            *wide_bound_at(c, i, j) += wide_abs(alpha) * bound;
        }
}

void wide_add(wide_t alpha, wide_matrix_t a, wide_matrix_t c) {
    for (int64_t i = 0; i < c.rows * c.columns; ++i) {
        c.e[i] += product(alpha, a.e[i], a.real && __imag__ alpha == 0);
        c.bound[i] += wide_abs(alpha) * wide_abs(a.e[i]);
    }
}

void wide_solve(wide_matrix_t a, wide_matrix_t b) {
    const bool real = a.real && b.real, upper = a.below == 0;
    for (int64_t j = 0; j < b.columns; ++j) {
        long double largest = 0;
        for (int64_t step = 0; step < a.rows; ++step) {
            const int64_t i = upper ? a.rows - 1 - step : step;
            wide_t sum = *wide_at(b, i, j);
            const int64_t from = upper ? i + 1 : larger(0, i - a.below);
            const int64_t to = upper ? smaller(a.rows - 1, i + a.above) : i - 1;
            for (int64_t l = from; l <= to; ++l)
                sum -= product(*wide_at(a, i, l), *wide_at(b, l, j), real);
            *wide_at(b, i, j) = quotient(sum, *wide_at(a, i, i), a.real);
            largest = fmaxl(largest, wide_abs(*wide_at(b, i, j)));
        }
        for (int64_t i = 0; i < b.rows; ++i)
            *wide_bound_at(b, i, j) = largest;
    }
}

int64_t wide_cholesky(wide_matrix_t a) {
    for (int64_t j = 0; j < a.rows; ++j) {
        for (int64_t i = j; i < a.rows; ++i) {
            wide_t sum = *wide_at(a, i, j);
            for (int64_t l = 0; l < j; ++l) {
                wide_t right = *wide_at(a, j, l);
                __imag__ right = -__imag__ right;
                sum -= product(*wide_at(a, i, l), right, a.real);
            }
            if (i == j) {
                if (!(__real__ sum > 0))
                    return j + 1;
                *wide_at(a, j, j) = sqrtl(__real__ sum);
            } else {
                *wide_at(a, i, j) = sum / __real__ * wide_at(a, j, j);
            }
            *wide_bound_at(a, i, j) = __real__ * wide_at(a, j, j);
        }
        for (int64_t i = 0; i < j; ++i)
            *wide_at(a, i, j) = 0;
    }
    return 0;
}
