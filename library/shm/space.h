/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_SHM_SPACE_H
#define JALLOC_SHM_SPACE_H

/* Room for a segment: on the disk, and among addresses. Knows nothing of segments. */

#include <stddef.h>
#include <stdint.h>

#define SHM_LARGEST_ALIGNMENT ((size_t)1 << 30) /* of a mapping */

/* Of the system, which may be larger than a segment's. */
size_t shm_page_bytes(void);

/* Sets bytes of a file aside that nobody uses yet; the file becomes so long. -1 and errno; never a
 * signal. */
int shm_space_reserve(int descriptor, uint64_t begin, uint64_t end);
/* The opposite, after a failure: many file systems keep what they had found room for, which may be
 * all there was. */
void shm_space_give_back(int descriptor, uint64_t begin, uint64_t end);

/* Reserves address space, which counts as memory only when it is made accessible, at a multiple of
 * the largest alignment for which there is enough of it. NULL: there is not. */
char *shm_space_find(size_t bytes);

#endif
