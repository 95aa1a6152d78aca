/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef REPLAY_H
#define REPLAY_H

/* What the parts of jalloc-replay share. */

#include <stddef.h>

#include "../common/terminal.h"
#include "../common/tool.h"

/* Memory of the program's own, all zero bytes; exits where there is none. reallocate: from
 * old_count to count elements, the new ones zero. */
void *replay_allocate(size_t count, size_t element_bytes);
void *replay_reallocate(void *memory, size_t old_count, size_t count, size_t element_bytes);

#endif
