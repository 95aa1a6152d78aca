/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#define _POSIX_C_SOURCE 200809L /* setenv */

#include "snippet.h"

/* snippet */

static void solve(jhandle_t *handle) {
    const double alpha = 2;
    double x[10] = {1};
    SNIPPET_TRY(jblas_dscal(handle, 10, &alpha, x, 1));
}

int main(void) {
    FILE *file = tmpfile();
    char line[1000];
    int lines = 0;
    jhandle_t *handle;
    EXPECT(file != NULL);
    setenv("JALLOC_LAYER", "4", 1);
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    /* snippet use */
    rewind(file);
    while (fgets(line, sizeof line, file) != NULL)
        lines++;
    EXPECT(lines >= 2);
    SNIPPET_TRY(jhandle_destroy(handle));
    SNIPPET_TRY(jlog_set_sink(NULL, NULL));
    fclose(file);
    return 0;
}
