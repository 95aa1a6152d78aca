/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A handle that takes its workspace from the caller's own allocator.
 *
 * An application with a memory pool of its own does not want a library to go past it. Here the pool
 * is an arena of fixed size; two functions make it a jallocator_t, and a handle made with it takes
 * every workspace block from there. The arena is also a bound: when it has no room the handle's
 * growth fails, and the routine takes the way that needs less. */

#include <math.h>
#include <stdlib.h>

#include "sample.h"

/* Hands out its bytes from the front; all come back when the last block is given back. */
typedef struct arena {
    char *base;
    size_t capacity, used;
    int live, given;
} arena_t;

static jstatus_t arena_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    (void)stream; /* host memory: no stream needs ordering */
    arena_t *arena = context;
    size_t offset = (arena->used + alignment - 1) & ~(alignment - 1);
    if (offset > arena->capacity || size_bytes > arena->capacity - offset) {
        printf("  arena: %zu bytes refused\n", size_bytes);
        return JSTATUS_MEMORY_ERROR;
    }
    *pointer = arena->base + offset;
    arena->used = offset + size_bytes;
    arena->live++;
    arena->given++;
    printf("  arena: %zu bytes given, %zu of %zu used\n", size_bytes, arena->used, arena->capacity);
    return JSTATUS_SUCCESS;
}

static jstatus_t arena_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    (void)pointer;
    (void)stream;
    arena_t *arena = context;
    if (--arena->live == 0)
        arena->used = 0;
    printf("  arena: %zu bytes taken back, %d blocks live\n", size_bytes, arena->live);
    return JSTATUS_SUCCESS;
}

/* L X = B; with NULL operands, for the query, as well. */
static jstatus_t solve(jhandle_t *handle, int order, const double *L, double *B) {
    const double one = 1.0;
    return jblas_dtrsm(handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, order,
                       order, &one, L, order, B, order);
}

/* Solves for L with 2 on its diagonal and one number everywhere below it, and B such that every
 * element of X is 1. */
static int run(jhandle_t *handle, int order, jstatus_t expected) {
    const double below = 0.7 / order;
    size_t elements = (size_t)order * (size_t)order;
    double *L = malloc(sizeof(double) * elements), *B = malloc(sizeof(double) * elements);
    CLAIM(L && B);
    for (int j = 0; j < order; j++)
        for (int i = 0; i < order; i++) {
            L[i + j * order] = i == j ? 2 : i > j ? below : 0;
            B[i + j * order] = 2 + i * below;
        }
    jstatus_t status = solve(handle, order, L, B);
    TRY(status);
    double error = 0;
    for (size_t i = 0; i < elements; i++)
        error = fmax(error, fabs(B[i] - 1));
    printf("dtrsm of order %d: %s, error %.1e\n", order, jstatus_name(status), error);
    CLAIM(error < 1e-12);
    CLAIM(status == expected);
    free(L);
    free(B);
    return 0;
}

int main(void) {
    enum { SMALL = 64, LARGE = 256 };
    jhandle_t *handle;
    size_t small, large; /* bytes that the solves would like */
    TRY(jhandle_create(NULL, &handle));
    TRY(jhandle_start_size_query(handle));
    TRY(solve(handle, SMALL, NULL, NULL));
    TRY(jhandle_stop_size_query(handle, &small));
    TRY(jhandle_start_size_query(handle));
    TRY(solve(handle, LARGE, NULL, NULL));
    TRY(jhandle_stop_size_query(handle, &large));
    TRY(jhandle_destroy(handle));
    printf("dtrsm of order %d wants %zu bytes, of order %d %zu bytes\n", SMALL, small, LARGE,
           large);

    /* Room for the small solve and almost enough for the large one. */
    enum { ALIGNMENT = 64 };
    arena_t arena = {.capacity = large > small ? large - ALIGNMENT : small + ALIGNMENT};
    arena.base = aligned_alloc(ALIGNMENT, arena.capacity);
    CLAIM(arena.base != NULL);

    jallocator_ops_t ops = {
        .struct_size = sizeof ops, .allocate = arena_allocate, .deallocate = arena_deallocate};
    jallocator_options_t named = JALLOCATOR_OPTIONS_INIT;
    named.name = "arena";
    jallocator_t *allocator;
    TRY(jallocator_create(&ops, &arena, &named, &allocator));

    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.allocator = allocator;
    TRY(jhandle_create(&options, &handle));
    if (run(handle, SMALL, JSTATUS_SUCCESS) ||
        run(handle, LARGE, large > small ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS))
        return 1;
    CLAIM(arena.given > 0 || small == 0);

    CLAIM(jallocator_destroy(allocator) == JSTATUS_BUSY); /* the handle still needs it */
    TRY(jhandle_destroy(handle));
    CLAIM(arena.live == 0);
    TRY(jallocator_destroy(allocator));
    free(arena.base);
    puts("the arena has everything back");
    return 0;
}
