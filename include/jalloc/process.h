/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_PROCESS_H
#define JALLOC_PROCESS_H

/** @file
 * The process's own allocators, one for each kind of memory, made when first asked for and shared
 * by all who ask (after TensorFlow's ProcessState). What they are made of is said by
 * JALLOC_ALLOCATOR, in general or by device ("general;cuda:0=bfc(limit=2GiB)"); where it is empty
 * they are "general".
 *
 * Any thread may ask; equal requests of several threads get one allocator. */

#include "jalloc/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JMEMORY_ANY_NODE (-1) /**< any NUMA node */

/** What memory is wanted. */
typedef struct jmemory_request_t {
    size_t struct_size;
    jdevice_t *device; /**< whose memory; NULL: the host's */
    int numa_node;     /**< host memory: the node, 0 being the first; or JMEMORY_ANY_NODE */
    /** host memory that a GPU reads directly: pinned memory where there is a GPU, ordinary memory
     * where there is none */
    bool gpu_compatible;
    /** memory that migrates between host and device; on the host ordinary memory */
    bool managed;
} jmemory_request_t;
#define JMEMORY_REQUEST_INIT                                                                       \
    { sizeof(jmemory_request_t), NULL, JMEMORY_ANY_NODE, false, false }

/** The process's allocator for such memory: the same one for equal requests. It lives until the
 * process ends or is reset: the process keeps it, and jallocator_destroy() is refused with busy.
 * request NULL: ordinary host memory.
 * @return success; invalid pointer; invalid value (struct_size; a NUMA node with a GPU); not found
 * (no such node); invalid configuration (JALLOC_ALLOCATOR); memory error; no device; not
 * implemented (memory that the device does not have); forked (a GPU's, in a child); and what
 * jallocator_compose() returns. */
JALLOC_API jstatus_t jprocess_get_allocator(const jmemory_request_t *request,
                                            jallocator_t **allocator);

/** Makes a program's own allocator the process's for such memory, in place of what JALLOC_ALLOCATOR
 * says: before anybody has asked for it, since what was handed out stays. The process keeps the
 * allocator (jallocator_destroy() is busy from then on), whose memory must be of the request's
 * device and kind; a NUMA node is the program's promise. Handles make allocators of their own.
 * @return success; invalid pointer (allocator); invalid value (struct_size; a NUMA node with a GPU;
 * memory of another device or kind); exists (there is one for such memory already); memory
 * error. */
JALLOC_API jstatus_t jprocess_set_allocator(const jmemory_request_t *request,
                                            jallocator_t *allocator);

#ifdef __cplusplus
}
#endif
#endif
