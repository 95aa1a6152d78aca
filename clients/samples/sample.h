/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SAMPLE_H
#define JALLOC_SAMPLE_H

/* What the samples share: how they meet an error. A status is compared with jstatus_is_error(),
 * never with success alone: "perf degraded" and the answers of a size query are not errors. */

#include <stdio.h>

#include "jalloc/jalloc.h"

/* Leaves main, or any function that returns an int, when a call failed; says which and why. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        jstatus_t status_ = (call);                                                                \
        if (jstatus_is_error(status_)) {                                                           \
            fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #call,                      \
                    jstatus_text(status_), jstatus_last_message());                                \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

/* The same for what the sample itself claims. */
#define CLAIM(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

#endif
