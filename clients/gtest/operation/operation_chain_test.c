/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Chains of operations whose intermediate results are new: one function asks for the bytes and then
 * runs, with the same variables. What a query gives for a new result is a placeholder; what can be
 * done with one, and what cannot. */

#include "handle_helper.h"
#include "operation_helper.h"

#include <string.h>

static const jblas_operation_t N = JBLAS_NO_TRANSPOSE, C = JBLAS_CONJUGATE_TRANSPOSE;

/* ---- The same function, asked and run ---- */

typedef struct chain {
    operand_t a, lower;
    jbuffer_t *p, *t, *s, *half; /* made by the first call, whichever it is */
    double norm;
    int64_t info;
} chain_t;

static jstatus_t worse(jstatus_t a, jstatus_t b) {
    return jstatus_is_error(a) || b == JSTATUS_SUCCESS ? a : b;
}

/* P = A A^H, T = P^H, S = P + 2 T, S = L^-1 S, half = every other row of S as columns; P becomes
 * its Cholesky factor. */
static jstatus_t chain_run(jhandle_t *handle, chain_t *chain, jdatatype_t type) {
    const scalar_t one = scalar_of(type, 1, 0), two = scalar_of(type, 2, 0),
                   zero = scalar_of(type, 0, 0);
    const int64_t n = chain->a.layout.extents[0], half = (n + 1) / 2;
    jbuffer_t *rows = NULL, *columns = NULL, *hermitian = NULL;
    jstatus_t status =
        jbuffer_product(handle, N, C, &one, chain->a.view, chain->a.view, &zero, &chain->p);
    if (!jstatus_is_error(status))
        status = worse(status, jbuffer_transpose(handle, C, chain->p, &chain->t));
    if (!jstatus_is_error(status))
        status = worse(status, jbuffer_add(handle, &one, chain->p, &two, chain->t, &chain->s));
    if (!jstatus_is_error(status))
        status = worse(status, jbuffer_solve_triangular(handle, JBLAS_LEFT, N, JBLAS_NON_UNIT, &one,
                                                        chain->lower.view, chain->s));
    if (!jstatus_is_error(status))
        status = worse(status,
                       jbuffer_slice(chain->s, (const int64_t[]){0, 0}, (const int64_t[]){half, n},
                                     (const int64_t[]){2, 1}, &rows));
    if (!jstatus_is_error(status))
        status = worse(status, jbuffer_permute(rows, (const int[]){1, 0}, &columns));
    if (!jstatus_is_error(status))
        status = worse(status,
                       jbuffer_product(handle, N, N, &one, chain->p, columns, &zero, &chain->half));
    if (!jstatus_is_error(status))
        status = worse(status, jbuffer_norm(handle, JNORM_ONE, chain->half, &chain->norm));
    if (!jstatus_is_error(status))
        status =
            worse(status, jbuffer_with_structure(chain->p, JSTRUCTURE_HERMITIAN_LOWER, &hermitian));
    if (!jstatus_is_error(status))
        status = worse(status, jbuffer_cholesky(handle, hermitian, &chain->info));
    (void)jbuffer_release(rows);
    (void)jbuffer_release(columns);
    (void)jbuffer_release(hermitian);
    return status;
}

static void chain_make(chain_t *chain, operation_world_t *world, int64_t n) {
    *chain = (chain_t){.norm = -1, .info = -1};
    operand_make(&chain->a, world->allocator, n, n, STORED_STEPPED, JSTRUCTURE_GENERAL);
    for (int64_t i = 0; i < n; i++) /* well conditioned, since the diagonal outweighs the rest */
        wide_put(operand_at(&chain->a, i, i), chain->a.type, 0, 2 * n);
    operand_keep(&chain->a);
    operand_make(&chain->lower, world->allocator, n, n, STORED_ROW_PADDED,
                 JSTRUCTURE_TRIANGULAR_LOWER);
}

static void chain_release(chain_t *chain) {
    JEXPECT_OK(jbuffer_release(chain->p));
    JEXPECT_OK(jbuffer_release(chain->t));
    JEXPECT_OK(jbuffer_release(chain->s));
    JEXPECT_OK(jbuffer_release(chain->half));
    chain->p = chain->t = chain->s = chain->half = NULL;
}

static void chain_free(chain_t *chain) {
    chain_release(chain);
    operand_free(&chain->a);
    operand_free(&chain->lower);
}

