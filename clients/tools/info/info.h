/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef TOOL_INFO_H
#define TOOL_INFO_H

/* What the files of jalloc-info have in common. */

#include <stdbool.h>
#include <stddef.h>

#include "jalloc/export.h"

/* ---- write.c ---- */

/* Whatever there is to show is a section of rows, a row a list of named fields, with two ways of
 * writing them, text for people and JSON for programs, so the two can never say different
 * things. */
void info_begin(bool json);
void info_end(void);
bool info_is_json(void);
void section_begin(const char *name);
void section_end(void);
void row_begin(const char *name);
void row_end(void);
void field_text(const char *name, const char *format, ...) JALLOC_PRINTF(2, 3);
void field_bytes(const char *name, size_t bytes);
void field_count(const char *name, int count);
void field_bool(const char *name, bool value);

/* ---- show.c ---- */

/* Everything; false: a variable of the environment cannot be understood, or is unknown. */
bool show_everything(void);
/* Every kind that a composition can name, with its keys. */
void show_allocators(void);

/* ---- check.c ---- */

typedef enum verdict {
    VERDICT_GOOD,
    VERDICT_NOTE,  /* it is so, and somebody may want it otherwise */
    VERDICT_SLOW,  /* it works, and could be faster here */
    VERDICT_WRONG, /* something that was asked for, or is needed, is not to be had */
    VERDICTS
} verdict_t;

/* One finding and what helps, "" where nothing has to. The section is begun. */
void check_tell(const char *name, verdict_t verdict, const char *remedy, const char *format, ...)
    JALLOC_PRINTF(4, 5);
/* Whether this machine will be fast, and what is wrong with it. False: something is slow or
 * wrong. */
bool check_everything(void);

/* ---- check_system.c, check_library.c ---- */

/* Processors, memory, segments: what the system leaves this process. */
void check_system(void);
/* The environment, kernels, guests, profile and GPUs. */
void check_library(void);

#endif
