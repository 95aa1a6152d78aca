/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_TERMINAL_H
#define TOOLS_TERMINAL_H

/* What is for terminals alone: colours, and a line that shows how far long work has come. */

#include <stdint.h>
#include <stdio.h>

typedef enum tool_colour { TOOL_PLAIN, TOOL_GREEN, TOOL_YELLOW, TOOL_RED } tool_colour_t;

/* What begins a colour on a stream: nothing where it is no terminal, or where NO_COLOR
 * (https://no-color.org) is set and not empty, or TERM is "dumb". TOOL_PLAIN ends it. */
const char *tool_colour(FILE *stream, tool_colour_t colour);

/* "timing 45%" on standard error, in one line that overwrites itself; nothing where that is no
 * terminal, or a dumb one. */
void tool_progress(const char *what, uint64_t done, uint64_t all);
void tool_progress_end(void);
/* Also where standard error is no terminal. */
void tool_progress_force(void);

#endif
