/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_SIZE_H
#define JALLOC_CORE_SIZE_H

/* Letters, digits and numbers of text, whatever the locale. */

#include <stdbool.h>
#include <stddef.h>

#include "jalloc/status.h"

static inline char ji_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }
static inline bool ji_is_digit(char c) { return c >= '0' && c <= '9'; }

/* Reads DIGITS[.DIGITS][UNIT] and nothing else, as jconfig_parse_size() does, and leaves no
 * message. success; invalid configuration; invalid size. */
jstatus_t ji_size_read(const char *text, size_t length, size_t *size_bytes);

#endif
