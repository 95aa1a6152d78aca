/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What operations do to each element of local buffers: copy, fill, scale, add, norm, transpose. */

#include "operation_helper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const jblas_operation_t operations[3] = {JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE,
                                                JBLAS_CONJUGATE_TRANSPOSE};

static bool is_hermitian(jstructure_t structure) {
    return structure == JSTRUCTURE_HERMITIAN_UPPER || structure == JSTRUCTURE_HERMITIAN_LOWER;
}
static bool is_triangular(jstructure_t structure) {
    return structure == JSTRUCTURE_TRIANGULAR_UPPER || structure == JSTRUCTURE_TRIANGULAR_LOWER;
}
/* The same family as the structure, perhaps the other triangle. */
static jstructure_t alike(jstructure_t structure) {
    if (structure == JSTRUCTURE_GENERAL || is_triangular(structure) || jtest_random_bool())
        return structure;
    return (jstructure_t)(structure % 2 ? (int)structure + 1 : (int)structure - 1);
}

/* No workspace is wanted, and none is taken. */
static void give_nothing(jhandle_t *handle) { JEXPECT_OK(jhandle_seal(handle)); }

/* ---- Copy ---- */

JTEST_P(Operation, CopyGoesFromAnyLayoutToAnyOther, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    give_nothing(world.handle);
    for (int64_t round = jtest_iterations(200); round > 0 && !jtest_has_failure(); round--) {
        const jstructure_t from = operation_structures[round % 7];
        const jstructure_t to = jtest_random_bool() ? JSTRUCTURE_GENERAL : from;
        const int64_t m = jtest_random_between(0, 9),
                      n = from != JSTRUCTURE_GENERAL ? m : jtest_random_between(-1, 9);
        operand_t a, b;
        operand_make(&a, world.allocator, m, n, random_storage(), from);
        operand_make(&b, world.allocator, m, n, random_storage(), to);
        JEXPECT_OK(jbuffer_copy(world.handle, b.view, a.view));
        operand_expect(&b, operand_value(&world.arena, &a), 0);
        operand_expect_unchanged(&a);
        operand_keep(&b);
        JEXPECT_OK(jbuffer_copy(world.handle, b.view, b.view));
        operand_expect_unchanged(&b);
        operand_free(&a);
        operand_free(&b);
    }
    operation_end(&world);
}

/* ---- Fill and scale ---- */

JTEST_P(Operation, FillWritesTheStoredElements, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    give_nothing(world.handle);
    for (int64_t round = jtest_iterations(140); round > 0 && !jtest_has_failure(); round--) {
        const jstructure_t structure = operation_structures[round % 7];
        const int64_t m = jtest_random_between(0, 9),
                      n = structure != JSTRUCTURE_GENERAL ? m : jtest_random_between(-1, 9);
        const bool zero = jtest_random_bool();
        const scalar_t value =
            scalar_of((jdatatype_t)*param, jtest_random_double(-2, 2), jtest_random_double(-2, 2));
        operand_t x;
        operand_make(&x, world.allocator, m, n, random_storage(), structure);
        JEXPECT_OK(jbuffer_fill(world.handle, x.view, zero ? NULL : &value));
        wide_matrix_t expected = wide_zeros(&world.arena, m, n < 0 ? 1 : n);
        for (int64_t i = 0; i < expected.rows * expected.columns; i++)
            expected.e[i] = zero ? 0 : scalar_value(x.type, &value);
        operand_expect(&x, expected, 0);
        operand_free(&x);
    }
    operation_end(&world);
}

