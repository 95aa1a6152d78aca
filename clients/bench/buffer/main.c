/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Buffers against doing it by hand.
 *
 *     [mpiexec -n 4] bench_buffer [SECONDS] [--only SECTION]
 *
 * SECONDS of each comparison; sections: construct, copy, convert, redistribute, product.
 *
 * construct, copy
 *     One process, while the others sleep: jbuffer_construct_function() against a loop that writes
 *     the same values into malloc's memory; jbuffer_copy() and jbuffer_construct_copy() against
 *     memcpy, or a memcpy for each column where one of the two is padded.
 * convert
 *     jbuffer_copy() between kinds against what moves the same bytes. Of MPI_Allgatherv the parts
 *     lie one behind the other afterwards; a line of its own shows it with the loop that puts them
 *     in their places. memcpy copies the pieces of columns that a process has, and does not tell
 *     the others that it has done so, as a collective call must.
 * redistribute, product
 *     jbuffer_copy() between two distributed matrices against pdgemr2d, and jbuffer_product()
 *     against pdgemm, on the same memory; jbuffer_product() in one process against jblas_dgemm().
 *
 * Columns are orders of square matrices of doubles. Figures are the other's time over ours, medians
 * of samples taken in turn, each until the last process has finished. All is checked before it is
 * timed. Below SECONDS of 0.05 the large ones are left out: then it shows that it runs. */

#include <stdlib.h>
#include <string.h>

#include "bench_buffer.h"

#define SMOKE_SECONDS 0.05

aim_t aims[AIMS] = {
    [AIM_CONSTRUCT] = {.what = "construct over a plain loop", .at_least = true, .bound = 0.95},
    [AIM_COPY] = {.what = "copy over memcpy or MPI", .at_least = true, .bound = 0.9},
    [AIM_REDISTRIBUTE] = {.what = "redistribution over pdgemr2d", .at_least = true, .bound = 1},
    [AIM_DISTRIBUTED_PRODUCT] = {.what = "distributed product over pdgemm",
                                 .at_least = true,
                                 .bound = 0.99},
};

void report_ratio(table_t *table, size_t row, size_t column, bench_result_t result, int aim) {
    table->value[row][column] = result.ratio;
    if (world.rank == 0)
        bench_note(table->row[row], table->column[column], "", "", result.ours, result.peer);
    if (aim < AIMS)
        aim_add(&aims[aim], result.ratio, table->row[row], table->column[column]);
}

void report_table(const table_t *table, const char *title) {
    if (world.rank == 0)
        table_print(table, title, "times as fast");
}

jlayout_t square_layout(int64_t order, int64_t leading_dimension) {
    const int64_t extents[2] = {order, order};
    jlayout_t layout;
    MUST(jlayout_init(&layout, 2, extents, JORDER_COLUMN_MAJOR));
    if (leading_dimension != 0)
        MUST(jlayout_set_leading_dimension(&layout, leading_dimension));
    return layout;
}

jbuffer_allocator_t *make_allocator(jbuffer_kind_t kind, int rows, int columns, int64_t block) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    jbuffer_allocator_t *allocator;
    options.kind = kind;
    options.grid[0] = rows;
    options.grid[1] = columns;
    options.blocks[0] = options.blocks[1] = block;
    MUST(jbuffer_allocator_create(world.runtime, &options, &allocator));
    return allocator;
}

static const char *only; /* NULL: all */

static bool wanted(const char *section) { return !only || strcmp(only, section) == 0; }

static void bench_all(void) {
    if (wanted("construct"))
        world_alone(bench_construct);
    if (wanted("copy"))
        world_alone(bench_local_copies);
    if (wanted("product"))
        world_alone(bench_local_products);
#ifdef BENCH_HAVE_MPI
    if (wanted("convert"))
        bench_distributed_copies();
    if (wanted("redistribute"))
        bench_redistribution();
    if (wanted("product"))
        bench_distributed_products();
#else
    puts("\ndistributed buffers are absent: libjalloc_mpi was not built");
#endif
}

int main(int argc, char **argv) {
    bool good = true;
    world_begin(&argc, &argv);
    for (int a = 1; a < argc && good; a++) {
        char *end = NULL;
        if (strcmp(argv[a], "--only") == 0 && a + 1 < argc)
            only = argv[++a];
        else
            good = (world.seconds = strtod(argv[a], &end)) > 0 && *end == '\0';
    }
    world.smoke = world.seconds < SMOKE_SECONDS;
    if (good) {
        bench_all();
        if (world.rank == 0)
            aims_print(aims, AIMS);
    } else if (world.rank == 0) {
        fputs(
            "usage: bench_buffer [SECONDS] [--only construct|copy|convert|redistribute|product]\n",
            stderr);
    }
    world_end();
    return good ? 0 : 2;
}
