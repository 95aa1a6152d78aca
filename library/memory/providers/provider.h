/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_PROVIDERS_PROVIDER_H
#define JALLOC_MEMORY_PROVIDERS_PROVIDER_H

/* What providers have in common. A provider takes bytes from an operating system, from a device's
 * runtime or from the caller, one allocation at a time, and keeps nothing back: policies do that.
 * Each is a file:
 *
 *   host     malloc   the C library's, aligned, named "jpu"; warns where the machine is short of it
 *            mmap     mappings of its own, zeroed             \
 *            numa     the same, placed on nodes                > mapping.h
 *            huge     the same, of huge pages                 /
 *   device   device   any device's memory of one kind, also in stream order
 *   array             parts of the caller's array; the one that divides, so the one with a table of
 *                     blocks
 *   null              nothing, for tests of what happens then
 *
 * A caller's own functions become a provider by jallocator_create() (allocator.c), memory of a
 * segment by shm/segment/allocator.c.
 *
 * What always holds: all state is out of band, for the memory may be a device's. A provider may be
 * called from any thread; it has counters and no lock around a call of the system (array, which
 * calls nobody, has the object's lock). But for array it does not know which blocks are its own.
 * The object's ledger does (memory.h), so a wrong pointer or size never reaches the system. What
 * the system refuses is a memory error with the system's own reason. A better kind of memory that
 * cannot be had (huge pages, a node) is replaced by the ordinary one, which is said once in the
 * log. device (the host's), mmap, numa and huge take memory of pages back while their addresses
 * stay, and count what they hold without them (pages.c).
 *
 * To read: null.c has the least that a provider can have, mmap.c with mapping.c all that most
 * need. */

#include "jalloc/provider.h"
#include "memory/memory.h"

#include <limits.h>

/* ---- What a provider of the host's memory holds (pages.c) ---- */

/* What is given out, without the pages that were decommitted. */
typedef struct ji_held {
    atomic_size_t bytes, peak_bytes;
} ji_held_t;

/* The system's page. */
size_t ji_page_bytes(void);

void ji_held_rise(ji_held_t *held, size_t bytes);
void ji_held_fall(ji_held_t *held, size_t bytes);
/* As the slots of the table. device error: the system refused. */
void ji_held_report(ji_held_t *held, jallocator_stats_t *stats);
void ji_held_clear(ji_held_t *held);
jstatus_t ji_held_set_pages(ji_held_t *held, void *pointer, size_t size_bytes,
                            jallocator_pages_t to);

/* ---- What is learnt from the system, where a test may say otherwise ---- */

/* The error with which the kernel refuses to take pages back; 0: it is asked. */
extern atomic_int ji_pages_refusal;

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
