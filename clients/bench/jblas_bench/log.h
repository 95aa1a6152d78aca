/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JBLAS_BENCH_LOG_H
#define JBLAS_BENCH_LOG_H

/* The calls of a program, as JALLOC_LAYER=2 wrote them. For the installed programs: what cannot go
 * on exits as they do (tools/common/tool.h). */

#include "options.h"
#include "problem.h"

/* Lines that are equal, but for what the handle held at the time and for scalars that are not 0, 1
 * or -1. */
typedef struct line {
    char *text;
    uint64_t number; /* of the first in the file */
    uint64_t times;
    bool is_cut; /* the file's last, and its end is missing */
    int handle;  /* the reader's own: at first -1 */
} line_t;

typedef struct log {
    const char *path;
    line_t *lines; /* in the order in which they came first */
    size_t line_count, line_room;
    uint32_t *index; /* of the lines, by their hash; 0 is empty, i + 1 line i */
    size_t index_mask;
    uint64_t other_count; /* lines of other text */
} log_t;

/* Exits if it cannot be read. */
void log_read(log_t *log, const char *path);
void log_free(log_t *log);
/* What a line says, parsed anew: options are large, and lines are many. NULL: the reason says what
 * is wrong with it. */
const routine_t *log_parse(const line_t *line, options_t *options,
                           char reason[OPTIONS_REASON_BYTES]);

#endif
