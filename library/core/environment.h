/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_ENVIRONMENT_H
#define JALLOC_CORE_ENVIRONMENT_H

/* Which names the environment has. */

#include <stdbool.h>
#include <stddef.h>

#define JI_ENVIRONMENT_PREFIX "JALLOC_"

/* A name in the environment that begins as jalloc's do and is none of them. */
typedef struct ji_environment_name {
    const char *text; /* `length` characters; the environment's own */
    size_t length;
    const char *nearest; /* the variable that it is closest to; NULL: none is close */
} ji_environment_name_t;

/* The index-th such name; false past the last, and where the program may do more than its user. */
bool ji_environment_unknown(size_t index, ji_environment_name_t *name);

#endif
