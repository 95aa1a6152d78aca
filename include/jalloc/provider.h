/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_PROVIDER_H
#define JALLOC_PROVIDER_H

/** @file
 * Providers: allocators that take bytes from an operating system, a device's runtime, or the
 * caller. All are safe from any thread, and all but memory in stream order ignore the stream. Each
 * create function returns success; invalid pointer; invalid value (an option); memory error; io
 * error and invalid configuration (JALLOC_RECORD, JALLOC_LEAK_REPORT); and what its comment
 * adds. */

#include "jalloc/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Aligned malloc and free of the C library; named "jpu". A block takes as many bytes more as its
 * alignment has, 64 unless another is asked for. Warns in the log, at most once each until
 * statistics are cleared, when one allocation takes more than 10% of the memory that is available,
 * and when all together take more than 50% (after TensorFlow's CPUAllocator). In a composition:
 * malloc. */
JALLOC_API jstatus_t jallocator_create_malloc(jallocator_t **allocator);

/** Private anonymous mappings, one per allocation, zeroed, any alignment; given back to the system
 * when freed. Named "mmap". */
JALLOC_API jstatus_t jallocator_create_mmap(jallocator_t **allocator);

/** Where a NUMA-aware provider places its pages. */
typedef enum jnuma_policy_t {
    JNUMA_PREFER = 0, /**< on the node as long as it has memory, then elsewhere; the default */
    /** on the node, or the allocation fails when touched beyond what it has */
    JNUMA_BIND = 1,
    JNUMA_INTERLEAVE = 2 /**< page by page over all nodes */
} jnuma_policy_t;

#define JNUMA_NODE_OF_CALLER (-1) /**< the node of the thread that makes the provider */

/** Options of jallocator_create_numa(). */
typedef struct jnuma_options_t {
    size_t struct_size;
    const char *name; /**< NULL: "numa" */
    int node;         /**< of bind and prefer; or JNUMA_NODE_OF_CALLER */
    jnuma_policy_t policy;
} jnuma_options_t;
#define JNUMA_OPTIONS_INIT                                                                         \
    { sizeof(jnuma_options_t), NULL, JNUMA_NODE_OF_CALLER, JNUMA_PREFER }

/** Mappings placed on a NUMA node. On a machine or kernel without NUMA, node 0 is all there is and
 * placement has no effect, which is said once in the log. Adds: not found (no such node). */
JALLOC_API jstatus_t jallocator_create_numa(const jnuma_options_t *options,
                                            jallocator_t **allocator);

/** Options of jallocator_create_huge(). */
typedef struct jhuge_options_t {
    size_t struct_size;
    const char *name;  /**< NULL: "huge" */
    size_t page_bytes; /**< a power of two; 0: the system's default huge page */
    bool require;      /**< fail with memory error rather than fall back */
} jhuge_options_t;
#define JHUGE_OPTIONS_INIT                                                                         \
    { sizeof(jhuge_options_t), NULL, 0, false }

/** Mappings of huge pages: from the system's reserve (MAP_HUGETLB); where it has none, aligned
 * mappings that transparent huge pages are asked for (madvise), and the log says so once. */
JALLOC_API jstatus_t jallocator_create_huge(const jhuge_options_t *options,
                                            jallocator_t **allocator);

/** Hands out parts of memory that the caller owns and keeps until the allocator is destroyed: one
 * after the other; the last one freed is taken back at once, all when the last is freed. Its state
 * is out of band: the array is never read or written. Named "array". device NULL: the host. Adds:
 * invalid size (0, or the end overflows). */
JALLOC_API jstatus_t jallocator_create_array(jdevice_t *device, void *array, size_t size_bytes,
                                             jallocator_t **allocator);

/** A device's raw memory of one kind, one runtime allocation each. Named after the device, "host",
 * "cuda:0", ...
 *
 * JMEMORY_STREAM_ORDERED ("device(kind=ordered)"): taken and given back in the order of the stream,
 * so nobody waits; in a stream that is being captured it answers capturing, and where the runtime
 * does not have it (jdevice_properties_t) not implemented. */
JALLOC_API jstatus_t jallocator_create_device(jdevice_t *device, jmemory_kind_t kind,
                                              jallocator_t **allocator);

/** Always answers memory error: to see what a program does then, or as the end of a chain that must
 * not grow. Named "null". device NULL: the host. */
JALLOC_API jstatus_t jallocator_create_null(jdevice_t *device, jallocator_t **allocator);

#ifdef __cplusplus
}
#endif
#endif
