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

replayed_t replay(const char *line, bool verify) {
    replayed_t replayed = {.rung = -1};
    options_t options = options_default;
    measurement_t measured;
    char *words = strdup(line);
    options.iterations = 1, options.warmups = 0;
    options.verify = verify;

    if (options_parse_line(&options, words, "the log") == -1) {
        const routine_t *routine = routine_find(options.function);
        replayed.understood = routine != NULL && measure(&options, routine, &measured);
    }
    if (replayed.understood)
        replayed =
            (replayed_t){true, measured.status, measured.rung, measurement_is_good(&measured)};
    free(words);
    return replayed;
}
