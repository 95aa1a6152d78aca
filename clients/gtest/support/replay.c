/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

#include "replay.h"

#include <stdlib.h>
#include <string.h>

#include "../../bench/jblas_bench/measure.h"
#include "jtest.h"

char *replay_logged(void) {
    const char *line = strstr(jtest_log_text(), "jblas-bench -f ");
    return line != NULL ? strndup(line, strcspn(line, "\n")) : NULL;
}

bool replay_is_alike(const char *line, const char *other) {
    static const char option[] = " --handle ";
    const char *const lines[] = {line, other};
    const char *places[2], *after[2];
    for (int i = 0; i < 2; ++i) {
        places[i] = strstr(lines[i], option);
        if (places[i] == NULL)
            return false;
        after[i] = strchr(places[i] + strlen(option), ' ');
    }
    return places[0] - line == places[1] - other &&
           strncmp(line, other, (size_t)(places[0] - line)) == 0 && strcmp(after[0], after[1]) == 0;
}

replayed_t replay(const char *line, bool verify) {
    replayed_t replayed = {.rung = -1};
    options_t options = options_default;
    measurement_t measured;
    char *words = strdup(line);
    options.iterations = 1, options.warmups = 0;
    options.verify = verify;

    char reason[OPTIONS_REASON_BYTES];
    if (options_parse_line(&options, words, reason)) {
        const routine_t *routine = routine_of(&options, reason);
        replayed.understood = routine != NULL && measure(&options, routine, &measured);
    }
    if (replayed.understood)
        replayed =
            (replayed_t){true, measured.status, measured.rung, measurement_is_good(&measured)};
    free(words);
    return replayed;
}
