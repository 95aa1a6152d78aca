/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_PROVIDERS_SYSTEM_H
#define JALLOC_MEMORY_PROVIDERS_SYSTEM_H

/* What providers learn from the system, where a test may say otherwise, to see what they do on another machine. */

#include <stdatomic.h>
#include <stddef.h>

/* Memory that "jpu" counts as available; 0: the system's. */
extern atomic_size_t ji_malloc_available_bytes;
/* Where the system describes its NUMA nodes. */
extern const char *ji_numa_directory;
/* The error with which the kernel refuses to place pages; 0: the kernel is asked. */
extern int ji_numa_refusal;

#endif
