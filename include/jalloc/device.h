/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DEVICE_H
#define JALLOC_DEVICE_H

/** @file
 * Devices, streams and events: where bytes live and in which order work on them is done.
 *
 * A device is named "host", "cuda:N" or "hip:N". Device objects live as long as the process and are
 * not destroyed. A stream is a queue of work done in order. NULL is the device's own default
 * stream; on the host that means inline: the work is done by the calling thread before the call
 * returns. A stream made with jstream_create() on the host is a queue served by a thread of its
 * own, so a call returns before its work is done, as on a GPU. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/export.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jdevice jdevice_t; /**< a device; process-wide, safe to use from any thread */
typedef struct jstream jstream_t; /**< an in-order queue of one device; any thread may enqueue */
typedef struct jevent
    jevent_t; /**< a point in a stream; any thread may use it until it is destroyed */

/** What kind of device. */
typedef enum jdevice_kind_t { JDEVICE_HOST = 0, JDEVICE_CUDA = 1, JDEVICE_HIP = 2 } jdevice_kind_t;

/** What kind of memory. */
typedef enum jmemory_kind_t {
    JMEMORY_DEVICE = 0, /**< the device's own; on the host: ordinary memory */
    /** host memory that the device can read directly; on the host: ordinary memory */
    JMEMORY_PINNED = 1,
    /** migrates between host and device; on the host: ordinary memory. A GPU is asked for no more
     * than it has free, because a GPU that has to page can hang */
    JMEMORY_MANAGED = 2,
    /** the device's own, from a pool of the runtime that hands it out and takes it back in stream
     * order, without waiting */
    JMEMORY_STREAM_ORDERED = 3
} jmemory_kind_t;

/** What a device is. Texts end with a zero byte. */
typedef struct jdevice_properties_t {
    size_t struct_size;    /**< sizeof(jdevice_properties_t) */
    char description[128]; /**< the maker's name for it, such as "NVIDIA H200" */
    char architecture[32]; /**< "sm_90", "gfx90a"; the host: "x86_64" */
    char runtime[64];      /**< what drives it, such as "CUDA 13.0, driver 13.0" */
    /** what jblas runs on it, such as "cuBLAS 13.0"; empty: not known yet, or none */
    char blas[64];
    size_t total_bytes;      /**< its memory */
    size_t granule_bytes;    /**< jdevice_granule_bytes() */
    int multiprocessors;     /**< compute units; the host: processors */
    int wave_size;           /**< threads that run in step: 32 or 64; the host: 1 */
    int l2_cache_bytes;      /**< 0: not known */
    bool has_managed_memory; /**< JMEMORY_MANAGED can be had */
    /** JMEMORY_STREAM_ORDERED and jdevice_allocate_ordered() can be had */
    bool has_stream_ordered;
    bool has_capture; /**< streams can be captured into graphs */
    /** a captured graph can own memory, so that it outlives the handle */
    bool has_capture_ownership;
} jdevice_properties_t;

/** Initializer of jdevice_properties_t. */
#define JDEVICE_PROPERTIES_INIT                                                                    \
    { sizeof(jdevice_properties_t), {0}, {0}, {0}, {0}, 0, 0, 0, 0, 0, false, false, false, false }

/** Finds a device by name, loading its module if need be. "cuda" and "hip" mean number 0.
 * @return success; invalid pointer; invalid value (not a device name); no device (the message says
 *         why: no such module, no driver, no such number); memory error; internal error (the
 *         module's); forked (a
 *         child, of a GPU that its parent has begun to use). */
JALLOC_API jstatus_t jdevice_get(const char *name, jdevice_t **device);

/** The host device. Never NULL. */
JALLOC_API jdevice_t *jdevice_host(void);

/** "host", "cuda:0", ... Static; "(null)" for NULL. */
JALLOC_API const char *jdevice_name(const jdevice_t *device);

/** The device's kind; JDEVICE_HOST for NULL. */
JALLOC_API jdevice_kind_t jdevice_kind(const jdevice_t *device);

/** The unit that workspace sizes are rounded up to and pointers are aligned to: 64 bytes on the
 * host, 256 on GPUs. 0 for NULL. */
JALLOC_API size_t jdevice_granule_bytes(const jdevice_t *device);

/** The device's number among those of its kind; 0 for NULL. */
JALLOC_API int jdevice_index(const jdevice_t *device);

/** How many devices of a kind there are. Loads the module if need be.
 * @return success (with at least 1); invalid pointer; invalid value; no device (the message says
 * why there is none). */
JALLOC_API jstatus_t jdevice_get_count(jdevice_kind_t kind, int *count);

