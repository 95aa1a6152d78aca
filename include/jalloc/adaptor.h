/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_ADAPTOR_H
#define JALLOC_ADAPTOR_H

/** @file
 * Adaptors: allocators that pass each call on to the one below, and watch it, check it, or change
 * it. No adaptor but "lock" holds a lock while it calls below or the caller's function, so all are
 * safe from any thread if what is below is.
 *
 * Each create function takes options (NULL: the defaults; a member that is 0 means its default;
 * JALLOC_NONE asks for a real 0 and JALLOC_UNLIMITED for no bound where the comment says so) and
 * returns success; invalid pointer; invalid value (an option; the message names it); memory error;
 * io error and invalid configuration (JALLOC_RECORD, JALLOC_LEAK_REPORT).
 *
 * Each keeps `below` until it is destroyed. Functions that belong to one kind
 * (jallocator_track_get_records(), ...) find it through further adaptors on top. */

#include "jalloc/allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tracking ---- */

/** Options of jallocator_create_track(). */
typedef struct jtrack_options_t {
    size_t struct_size;
    const char *name;    /**< NULL: "track" */
    size_t record_count; /**< signed records kept, the latest; 0: none */
    /** keep the call trace of each live allocation (where the C library has backtrace) */
    bool stacks;
} jtrack_options_t;
#define JTRACK_OPTIONS_INIT                                                                        \
    { sizeof(jtrack_options_t), NULL, 0, false }

/** Counts what passes: total, high watermark, live; with records, each change of it; with stacks,
 * who it was. After TensorFlow's TrackingAllocator. */
JALLOC_API jstatus_t jallocator_create_track(jallocator_t *below, const jtrack_options_t *options,
                                             jallocator_t **allocator);

/** One change: positive when allocated, negative when freed. Frozen. */
typedef struct jtrack_record_t {
    int64_t bytes;
    int64_t time_ns; /**< of the monotonic clock */
    jtag_t tag;
} jtrack_record_t;

/** The totals. */
typedef struct jtrack_totals_t {
    size_t struct_size;
    size_t total_bytes; /**< of all allocations ever */
    /** most that was live at once, since creation or jallocator_clear_stats() */
    size_t high_watermark_bytes;
    size_t live_bytes;
    uint64_t allocation_count, live_count;
} jtrack_totals_t;
#define JTRACK_TOTALS_INIT                                                                         \
    { sizeof(jtrack_totals_t), 0, 0, 0, 0, 0 }

/** @return success; invalid pointer; invalid value (no tracking allocator in the composition,
 * struct_size). */
JALLOC_API jstatus_t jallocator_track_get_totals(const jallocator_t *allocator,
                                                 jtrack_totals_t *totals);
/** Copies the latest records, oldest first, at most `capacity`; `count` is how many were copied.
 * @return as jallocator_track_get_totals(). */
JALLOC_API jstatus_t jallocator_track_get_records(const jallocator_t *allocator,
                                                  jtrack_record_t *records, size_t capacity,
                                                  size_t *count);
/** The owner lets go: no allocation is served any more, and the tracking allocator itself is
 * destroyed with its last live allocation (at once when there is none). `allocator` must be the
 * tracking one itself, kept by nobody.
 * @return success; invalid pointer; invalid value; busy (somebody keeps it). */
JALLOC_API jstatus_t jallocator_track_retire(jallocator_t *allocator);

/* ---- Exact sizes (for tests) ---- */

/** Remembers the exact size of every live allocation by itself and compares it with what is freed
 * and with what below says it has: for tests of allocators. Named "exact". */
JALLOC_API jstatus_t jallocator_create_exact(jallocator_t *below, jallocator_t **allocator);

/* ---- Recording ---- */

/** Options of jallocator_create_record(). */
typedef struct jrecord_options_t {
    size_t struct_size;
    const char *name; /**< NULL: "record" */
    /** trace to write; NULL: standard error. Several allocators may write one file */
    const char *file;
} jrecord_options_t;
#define JRECORD_OPTIONS_INIT                                                                       \
    { sizeof(jrecord_options_t), NULL, NULL }

