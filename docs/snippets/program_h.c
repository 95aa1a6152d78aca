/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "snippet.h"

static const double one = 1, zero = 0;
enum { N = 300 };

static jstatus_t solve(jhandle_t *handle, double *a, double *b) {
    return jblas_dtrsm(handle, JBLAS_LEFT, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, JBLAS_NON_UNIT, N, N,
                       &one, a, N, b, N);
}
static jstatus_t smooth(jhandle_t *handle, double *a, double *b) {
    return jblas_dgemm(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, N, N, N, &one, a, N, a, N,
                       &zero, b, N);
}
static jstatus_t gather(jhandle_t *handle, double *a, double *b) {
    return jblas_dsyrk(handle, JBLAS_LOWER, JBLAS_NO_TRANSPOSE, N, N, &one, a, N, &zero, b, N);
}

int main(void) {
    const size_t budget_bytes = 1 << 20;
    jhandle_t *solver, *filter, *writer;
    jprogram_t *program;
    SNIPPET_TRY(jhandle_create(NULL, &solver));
    SNIPPET_TRY(jhandle_create(NULL, &filter));
    SNIPPET_TRY(jhandle_create(NULL, &writer));
    /* snippet 1 */
    jprogram_info_t info = JPROGRAM_INFO_INIT;
    SNIPPET_TRY(jprogram_get_info(program, &info));
    EXPECT(info.phase_count == 2 && info.call_count == 3 && info.size_bytes <= budget_bytes);
    SNIPPET_TRY(jprogram_destroy(program));
    SNIPPET_TRY(jhandle_destroy(solver));
    SNIPPET_TRY(jhandle_destroy(filter));
    SNIPPET_TRY(jhandle_destroy(writer));
    return 0;
}