/** What the device is. @return success; invalid pointer; invalid value (struct_size); forked;
 * device error. */
JALLOC_API jstatus_t jdevice_get_properties(const jdevice_t *device,
                                            jdevice_properties_t *properties);

/** Free and total bytes of the device's memory (host: available and total memory of the machine).
 * Either may be NULL.
 * @return success; invalid pointer (device); forked; device error. */
JALLOC_API jstatus_t jdevice_get_memory_info(const jdevice_t *device, size_t *free_bytes,
                                             size_t *total_bytes);

/** Takes raw memory from the device's runtime: no cache, no statistics; jallocator_create_device()
 * wraps it. On a GPU this synchronizes. alignment: a power of two, or 0 for the granule; a GPU
 * serves more than what its runtime gives from a larger block. Allowed while a stream is captured;
 * the memory is not the graph's.
 * @return success; invalid pointer; invalid value (kind, alignment); invalid size (0, or too
 *         large); memory error (the message says how many bytes were free); not implemented (the
 *         device has no such memory); forked;
 *         device error. */
JALLOC_API jstatus_t jdevice_allocate(jdevice_t *device, jmemory_kind_t kind, size_t size_bytes,
                                      size_t alignment, void **pointer);

/** Gives raw memory back, with the kind and size it was taken with. A NULL pointer is ignored. On
 * failure it is still the caller's.
 * @return success; invalid pointer (device); invalid value (kind); invalid size (more than memory
 * can hold); forked; device error. */
JALLOC_API jstatus_t jdevice_deallocate(jdevice_t *device, jmemory_kind_t kind, void *pointer,
                                        size_t size_bytes);

/** Takes memory in stream order: work enqueued in the stream from now on may use it. Aligned to the
 * granule. Does not wait. On the host the memory is there at once. JMEMORY_STREAM_ORDERED memory
 * taken by jdevice_allocate() is the same, in the order of the NULL stream.
 * @return success; invalid pointer; invalid value (stream of another device); invalid size (0);
 *         memory error; not implemented (has_stream_ordered is false); capturing (the stream, or
 *         one that it depends on, is being
 *         captured); forked; device error. */
JALLOC_API jstatus_t jdevice_allocate_ordered(jdevice_t *device, jstream_t *stream,
                                              size_t size_bytes, void **pointer);

/** Gives memory of jdevice_allocate_ordered() back when the stream has passed this point. Does not
 * wait. The stream may be another than it was taken in; that one must have been passed, or waited
 * for by an event. A NULL pointer is ignored.
 * @return as jdevice_allocate_ordered(). */
JALLOC_API jstatus_t jdevice_deallocate_ordered(jdevice_t *device, jstream_t *stream, void *pointer,
                                                size_t size_bytes);

/** Copies bytes in stream order; host, device or pinned memory on either side. The regions must not
 * overlap, and must stay valid until the copy is done. Does not wait (host, NULL stream: done on
 * return).
 * @return success; invalid pointer (device, or a NULL region with bytes > 0); invalid value (stream
 * of another device); invalid size (more than memory can hold); capturing (a GPU's NULL stream
 * beside a capture that it waits for); forked; device error. */
JALLOC_API jstatus_t jdevice_copy(jdevice_t *device, jstream_t *stream, void *destination,
                                  const void *source, size_t size_bytes);

/** Fills memory in stream order with `count` copies of a pattern of 1, 2, 4, 8 or 16 bytes (read
 * before the call returns). The destination may have any alignment. @return as jdevice_copy();
 * invalid size (pattern size, or count * pattern_bytes is more than memory can hold). */
JALLOC_API jstatus_t jdevice_fill(jdevice_t *device, jstream_t *stream, void *destination,
                                  const void *pattern, size_t pattern_bytes, size_t count);

/** Largest argument block that jstream_launch() copies. */
#define JSTREAM_MAX_ARGUMENT_BYTES 256

/** Runs a host function in stream order. The arguments are copied before the call returns, so they
 * may be on the stack. The function must not wait for the stream it runs in (where it would have
 * to, busy is returned). On the host's NULL stream it has run when the call returns. A full queue
 * makes the caller wait for room; nothing is allocated. On a GPU the function may ask nothing of a
 * GPU: each such call is busy. In a stream that is being captured it becomes a part of the graph
 * and runs, with the same arguments, each time that does (not implemented where
 * has_capture_ownership is false).
 * @return success; invalid pointer; invalid size (argument_bytes above JSTREAM_MAX_ARGUMENT_BYTES);
 *         invalid value (stream of another device); not implemented (as said); capturing (as
 *         jdevice_copy()); forked; device error. */
