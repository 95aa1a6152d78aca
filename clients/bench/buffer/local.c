/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What one process does by itself: construction by a function, copies, products. */

#include <stdlib.h>
#include <string.h>

#include "bench_buffer.h"

static const int64_t orders[] = {64, 128, 256, 512, 1024, 2048};
enum { ORDERS = sizeof orders / sizeof *orders, SMOKE_ORDERS = 4 };

static size_t order_count(void) { return world.smoke ? SMOKE_ORDERS : ORDERS; }

static void name_columns(table_t *table) {
    table->columns = order_count();
    for (size_t c = 0; c < table->columns; c++)
        snprintf(table->column[c], sizeof table->column[c], "%lld", (long long)orders[c]);
}

/* ---- Construction ---- */

typedef struct construction {
    jbuffer_allocator_t *allocator;
    jlayout_t layout;
    int64_t order;
    int threads;
} construction_t;

static jbuffer_filled_t fill_block(void *context, const jbuffer_block_t *block) {
    (void)context;
    for (int64_t j = 0; j < block->extents[1]; j++) {
        /* column-major: the other stride is 1 */
        double *column = (double *)block->data + j * block->strides[1];
        for (int64_t i = 0; i < block->extents[0]; i++)
            column[i] = value_at(block->starts[0] + i, block->starts[1] + j);
    }
    return JBUFFER_BLOCK_FILLED;
}

static void *pointer_of(jbuffer_t *buffer) {
    void *pointer = NULL;
    MUST(jbuffer_as_pointer(buffer, JDEVICE_HOST, &pointer));
    return pointer;
}

static void construct_ours(void *context) {
    construction_t *c = context;
    jbuffer_t *buffer;
    MUST(jbuffer_construct_function(c->allocator, &c->layout, fill_block, NULL, c->threads,
                                    &buffer));
    MUST(jbuffer_release(buffer));
}

static double *fill_plainly(int64_t order) {
    double *x = malloc((size_t)(order * order) * sizeof *x);
    CLAIM(x != NULL);
    for (int64_t j = 0; j < order; j++)
        for (int64_t i = 0; i < order; i++)
            x[i + j * order] = value_at(i, j);
    return x;
}

static void construct_plainly(void *context) {
    double *x = fill_plainly(((construction_t *)context)->order);
    bench_keep(x);
    free(x);
}

void bench_construct(void) {
    table_t table = {.row = {"construct, one thread: a loop", "construct, all threads: a loop"},
                     .rows = 2,
                     .decimals = 2};
    construction_t c = {.allocator = make_allocator(JBUFFER_LOCAL, 0, 0, 0)};
    name_columns(&table);
    for (size_t o = 0; o < order_count(); o++) {
        c.order = orders[o];
        c.layout = square_layout(c.order, 0);
        jbuffer_t *buffer = make_square(c.allocator, c.order, 0);
        double *x = fill_plainly(c.order);
        CLAIM(memcmp(pointer_of(buffer), x, (size_t)(c.order * c.order) * sizeof *x) == 0);
        free(x);
        MUST(jbuffer_release(buffer));
        c.threads = 1;
        report_ratio(&table, 0, o, world_compare(construct_ours, construct_plainly, &c),
                     AIM_CONSTRUCT);
        c.threads = 0;
        if ((size_t)(c.order * c.order) * sizeof(double) > (size_t)1 << 20)
            report_ratio(&table, 1, o, world_compare(construct_ours, construct_plainly, &c),
                         AIM_CONSTRUCT);
    }
    MUST(jbuffer_allocator_release(c.allocator));
    report_table(&table, "construct by a function, against a loop over malloc's memory");
}

jbuffer_t *make_square(jbuffer_allocator_t *allocator, int64_t order, int64_t leading_dimension) {
    jlayout_t layout = square_layout(order, leading_dimension);
    jbuffer_t *buffer;
    MUST(jbuffer_construct_function(allocator, &layout, fill_block, NULL, 1, &buffer));
    return buffer;
}

/* ---- Copies ---- */

typedef struct local_copy {
    jbuffer_allocator_t *allocator;
    jbuffer_t *source, *destination;
    double *from, *to;
    int64_t order, from_ld, to_ld;
} local_copy_t;

static void copy_ours(void *context) {
    local_copy_t *c = context;
    MUST(jbuffer_copy(world.handle, c->destination, c->source));
}

static void copy_plainly(void *context) {
    local_copy_t *c = context;
    if (c->from_ld == c->order && c->to_ld == c->order)
        memcpy(c->to, c->from, (size_t)(c->order * c->order) * sizeof(double));
    else
        for (int64_t j = 0; j < c->order; j++)
            memcpy(c->to + j * c->to_ld, c->from + j * c->from_ld,
                   (size_t)c->order * sizeof(double));
    bench_keep(c->to);
}