/** Writes every call to a trace, which jalloc-replay plays again: CSV with the columns of RMM's log
 * and three more,
 *
 *     Thread,Time,Action,Pointer,Size,Stream,Alignment,Allocator,Tag
 *
 * Thread numbers the process's threads from 0, Time is in nanoseconds since the recording began,
 * Action is "allocate", "allocate failure" or "free", Allocator the name of the recorded allocator,
 * '#', and a number that no other in the process has. The lines of one address alternate; a free
 * that was refused after it was written is followed by an "allocate" again. A file is begun anew
 * when a process first names it, and added to afterwards. "%p" in its name is the number of the
 * process; without it, a forked child writes to FILE.PID. Lines are buffered until the allocator is
 * destroyed, jallocator_record_flush(), or exit; no descriptor is kept open. An error later on, or
 * a file that is not the one that was begun any more, or that others write to, is logged once and
 * ends the recording, not the program: the last row is then "stopped" with the reason as its tag,
 * where that can still be written.
 *
 * With JALLOC_RECORD=FILE every allocator that a program makes, and every handle's workspace, is
 * recorded without a change to the program (for a tracking allocator: what is below it). Adds: io
 * error (the file cannot be written); busy (as jallocator_record_flush()). */
JALLOC_API jstatus_t jallocator_create_record(jallocator_t *below, const jrecord_options_t *options,
                                              jallocator_t **allocator);
/** Writes what is buffered to the file. @return success; invalid pointer; invalid value; io error;
 * busy (called by a signal handler that came in while its thread writes, or while another thread
 * has been held up in writing). */
JALLOC_API jstatus_t jallocator_record_flush(jallocator_t *allocator);

/* ---- Guard words and fill ---- */

/** Options of jallocator_create_guard(). */
typedef struct jguard_options_t {
    size_t struct_size;
    const char *name; /**< NULL: "guard" */
    /** on each side, a multiple of 16, at most PTRDIFF_MAX / 2; 0: 16 */
    size_t guard_bytes;
} jguard_options_t;
#define JGUARD_OPTIONS_INIT                                                                        \
    { sizeof(jguard_options_t), NULL, 0 }

/** Words before and after each allocation that nobody may write; any alignment. Checked when it is
 * freed, by jallocator_check() for all, by trim, and when the allocator is destroyed. A damaged
 * allocation is reported as corrupted with its tag and the first wrong byte; it stays live, until
 * it is freed again. On a device the words are written and read through the device's fill and copy:
 * freeing waits for the stream. */
JALLOC_API jstatus_t jallocator_create_guard(jallocator_t *below, const jguard_options_t *options,
                                             jallocator_t **allocator);

/** What a fill adaptor writes. */
typedef enum jfill_value_t {
    /** NaN for every floating type at once: bytes 0xff (float, double, half, bfloat16) */
    JFILL_NAN = 0,
    JFILL_ZERO = 1,    /**< 0x00 */
    JFILL_PATTERN = 2, /**< the option's byte */
    JFILL_NONE = 3     /**< leaves it as it is */
} jfill_value_t;

/** Options of jallocator_create_fill(). */
typedef struct jfill_options_t {
    size_t struct_size;
    const char *name;            /**< NULL: "fill" */
    jfill_value_t on_allocate;   /**< NaN unless asked otherwise */
    jfill_value_t on_deallocate; /**< NaN unless asked otherwise */
    unsigned char pattern;
} jfill_options_t;
#define JFILL_OPTIONS_INIT                                                                         \
    { sizeof(jfill_options_t), NULL, JFILL_NAN, JFILL_NAN, 0 }

/** Fills memory when it is allocated and before it is freed, in stream order: who reads what was
 * not written yet, or was freed, gets NaN. */
JALLOC_API jstatus_t jallocator_create_fill(jallocator_t *below, const jfill_options_t *options,
                                            jallocator_t **allocator);

/* ---- Limits, retries, alignment, locks ---- */

/** Options of jallocator_create_limit(). */
typedef struct jlimit_options_t {
    size_t struct_size;
    const char *name;   /**< NULL: "limit" */
    size_t limit_bytes; /**< most that may be live through this adaptor; required */
} jlimit_options_t;
#define JLIMIT_OPTIONS_INIT                                                                        \
    { sizeof(jlimit_options_t), NULL, 0 }
/** Refuses with memory error what would exceed the limit. */
JALLOC_API jstatus_t jallocator_create_limit(jallocator_t *below, const jlimit_options_t *options,
                                             jallocator_t **allocator);

/** Options of jallocator_create_retry(). */
typedef struct jretry_options_t {
    size_t struct_size;
    const char *name;    /**< NULL: "retry" */
    uint64_t timeout_ms; /**< 0: 10 s; or none: does not wait; or unlimited */
} jretry_options_t;
#define JRETRY_OPTIONS_INIT                                                                        \
    { sizeof(jretry_options_t), NULL, 0 }
