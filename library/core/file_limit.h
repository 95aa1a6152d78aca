/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_FILE_LIMIT_H
#define JALLOC_CORE_FILE_LIMIT_H

/* Writing where the size of files is limited: SIGXFSZ would end the program, and the error that
 * comes with it, EFBIG, is enough. */

#include <signal.h>
#include <stdbool.h>

#include "core/core.h"

typedef struct ji_file_limit {
    sigset_t before;
    bool pending; /* one that is not ours */
} ji_file_limit_t;

/* From here on this thread gets no such signal; then as before, without one that has come
 * meanwhile. Both keep errno. */
JI_SHARED void ji_file_limit_begin(ji_file_limit_t *limit);
JI_SHARED void ji_file_limit_end(const ji_file_limit_t *limit);

#endif