JTEST(Operation, FillTakesEveryElementType) {
    for (int type = 0; type < 8; type++) {
        operation_world_t world;
        operation_begin(&world, (jdatatype_t)type);
        unsigned char value[16];
        const size_t size = jhandle_sizeof_datatype((jdatatype_t)type);
        for (size_t i = 0; i < size; i++)
            value[i] = (unsigned char)jtest_random_between(0, 255);
        const jlayout_t layout = operation_layout(2, 6, 5);
        jbuffer_t *x = NULL, *view = NULL;
        unsigned char *memory = NULL;
        void *pointer = NULL;
        JASSERT_OK(jbuffer_construct_value(world.allocator, &layout, NULL, &x));
        JASSERT_OK(jbuffer_slice(x, (const int64_t[]){1, 0}, (const int64_t[]){2, 5},
                                 (const int64_t[]){3, 1}, &view));
        JEXPECT_OK(jbuffer_fill(world.handle, view, value));
        JEXPECT_OK(jbuffer_as_pointer(x, JDEVICE_HOST, &pointer));
        memory = pointer;
        for (size_t i = 0; i < 30; i++)
            for (size_t k = 0; k < size; k++)
                JEXPECT_EQ(memory[i * size + k], i % 6 == 1 || i % 6 == 4 ? value[k] : 0);
        JEXPECT_OK(jbuffer_release(view));
        JEXPECT_OK(jbuffer_release(x));
        operation_end(&world);
    }
}

JTEST_P(Operation, ScaleMultipliesTheStoredElements, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    give_nothing(world.handle);
    for (int64_t round = jtest_iterations(140); round > 0 && !jtest_has_failure(); round--) {
        const jstructure_t structure = operation_structures[round % 7];
        const int64_t m = jtest_random_between(0, 9),
                      n = structure != JSTRUCTURE_GENERAL ? m : jtest_random_between(-1, 9);
        const scalar_t alpha = scalar_random((jdatatype_t)*param);
        operand_t x;
        operand_make(&x, world.allocator, m, n, random_storage(), structure);
        wide_matrix_t expected = wide_zeros(&world.arena, m, n < 0 ? 1 : n);
        wide_add(scalar_value(x.type, &alpha), operand_value(&world.arena, &x), expected);
        JEXPECT_OK(jbuffer_scale(world.handle, &alpha, x.view));
        operand_expect(&x, expected, 4);
        operand_free(&x);
    }
    /* A NaN stays one, times 0 too. */
    const jlayout_t layout = operation_layout(1, 3, 0);
    const scalar_t nan = scalar_of((jdatatype_t)*param, NAN, NAN),
                   zero = scalar_of((jdatatype_t)*param, 0, 0);
    jbuffer_t *x = NULL;
    JASSERT_OK(jbuffer_construct_value(world.allocator, &layout, &nan, &x));
    JEXPECT_OK(jbuffer_scale(world.handle, &zero, x));
    JEXPECT_TRUE(isnan((double)__real__ * wide_at(buffer_value(&world.arena, x), 1, 0)));
    JEXPECT_OK(jbuffer_release(x));
    operation_end(&world);
}

/* ---- Add ---- */

static jstructure_t sum_structure(jdatatype_t type, jstructure_t a, jstructure_t b, wide_t alpha,
                                  wide_t beta) {
    const bool complex = wide_is_complex(type);
    const bool same =
        a == b || (a != JSTRUCTURE_GENERAL && b != JSTRUCTURE_GENERAL && !is_triangular(a) &&
                   !is_triangular(b) && (!complex || is_hermitian(a) == is_hermitian(b)));
    if (!same || (complex && is_hermitian(a) && (__imag__ alpha != 0 || __imag__ beta != 0)))
        return JSTRUCTURE_GENERAL;
    return a;
}

