/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

#include <string.h>

static jstatus_t simple(jhandle_t *handle, size_t m, size_t n) {
    /* snippet 1 */
    x[m - 1] = y[n - 1] = 1;
    return ws.status;
}

static int ran = -1;
static void my_run(const char *way, void *const *buffers, int64_t m, int64_t n) {
    ran = strcmp(way, "best") == 0 ? 0 : 1;
    EXPECT((buffers[0] != NULL) == (ran == 0));
    if (buffers[0] != NULL)
        ((double *)buffers[0])[m * n - 1] = 1;
}

static jplan_t my_plan(const jhandle_t *handle, int64_t m, int64_t n) {
    jplan_t plan;
    const size_t bytes[] = {jalloc_matrix_bytes(JDATATYPE_F64, m, n)};
    jplan_init(&plan, handle, "mine", "mn", (const int64_t[]){m, n});
    jplan_add(&plan, "best", 0, 0, 1, bytes);
    jplan_add(&plan, "last", 0, 0, 0, NULL);
    return plan;
}

static jstatus_t planned(jhandle_t *handle, int64_t m, int64_t n) {
    /* snippet 2 */
}

int main(void) {
    jhandle_t *handle;
    size_t bytes;
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    EXPECT(simple(handle, 10, 20) == JSTATUS_SUCCESS);
    SNIPPET_TRY(jhandle_start_size_query(handle));
    EXPECT(planned(handle, 8, 8) == JSTATUS_SIZE_INCREASED);
    SNIPPET_TRY(jhandle_stop_size_query(handle, &bytes));
    SNIPPET_TRY(jhandle_set_fixed_workspace_size(handle, bytes));
    EXPECT(planned(handle, 8, 8) == JSTATUS_SUCCESS && ran == 0);
    SNIPPET_TRY(jhandle_set_fixed_workspace_size(handle, 0));
    EXPECT(planned(handle, 8, 8) == JSTATUS_PERF_DEGRADED && ran == 1);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