/* Against the textbook. */
static void chain_expect(operation_world_t *world, chain_t *chain) {
    const int64_t n = chain->a.layout.extents[0], half = (n + 1) / 2;
    const wide_matrix_t a = operand_value(&world->arena, &chain->a);
    wide_matrix_t p = wide_zeros(&world->arena, n, n), s = wide_zeros(&world->arena, n, n);
    p.real = s.real = !wide_is_complex(chain->a.type);
    wide_multiply_add(1, a, wide_operate(&world->arena, a, C), p);
    wide_add(3, p, s); /* P is its own conjugate transpose */
    buffer_expect(chain->t, p, 8 * (long double)(n + 4));
    wide_solve(operand_value(&world->arena, &chain->lower), s);
    buffer_expect(chain->s, s, 64 * (long double)(n + 4) * (n + 4));
    wide_matrix_t columns = wide_zeros(&world->arena, n, half),
                  product = wide_zeros(&world->arena, n, half);
    columns.real = product.real = p.real;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < half; j++) {
            *wide_at(columns, i, j) = *wide_at(s, 2 * j, i);
            *wide_bound_at(columns, i, j) = *wide_bound_at(s, 2 * j, i);
        }
    wide_multiply_add(1, p, columns, product);
    buffer_expect(chain->half, product, 64 * (long double)(n + 4) * (n + 4));
    jbuffer_t *factor = NULL;
    JASSERT_OK(jbuffer_with_structure(chain->p, JSTRUCTURE_TRIANGULAR_LOWER, &factor));
    JEXPECT_EQ(wide_cholesky(p), 0);
    buffer_expect(factor, p, 64 * (long double)(n + 4) * (n + 4));
    JEXPECT_OK(jbuffer_release(factor));
    JEXPECT_EQ(chain->info, 0);
    JEXPECT_GT(chain->norm, 0.0);
}

JTEST_P(OperationChain, OneQueryIsEnoughForTheWholeChain, int, operation_types) {
    const jdatatype_t type = (jdatatype_t)*param;
    operation_world_t world;
    operation_begin(&world, type);
    chain_t chain;
    chain_make(&chain, &world, 40);
    size_t bytes = 0, again = 0;
    for (int round = 0; round < 2; round++) {
        /* A query may go the same way twice, as a loop does. */
        JEXPECT_OK(jhandle_start_size_query(world.handle));
        const jstatus_t status = chain_run(world.handle, &chain, type);
        JEXPECT_FALSE(jstatus_is_error(status));
        JEXPECT_OK(jhandle_stop_size_query(world.handle, round == 0 ? &bytes : &again));
    }
    JEXPECT_EQ(again, bytes);
    JEXPECT_GT(bytes, 0);
    JEXPECT_EQ(chain.info, -1);
    JEXPECT_EQ(chain.norm, -1.0);
    JEXPECT_OK(jhandle_set_workspace(world.handle, jtest_guard_pages(bytes), bytes));
    JEXPECT_OK(jhandle_clear_stats(world.handle));
    for (int round = 0; round < 2; round++) {
        /* The second time results are written where the first one made them. */
        const jbuffer_t *const p = chain.p;
        const jstatus_t status = chain_run(world.handle, &chain, type);
        JASSERT_OK(status);
        JEXPECT_TRUE(chain.p == p);
        chain_expect(&world, &chain);
    }
    JEXPECT_EQ(stats_of(world.handle).degraded_count, 0);
    /* It is what buffers with memory ask for, and results that are made in the run. */
    JEXPECT_OK(jhandle_start_size_query(world.handle));
    (void)chain_run(world.handle, &chain, type);
    JEXPECT_OK(jhandle_stop_size_query(world.handle, &again));
    JEXPECT_EQ(again, bytes);
    chain_release(&chain);
    const jstatus_t status = chain_run(world.handle, &chain, type);
    JASSERT_OK(status);
    chain_expect(&world, &chain);
    JEXPECT_EQ(stats_of(world.handle).degraded_count, 0);
    JEXPECT_OK(jhandle_set_workspace_size(world.handle, 0));
    chain_free(&chain);
    operation_end(&world);
}

/* ---- What a placeholder is ---- */

/* A query's answer for C = A + A, of 6 x 4 elements, by an allocator that takes its memory from
 * jtest's. */
