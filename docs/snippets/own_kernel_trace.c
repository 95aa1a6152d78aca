/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#define _POSIX_C_SOURCE 200809L /* setenv */

#include "snippet.h"

#include <string.h>

static int traced;
static void listen(void *context, jlog_level_t level, const char *line) {
    (void)context, (void)level;
    traced += strncmp(line, "transpose,3,4,", 14) == 0;
}

int main(void) {
    const int64_t rows = 3, columns = 4;
    double a[12];
    jhandle_t *handle;
    setenv("JALLOC_LAYER", "1", 1);
    SNIPPET_TRY(jlog_set_sink(listen, NULL));
    SNIPPET_TRY(jhandle_create(NULL, &handle));
    /* snippet */
    EXPECT(traced == 1);
    SNIPPET_TRY(jhandle_destroy(handle));
    return 0;
}
