/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Products of local buffers: every order of memory, structure and operation against the textbook's
 * loops. */

#include "operation_helper.h"

#include <stdio.h>
#include <string.h>

static const jblas_operation_t operations[3] = {JBLAS_NO_TRANSPOSE, JBLAS_TRANSPOSE,
                                                JBLAS_CONJUGATE_TRANSPOSE};

typedef struct product_case {
    operand_t a, b, c;
    jblas_operation_t operation[2];
    scalar_t alpha, beta;
    int64_t m, n, k;
} product_case_t;

static void product_make(product_case_t *p, operation_world_t *world, jstructure_t structure_a,
                         jstructure_t structure_b, int64_t most) {
    p->m = jtest_random_between(0, most);
    p->n = jtest_random_between(0, most);
    p->k = jtest_random_between(0, most);
    p->operation[0] = operations[jtest_random_between(0, 2)];
    p->operation[1] = operations[jtest_random_between(0, 2)];
    if (structure_a != JSTRUCTURE_GENERAL)
        p->m = p->k;
    if (structure_b != JSTRUCTURE_GENERAL)
        p->n = p->k;
    const bool turn_a = p->operation[0] != JBLAS_NO_TRANSPOSE,
               turn_b = p->operation[1] != JBLAS_NO_TRANSPOSE;
    const bool vector =
        structure_b == JSTRUCTURE_GENERAL && !turn_b && jtest_random_between(0, 5) == 0;
    if (vector)
        p->n = 1;
    operand_make(&p->a, world->allocator, turn_a ? p->k : p->m, turn_a ? p->m : p->k,
                 random_storage(), structure_a);
    operand_make(&p->b, world->allocator, turn_b ? p->n : p->k,
                 vector   ? -1
                 : turn_b ? p->k
                          : p->n,
                 random_storage(), structure_b);
    operand_make(&p->c, world->allocator, p->m, vector && jtest_random_bool() ? -1 : p->n,
                 random_storage(), JSTRUCTURE_GENERAL);
    p->alpha = scalar_random(p->a.type);
    p->beta = scalar_random(p->a.type);
}

static void product_free(product_case_t *p) {
    operand_free(&p->a);
    operand_free(&p->b);
    operand_free(&p->c);
}

static wide_matrix_t product_reference(wide_arena_t *arena, const product_case_t *p, bool with_c) {
    const jdatatype_t type = p->a.type;
    wide_matrix_t result = wide_zeros(arena, p->m, p->n);
    result.real = !wide_is_complex(type);
    if (with_c && scalar_value(type, &p->beta) != 0)
        wide_add(scalar_value(type, &p->beta), operand_value(arena, &p->c), result);
    wide_multiply_add(scalar_value(type, &p->alpha),
                      wide_operate(arena, operand_value(arena, &p->a), p->operation[0]),
                      wide_operate(arena, operand_value(arena, &p->b), p->operation[1]), result);
    return result;
}

static jstatus_t product_call(jhandle_t *handle, product_case_t *p, jbuffer_t **c) {
    return jbuffer_product(handle, p->operation[0], p->operation[1], &p->alpha, p->a.view,
                           p->b.view, &p->beta, c);
}

static void product_describe(const product_case_t *p, char text[256]) {
    char a[JLAYOUT_TEXT_BYTES], b[JLAYOUT_TEXT_BYTES], c[JLAYOUT_TEXT_BYTES];
    JEXPECT_OK(jlayout_format(&p->a.layout, NULL, a, sizeof a));
    JEXPECT_OK(jlayout_format(&p->b.layout, NULL, b, sizeof b));
    JEXPECT_OK(jlayout_format(&p->c.layout, NULL, c, sizeof c));
    snprintf(text, 256, "%d %d: %.70s * %.70s -> %.70s", (int)p->operation[0], (int)p->operation[1],
             a, b, c);
}