JTEST_P(Operation, AddOfEveryStructure, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    give_nothing(world.handle);
    for (int64_t round = 0; round < jtest_iterations(49 * 6) && !jtest_has_failure(); round++) {
        const jstructure_t first = operation_structures[round % 7],
                           second = operation_structures[round / 7 % 7];
        const bool square = first != JSTRUCTURE_GENERAL || second != JSTRUCTURE_GENERAL;
        const int64_t m = jtest_random_between(0, 9), n = square ? m : jtest_random_between(-1, 9);
        const jdatatype_t type = (jdatatype_t)*param;
        const scalar_t alpha = scalar_random(type), beta = scalar_random(type);
        const wide_t wide_alpha = scalar_value(type, &alpha), wide_beta = scalar_value(type, &beta);
        operand_t a, b, c;
        operand_make(&a, world.allocator, m, n, random_storage(), first);
        operand_make(&b, world.allocator, m, n, random_storage(), second);
        const jstructure_t known = sum_structure(type, first, second, wide_alpha, wide_beta);
        operand_make(&c, world.allocator, m, n, random_storage(),
                     jtest_random_bool() ? JSTRUCTURE_GENERAL : alike(known));
        JSCOPED_TRACE("structures %d + %d -> %d, %s + %s -> ?, %ld x %ld", (int)first, (int)second,
                      (int)c.layout.structure, "a", "b", (long)m, (long)n);
        wide_matrix_t expected = wide_zeros(&world.arena, m, n < 0 ? 1 : n);
        wide_add(wide_alpha, operand_value(&world.arena, &a), expected);
        wide_add(wide_beta, operand_value(&world.arena, &b), expected);
        JEXPECT_OK(jbuffer_add(world.handle, &alpha, a.view, &beta, b.view, &c.view));
        operand_expect(&c, expected, 8);
        operand_expect_unchanged(&a);
        operand_expect_unchanged(&b);
        /* A new result has what both have in common. */
        jbuffer_t *made = NULL;
        jlayout_t layout;
        JASSERT_OK(jbuffer_add(world.handle, &alpha, a.view, &beta, b.view, &made));
        JEXPECT_OK(jbuffer_get_layout(made, &layout));
        JEXPECT_EQ(layout.structure, known);
        buffer_expect(made, expected, 8);
        JEXPECT_OK(jbuffer_release(made));
        /* In the place of one of them. */
        if (known == first || first == JSTRUCTURE_GENERAL) {
            jbuffer_t *place = a.view;
            JEXPECT_OK(jbuffer_add(world.handle, &alpha, a.view, &beta, b.view, &place));
            operand_expect(&a, expected, 8);
        } else if (known == second || second == JSTRUCTURE_GENERAL) {
            jbuffer_t *place = b.view;
            JEXPECT_OK(jbuffer_add(world.handle, &alpha, a.view, &beta, b.view, &place));
            operand_expect(&b, expected, 8);
        }
        operand_free(&a);
        operand_free(&b);
        operand_free(&c);
    }
    operation_end(&world);
}

/* ---- Any rank ---- */

/* A view of a random rank, with dimensions in any order and gaps; its memory has `count` elements
 * from `memory` on. */