/** Where memory is short, waits until something is freed through this adaptor and tries again,
 * until the deadline. A free between the failed try and the wait is not lost. After TensorFlow's
 * AllocatorRetry. */
JALLOC_API jstatus_t jallocator_create_retry(jallocator_t *below, const jretry_options_t *options,
                                             jallocator_t **allocator);

/** Options of jallocator_create_align(). */
typedef struct jalign_options_t {
    size_t struct_size;
    const char *name; /**< NULL: "align" */
    /** least alignment of allocations, a power of two up to 2^30; 0: 4096 */
    size_t alignment_bytes;
} jalign_options_t;
#define JALIGN_OPTIONS_INIT                                                                        \
    { sizeof(jalign_options_t), NULL, 0 }
/** Every allocation at least so aligned, whatever was asked for and whatever below can do (it asks
 * below for more bytes where below refuses the alignment). */
JALLOC_API jstatus_t jallocator_create_align(jallocator_t *below, const jalign_options_t *options,
                                             jallocator_t **allocator);

/** Makes an allocator that is for one thread at a time safe from any: one lock around each call. It
 * is held while what is below works, so a retry adaptor, and whatever calls the caller's functions,
 * belongs above it. Named "lock". */
JALLOC_API jstatus_t jallocator_create_lock(jallocator_t *below, jallocator_t **allocator);

/* ---- Watching ---- */

/** Sees blocks on their way: after each was taken from below, and before each is given back.
 * Frozen. */
typedef struct jvisitor_t {
    void (*grow)(void *context, void *pointer, size_t size_bytes);
    void (*shrink)(void *context, void *pointer, size_t size_bytes);
    void *context;
} jvisitor_t;

/** Calls visitors: in the order they were added when a block comes, in reverse when it goes. Put
 * between a policy and its provider it tells of regions, e.g. to register them with a network card.
 * Each visitor sees each block once in each direction, whatever other threads do. Its functions are
 * called without a lock and may call everything here, but for freeing the block that they are told
 * of, which is busy. Named "visit". */
JALLOC_API jstatus_t jallocator_create_visit(jallocator_t *below, jallocator_t **allocator);
/** Adds a visitor, at any time; grow is called for the blocks that are live already. Either
 * function may be NULL. The struct is copied. @return success; invalid pointer; invalid value (no
 * visit adaptor in the composition); exists; memory error (there are 32 visitors). */
JALLOC_API jstatus_t jallocator_visit_add(jallocator_t *allocator, const jvisitor_t *visitor);
/** Removes a visitor that has the same three members; shrink is called for the blocks that are
 * live. Called outside of a visitor's functions it also waits until no other thread is in this
 * visitor's.
 * @return success; invalid pointer; invalid value; not found. */
JALLOC_API jstatus_t jallocator_visit_remove(jallocator_t *allocator, const jvisitor_t *visitor);

/** Statistics of a part of the program: push begins a part, pop ends it and gives what happened in
 * it. Named "statistics".
 */
JALLOC_API jstatus_t jallocator_create_statistics(jallocator_t *below, jallocator_t **allocator);
/** Begins a part. @return success; invalid pointer; invalid value (no statistics adaptor); memory
 * error. */
JALLOC_API jstatus_t jallocator_statistics_push(jallocator_t *allocator);
/** Ends the part begun last; `stats` counts since its push: in_use_bytes is what it left live,
 * peak_in_use_bytes the most above its beginning. The part around it has counted it too.
 * @return success; invalid pointer; invalid value (struct_size, no such adaptor); not found (no
 * part was begun). */
JALLOC_API jstatus_t jallocator_statistics_pop(jallocator_t *allocator, jallocator_stats_t *stats);

/** Is asked when below has failed: true tries again. Called without any lock, so it may free
 * memory. */
typedef bool (*jfailure_callback_t)(void *context, jallocator_t *allocator, size_t size_bytes,
                                    jstatus_t status);
/** Calls a function when an allocation fails. Named "failure".
 * The callback is called at most 100 times for one allocation. */
JALLOC_API jstatus_t jallocator_create_failure(jallocator_t *below, jfailure_callback_t callback,
                                               void *context, jallocator_t **allocator);

#ifdef __cplusplus
}
#endif
#endif