static void construct_copy_ours(void *context) {
    local_copy_t *c = context;
    jbuffer_t *copy;
    MUST(jbuffer_construct_copy(c->allocator, c->source, &copy));
    MUST(jbuffer_release(copy));
}

static void construct_copy_plainly(void *context) {
    local_copy_t *c = context, fresh = *c;
    fresh.to = malloc((size_t)(c->order * c->order) * sizeof(double));
    CLAIM(fresh.to != NULL);
    fresh.to_ld = c->order;
    copy_plainly(&fresh);
    free(fresh.to);
}

static bench_result_t measure_copy(jbuffer_allocator_t *allocator, int64_t order,
                                   bool source_padded, bool destination_padded, bool construct) {
    const int64_t padded = order + 8;
    local_copy_t c = {.allocator = allocator, .order = order};
    c.from_ld = source_padded ? padded : order;
    c.to_ld = destination_padded ? padded : order;
    jlayout_t layout = square_layout(order, c.to_ld);
    c.source = make_square(allocator, order, c.from_ld);
    MUST(jbuffer_construct_value(allocator, &layout, NULL, &c.destination));
    c.from = pointer_of(c.source);
    c.to = pointer_of(c.destination);
    copy_ours(&c);
    for (int64_t j = 0; j < order; j++)
        CLAIM(memcmp(c.to + j * c.to_ld, c.from + j * c.from_ld, (size_t)order * sizeof(double)) ==
              0);
    const bench_result_t result =
        construct ? world_compare(construct_copy_ours, construct_copy_plainly, &c)
                  : world_compare(copy_ours, copy_plainly, &c);
    MUST(jbuffer_release(c.source));
    MUST(jbuffer_release(c.destination));
    return result;
}

void bench_local_copies(void) {
    table_t table = {.row = {"copy, packed: memcpy", "copy, packed to padded: memcpy",
                             "copy, padded: memcpy", "construct_copy, packed: memcpy",
                             "construct_copy, padded: memcpy"},
                     .rows = 5,
                     .decimals = 2};
    jbuffer_allocator_t *allocator = make_allocator(JBUFFER_LOCAL, 0, 0, 0);
    name_columns(&table);
    for (size_t o = 0; o < order_count(); o++) {
        report_ratio(&table, 0, o, measure_copy(allocator, orders[o], false, false, false),
                     AIM_COPY);
        report_ratio(&table, 1, o, measure_copy(allocator, orders[o], false, true, false),
                     AIM_COPY);
        report_ratio(&table, 2, o, measure_copy(allocator, orders[o], true, true, false), AIM_COPY);
        report_ratio(&table, 3, o, measure_copy(allocator, orders[o], false, false, true),
                     AIM_COPY);
        report_ratio(&table, 4, o, measure_copy(allocator, orders[o], true, false, true), AIM_COPY);
    }
    MUST(jbuffer_allocator_release(allocator));
    report_table(&table, "copy, against memcpy");
}

/* ---- Products ---- */

typedef struct local_product {
    jbuffer_t *a, *b, *c;
    const double *pa, *pb;
    double *pc;
    int64_t order;
} local_product_t;

static const double zero = 0, one = 1;

static void product_ours(void *context) {
    local_product_t *p = context;
    MUST(jbuffer_product(world.handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, &one, p->a, p->b,
                         &zero, &p->c));
}

static void product_jblas(void *context) {
    const local_product_t *p = context;
    const int64_t n = p->order;
    MUST(jblas_dgemm(world.handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n, n, &one, p->pa, n,
                     p->pb, n, &zero, p->pc, n));
}

void bench_local_products(void) {
    table_t table = {.row = {"product: jblas_dgemm"}, .rows = 1, .decimals = 2};
    jbuffer_allocator_t *allocator = make_allocator(JBUFFER_LOCAL, 0, 0, 0);
    name_columns(&table);
    for (size_t o = 0; o < order_count(); o++) {
        local_product_t p = {.order = orders[o]};
        p.a = make_square(allocator, orders[o], 0);
        p.b = make_square(allocator, orders[o], 0);
        p.c = make_square(allocator, orders[o], 0);
        p.pa = pointer_of(p.a);
        p.pb = pointer_of(p.b);
        p.pc = pointer_of(p.c);
        report_ratio(&table, 0, o, world_compare(product_ours, product_jblas, &p), AIMS);
        MUST(jbuffer_release(p.a));
        MUST(jbuffer_release(p.b));
        MUST(jbuffer_release(p.c));
    }
    MUST(jbuffer_allocator_release(allocator));
    report_table(&table, "product in one process, against jblas_dgemm");
}
