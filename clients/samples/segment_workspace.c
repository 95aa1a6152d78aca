/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A handle whose workspace lies in a shared segment.
 *
 * Whatever takes a jallocator_t takes one that stands over a segment: here a handle, which solves a
 * triangular system with workspace in memory that another process sees as well. The process that
 * looks is a child with a read-only view of its own, by a descriptor, since the segment has no
 * name: it sees the workspace as a block that its parent owns.
 * */

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"

enum { ORDER = 512 };
/* Taken beforehand: whether a solve wants any depends on the processor. */
enum { WORKSPACE_BYTES = 4 << 20 };

/* Looks from outside: the parent's slot owns something. */
static int look(int descriptor, unsigned slot, size_t at_least) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_MEMFD;
    options.descriptor = descriptor;
    options.read_only = true;
    jsegment_t *segment;
    jsegment_process_t owner = JSEGMENT_PROCESS_INIT;
    TRY(jsegment_attach(&options, &segment));
    TRY(jsegment_get_process(segment, slot, &owner));
    printf("process %lld owns %zu bytes\n", (long long)owner.pid, owner.owned_bytes);
    CLAIM(owner.attached && owner.alive && owner.pid == (int64_t)getppid() &&
          owner.owned_bytes >= at_least);
    TRY(jsegment_detach(segment));
    return 0;
}

/* A system whose solution is 1 everywhere; the error is its distance from that. */
static int solve_known(jhandle_t *handle, double *L, double *B, double *error) {
    const double one = 1.0, below = 0.5 / ORDER;
    for (int j = 0; j < ORDER; j++)
        for (int i = 0; i < ORDER; i++) {
            L[i + j * ORDER] = i == j ? 2 : i > j ? below : 0;
            B[i + j * ORDER] = 2 + i * below;
        }
    TRY(jblas_dtrsm(handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, ORDER,
                    ORDER, &one, L, ORDER, B, ORDER));
    *error = 0;
    for (int i = 0; i < ORDER * ORDER; i++)
        *error = fmax(*error, fabs(B[i] - 1));
    return 0;
}

int main(void) {
    jsegment_options_t options = JSEGMENT_OPTIONS_INIT;
    options.backend = JSEGMENT_MEMFD;
    options.size_bytes = (size_t)8 << 20;
    options.max_bytes = (size_t)1 << 30;
    jsegment_t *segment;
    jshared_t *heap;
    jallocator_t *allocator;
    TRY(jsegment_create(&options, &segment));
    TRY(jshared_create(segment, 1, NULL, &heap));
    TRY(jallocator_create_shared(heap, &allocator));

    jhandle_options_t with_segment = JHANDLE_OPTIONS_INIT;
    with_segment.allocator = allocator;
    jhandle_t *handle;
    TRY(jhandle_create(&with_segment, &handle));
    TRY(jhandle_set_workspace_size(handle, WORKSPACE_BYTES));
    double *L = malloc(sizeof(double) * ORDER * ORDER), *B = malloc(sizeof(double) * ORDER * ORDER),
           error;
    CLAIM(L != NULL && B != NULL);
    if (solve_known(handle, L, B, &error))
        return 1;
    size_t bytes;
    TRY(jhandle_get_workspace_size(handle, &bytes));
    printf("solved with %zu bytes of workspace in the segment, error %.0e\n", bytes, error);
    CLAIM(error < 1e-12 && bytes == WORKSPACE_BYTES);

    int descriptor;
    TRY(jsegment_export(segment, &descriptor));
    /* Asked in the child, it would be a slot of the child's. */
    const unsigned slot = jsegment_slot(segment);
    fflush(stdout);
    const pid_t child = fork();
    CLAIM(child >= 0);
    if (child == 0) {
        const int result = look(descriptor, slot, bytes);
        fflush(stdout);
        _exit(result);
    }
    int how;
    CLAIM(waitpid(child, &how, 0) == child && how == 0);

    close(descriptor);
    free(L);
    free(B);
    TRY(jhandle_destroy(handle));
    TRY(jallocator_destroy(allocator));
    TRY(jsegment_detach(segment));
    return 0;
}
