/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Terminals understand the sequences of ECMA-48, section 8.3. */

#include "terminal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool progress_forced, progress_shown;
static int progress_percent;
static const char *progress_what;

static bool understands_sequences(FILE *stream) {
    const char *terminal = getenv("TERM");
    return terminal != NULL && strcmp(terminal, "dumb") != 0 && isatty(fileno(stream));
}

const char *tool_colour(FILE *stream, tool_colour_t colour) {
    static const char *const begin[] = {"\033[0m", "\033[32m", "\033[33m", "\033[1;31m"};
    const char *no_colour = getenv("NO_COLOR");
    const bool is_wanted = no_colour == NULL || no_colour[0] == '\0';
    return is_wanted && understands_sequences(stream) ? begin[colour] : "";
}

void tool_progress_force(void) { progress_forced = true; }

void tool_progress(const char *what, uint64_t done, uint64_t all) {
    const int percent = all > 0 ? (int)(100.0 * (double)done / (double)all) : 100;
    const bool is_new =
        !progress_shown || percent != progress_percent || strcmp(what, progress_what) != 0;
    if (!is_new || (!progress_forced && !understands_sequences(stderr)))
        return;
    fprintf(stderr, "\r\033[K%s %d%%", what, percent);
    progress_what = what;
    progress_percent = percent;
    progress_shown = true;
}

void tool_progress_end(void) {
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}