static jbuffer_t *make_any(jbuffer_allocator_t *allocator, int rank, const int64_t *extents,
                           jbuffer_t **parent) {
    int64_t wider[JLAYOUT_MAX_RANK], starts[JLAYOUT_MAX_RANK], steps[JLAYOUT_MAX_RANK],
        cut[JLAYOUT_MAX_RANK];
    int order[JLAYOUT_MAX_RANK];
    for (int d = 0; d < rank; d++)
        order[d] = d;
    for (int d = rank - 1; d > 0; d--) {
        const int other = (int)jtest_random_between(0, d), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
    const bool packed = jtest_random_bool();
    for (int d = 0; d < rank; d++) { /* dimension d of the view is order[d] of the parent */
        steps[order[d]] = packed ? 1 : jtest_random_between(1, 2);
        starts[order[d]] = packed ? 0 : jtest_random_between(0, 1);
        cut[order[d]] = extents[d];
        wider[order[d]] = starts[order[d]] + extents[d] * steps[order[d]];
    }
    jlayout_t layout;
    jbuffer_t *slice = NULL, *view = NULL;
    JEXPECT_OK(jlayout_init(&layout, rank, wider,
                            jtest_random_bool() ? JORDER_ROW_MAJOR : JORDER_COLUMN_MAJOR));
    JEXPECT_OK(jbuffer_construct_value(allocator, &layout, NULL, parent));
    JEXPECT_OK(jbuffer_slice(*parent, starts, cut, steps, &slice));
    JEXPECT_OK(jbuffer_permute(slice, order, &view));
    JEXPECT_OK(jbuffer_release(slice));
    return view;
}

static bool next_index(int rank, const int64_t *extents, int64_t *index) {
    for (int d = 0; d < rank; d++) {
        if (++index[d] < extents[d])
            return true;
        index[d] = 0;
    }
    return false;
}

JTEST_P(Operation, AnyRankIsFilledScaledAddedAndMeasured, int, operation_types) {
    operation_world_t world;
    const jdatatype_t type = (jdatatype_t)*param;
    operation_begin(&world, type);
    give_nothing(world.handle);
    for (int64_t round = 0; round < jtest_iterations(60) && !jtest_has_failure(); round++) {
        const int rank = (int)(round % 6);
        int64_t extents[JLAYOUT_MAX_RANK], index[JLAYOUT_MAX_RANK] = {0};
        bool empty = false;
        for (int d = 0; d < rank; d++) {
            extents[d] = jtest_random_between(round % 5 == 0 ? 0 : 1, 3);
            empty = empty || extents[d] == 0;
        }
        jbuffer_t *parents[3], *a = make_any(world.allocator, rank, extents, &parents[0]),
                               *b = make_any(world.allocator, rank, extents, &parents[1]),
                               *c = make_any(world.allocator, rank, extents, &parents[2]);
        const scalar_t two = scalar_of(type, 2, 0), three = scalar_of(type, 3, 1),
                       one = scalar_of(type, 1, 0);
        long double largest = 0, squares = 0;
        JEXPECT_OK(jbuffer_fill(world.handle, b, &one));
        do {
            if (empty)
                break;
            const scalar_t value =
                scalar_of(type, jtest_random_double(-1, 1), jtest_random_double(-1, 1));
            const wide_t wide = scalar_value(type, &value);
            JEXPECT_OK(jbuffer_set(a, index, &value));
            largest = fmaxl(largest, hypotl(__real__ wide, __imag__ wide));
            squares += __real__ wide * __real__ wide + __imag__ wide * __imag__ wide;
        } while (next_index(rank, extents, index));
        double norm = -1;
        JEXPECT_OK(jbuffer_norm(world.handle, JNORM_MAX, a, &norm));
        JEXPECT_NEAR(norm, (double)largest, (double)(4 * wide_epsilon(type)));
        JEXPECT_OK(jbuffer_norm(world.handle, JNORM_FROBENIUS, a, &norm));
        JEXPECT_NEAR(norm, (double)sqrtl(squares), (double)(1000 * wide_epsilon(type)));
        JEXPECT_OK(jbuffer_scale(world.handle, &two, b));
        JEXPECT_OK(jbuffer_add(world.handle, &three, a, &one, b, &c));
        memset(index, 0, sizeof index);
        do {
            if (empty)
                break;
            scalar_t from, to;
            JEXPECT_OK(jbuffer_get(a, index, &from));
            JEXPECT_OK(jbuffer_get(c, index, &to));
            const wide_t wrong = scalar_value(type, &to) -
                                 scalar_value(type, &three) * scalar_value(type, &from) - 2;
            JEXPECT_LE((double)wide_abs(wrong), (double)(32 * wide_epsilon(type)));
        } while (next_index(rank, extents, index) && !jtest_has_failure());
        /* Gaps stay 0: the sums of parents and views agree. */
        double whole = -1;
        JEXPECT_OK(jbuffer_norm(world.handle, JNORM_FROBENIUS, c, &norm));
        JEXPECT_OK(jbuffer_norm(world.handle, JNORM_FROBENIUS, parents[2], &whole));
        JEXPECT_NEAR(whole, norm, (double)(1000 * wide_epsilon(type)));
        jbuffer_t *views[3] = {a, b, c};
        for (int i = 0; i < 3; i++) {
            JEXPECT_OK(jbuffer_release(views[i]));
            JEXPECT_OK(jbuffer_release(parents[i]));
        }
    }
    operation_end(&world);
}

/* ---- Norms ---- */

static double reference_norm(jnorm_t norm, wide_matrix_t x) {
    long double result = 0, total = 0;
    if (norm == JNORM_FROBENIUS || norm == JNORM_MAX) {
        for (int64_t i = 0; i < x.rows * x.columns; i++) {
            const long double size = hypotl(__real__ x.e[i], __imag__ x.e[i]);
            result = fmaxl(result, size);
            total += size * size;
        }
        return (double)(norm == JNORM_MAX ? result : sqrtl(total));
    }
    const bool one = norm == JNORM_ONE;
    for (int64_t i = 0; i < (one ? x.columns : x.rows); i++) {
        total = 0;
        for (int64_t j = 0; j < (one ? x.rows : x.columns); j++) {
            const wide_t element = one ? *wide_at(x, j, i) : *wide_at(x, i, j);
            total += hypotl(__real__ element, __imag__ element);
        }
        result = fmaxl(result, total);
    }
    return (double)result;
}

JTEST_P(Operation, NormsOfEveryStructure, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (int64_t round = jtest_iterations(140); round > 0 && !jtest_has_failure(); round--) {
        const jstructure_t structure = operation_structures[round % 7];
        const int64_t m = jtest_random_between(0, 9),
                      n = structure != JSTRUCTURE_GENERAL ? m : jtest_random_between(-1, 9);
        operand_t x;
        operand_make(&x, world.allocator, m, n, random_storage(), structure);
        const wide_matrix_t value = operand_value(&world.arena, &x);
        for (int norm = 0; norm < 4; norm++) {
            double result = -1;
            size_t bytes = 0;
            JSCOPED_TRACE("norm %d, structure %d, %ld x %ld", norm, (int)structure, (long)m,
                          (long)n);
            JEXPECT_OK(jhandle_start_size_query(world.handle));
            JEXPECT_FALSE(
                jstatus_is_error(jbuffer_norm(world.handle, (jnorm_t)norm, x.view, &result)));
            JEXPECT_OK(jhandle_stop_size_query(world.handle, &bytes));
            JEXPECT_EQ(result, -1.0);
            if (bytes > 0)
                JEXPECT_OK(jhandle_set_workspace(world.handle, jtest_guard_pages(bytes), bytes));
            else
                JEXPECT_OK(jhandle_set_workspace_size(world.handle, 64));
            JEXPECT_OK(jbuffer_norm(world.handle, (jnorm_t)norm, x.view, &result));
            const double wanted = reference_norm((jnorm_t)norm, value);
            JEXPECT_NEAR(result, wanted, 32 * (double)wide_epsilon(x.type) * (wanted + 1e-30));
        }
        operand_expect_unchanged(&x);
        operand_free(&x);
    }
    operation_end(&world);
}

/* Squares overflow and underflow; infinities and NaN come through. */
/* Strides of single elements, and where there are none, are never used: under a sanitizer of
 * undefined behaviour not even in sums. */
static const char *const far_layouts[] = {
    "[0,1099511627776] strides=(7,3)",
    "[1099511627776,0] strides=(9223372036854775807,9223372036854775807)",
    "[1,1] strides=(9223372036854775807,9223372036854775807)",
    "[1,1] strides=(9223372036854775807,9223372036854775807) hermitian-lower",
    "[1,3] strides=(9223372036854775807,2)",
};
JTEST(Operation, StridesThatReachNothingMayBeAnything) {
    operation_world_t world;
    operation_begin(&world, JDATATYPE_F64);
    for (size_t i = 0; i < sizeof far_layouts / sizeof far_layouts[0]; i++) {
        JSCOPED_TRACE("%s", far_layouts[i]);
        jlayout_t layout = {.rank = 0};
        jbuffer_t *x = NULL, *copy = NULL;
        int64_t offset = -1, elements = 0;
        const double two = 2, one = 1;
        JASSERT_OK(jlayout_parse(far_layouts[i], &layout, NULL));
        JEXPECT_OK(jlayout_get_count(&layout, &elements));
        const int64_t index[2] = {layout.extents[0] > 1 ? 2 : 0, 0};
        JEXPECT_STATUS(jlayout_get_offset(&layout, index, &offset),
                       elements > 0 ? JSTATUS_SUCCESS : JSTATUS_INVALID_VALUE);
        JASSERT_OK(jbuffer_construct_identity(world.allocator, &layout, &x));
        JEXPECT_OK(jbuffer_construct_copy(world.allocator, x, &copy));
        JEXPECT_OK(jbuffer_fill(world.handle, x, &one));
        JEXPECT_OK(jbuffer_scale(world.handle, &two, x));
        JEXPECT_OK(jbuffer_copy(world.handle, copy, x));
        JEXPECT_OK(jbuffer_add(world.handle, &one, copy, &one, x, &x));
        for (jnorm_t norm = JNORM_MAX; norm <= JNORM_FROBENIUS; norm++) {
            const double factor = norm == JNORM_INFINITY    ? (double)elements
                                  : norm == JNORM_FROBENIUS ? sqrt((double)elements)
                                                            : elements > 0;
            double got = -1;
            JEXPECT_OK(jbuffer_norm(world.handle, norm, x, &got));
            JEXPECT_NEAR(got, 4 * factor, 1e-14);
        }
        JEXPECT_OK(jbuffer_release(x));
        JEXPECT_OK(jbuffer_release(copy));
    }
    operation_end(&world);
}

JTEST_P(Operation, NormsOfExtremes, int, operation_types) {
    operation_world_t world;
    const jdatatype_t type = (jdatatype_t)*param;
    operation_begin(&world, type);
    const jlayout_t layout = operation_layout(2, 4, 3);
    const bool is_double = (type & 1) != 0;
    const double sizes[3] = {is_double ? 1e300 : 1e38, is_double ? 1e-300 : 1e-38,
                             is_double ? 5e-324 : 1e-45};
    for (int i = 0; i < 3; i++) {
        const scalar_t value = scalar_of(type, sizes[i], 0);
        const double size = fabs((double)__real__ scalar_value(type, &value));
        jbuffer_t *x = NULL;
        double result = -1;
        JASSERT_OK(jbuffer_construct_value(world.allocator, &layout, &value, &x));
        JEXPECT_OK(jbuffer_norm(world.handle, JNORM_FROBENIUS, x, &result));
        JEXPECT_NEAR(result / size, sqrt(12.0), i == 2 ? 0.6 : 1e-5);
        /* Infinity, whatever the other part is, then a NaN in another place. */
        for (int special = 0; special < 2; special++) {
            const scalar_t extreme =
                scalar_of(type, special ? NAN : INFINITY, special || i == 0 ? 0 : NAN);
            JEXPECT_OK(jbuffer_set(x, (const int64_t[]){special ? 0 : 2, 1}, &extreme));
            for (int norm = 0; norm < 4; norm++) {
                JEXPECT_OK(jbuffer_norm(world.handle, (jnorm_t)norm, x, &result));
                JEXPECT_TRUE(special ? isnan(result) : isinf(result));
            }
        }
        JEXPECT_OK(jbuffer_release(x));
    }
    operation_end(&world);
}

/* ---- Transpose ---- */

JTEST_P(Operation, TransposeOfEveryStructure, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    give_nothing(world.handle);
    for (int64_t round = 0; round < jtest_iterations(210) && !jtest_has_failure(); round++) {
        const jstructure_t structure = operation_structures[round % 7];
        const jblas_operation_t operation = operations[round / 7 % 3];
        const bool turned = operation != JBLAS_NO_TRANSPOSE;
        const int64_t most = round % 30 == 0 ? 150 : 9, m = jtest_random_between(0, most),
                      n = structure != JSTRUCTURE_GENERAL ? m : jtest_random_between(-1, most),
                      width = n < 0 ? 1 : n;
        const jstructure_t after =
            turned && is_triangular(structure)
                ? (jstructure_t)(structure % 2 ? (int)structure + 1 : (int)structure - 1)
                : structure;
        operand_t a, b;
        operand_make(&a, world.allocator, m, n, random_storage(), structure);
        operand_make(&b, world.allocator, turned ? width : m, turned ? m : width, random_storage(),
                     jtest_random_bool() ? JSTRUCTURE_GENERAL : alike(after));
        JSCOPED_TRACE("operation %d, structures %d -> %d, %s -> %s, %ld x %ld", (int)operation,
                      (int)structure, (int)b.layout.structure, "a", "b", (long)m, (long)n);
        const wide_matrix_t expected =
            wide_operate(&world.arena, operand_value(&world.arena, &a), operation);
        JEXPECT_OK(jbuffer_transpose(world.handle, operation, a.view, &b.view));
        operand_expect(&b, expected, 0);
        operand_expect_unchanged(&a);
        jbuffer_t *made = NULL;
        jlayout_t layout;
        JASSERT_OK(jbuffer_transpose(world.handle, operation, a.view, &made));
        JEXPECT_OK(jbuffer_get_layout(made, &layout));
        JEXPECT_EQ(layout.structure, after);
        buffer_expect(made, expected, 0);
        JEXPECT_OK(jbuffer_release(made));
        operand_free(&a);
        operand_free(&b);
    }
    operation_end(&world);
}
