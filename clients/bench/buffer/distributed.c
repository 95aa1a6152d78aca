/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What all processes do together: conversions of kinds, redistribution, products. */

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "bench_buffer.h"
#include "jalloc/mpi.h"

/* ScaLAPACK's; there is no header. */
extern void pdgemm_(const char *transa, const char *transb, const int *m, const int *n,
                    const int *k, const double *alpha, const double *a, const int *ia,
                    const int *ja, const int *desca, const double *b, const int *ib, const int *jb,
                    const int *descb, const double *beta, double *c, const int *ic, const int *jc,
                    const int *descc);
extern void Cpdgemr2d(int m, int n, double *a, int ia, int ja, int *desca, double *b, int ib,
                      int jb, int *descb, int context);

/* Ragged for blocks of 64, but the first. */
static const int64_t orders[] = {128, 250, 500, 1000, 2000};
enum { ORDERS = sizeof orders / sizeof *orders, SMOKE_ORDERS = 2, BLOCK = 64 };

static const double zero = 0, one = 1;

static size_t order_count(void) { return world.smoke ? SMOKE_ORDERS : ORDERS; }

static void name_columns(table_t *table) {
    table->columns = order_count();
    for (size_t c = 0; c < table->columns; c++)
        snprintf(table->column[c], sizeof table->column[c], "%lld", (long long)orders[c]);
}

static jbuffer_t *make_zeros(jbuffer_allocator_t *allocator, int64_t order) {
    jlayout_t layout = square_layout(order, 0);
    jbuffer_t *buffer;
    MUST(jbuffer_construct_value(allocator, &layout, NULL, &buffer));
    return buffer;
}

static jbuffer_part_t part_of(jbuffer_t *buffer) {
    jbuffer_part_t part = JBUFFER_PART_INIT;
    MUST(jbuffer_as_part(buffer, &part));
    return part;
}

static void check_part(jbuffer_t *buffer) {
    const jbuffer_part_t part = part_of(buffer);
    const jdistribution_t *d = &part.distribution;
    for (int64_t j = 0; j < part.columns; j++)
        for (int64_t i = 0; i < part.rows; i++)
            CLAIM(((double *)part.pointer)[i + j * part.leading_dimension] ==
                  value_at(jdistribution_to_global(d, 0, d->coordinates[0], i),
                           jdistribution_to_global(d, 1, d->coordinates[1], j)));
}

static void check_whole(const double *x, int64_t order) {
    for (int64_t j = 0; j < order; j++)
        for (int64_t i = 0; i < order; i++)
            CLAIM(x[i + j * order] == value_at(i, j));
}

/* ---- Kinds ---- */

typedef struct conversion {
    jbuffer_allocator_t *replicated;
    jbuffer_t *source, *destination;
    double *from, *to; /* of the whole; NULL where it is distributed */
    int64_t order;
    jbuffer_part_t part; /* of the distributed one */
    /* Elements of all processes' parts, and where each would lie behind the others. */
    int *counts, *starts;
    double *behind; /* where they do */
} conversion_t;

static void convert_ours(void *context) {
    conversion_t *c = context;
    MUST(jbuffer_copy(world.handle, c->destination, c->source));
}

static void construct_ours(void *context) {
    conversion_t *c = context;
    jbuffer_t *copy;
    MUST(jbuffer_construct_copy(c->replicated, c->source, &copy));
    MUST(jbuffer_release(copy));
}

