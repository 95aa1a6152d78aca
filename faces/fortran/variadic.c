/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What takes a format and its arguments in C, for Fortran, which has no such calls: a finished
 * text. */

#include "jalloc/jalloc.h"

JALLOC_API jstatus_t jalloc_fortran_fail(jhandle_t *handle, jstatus_t status, const char *text);
JALLOC_API void jalloc_fortran_log(jlog_level_t level, const void *site, const char *text);

jstatus_t jalloc_fortran_fail(jhandle_t *handle, jstatus_t status, const char *text) {
    return jhandle_fail(handle, status, "%s", text);
}

void jalloc_fortran_log(jlog_level_t level, const void *site, const char *text) {
    jlog_write(level, site, "%s", text);
}
