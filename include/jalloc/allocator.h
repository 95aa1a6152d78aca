/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_ALLOCATOR_H
#define JALLOC_ALLOCATOR_H

/** @file
 * The one allocator interface. Providers (which take bytes from a system), policies (which divide them) and adaptors
 * (which watch or limit them) are all jallocator_t, and so is whatever a caller makes of its own functions with
 * jallocator_create(). A handle can take its workspace from any of them.
 *
 * An allocation is named by pointer and size; the size given back must be the size that was asked for. The stream is
 * where the memory is first used, and where it was last used: an allocator that hands memory from one stream to another
 * must order them. Providers ignore it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/device.h"
#include "jalloc/export.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jallocator jallocator_t; /**< an allocator; safe from any thread unless its maker says otherwise */

/** What an allocator has done. A value an allocator cannot know is 0. */
typedef struct jallocator_stats_t {
    size_t struct_size;           /**< in: sizeof(jallocator_stats_t) of the caller */
    uint64_t allocation_count;    /**< successful allocations since creation */
    uint64_t live_count;          /**< allocations not given back yet */
    size_t in_use_bytes;          /**< requested bytes that are live */
    size_t peak_in_use_bytes;     /**< largest in_use_bytes since creation or clear */
    size_t largest_request_bytes; /**< largest single allocation since creation or clear */
    size_t limit_bytes;           /**< most that may be in use; 0: no limit */
    size_t reserved_bytes;        /**< held from what lies below, in use or not */
    size_t peak_reserved_bytes;   /**< largest reserved_bytes since creation or clear */
    size_t largest_free_bytes;    /**< largest free block held */
    uint64_t failure_count;       /**< allocations that failed since creation */
} jallocator_stats_t;