typedef struct promise {
    operation_world_t world;
    jbuffer_allocator_t *allocator;
    jbuffer_t *a, *c;
} promise_t;

static const double one = 1, zero = 0;

static void promise_query(promise_t *promise) {
    size_t bytes = 1;
    JEXPECT_OK(jhandle_start_size_query(promise->world.handle));
    JEXPECT_STATUS(
        jbuffer_add(promise->world.handle, &one, promise->a, &one, promise->a, &promise->c),
        JSTATUS_SIZE_UNCHANGED);
    JEXPECT_OK(jhandle_stop_size_query(promise->world.handle, &bytes));
    JEXPECT_EQ(bytes, 0);
}

static void promise_begin(promise_t *promise) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    const jlayout_t layout = operation_layout(2, 6, 4);
    *promise = (promise_t){.c = NULL};
    operation_begin(&promise->world, JDATATYPE_F64);
    options.allocator = jtest_failing_allocator();
    JEXPECT_OK(jbuffer_allocator_create(promise->world.runtime, &options, &promise->allocator));
    JEXPECT_OK(jbuffer_construct_value(promise->allocator, &layout, &one, &promise->a));
    promise_query(promise);
}

static void promise_end(promise_t *promise) {
    JEXPECT_OK(jbuffer_release(promise->a));
    JEXPECT_OK(jbuffer_release(promise->c));
    JEXPECT_OK(jbuffer_allocator_release(promise->allocator));
    JEXPECT_EQ(jtest_live_bytes(), 0);
    operation_end(&promise->world);
}

static void expect_placeholder(jbuffer_t *buffer) {
    void *pointer = &buffer;
    JEXPECT_STATUS(jbuffer_as_pointer(buffer, JDEVICE_HOST, &pointer), JSTATUS_INVALID_VALUE);
    JEXPECT_SUBSTR(jstatus_last_message(),
                   "is a placeholder that a size query made: it has no contents yet");
    JEXPECT_TRUE(pointer == (void *)&buffer);
}

static double element(jbuffer_t *buffer, int64_t i, int64_t j) {
    double value = -1;
    JEXPECT_OK(jbuffer_get(buffer, (const int64_t[]){i, j}, &value));
    return value;
}

JTEST(OperationChain, APlaceholderIsABufferWithoutMemory) {
    promise_t promise;
    promise_begin(&promise);
    const uint64_t allocations = jtest_allocation_count();
    jlayout_t layout;
    jbuffer_kind_t kind;
    jdatatype_t type;
    jbuffer_allocator_t *allocator;
    JEXPECT_OK(jbuffer_get_layout(promise.c, &layout));
    JEXPECT_EQ(layout.extents[0], 6);
    JEXPECT_EQ(layout.extents[1], 4);
    JEXPECT_OK(jbuffer_get_kind(promise.c, &kind));
    JEXPECT_EQ((int)kind, (int)JBUFFER_LOCAL);
    JEXPECT_OK(jbuffer_get_type(promise.c, &type));
    JEXPECT_EQ((int)type, (int)JDATATYPE_F64);
    JEXPECT_OK(jbuffer_get_allocator(promise.c, &allocator));
    JEXPECT_TRUE(allocator == promise.allocator);
    expect_placeholder(promise.c);
    JEXPECT_EQ(jtest_allocation_count(), allocations);

    /* Views of views, which survive the buffer they were made from, and see its memory when there
     * is some. */
    jbuffer_t *slice = NULL, *view = NULL;
    JEXPECT_OK(jbuffer_slice(promise.c, (const int64_t[]){1, 1}, (const int64_t[]){4, 3},
                             (const int64_t[]){1, 1}, &slice));
    JEXPECT_OK(jbuffer_permute(slice, (const int[]){1, 0}, &view));
    expect_placeholder(view);
    JEXPECT_OK(jbuffer_add(promise.world.handle, &one, promise.a, &one, promise.a, &promise.c));
    JEXPECT_EQ(jtest_allocation_count(), allocations + 1);
    JEXPECT_OK(jbuffer_set(promise.c, (const int64_t[]){2, 3}, &zero));
    JEXPECT_EQ(element(slice, 1, 2), 0.0);
    JEXPECT_EQ(element(view, 2, 1), 0.0);
    JEXPECT_EQ(element(view, 1, 2), 2.0);
    JEXPECT_OK(jbuffer_release(slice));
    JEXPECT_OK(jbuffer_release(view));

    /* One that is never run. */
    JEXPECT_OK(jbuffer_release(promise.c));
    promise.c = NULL;
    promise_query(&promise);
    JEXPECT_OK(
        jbuffer_slice(promise.c, (const int64_t[]){0, 0}, (const int64_t[]){0, 4}, NULL, &view));
    JEXPECT_OK(jbuffer_release(promise.c));
    promise.c = NULL;
    expect_placeholder(view);
    JEXPECT_OK(jbuffer_release(view));
    promise_end(&promise);
}