/* Rank 0 has the source, and all are to have the destination. */
static void broadcast(void *context) {
    conversion_t *c = context;
    const size_t count = (size_t)(c->order * c->order);
    if (world.rank == 0)
        memcpy(c->to, c->from, count * sizeof *c->to);
    MPI_Bcast(c->to, (int)count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* Each process takes its blocks from the whole. */
static void pick(void *context) {
    conversion_t *c = context;
    const jdistribution_t *d = &c->part.distribution;
    for (int64_t j = 0; j < c->part.columns; j++) {
        const double *from =
            c->from + jdistribution_to_global(d, 1, d->coordinates[1], j) * c->order;
        double *to = (double *)c->part.pointer + j * c->part.leading_dimension;
        for (int64_t i = 0; i < c->part.rows; i += d->blocks[0]) {
            const int64_t left = c->part.rows - i, rows = left < d->blocks[0] ? left : d->blocks[0];
            memcpy(to + i, from + jdistribution_to_global(d, 0, d->coordinates[0], i),
                   (size_t)rows * sizeof *to);
        }
    }
    bench_keep(c->part.pointer);
}

/* The parts one behind the other: the same bytes, but not in their places. */
static void gather(void *context) {
    conversion_t *c = context;
    MPI_Allgatherv(c->part.pointer, c->counts[world.rank], MPI_DOUBLE, c->to, c->counts, c->starts,
                   MPI_DOUBLE, MPI_COMM_WORLD);
}

/* And in their places. */
static void gather_and_place(void *context) {
    conversion_t *c = context, behind = *c;
    behind.to = c->behind;
    gather(&behind);
    for (int p = 0; p < world.count; p++) {
        const jdistribution_t *d = &c->part.distribution;
        const int coordinates[2] = {p / d->grid[1], p % d->grid[1]};
        const int64_t rows = jdistribution_local_count(d, 0, coordinates[0], c->order),
                      columns = jdistribution_local_count(d, 1, coordinates[1], c->order);
        for (int64_t j = 0; j < columns; j++) {
            const double *from = c->behind + c->starts[p] + j * rows;
            double *to = c->to + jdistribution_to_global(d, 1, coordinates[1], j) * c->order;
            for (int64_t i = 0; i < rows; i += d->blocks[0]) {
                const int64_t left = rows - i, run = left < d->blocks[0] ? left : d->blocks[0];
                memcpy(to + jdistribution_to_global(d, 0, coordinates[0], i), from + i,
                       (size_t)run * sizeof *to);
            }
        }
    }
}

static void construct_gather(void *context) {
    conversion_t *c = context, fresh = *c;
    fresh.to = malloc((size_t)(c->order * c->order) * sizeof *fresh.to);
    CLAIM(fresh.to != NULL);
    gather(&fresh);
    free(fresh.to);
}

static double *pointer_of(jbuffer_t *buffer) {
    void *pointer;
    MUST(jbuffer_as_pointer(buffer, JDEVICE_HOST, &pointer));
    return pointer;
}

static void measure_conversions(table_t *table, size_t column, jbuffer_allocator_t *local,
                                jbuffer_allocator_t *replicated, jbuffer_allocator_t *distributed) {
    const int64_t order = orders[column];
    conversion_t c = {.order = order, .replicated = replicated};
    jbuffer_t *own = make_square(local, order, 0), *everywhere = make_zeros(replicated, order),
              *parts = make_zeros(distributed, order);

    c.source = own;
    c.destination = everywhere;
    c.from = pointer_of(own);
    c.to = pointer_of(everywhere);
    convert_ours(&c);
    check_whole(c.to, order);
    report_ratio(table, 0, column, world_compare(convert_ours, broadcast, &c), AIM_COPY);

    c.source = everywhere;
    c.destination = parts;
    c.from = c.to;
    c.part = part_of(parts);
    convert_ours(&c);
    check_part(parts);
    report_ratio(table, 1, column, world_compare(convert_ours, pick, &c), AIM_COPY);

    c.source = parts;
    c.destination = everywhere;
    c.counts = calloc((size_t)world.count, sizeof *c.counts);
    c.starts = calloc((size_t)world.count, sizeof *c.starts);
    CLAIM(c.counts && c.starts);
    const int mine = (int)(c.part.rows * c.part.columns);
    /* So that it can be sent as it lies. */
    CLAIM(c.part.leading_dimension == c.part.rows || mine == 0);
    MPI_Allgather(&mine, 1, MPI_INT, c.counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int p = 1; p < world.count; p++)
        c.starts[p] = c.starts[p - 1] + c.counts[p - 1];
    memset(c.to, 0, (size_t)(order * order) * sizeof *c.to);
    convert_ours(&c);
    check_whole(c.to, order);
    report_ratio(table, 2, column, world_compare(convert_ours, gather, &c), AIM_COPY);
    c.behind = malloc((size_t)(order * order) * sizeof *c.behind);
    CLAIM(c.behind != NULL);
    memset(c.to, 0, (size_t)(order * order) * sizeof *c.to);
    gather_and_place(&c);
    check_whole(c.to, order);
    report_ratio(table, 3, column, world_compare(convert_ours, gather_and_place, &c), AIMS);
    report_ratio(table, 4, column, world_compare(construct_ours, construct_gather, &c), AIM_COPY);

    free(c.behind);
    free(c.counts);
    free(c.starts);
    MUST(jbuffer_release(own));
    MUST(jbuffer_release(everywhere));
    MUST(jbuffer_release(parts));
}

void bench_distributed_copies(void) {
    table_t table = {.row = {"local to replicated: MPI_Bcast", "replicated to distributed: memcpy",
                             "distributed to replicated: MPI_Allgatherv",
                             "the same, and a loop that places it",
                             "construct_copy: MPI_Allgatherv"},
                     .rows = 5,
                     .decimals = 2};
    jbuffer_allocator_t *local = make_allocator(JBUFFER_LOCAL, 0, 0, 0),
                        *replicated = make_allocator(JBUFFER_REPLICATED, 0, 0, 0),
                        *distributed = make_allocator(JBUFFER_DISTRIBUTED, 0, 0, BLOCK);
    name_columns(&table);
    for (size_t o = 0; o < order_count(); o++)
        measure_conversions(&table, o, local, replicated, distributed);
    MUST(jbuffer_allocator_release(local));
    MUST(jbuffer_allocator_release(replicated));
    MUST(jbuffer_allocator_release(distributed));
    report_table(&table, "copy between kinds, against what moves the same bytes");
}

/* ---- Redistribution ---- */

typedef struct redistribution {
    jbuffer_t *source, *destination;
    jbuffer_scalapack_t from, to;
} redistribution_t;

static void redistribute_ours(void *context) {
    redistribution_t *r = context;
    MUST(jbuffer_copy(world.handle, r->destination, r->source));
}

static void redistribute_scalapack(void *context) {
    redistribution_t *r = context;
    Cpdgemr2d(r->from.rows, r->from.columns, r->from.pointer, r->from.row, r->from.column,
              r->from.descriptor, r->to.pointer, r->to.row, r->to.column, r->to.descriptor,
              r->from.descriptor[1]);
}

void bench_redistribution(void) {
    table_t table = {.row = {"blocks of 64 to 32: pdgemr2d", "square grid to one row: pdgemr2d",
                             "both: pdgemr2d"},
                     .rows = 3,
                     .decimals = 2};
    name_columns(&table);
    for (size_t row = 0; row < table.rows; row++) {
        jbuffer_allocator_t *from = make_allocator(JBUFFER_DISTRIBUTED, 0, 0, BLOCK),
                            *to = make_allocator(JBUFFER_DISTRIBUTED, row == 0 ? 0 : 1,
                                                 row == 0 ? 0 : world.count,
                                                 row == 1 ? BLOCK : BLOCK / 2);
        for (size_t o = 0; o < order_count(); o++) {
            redistribution_t r = {make_square(from, orders[o], 0), make_zeros(to, orders[o]),
                                  JBUFFER_SCALAPACK_INIT, JBUFFER_SCALAPACK_INIT};
            MUST(jbuffer_as_scalapack(r.source, &r.from));
            MUST(jbuffer_as_scalapack(r.destination, &r.to));
            redistribute_ours(&r);
            check_part(r.destination);
            MUST(jbuffer_fill(world.handle, r.destination, NULL));
            redistribute_scalapack(&r);
            check_part(r.destination);
            report_ratio(&table, row, o,
                         world_compare(redistribute_ours, redistribute_scalapack, &r),
                         AIM_REDISTRIBUTE);
            MUST(jbuffer_release(r.source));
            MUST(jbuffer_release(r.destination));
        }
        MUST(jbuffer_allocator_release(from));
        MUST(jbuffer_allocator_release(to));
    }
    report_table(&table, "redistribution, against ScaLAPACK's pdgemr2d");
}

/* ---- Products ---- */

typedef struct distributed_product {
    jbuffer_t *a, *b, *c;
    jbuffer_scalapack_t of_a, of_b, of_c;
} distributed_product_t;

static void product_ours(void *context) {
    distributed_product_t *p = context;
    MUST(jbuffer_product(world.handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, &one, p->a, p->b,
                         &zero, &p->c));
}

static void product_scalapack(void *context) {
    distributed_product_t *p = context;
    const jbuffer_scalapack_t *a = &p->of_a, *b = &p->of_b, *c = &p->of_c;
    pdgemm_("N", "N", &c->rows, &c->columns, &a->columns, &one, a->pointer, &a->row, &a->column,
            a->descriptor, b->pointer, &b->row, &b->column, b->descriptor, &zero, c->pointer,
            &c->row, &c->column, c->descriptor);
}

void bench_distributed_products(void) {
    table_t table = {.row = {"product: pdgemm"}, .rows = 1, .decimals = 3};
    jbuffer_allocator_t *allocator = make_allocator(JBUFFER_DISTRIBUTED, 0, 0, BLOCK);
    name_columns(&table);
    for (size_t o = 0; o < order_count(); o++) {
        distributed_product_t p = {.of_a = JBUFFER_SCALAPACK_INIT,
                                   .of_b = JBUFFER_SCALAPACK_INIT,
                                   .of_c = JBUFFER_SCALAPACK_INIT};
        double ours, theirs;
        p.a = make_square(allocator, orders[o], 0);
        p.b = make_square(allocator, orders[o], 0);
        p.c = make_zeros(allocator, orders[o]);
        MUST(jbuffer_as_scalapack(p.a, &p.of_a));
        MUST(jbuffer_as_scalapack(p.b, &p.of_b));
        MUST(jbuffer_as_scalapack(p.c, &p.of_c));
        product_ours(&p);
        MUST(jbuffer_norm(world.handle, JNORM_FROBENIUS, p.c, &ours));
        product_scalapack(&p);
        MUST(jbuffer_norm(world.handle, JNORM_FROBENIUS, p.c, &theirs));
        CLAIM(theirs > 0 && fabs(ours - theirs) <= 1e-12 * theirs);
        report_ratio(&table, 0, o, world_compare(product_ours, product_scalapack, &p),
                     AIM_DISTRIBUTED_PRODUCT);
        MUST(jbuffer_release(p.a));
        MUST(jbuffer_release(p.b));
        MUST(jbuffer_release(p.c));
    }
    MUST(jbuffer_allocator_release(allocator));
    report_table(&table, "product by all processes, against ScaLAPACK's pdgemm");
}
