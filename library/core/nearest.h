/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_NEAREST_H
#define JALLOC_CORE_NEAREST_H

/* Which of some names a misspelt one is closest to. */

#include <stdbool.h>
#include <stddef.h>

typedef struct ji_nearest {
    const char *text; /* what was written, `length` characters of it */
    size_t length;
    const char *name; /* the closest so far; NULL: none is close */
    unsigned beyond;  /* a name at this distance is not closer */
} ji_nearest_t;

/* Begins, offers one name after the other, and then looks at `name`: the first of the closest. */
ji_nearest_t ji_nearest_begin(const char *text, size_t length);
void ji_nearest_offer(ji_nearest_t *nearest, const char *name);

#endif