/* Whatever writes all of an operand, a view too, gives the buffer its memory. */
JTEST(OperationChain, WhatWritesTakesTheMemory) {
    const double five = 5;
    for (int way = 0; way < 4; way++) {
        promise_t promise;
        promise_begin(&promise);
        JSCOPED_TRACE("way %d", way);
        jhandle_t *handle = promise.world.handle;
        jbuffer_t *column = NULL;
        JEXPECT_OK(jbuffer_slice(promise.c, (const int64_t[]){0, 2}, (const int64_t[]){6, 1}, NULL,
                                 &column));
        switch (way) {
        case 0: JEXPECT_OK(jbuffer_fill(handle, promise.c, &five)); break;
        case 1: JEXPECT_OK(jbuffer_fill(handle, column, &five)); break;
        case 2: JEXPECT_OK(jbuffer_copy(handle, promise.c, promise.a)); break;
        default: JEXPECT_OK(jbuffer_transpose(handle, N, promise.a, &promise.c));
        }
        JEXPECT_EQ(element(promise.c, 5, 2), way < 2 ? 5.0 : 1.0);
        JEXPECT_EQ(element(column, 5, 0), way < 2 ? 5.0 : 1.0);
        JEXPECT_OK(jbuffer_release(column));
        promise_end(&promise);
    }
}

/* Views of one placeholder overlap as they will when it has memory; those of two do not. */
JTEST(OperationChain, ViewsOfAPlaceholderOverlapAsTheyWill) {
    promise_t promise;
    promise_begin(&promise);
    jhandle_t *handle = promise.world.handle;
    size_t bytes[2] = {0, 0};
    jbuffer_t *left = NULL, *middle = NULL, *right = NULL, *none = NULL;
    JEXPECT_OK(
        jbuffer_slice(promise.c, (const int64_t[]){0, 0}, (const int64_t[]){6, 2}, NULL, &left));
    JEXPECT_OK(
        jbuffer_slice(promise.c, (const int64_t[]){0, 1}, (const int64_t[]){6, 2}, NULL, &middle));
    JEXPECT_OK(
        jbuffer_slice(promise.c, (const int64_t[]){0, 2}, (const int64_t[]){6, 2}, NULL, &right));
    for (int round = 0; round < 2; round++) {
        JEXPECT_OK(jhandle_start_size_query(handle));
        JEXPECT_STATUS(jbuffer_add(handle, &one, left, &one, left, &right), JSTATUS_SIZE_UNCHANGED);
        JEXPECT_STATUS(jbuffer_add(handle, &one, left, &one, left, &left), JSTATUS_SIZE_UNCHANGED);
        JEXPECT_STATUS(jbuffer_add(handle, &one, right, &one, right, &none),
                       JSTATUS_SIZE_UNCHANGED);
        JEXPECT_STATUS(jbuffer_add(handle, &one, left, &one, left, &none), JSTATUS_SIZE_UNCHANGED);
        JEXPECT_STATUS(jbuffer_add(handle, &one, left, &one, left, &middle),
                       JSTATUS_SIZE_INCREASED);
        JEXPECT_OK(jhandle_stop_size_query(handle, &bytes[round]));
        JEXPECT_OK(jbuffer_add(handle, &one, promise.a, &one, promise.a, &promise.c));
    }
    /* Both terms, each beginning on a line of 64 bytes. */
    JEXPECT_EQ(bytes[0], 2 * 12 * sizeof(double) + 64);
    JEXPECT_EQ(bytes[1], bytes[0]);
    JEXPECT_OK(jbuffer_add(handle, &one, left, &one, left, &middle));
    JEXPECT_EQ(element(promise.c, 0, 0), 2.0);
    JEXPECT_EQ(element(promise.c, 0, 1), 4.0);
    JEXPECT_EQ(element(promise.c, 5, 2), 4.0);
    JEXPECT_OK(jbuffer_release(left));
    JEXPECT_OK(jbuffer_release(middle));
    JEXPECT_OK(jbuffer_release(right));
    JEXPECT_OK(jbuffer_release(none));
    promise_end(&promise);
}

