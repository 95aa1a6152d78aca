/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_RUNTIME_H
#define JALLOC_RUNTIME_H

/** @file
 * The runtime view: what a buffer allocator knows of the world. How many processes work together
 * and which of them this is; devices and their memory; the memory of this machine (a node);
 * threads.
 *
 * jruntime_create() makes the view of a process by itself; jruntime_create_mpi() of mpi.h that of
 * the processes of a communicator. Sizes are those of the last refresh. Any thread may ask;
 * functions called "collective" must be called by all processes of the runtime, in the same order,
 * each by one thread at a time. */

#include "jalloc/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jruntime jruntime_t; /**< a runtime view; reference-counted */

/** What there is. */
typedef struct jruntime_info_t {
    size_t struct_size; /**< sizeof(jruntime_info_t) */
    /** what carries messages between processes: "none", "mpi". Static */
    const char *transport;
    int processes;      /**< that work together; 1 by itself */
    int rank;           /**< this process's number, from 0 */
    int nodes;          /**< machines they run on (sharing memory) */
    int node;           /**< this process's machine, from 0 */
    int node_processes; /**< processes of the runtime on it */
    int node_rank;      /**< this process's number among them */
    /** processors that this process may run on, or fewer where its control group leaves it less of
     * their time; at least 1 */
    int threads;
    int devices; /**< that jruntime_get_device() describes; the host is number 0 */
    /** memory of the machine, or of the control group that this process is confined to */
    size_t node_total_bytes;
    size_t node_available_bytes; /**< of that, what could be had without swapping */
} jruntime_info_t;
#define JRUNTIME_INFO_INIT                                                                         \
    { sizeof(jruntime_info_t), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** A device that this process can use. */
typedef struct jruntime_device_t {
    size_t struct_size; /**< sizeof(jruntime_device_t) */
    jdevice_t *device;
    size_t total_bytes;     /**< its memory */
    size_t available_bytes; /**< free at the last refresh */
} jruntime_device_t;
#define JRUNTIME_DEVICE_INIT                                                                       \
    { sizeof(jruntime_device_t), NULL, 0, 0 }

/** The view of this process by itself. Looks for GPUs, loading their modules. It begins with one
 * reference.
 * @return success; invalid pointer; memory error. */
JALLOC_API jstatus_t jruntime_create(jruntime_t **runtime);

/** Looks again at memory, threads and devices. Not collective. @return success; invalid pointer;
 * not found (freed, or no runtime); device error. */
JALLOC_API jstatus_t jruntime_refresh(jruntime_t *runtime);

/** @return success; invalid pointer; invalid value (struct_size); not found. */
JALLOC_API jstatus_t jruntime_get_info(const jruntime_t *runtime, jruntime_info_t *info);

/** Describes device number `index`. @return success; invalid pointer; invalid value (struct_size,
 * index); not found. */
JALLOC_API jstatus_t jruntime_get_device(const jruntime_t *runtime, int index,
                                         jruntime_device_t *device);

/** One more reference, the program's. @return success; invalid pointer; not found. */
JALLOC_API jstatus_t jruntime_retain(jruntime_t *runtime);
/** One reference less. The view ends when the program has none left and there are no buffer
 * allocators of it; that is collective over MPI, where a communicator is freed. NULL is ignored.
 * @return success; not found (or the program has no reference of it left). */
JALLOC_API jstatus_t jruntime_release(jruntime_t *runtime);

/** Makes all processes agree: if `status` is an error on one of them, each gets the error of the
 * lowest rank that has one, with its message and rank; else the first that is not success (perf
 * degraded); else success. Collective, waits for all. Without other processes it gives `status`.
 * For authors of collective routines.
 * @return as said; invalid pointer; not found; device error (what carries messages failed). */
JALLOC_API jstatus_t jruntime_agree(jruntime_t *runtime, jstatus_t status);

#ifdef __cplusplus
}
#endif
#endif
