/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CORE_NODE_H
#define JALLOC_CORE_NODE_H

/* What this process may have of its machine. `root` is put before the paths of the system's files,
 * for tests; "". */

#include "core/core.h"

/* Lowers the memory of this machine to what control groups leave this process. */
JI_SHARED void ji_node_confine(const char *root, size_t *total_bytes, size_t *available_bytes);
/* Processors that the calling thread may run on, at least 1. */
JI_SHARED int ji_node_processors(void);
/* So many processors' time, at least 1, is what control groups leave this process; INT_MAX: all
 * there is. */
JI_SHARED int ji_node_quota(const char *root);
/* Of a processor's second cache; 0: the C library does not tell, as musl's. */
JI_SHARED int64_t ji_node_second_cache_bytes(void);

#endif