/* ---- What cannot be done with one ---- */

JTEST(OperationChain, APlaceholderHasNothingToRead) {
    promise_t promise;
    promise_begin(&promise);
    jhandle_t *h = promise.world.handle;
    jbuffer_t *const a = promise.a, *const c = promise.c, *none = NULL, *moved = c, *square = NULL,
                     *triangle = NULL, *symmetric = NULL;
    const int64_t origin[2] = {0, 0};
    double value = -1;
    int64_t info = -1;
    bool reused = true;
    JEXPECT_OK(jbuffer_slice(c, origin, (const int64_t[]){4, 4}, NULL, &square));
    JEXPECT_OK(jbuffer_with_structure(square, JSTRUCTURE_TRIANGULAR_LOWER, &triangle));
    JEXPECT_OK(jbuffer_with_structure(square, JSTRUCTURE_SYMMETRIC_LOWER, &symmetric));
    const jbuffer_part_t part_before = JBUFFER_PART_INIT;
    jbuffer_part_t part = part_before;
    const uint64_t allocations = jtest_allocation_count();
#define EXPECT_REFUSED(call)                                                                       \
    do {                                                                                           \
        JEXPECT_STATUS(call, JSTATUS_INVALID_VALUE);                                               \
        JEXPECT_SUBSTR(jstatus_last_message(), "placeholder that a size query made");              \
    } while (0)
    EXPECT_REFUSED(jbuffer_get(c, origin, &value));
    EXPECT_REFUSED(jbuffer_set(c, origin, &value));
    EXPECT_REFUSED(jbuffer_save(c, "placeholder.npy"));
    EXPECT_REFUSED(jbuffer_construct_copy(promise.allocator, c, &none));
    EXPECT_REFUSED(jbuffer_construct_move(promise.allocator, &moved, &none, &reused));
    EXPECT_REFUSED(jbuffer_copy(h, a, c));
    EXPECT_REFUSED(jbuffer_copy(h, c, c));
    EXPECT_REFUSED(jbuffer_scale(h, &one, c));
    EXPECT_REFUSED(jbuffer_norm(h, JNORM_MAX, c, &value));
    EXPECT_REFUSED(jbuffer_add(h, &one, a, &one, c, &none));
    EXPECT_REFUSED(jbuffer_add(h, &one, c, &one, a, &moved));
    EXPECT_REFUSED(jbuffer_transpose(h, N, c, &none));
    EXPECT_REFUSED(jbuffer_product(h, N, C, &one, a, c, &zero, &none));
    /* Beta: C is read, too. */
    EXPECT_REFUSED(jbuffer_product(h, N, N, &one, a, square, &one, &moved));
    EXPECT_REFUSED(jbuffer_solve_triangular(h, JBLAS_RIGHT, N, JBLAS_UNIT, &one, triangle, a));
    EXPECT_REFUSED(jbuffer_cholesky(h, symmetric, &info));
    /* It is not distributed, either. */
    JEXPECT_STATUS(jbuffer_as_part(c, &part), JSTATUS_INVALID_VALUE);
    JEXPECT_EQ(jtest_allocation_count(), allocations);
    JEXPECT_NULL(none);
    JEXPECT_TRUE(moved == c);
    JEXPECT_TRUE(reused);
    JEXPECT_EQ(value, -1.0);
    JEXPECT_EQ(info, -1);
    JEXPECT_EQ(memcmp(&part, &part_before, sizeof part), 0);
    expect_placeholder(c);
    /* A result of another shape than the one it was asked for. */
    JEXPECT_STATUS(jbuffer_transpose(h, C, a, &moved), JSTATUS_INVALID_SIZE);
    expect_placeholder(c);
    JEXPECT_OK(jbuffer_release(square));
    JEXPECT_OK(jbuffer_release(triangle));
    JEXPECT_OK(jbuffer_release(symmetric));
    promise_end(&promise);
}

/* ---- Failures ---- */