JALLOC_API jstatus_t jstream_launch(jdevice_t *device, jstream_t *stream,
                                    void (*function)(void *arguments), const void *arguments,
                                    size_t argument_bytes);

/** Makes a stream. @return success; invalid pointer; memory error; forked; device error. */
JALLOC_API jstatus_t jstream_create(jdevice_t *device, jstream_t **stream);

/** Waits until all of the stream's work is done, then destroys it. NULL is ignored.
 * @return success; busy (called by a function in the stream itself); capturing (it is being
 * captured, and stays; a wrapped stream is let go of without waiting); forked (the queue's thread
 * did not survive the fork; the stream's memory is released all the same); device error
 * (likewise). */
JALLOC_API jstatus_t jstream_destroy(jstream_t *stream);

/** Waits until all work enqueued so far is done.
 * @return success; invalid pointer; invalid value; busy (called by a function in the stream
 *         itself); capturing (which has no end to wait for, and goes on); forked; device error. */
JALLOC_API jstatus_t jstream_synchronize(jdevice_t *device, jstream_t *stream);

/** The capture into a graph that the stream is in: a number that no other capture of the process
 * has; 0 when it is in none, and on the host.
 * @return success; invalid pointer; invalid value; capturing (a capture that has failed and must be
 *         ended; or a GPU's NULL stream beside the capture of a stream that it waits for: it cannot
 *         be used meanwhile); forked; device
 *         error. */
JALLOC_API jstatus_t jstream_get_capture(const jdevice_t *device, const jstream_t *stream,
                                         uint64_t *capture);

/** Makes a stream of the device's runtime (cudaStream_t, hipStream_t) usable here; jalloc/cuda.h
 * and jalloc/hip.h have typed forms. Destroying the result leaves the runtime's stream as it is; it
 * must not be destroyed before.
 * @return success; invalid pointer; not implemented (the host has no streams but its own); memory
 * error; forked; device error. */
JALLOC_API jstatus_t jstream_wrap(jdevice_t *device, void *native, jstream_t **stream);

/** The runtime's stream behind a stream (NULL: behind the device's NULL stream). NULL on the host
 * and for NULL device. */
JALLOC_API void *jstream_native(const jdevice_t *device, const jstream_t *stream);

/** The device of a stream; NULL for NULL. */
JALLOC_API jdevice_t *jstream_device(const jstream_t *stream);

/** Makes an event, which takes the time when it is reached. An event that was never recorded counts
 * as reached. @return success; invalid pointer; memory error; forked; device error. */
JALLOC_API jstatus_t jevent_create(jdevice_t *device, jevent_t **event);

/** Destroys an event; streams that wait for it still do so. NULL is ignored.
 * @return success; forked (its memory is released all the same); device error. */
JALLOC_API jstatus_t jevent_destroy(jevent_t *event);

/** The device of an event; NULL for NULL. */
JALLOC_API jdevice_t *jevent_device(const jevent_t *event);

/** Marks the present end of the stream; recording again moves the mark. Does not wait.
 * @return success; invalid pointer; invalid value; capturing (as jdevice_copy()); forked; device
 * error. */
JALLOC_API jstatus_t jevent_record(jevent_t *event, jstream_t *stream);

/** Makes work enqueued from now on in `stream` wait until the event's last recording is reached.
 * The caller does not wait, except for the host's NULL stream, which is the calling thread itself.
 * An event recorded in a capture takes the stream into it.
 * @return success; invalid pointer; invalid value; busy (called by a function in the stream itself,
 * or its queue is full); capturing (the stream is captured and the event is of another capture, or
 * of none); forked; device error. */
JALLOC_API jstatus_t jevent_wait(const jevent_t *event, jstream_t *stream);

/** Whether the event's last recording is reached. Does not wait.
 * @return success; invalid pointer; capturing (it was recorded in a capture); forked; device
 * error. */
JALLOC_API jstatus_t jevent_query(const jevent_t *event, bool *reached);

/** Waits until the event's last recording is reached.
 * @return success; invalid pointer; busy (called by a function in the stream itself); capturing (it
 *         was recorded in a capture); forked; device error. */
JALLOC_API jstatus_t jevent_synchronize(jevent_t *event);

/** Milliseconds between two events that were recorded and reached.
 * @return success; invalid pointer; busy (one is not reached yet); invalid value (not recorded;
 * other device); capturing (recorded in a capture); forked; device error. */
JALLOC_API jstatus_t jevent_get_elapsed_ms(const jevent_t *start, const jevent_t *stop,
                                           double *milliseconds);

#ifdef __cplusplus
}
#endif
#endif
