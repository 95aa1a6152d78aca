/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef MANY_H
#define MANY_H

/* A program with millions of small live blocks. */

#include "report.h"

/* The library's own bookkeeping is what such a program pays for: its tables fit no cache. So many
 * blocks of 16 to 256 bytes are allocated and freed in the same order; and allocated, replaced in
 * random order, as many times as there are blocks, and freed. The first byte of each is written.
 * Rows: the C library's malloc, and compositions of jalloc on real memory; columns: nanoseconds of
 * one operation in each phase, and of all; the medians of three rounds. False: something was
 * refused. */
bool many_run(size_t blocks, table_t *times);

#endif
