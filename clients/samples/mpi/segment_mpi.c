/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Ranks of an MPI program share a segment.
 *
 * Rank 0 makes a segment of 64 MiB of POSIX shared memory and a stack allocator in it, with a
 * header of the program's own, and sets the header's number to 10. The others attach, find the
 * allocator by its id, and see the 10. Then every rank allocates from a general allocator and gives
 * its block to rank 0, which reads them all and frees them.
 *
 * The same exchange is made a second time in a shared window of MPI's (MPI_Win_allocate_shared),
 * over which a segment is laid as over any array. Only ranks of one machine share memory, so all is
 * done in the communicator of the machine. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "jalloc/segment.h"

enum { HEADER_ALLOCATOR = 1, EXCHANGE_ALLOCATOR = 2, LENGTH = 1000 };

typedef struct custom_header {
    int data;
} custom_header_t;

static char name[64]; /* of the segment, while there is one */

static void stop(int line, const char *what, const char *why) {
    fprintf(stderr, "segment_mpi.c:%d: %s: %s\n", line, what, why);
    if (name[0] != '\0')
        (void)jsegment_remove(JSEGMENT_POSIX, name, JSEGMENT_REMOVE_ALWAYS);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (jstatus_is_error(call))                                                                \
            stop(__LINE__, #call, jstatus_last_message());                                         \
    } while (0)
#define CLAIM(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            stop(__LINE__, #condition, "not so");                                                  \
    } while (0)

/* Every rank allocates, fills and gives to rank 0, whose slot it learns from a message; rank 0
 * reads and frees. */
static void exchange(MPI_Comm ranks, int rank, int count, jsegment_t *segment) {
    jshared_t *heap;
    if (rank == 0)
        TRY(jshared_create(segment, EXCHANGE_ALLOCATOR, NULL, &heap));
    MPI_Barrier(ranks);
    if (rank != 0)
        TRY(jshared_open(segment, EXCHANGE_ALLOCATOR, &heap));
    unsigned slot = jsegment_slot(segment);
    MPI_Bcast(&slot, 1, MPI_UNSIGNED, 0, ranks);

    joffset_t mine;
    TRY(jshared_allocate(heap, LENGTH * sizeof(double), 0, &mine));
    double *x = JSEGMENT_AT(segment, double, mine, LENGTH);
    CLAIM(x != NULL);
    for (int i = 0; i < LENGTH; i++)
        x[i] = rank * LENGTH + i;
    if (rank != 0)
        TRY(jshared_give(heap, mine, slot));

    joffset_t *all = calloc((size_t)count, sizeof *all);
    CLAIM(all != NULL);
    /* What is sent is seen: a barrier as well. */
    MPI_Gather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, ranks);
    if (rank == 0) {
        double sum = 0;
        const double n = (double)count * LENGTH;
        for (int r = 0; r < count; r++) {
            unsigned owner;
            TRY(jshared_describe(heap, all[r], NULL, &owner));
            CLAIM(owner == slot);
            const double *theirs = JSEGMENT_AT(segment, double, all[r], LENGTH);
            CLAIM(theirs != NULL);
            for (int i = 0; i < LENGTH; i++)
                sum += theirs[i];
        }
        CLAIM(sum == n * (n - 1) / 2);
        TRY(jshared_deallocate_many(heap, (size_t)count, all));
        TRY(jsegment_verify(segment));
        printf("%d ranks, %d numbers in blocks that rank 0 was given: the sum is %.0f\n", count,
               count * LENGTH, sum);
    }
    free(all);
    MPI_Barrier(ranks);
    TRY(jshared_close(heap));
}

static void in_shared_memory(MPI_Comm ranks, int rank, int count) {
    snprintf(name, sizeof name, "/jalloc-mpi-%ld", (long)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, ranks);
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_POSIX;
    options.name = name;
    options.size_bytes = (size_t)64 << 20;
    jsegment_t *segment;
    jshared_t *stack;
    if (rank == 0) {
        jshared_options_t of_stack = JSHARED_OPTIONS_INIT;
        of_stack.kind = JSHARED_STACK;
        of_stack.header_bytes = sizeof(custom_header_t);
        of_stack.region_bytes = (size_t)16 << 20;
        TRY(jsegment_create(&options, &segment));
        TRY(jshared_create(segment, HEADER_ALLOCATOR, &of_stack, &stack));
        custom_header_t *header = jshared_header(stack, NULL);
        CLAIM(header != NULL);
        header->data = 10;
    }
    MPI_Barrier(ranks);
    if (rank != 0) {
        TRY(jsegment_attach(&options, &segment));
        TRY(jshared_open(segment, HEADER_ALLOCATOR, &stack));
    }
    size_t header_bytes;
    const custom_header_t *header = jshared_header(stack, &header_bytes);
    CLAIM(header != NULL && header_bytes == sizeof *header && header->data == 10);
    exchange(ranks, rank, count, segment);

    TRY(jshared_close(stack));
    if (rank != 0)
        TRY(jsegment_detach(segment));
    MPI_Barrier(ranks);
    if (rank == 0)
        TRY(jsegment_destroy(segment));
    name[0] = '\0';
}

static void in_a_window(MPI_Comm ranks, int rank, int count) {
    enum { BYTES = 8 << 20, PAGE = 4096 };
    MPI_Win window;
    MPI_Aint bytes;
    int unit;
    char *base;
    MPI_Win_allocate_shared(rank == 0 ? BYTES + PAGE : 0, 1, MPI_INFO_NULL, ranks, &base, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &base);
    /* A window need not begin at a page; how far it is from one is the same for all: mappings are
     * made of pages. */
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_ARRAY;
    options.array = base + (-(size_t)base & (PAGE - 1));
    options.size_bytes = BYTES;
    jsegment_t *segment;
    if (rank == 0)
        TRY(jsegment_create(&options, &segment));
    MPI_Barrier(ranks);
    if (rank != 0)
        TRY(jsegment_attach(&options, &segment));
    exchange(ranks, rank, count, segment);
    TRY(jsegment_detach(segment));
    MPI_Barrier(ranks);
    MPI_Win_free(&window);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm ranks;
    int rank, count;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &ranks);
    MPI_Comm_rank(ranks, &rank);
    MPI_Comm_size(ranks, &count);
    in_shared_memory(ranks, rank, count);
    in_a_window(ranks, rank, count);
    MPI_Comm_free(&ranks);
    MPI_Finalize();
    return 0;
}
