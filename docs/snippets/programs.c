/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <stdlib.h>

static const double one = 1, zero = 0;

static jstatus_t work(jhandle_t *handle, int64_t n, double *a, double *c) {
    return jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, n, n, n, &one, a, n, a, n,
                       &zero, c, n);
}

static void announced(jhandle_t *handle) {
    /* snippet announced */
}

int main(void) {
    const int64_t n = 512, orders[] = {300, 512, 400};
    jhandle_t *handle, *handles[3];
    jprogram_t *program;
    jstatus_t status;
    double *a = calloc(512 * 512, sizeof *a), *c = calloc(512 * 512, sizeof *c);
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    for (int i = 0; i < 3; i++)
        SNIPPET_TRY(jhandle_create(NULL, &handles[i]));
    {
        /* snippet requirement */
        EXPECT(needs.optimal_bytes > 0 && needs.call_count == 2);
        jplan_t plan;
        const size_t state_bytes = 1000;
        jplan_init(&plan, handle, "my_step", "n", &n);
        jplan_add(&plan, "buffered", 0, 0, 1, &state_bytes);
        /* snippet algebra */
        SNIPPET_TRY(jrequirement_get_info(both, &needs));
        EXPECT(needs.call_count == 2 * 1002 && needs.minimal_bytes == 2 * 2048);
        jrequirement_t *const all[] = {requirement, step, loop, whole, solver, both};
        for (int i = 0; i < 6; i++)
            SNIPPET_TRY(jrequirement_destroy(all[i]));
    }
    announced(handle);
    SNIPPET_TRY(jhandle_set_budget(handle, 64));
    EXPECT(work(handle, n, a, c) == JSTATUS_MEMORY_ERROR);
    /* snippet program */
    EXPECT(!jstatus_is_error(status));
    SNIPPET_TRY(jprogram_destroy(program));
    for (int i = 0; i < 3; i++)
        SNIPPET_TRY(jhandle_destroy(handles[i]));
    SNIPPET_TRY(jhandle_destroy(handle));
    free(a);
    free(c);
    return 0;
}
