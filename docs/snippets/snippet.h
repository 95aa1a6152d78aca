/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SNIPPET_H
#define JALLOC_SNIPPET_H

/* What the frames share: the programs around the manual's snippets, which check_snippets.py fills
 * and runs. It puts SNIPPET_TRY around calls whose status the text leaves aside. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <jalloc/jalloc.h>

#define SNIPPET_TRY(call) snippet_try((call), #call, __FILE__, __LINE__)
#define EXPECT(condition) snippet_expect((condition), #condition, __FILE__, __LINE__)

static inline jstatus_t snippet_try(jstatus_t status, const char *call, const char *file,
                                    int line) {
    if (jstatus_is_error(status)) {
        fprintf(stderr, "%s:%d: %s: %s: %s\n", file, line, call, jstatus_text(status),
                jstatus_last_message());
        exit(1);
    }
    return status;
}

static inline void snippet_expect(bool holds, const char *condition, const char *file, int line) {
    if (!holds) {
        fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
        exit(1);
    }
}

#endif