/* Memory that cannot be had leaves a placeholder, which takes it the next time. */
JTEST(OperationChain, AFailureLeavesThePlaceholder) {
    promise_t promise;
    promise_begin(&promise);
    jhandle_t *handle = promise.world.handle;
    jbuffer_t *view = NULL;
    jbuffer_t *const c = promise.c;
    JEXPECT_OK(jbuffer_permute(c, (const int[]){1, 0}, &view));
    jtest_fail_allocation_after(1);
    JEXPECT_STATUS(jbuffer_add(handle, &one, promise.a, &one, promise.a, &promise.c),
                   JSTATUS_MEMORY_ERROR);
    JEXPECT_TRUE(promise.c == c);
    expect_placeholder(c);
    expect_placeholder(view);
    /* Workspace that cannot be had, for terms that have to be copied: the result is not touched. */
    JEXPECT_OK(jhandle_set_workspace(handle, jtest_guard_pages(64), 64));
    jbuffer_t *none = NULL, *stepped = NULL;
    JEXPECT_OK(jbuffer_slice(promise.a, (const int64_t[]){0, 0}, (const int64_t[]){3, 2},
                             (const int64_t[]){2, 2}, &stepped));
    JEXPECT_STATUS(jbuffer_product(handle, N, C, &one, stepped, stepped, &zero, &none),
                   JSTATUS_MEMORY_ERROR);
    JEXPECT_NULL(none);
    JEXPECT_OK(jhandle_set_workspace_size(handle, 0));
    JEXPECT_OK(jbuffer_add(handle, &one, promise.a, &one, promise.a, &promise.c));
    JEXPECT_EQ(element(view, 3, 5), 2.0);
    JEXPECT_OK(jbuffer_release(view));
    JEXPECT_OK(jbuffer_release(stepped));
    promise_end(&promise);
}

/* Each allocation of bookkeeping in turn, in the query and in the run. */
JTEST(OperationChain, NothingIsLostWhenBookkeepingFails) {
    JFOR_EACH_FAILURE(i) {
        operation_world_t world = {0};
        jhandle_options_t handle_options = JHANDLE_OPTIONS_INIT;
        jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
        const jlayout_t layout = operation_layout(2, 5, 5);
        jbuffer_t *a = NULL, *p = NULL, *t = NULL, *view = NULL;
        size_t bytes = 0;
        jstatus_t status = jruntime_create(&world.runtime);
        if (status == JSTATUS_SUCCESS)
            status = jbuffer_allocator_create(world.runtime, &options, &world.allocator);
        if (status == JSTATUS_SUCCESS)
            status = jhandle_create(&handle_options, &world.handle);
        if (status == JSTATUS_SUCCESS)
            status = jbuffer_construct_identity(world.allocator, &layout, &a);
        for (int round = 0; round < 2 && !jstatus_is_error(status); round++) {
            if (round == 0)
                status = jhandle_start_size_query(world.handle);
            for (int part = 0; part < 3 && !jstatus_is_error(status); part++) {
                jbuffer_t *const before[2] = {p, t};
                status = part == 0   ? jbuffer_product(world.handle, N, C, &one, a, a, &zero, &p)
                         : part == 2 ? jbuffer_transpose(world.handle, C, p, &t)
                         : round > 0 ? JSTATUS_SUCCESS
                                     : jbuffer_slice(p, (const int64_t[]){1, 1},
                                                     (const int64_t[]){2, 2}, NULL, &view);
                if (jstatus_is_error(status)) {
                    JEXPECT_STATUS(status, JSTATUS_MEMORY_ERROR);
                    JEXPECT_TRUE(p == before[0] && t == before[1]);
                    JEXPECT_TRUE(jtest_metadata_failed());
                }
            }
            if (round == 0 && world.handle != NULL && jhandle_is_size_query(world.handle))
                (void)jhandle_stop_size_query(world.handle, &bytes);
        }
        if (!jstatus_is_error(status)) {
            JEXPECT_EQ(element(t, 4, 4), 1.0);
            JEXPECT_EQ(element(view, 0, 0), 1.0);
        }
        (void)jbuffer_release(view);
        (void)jbuffer_release(t);
        (void)jbuffer_release(p);
        (void)jbuffer_release(a);
        if (world.handle != NULL)
            (void)jhandle_destroy(world.handle);
        (void)jbuffer_allocator_release(world.allocator);
        (void)jruntime_release(world.runtime);
    }
}