#define JALLOCATOR_STATS_INIT                                                                                          \
    { sizeof(jallocator_stats_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** An allocator's functions. The first two are required; any other may be NULL and gets the default that its comment
 * names. Zero the struct, then set struct_size, so that slots added later stay NULL. */
typedef struct jallocator_ops_t {
    size_t struct_size; /**< sizeof(jallocator_ops_t) of the caller */

    /** Gives at least size_bytes (never 0 here) at a multiple of alignment (a power of two here), or a status. */
    jstatus_t (*allocate)(void *context, size_t size_bytes, size_t alignment, jstream_t *stream, void **pointer);
    /** Takes back what allocate gave; pointer is not NULL here and size_bytes is what was asked for. */
    jstatus_t (*deallocate)(void *context, void *pointer, size_t size_bytes, jstream_t *stream);

    /** Bytes that may be used at pointer. Default: size_bytes. */
    size_t (*usable_size)(void *context, const void *pointer, size_t size_bytes);
    /** Whether the pointer was handed out by this allocator and is live. Default: not implemented. */
    jstatus_t (*owns)(void *context, const void *pointer, bool *owned);
    /** Changes what the object's own counting cannot know (limit, reserved, largest free); the rest is filled in
     * already. Default: nothing. */
    void (*get_stats)(void *context, jallocator_stats_t *stats);
    /** Peaks fall to the present values, for what get_stats reports. Default: nothing. */
    void (*clear_stats)(void *context);
    /** Gives unused memory back to below, until at most keep_bytes are held unused. Default: nothing to give back. */
    jstatus_t (*trim)(void *context, size_t keep_bytes);
    /** Called once, when the allocator is destroyed with nothing live. Default: nothing. */
    void (*destroy)(void *context);
} jallocator_ops_t;

/** How an allocator is made. */
typedef struct jallocator_options_t {
    size_t struct_size; /**< sizeof(jallocator_options_t) */
    const char *name;   /**< copied, at most JALLOCATOR_MAX_NAME characters; NULL: "callbacks" */
    jdevice_t *device;  /**< whose memory it hands out; NULL: the host's */
} jallocator_options_t;

#define JALLOCATOR_OPTIONS_INIT                                                                                        \
    { sizeof(jallocator_options_t), NULL, NULL }
#define JALLOCATOR_MAX_NAME 31

/** Makes an allocator from functions; this is also how a caller brings its own. The table is checked and copied;
 * `context` is passed to each function and stays the caller's (until ops->destroy).
 * @return success; invalid pointer (ops, a required function, out); invalid value (a struct_size, name too long);
 *         memory error. */
JALLOC_API jstatus_t jallocator_create(const jallocator_ops_t *ops, void *context, const jallocator_options_t *options,
                                       jallocator_t **allocator);

/** Destroys an allocator that has nothing live and that no handle uses. NULL: nothing.
 * @return success; busy (the message says how many bytes are live; the allocator stays usable). */
JALLOC_API jstatus_t jallocator_destroy(jallocator_t *allocator);

/** Allocates. size_bytes 0 gives a NULL pointer and success. alignment: a power of two up to 2^30, or 0 for the
 * device's granule. `pointer` is NULL on failure.
 * @return success; invalid pointer; invalid value (alignment); invalid size (near SIZE_MAX); memory error; device
 * error. */
JALLOC_API jstatus_t jallocator_allocate(jallocator_t *allocator, size_t size_bytes, size_t alignment,
                                         jstream_t *stream, void **pointer);

/** Gives memory back. NULL pointer: nothing. The size must be the one that was asked for.
 * @return success; invalid pointer; invalid size (0, or more than is live); not found (nothing is live); what the
 *         allocator's own function says (not found for a foreign or twice freed pointer where it can tell). */
JALLOC_API jstatus_t jallocator_deallocate(jallocator_t *allocator, void *pointer, size_t size_bytes,
                                           jstream_t *stream);

/** Bytes that may be used at a live allocation, at least size_bytes. 0 for NULL. */
JALLOC_API size_t jallocator_usable_size(jallocator_t *allocator, const void *pointer, size_t size_bytes);

/** Whether a pointer is a live allocation of this allocator. @return success; invalid pointer; not implemented. */
JALLOC_API jstatus_t jallocator_owns(jallocator_t *allocator, const void *pointer, bool *owned);

/** Statistics; set stats->struct_size first. @return success; invalid pointer; invalid value (struct_size). */
JALLOC_API jstatus_t jallocator_get_stats(jallocator_t *allocator, jallocator_stats_t *stats);

/** Peaks and largest fall to the present values. @return success; invalid pointer. */
JALLOC_API jstatus_t jallocator_clear_stats(jallocator_t *allocator);

/** Gives unused memory back until at most keep_bytes are held unused. @return success; invalid pointer. */
JALLOC_API jstatus_t jallocator_trim(jallocator_t *allocator, size_t keep_bytes);

/** The name it was made with. "(null)" for NULL. */
JALLOC_API const char *jallocator_name(const jallocator_t *allocator);

/** The device whose memory it hands out. NULL for NULL. */
JALLOC_API jdevice_t *jallocator_device(const jallocator_t *allocator);

/** A user of the allocator says it will keep the pointer: destroy is refused until as many releases. For whoever stores
 * an allocator; a handle does it by itself. @return success; invalid pointer. */
JALLOC_API jstatus_t jallocator_retain(jallocator_t *allocator);
/** Ends one retain. @return success; invalid pointer; not found (no retain is left). */
JALLOC_API jstatus_t jallocator_release(jallocator_t *allocator);

/** @name Providers
 * @{ */

/** Aligned malloc and free of the C library; named "jpu".
 * @return success; invalid pointer; memory error. */
JALLOC_API jstatus_t jallocator_create_malloc(jallocator_t **allocator);

/** Private anonymous mappings, one per allocation, zeroed, any alignment; given back to the system when freed.
 * Named "mmap". @return success; invalid pointer; memory error. */
JALLOC_API jstatus_t jallocator_create_mmap(jallocator_t **allocator);

/** Hands out parts of memory that the caller owns and keeps until the allocator is destroyed: one after the other; the
 * last one freed is taken back at once, all when the last is freed. Its state is out of band: the array is never read
 * or written. Named "array".
 * @return success; invalid pointer; invalid size (0, or the end overflows); memory error. */
JALLOC_API jstatus_t jallocator_create_array(jdevice_t *device, void *array, size_t size_bytes,
                                             jallocator_t **allocator);

/** A device's raw memory of one kind, one runtime allocation each. Named after the device, "host", "cuda:0", ...
 * @return success; invalid pointer; invalid value; memory error. */
JALLOC_API jstatus_t jallocator_create_device(jdevice_t *device, jmemory_kind_t kind, jallocator_t **allocator);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
