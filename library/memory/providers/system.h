/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_PROVIDERS_SYSTEM_H
#define JALLOC_MEMORY_PROVIDERS_SYSTEM_H

/* What providers learn from the system, where a test may say otherwise, to see what they do on another machine. */

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Memory that "jpu" counts as available; 0: the system's. */
extern atomic_size_t ji_malloc_available_bytes;
/* Where the system describes its NUMA nodes. */
extern const char *ji_numa_directory;
/* The error with which the kernel refuses to place pages; 0: the kernel is asked. */
extern int ji_numa_refusal;

/* A set of nodes, as mbind takes it. */
#define JI_NUMA_MAX_NODES 1024 /* the largest number that a kernel can be built for */
#define JI_NUMA_WORD_BITS (sizeof(unsigned long) * CHAR_BIT)
typedef struct ji_numa_nodes {
    unsigned long words[JI_NUMA_MAX_NODES / JI_NUMA_WORD_BITS];
} ji_numa_nodes_t;

/* The nodes of a list like "0-3,8". False where it has none. */
bool ji_numa_parse_nodes(const char *text, ji_numa_nodes_t *nodes);

#endif