/* Any product, on a handle that has exactly what the query said. */
static void product_is_right(operation_world_t *world, product_case_t *p) {
    char text[256];
    product_describe(p, text);
    JSCOPED_TRACE("%s", text);
    size_t bytes = 0;
    JEXPECT_OK(jhandle_start_size_query(world->handle));
    const jstatus_t answer = product_call(world->handle, p, &p->c.view);
    JEXPECT_FALSE(jstatus_is_error(answer));
    JEXPECT_OK(jhandle_stop_size_query(world->handle, &bytes));
    JEXPECT_STATUS(answer, bytes > 0 ? JSTATUS_SIZE_INCREASED : JSTATUS_SIZE_UNCHANGED);
    operand_expect_unchanged(&p->c);
    if (bytes > 0)
        JEXPECT_OK(jhandle_set_workspace(world->handle, jtest_guard_pages(bytes), bytes));
    else
        JEXPECT_OK(jhandle_seal(world->handle));
    const wide_matrix_t expected = product_reference(&world->arena, p, true);
    jbuffer_t *c = p->c.view;
    JEXPECT_OK(product_call(world->handle, p, &c));
    JEXPECT_TRUE(c == p->c.view);
    operand_expect(&p->c, expected, 8 * (long double)(p->k + 4));
    operand_expect_unchanged(&p->a);
    operand_expect_unchanged(&p->b);
    JEXPECT_OK(jhandle_set_workspace_size(world->handle, 0));
    JEXPECT_OK(jhandle_unseal(world->handle));
}

JTEST_P(OperationProduct, EveryStructureAndOrder, int, operation_types) {
    for (int64_t round = jtest_iterations(3); round > 0; round--)
        for (int a = 0; a < 7; a++)
            for (int b = 0; b < 7 && !jtest_has_failure(); b++) {
                operation_world_t world;
                product_case_t p;
                operation_begin(&world, (jdatatype_t)*param);
                product_make(&p, &world, operation_structures[a], operation_structures[b], 9);
                product_is_right(&world, &p);
                product_free(&p);
                operation_end(&world);
            }
}

JTEST_P(OperationProduct, GeneralOnesOfManyShapes, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (int64_t round = jtest_iterations(200); round > 0 && !jtest_has_failure(); round--) {
        product_case_t p;
        product_make(&p, &world, JSTRUCTURE_GENERAL, JSTRUCTURE_GENERAL, round % 10 == 0 ? 40 : 7);
        product_is_right(&world, &p);
        product_free(&p);
    }
    operation_end(&world);
}

/* Where C is not given it is made, by the operands' allocator; and NULL stays where that fails. */
JTEST_P(OperationProduct, MakesItsResult, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    for (int64_t round = 0; round < jtest_iterations(30) && !jtest_has_failure(); round++) {
        product_case_t p;
        product_make(&p, &world, JSTRUCTURE_GENERAL, JSTRUCTURE_GENERAL, 9);
        p.beta = scalar_of(p.a.type, 0, 0);
        jbuffer_t *c = NULL;
        JASSERT_OK(product_call(world.handle, &p, &c));
        jbuffer_allocator_t *allocator = NULL;
        JEXPECT_OK(jbuffer_get_allocator(c, &allocator));
        JEXPECT_TRUE(allocator == world.allocator);
        jlayout_t layout;
        JEXPECT_OK(jbuffer_get_layout(c, &layout));
        JEXPECT_EQ(layout.rank, p.b.layout.rank); /* a matrix times a vector is a vector */
        buffer_expect(c, product_reference(&world.arena, &p, false), 8 * (long double)(p.k + 4));
        JEXPECT_OK(jbuffer_release(c));
        c = NULL;
        p.beta = scalar_of(p.a.type, 1, 0);
        JEXPECT_STATUS(product_call(world.handle, &p, &c), JSTATUS_INVALID_VALUE);
        JEXPECT_NULL(c);
        product_free(&p);
    }
    operation_end(&world);
}

/* alpha 0: A and B are not read; beta 0: C is not. */
JTEST_P(OperationProduct, ZerosAreNotMultiplied, int, operation_types) {
    operation_world_t world;
    operation_begin(&world, (jdatatype_t)*param);
    product_case_t p;
    for (int i = 0; i < 20; i++) {
        product_make(&p, &world, JSTRUCTURE_GENERAL, JSTRUCTURE_GENERAL, 6);
        p.beta = scalar_of(p.a.type, 0, 0);
        if (p.c.size_bytes > 0)
            memset(p.c.memory, 0xff, p.c.size_bytes);
        operand_keep(&p.c);
        JEXPECT_OK(product_call(world.handle, &p, &p.c.view));
        operand_expect(&p.c, product_reference(&world.arena, &p, true), 8 * (long double)(p.k + 4));
        product_free(&p);
    }
    operation_end(&world);
}
