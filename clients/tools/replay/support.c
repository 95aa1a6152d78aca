/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Endings, memory and progress. */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

static bool progress_enabled, progress_shown;
static int progress_percent;
static const char *progress_what;

void replay_exit(int code, const char *format, ...) {
    va_list arguments;
    replay_progress_end();
    fputs("jalloc-replay: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(code);
}

void *replay_allocate(size_t count, size_t element_bytes) {
    void *memory = calloc(count ? count : 1, element_bytes);
    if (!memory)
        replay_exit(REPLAY_FAILED, "no memory for %zu times %zu bytes", count, element_bytes);
    return memory;
}

void *replay_reallocate(void *memory, size_t old_count, size_t count, size_t element_bytes) {
    size_t bytes;
    void *larger =
        __builtin_mul_overflow(count, element_bytes, &bytes) ? NULL : realloc(memory, bytes);
    if (!larger)
        replay_exit(REPLAY_FAILED, "no memory for %zu times %zu bytes", count, element_bytes);
    memset((char *)larger + old_count * element_bytes, 0, (count - old_count) * element_bytes);
    return larger;
}

void replay_progress_enable(void) { progress_enabled = true; }

void replay_progress(const char *what, uint64_t done, uint64_t all) {
    int percent = all ? (int)(100.0 * (double)done / (double)all) : 100;
    if (!progress_enabled ||
        (progress_shown && percent == progress_percent && what == progress_what))
        return;
    fprintf(stderr, "\r\033[K%s %d%%", what, percent);
    progress_what = what;
    progress_percent = percent;
    progress_shown = true;
}

void replay_progress_end(void) {
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}
