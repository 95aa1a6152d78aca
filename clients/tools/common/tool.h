/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

/* How every installed program behaves: one table says what it understands, and its parsing, its
 * --help, and from that its man page and the shell's completion (pages.py) are made of the table.
 *
 *     0   good
 *     1   a finding, or something that could not be done
 *     2   wrong usage, or an input that is none: "NAME: what is wrong; see --help" */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/export.h"

enum { TOOL_GOOD, TOOL_FAILED, TOOL_REFUSED };

typedef struct tool_option {
    const char *name;  /* NULL: the last */
    const char *value; /* what it takes, such as FILE or fast|exact; NULL: nothing */
    int letter;        /* its short form, or from 256 on, what stands for it */
    const char *help;  /* NULL: understood, and not shown */
} tool_option_t;

typedef struct tool_row {
    const char *name, *text; /* NULL: the last */
} tool_row_t;

typedef struct tool {
    const char *name;
    const char *usage;   /* what follows the name, a line for each form */
    const char *summary; /* "says what ...", without a full stop: the man page's first line */
    const char *about;   /* paragraphs, with an empty line between two */
    const tool_row_t *commands;
    const tool_option_t *options; /* without --help and --version, which every program has */
    const char *notes;            /* paragraphs behind the options */
    const tool_row_t *statuses;
    const tool_row_t *examples; /* a command line, and what it is for */
    bool runs_program;          /* options end at the first argument that is none */
} tool_t;

/* Where results are printed. */
#define TOOL_JSON                                                                                  \
    { "json", NULL, 'j', "one JSON object instead of text" }

/* Whose messages follow. Without it they have the name of the file that runs. */
void tool_begin(const tool_t *tool);
/* The next option of the command line: its letter, its value in getopt.h's optarg; -1 behind the
 * last, where optind is the first of the other arguments, which come last. Answers --help and
 * --version, refuses what is unknown. */
int tool_next_option(int argc, char **argv);
/* What those print, for a program that parses by itself. */
void tool_print_help(const tool_t *tool);
void tool_print_version(const tool_t *tool);

/* ---- Endings ---- */

/* "NAME: ...; see --help" on standard error, and exit status 2. */
_Noreturn void tool_refuse(const char *format, ...) JALLOC_PRINTF(1, 2);
/* "NAME: ..." on standard error, and exit status 1. */
_Noreturn void tool_fail(const char *format, ...) JALLOC_PRINTF(1, 2);
/* "NAME: ..." on standard error. */
void tool_warn(const char *format, ...) JALLOC_PRINTF(1, 2);
/* The exit status: `status`, or a failure where what was printed has not arrived. */
int tool_end(int status);

/* ---- Memory ---- */

/* The program's own, all zero bytes; fails where there is none. reallocate: from old_count to count
 * elements, the new ones zero. */
void *tool_allocate(size_t count, size_t element_bytes);
void *tool_reallocate(void *memory, size_t old_count, size_t count, size_t element_bytes);

/* ---- Values ---- */

/* A whole number of an option; refused unless it is from `least` to `most`. */
uint64_t tool_number(const char *option, const char *text, uint64_t least, uint64_t most);

#endif
