/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

/* Bytes of the UTF-8 character at text, if it is one that may be shown and that XML allows; else
 * 0. */
int text_character_bytes(const unsigned char *text);

#endif
