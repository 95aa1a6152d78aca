/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

/* JSON on standard output, a member a line. A name NULL: an element of a list, or the whole. */

#include <stdbool.h>
#include <stdint.h>

void json_open(const char *name, char bracket);
void json_open_line(void); /* an object whose members stand in one line */
void json_close(char bracket);
void json_text(const char *name, const char *text);
void json_number(const char *name, int64_t value);
void json_real(const char *name, double value); /* null, where it is none */
void json_bool(const char *name, bool value);
void json_end(void);

#endif
