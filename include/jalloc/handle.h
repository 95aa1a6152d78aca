/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_HANDLE_H
#define JALLOC_HANDLE_H

/** @file
 * The handle: a device, a stream, and a workspace that routines borrow from.
 *
 * | mode        | entered by                                      | capacity          | may grow  |
 * | ----------- | ----------------------------------------------- | ----------------- | --------- |
 * | default     | jhandle_create() without options                | what calls needed | on demand |
 * | preallocate | JALLOC_DEVICE_MEMORY_SIZE > 0, or the option    | that size         | no        |
 * | manual      | jhandle_set_fixed_workspace_size(h, n)          | n, also 0         | no        |
 * | manual      | jhandle_set_workspace_size(h, n), n > 0         | n                 | no        |
 * | user-owned  | jhandle_set_workspace(h, pointer, n)            | n, the caller's   | no        |
 *
 * In the fixed modes no call with a handle allocates workspace or gives it back. What makes the
 * host wait for a stream, in any mode, is counted (jhandle_stats_t), and is no more than this:
 *
 * - a result in host pointer mode (asum, dot, nrm2, iamax; info of potrf and trtri), and
 *   jbuffer_norm, copies between devices, and other buffer operations that must see elements on the
 *   host;
 * - a call on a GPU that wants host workspace, while the last such call has not passed the stream;
 *   and jhandle_set_host_workspace_size(), alike;
 * - jhandle_set_stream() to the host's NULL stream, which is the calling thread;
 * - jhandle_destroy() and whatever changes mode or size, if workspace was used and its allocator
 *   does not take memory back in stream order; jhandle_trim() and growth in default mode, alike;
 *   growth inside a capture;
 * - each call whose time is asked for (JALLOC_LAYER, profile).
 *
 * Work in the host's NULL stream is done when the call returns: there is no work left to wait for.
 * Waiting inside an allocator (guards that look at memory, say) is the allocator's.
 *
 * Threads. A handle is for one thread at a time. While a thread holds borrows, every function that
 * changes the handle answers busy to any other thread and touches nothing of it; the message is the
 * asking thread's (jstatus_last_message()). A handle without live borrows may be handed on, by
 * whatever orders the two threads.
 *
 * Forks. In the child a handle answers forked: make a new one there. What the child still does with
 * it is to end the borrows that its one thread held, which the compiler does where their scopes
 * end, and then to destroy it, if it lives long enough for that to matter. Borrows of the parent's
 * other threads have ended in the child.
 *
 * What is no handle. NULL is refused everywhere, and so is memory that holds none. A handle that
 * was destroyed must not be used: its memory is given back, and no call looks it up in a list,
 * which would cost more than the call. As long as nobody else has that memory it is refused too,
 * but that is help in debugging and no promise.
 *
 * Captured streams (CUDA and HIP graphs). Calls may be captured, in every mode. A captured call
 * uses its workspace when the graph is launched, so the graph has a part in it until it and all
 * that was instantiated from it are destroyed:
 *
 * - default: borrows of a captured call come from memory that this graph alone owns; the ordinary
 *   workspace is back at the first borrow after it.
 * - preallocate and manual: from the block, which the graph owns beside the handle: it is given
 *   back when both have let go. It is the handle's as well, so order launches of the graph with
 *   the handle's work: launching it in the stream in which the handle works outside of captures
 *   does.
 * - user-owned: from the caller's memory; the caller keeps it as long as the graph, and orders as
 *   above.
 *
 * The handle may be destroyed before the graph or after it. What a graph has owned is given back,
 * by the host's next jhandle_create(), jhandle_destroy(), jhandle_trim(), jhandle_set_workspace(),
 * jhandle_set_workspace_size(), jhandle_set_fixed_workspace_size(), jhandle_set_stream() or growth
 * of any handle, to the allocator it came from: one that the caller has given must be safe to be
 * called then, and lives until then. Where the runtime's graphs cannot own memory (HIP before 5.3),
 * default mode keeps that memory until the handle is destroyed, a fixed mode's block must stay (no
 * other size or mode) as long as the graphs do, and in all modes the handle must outlive its
 * graphs.
 *
 * What cannot be done to a stream that is being captured (giving back or waiting for workspace that
 * was used in it) is answered with capturing; the handle and the capture stay as they are. Growth
 * of default mode can be done. A stream that the handle leaves while it, or the new one, is being
 * captured must live until that capture has ended, and until the handle's next use outside of
 * captures. A handle may move among the streams of one capture, and leave it and come back: an
 * event orders what it borrows there. But in a fixed mode it must not come back to a capture after
 * it has borrowed in another one: its first use of the block there is forgotten, and not waited
 * for. The NULL stream of a GPU cannot be captured, and is not asked; other streams are, at each
 * outermost borrow, unless never_captured is set. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jalloc/allocator.h"
#include "jalloc/datatype.h"
#include "jalloc/device.h"
#include "jalloc/executor.h"
#include "jalloc/export.h"
#include "jalloc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jhandle jhandle_t; /**< a handle; one thread at a time */

/** How the workspace is managed; the table above. */
typedef enum jhandle_mode_t {
    JHANDLE_MODE_DEFAULT = 0,
    JHANDLE_MODE_PREALLOCATE = 1,
    JHANDLE_MODE_MANUAL = 2,
    JHANDLE_MODE_USER_OWNED = 3
} jhandle_mode_t;

/** Where scalars (alpha, beta) are read and results (dot, nrm2, ...) are written. */
typedef enum jpointer_mode_t {
    /** read before the call returns; results are there on return (waits for the stream) */
    JPOINTER_MODE_HOST = 0,
    JPOINTER_MODE_DEVICE = 1 /**< read and written in stream order; nothing waits */
} jpointer_mode_t;

/** What may change the bits of a result. */
typedef enum jresult_policy_t {
    JRESULT_POLICY_DEFAULT = 0, /**< of options alone: what JALLOC_RESULT_POLICY says, else fast */
    JRESULT_POLICY_FAST = 1,    /**< the fastest way that fits the workspace */
    /** only ways whose bits do not depend on how much workspace there was */
    JRESULT_POLICY_SAME_BITS = 2
} jresult_policy_t;

/** How accurate results are. Orthogonal to the result policy: this decides which digits a routine
 * may give up for speed, that one whether the bits that are left may depend on how much workspace
 * there was. Each routine's comment says what it has under which. */
typedef enum jaccuracy_t {
    /** of options alone: what JALLOC_ACCURACY says, else componentwise */
    JACCURACY_DEFAULT = 0,
    /** each element as accurate as conventional BLAS gives it: for a product |error| <= gamma_k
     * |A||B| element by element, for a solve substitution's residual; overflow only where an
     * intermediate of the conventional way overflows */
    JACCURACY_COMPONENTWISE = 1,
    /** faster ways as well, whose error is bounded in the norm: small elements beside large ones
     * lose digits, and infinities turn into NaN more often */
    JACCURACY_NORMWISE = 2
} jaccuracy_t;

/** What becomes of a call that the workspace at hand makes slower. */
typedef enum jdegradation_t {
    JDEGRADATION_ALLOWED = 0, /**< it takes a lower rung, and answers perf degraded */
    /** it takes a lower rung where a program that the handle follows (program.h) has planned it;
     * else it is refused with memory error, and the message names the call and the bytes missing */
    JDEGRADATION_ANNOUNCED = 1
} jdegradation_t;

/** How a handle is made. Zero means the default everywhere; JALLOC_NONE and JALLOC_UNLIMITED
 * (allocator.h) where the comment says so. */
typedef struct jhandle_options_t {
    size_t struct_size; /**< sizeof(jhandle_options_t) */
    jdevice_t *device;  /**< NULL: the host */
    /** NULL: the device's default stream; must outlive its use by the handle */
    jstream_t *stream;
    /** where the workspace comes from, kept until the handle is destroyed; NULL: the handle makes
     * what JALLOC_ALLOCATOR says, or where it is empty a provider of the device's own memory: a
     * GPU's in stream order, if it has that */
    jallocator_t *allocator;
    /** preallocate mode; 0: what JALLOC_DEVICE_MEMORY_SIZE says; or none */
    size_t preallocate_bytes;
    /** most that default mode may hold; 0: what JALLOC_BUDGET says; or unlimited, or none */
    size_t budget_bytes;
    jpointer_mode_t pointer_mode;   /**< host by default */
    jresult_policy_t result_policy; /**< what may change bits */
    bool never_captured;            /**< see jhandle_set_never_captured() */
    jaccuracy_t accuracy;           /**< how accurate results are */
    int threads;                    /**< see jhandle_set_threads() */
    const jexecutor_t *executor;    /**< see jhandle_set_executor() */
} jhandle_options_t;

#define JHANDLE_OPTIONS_INIT                                                                       \
    {                                                                                              \
        sizeof(jhandle_options_t), NULL, NULL, NULL, 0, 0, JPOINTER_MODE_HOST,                     \
            JRESULT_POLICY_DEFAULT, false, JACCURACY_DEFAULT, 0, NULL                              \
    }

/** Makes a handle. Reads the environment (see config.h), and makes threads (see below).
 * @return success; invalid pointer (handle, a function of the executor); invalid value
 * (struct_size, an enum, a count of threads below 0, stream or allocator of another device);
 * invalid size (to preallocate); invalid configuration (the message quotes the variable); memory
 * error; capturing (memory is to be preallocated in a stream that is being captured); forked (the
 * stream); device error; not found, not implemented, exists, permission and unsafe (what
 * JALLOC_ALLOCATOR names cannot be had); io error (JALLOC_RECORD, or a segment's file). */
JALLOC_API jstatus_t jhandle_create(const jhandle_options_t *options, jhandle_t **handle);

/** Destroys a handle and gives its workspace back after its last use (waits for the stream in the
 * modes where jalloc owns the memory, unless the allocator takes it back in stream order). NULL is
 * ignored.
 * @return success; invalid handle; busy (a borrow is live, in a forked child as well: the handle
 *         stays as it was, see jhandle_abandon_borrows); capturing (it has workspace to give back,
 *         and the stream is being captured: it stays
 *         as it was); device error; forked (a child has released its bookkeeping and host
 *         memory). */
JALLOC_API jstatus_t jhandle_destroy(jhandle_t *handle);

/** @name Workspace
 * @{ */

/** Manual mode with exactly size_bytes (rounded up to the granule); 0 returns to default mode,
 * which grows, and gives the workspace back. What a size query answered is for
 * jhandle_set_fixed_workspace_size(), since it may be 0. The new block is taken before the old one
 * is retired; on failure mode and workspace stay as they were. Synchronizes with the stream if the
 * old block was used, unless the allocator takes it back in stream order and no graph owns it as
 * well. Any seal ends.
 * @return success; invalid handle; busy; invalid size; memory error; capturing; device error;
 * forked. */
JALLOC_API jstatus_t jhandle_set_workspace_size(jhandle_t *handle, size_t size_bytes);

/** The same, and 0 is a size like any other: manual mode with no bytes in it, in which no borrow
 * but one of 0 bytes succeeds. For what jhandle_stop_size_query() answered, so that the workspace
 * does not grow where no bytes were wanted.
 * @return as jhandle_set_workspace_size(). */
JALLOC_API jstatus_t jhandle_set_fixed_workspace_size(jhandle_t *handle, size_t size_bytes);

/** User-owned mode on the caller's memory, which must stay valid until another mode is set or the
 * handle is destroyed and the stream has passed; NULL or 0 returns to default mode. Bytes beyond a
 * multiple of the granule are not used. Any seal ends.
 * @return success; invalid handle; busy; invalid pointer (not aligned to the granule); invalid size
 * (the end of the memory overflows); capturing; device error; forked. */
JALLOC_API jstatus_t jhandle_set_workspace(jhandle_t *handle, void *pointer, size_t size_bytes);

/** The mode. @return success; invalid handle; invalid pointer. */
JALLOC_API jstatus_t jhandle_get_mode(const jhandle_t *handle, jhandle_mode_t *mode);

/** The workspace's capacity in bytes: what borrows outside of captures can have without growing.
 * @return success; invalid handle; invalid pointer. */
JALLOC_API jstatus_t jhandle_get_workspace_size(const jhandle_t *handle, size_t *size_bytes);

/** Bounds what default mode may hold between calls (while growing, the old block lives until the
 * new one is there); JALLOC_UNLIMITED: no bound; 0: nothing may be held. What is held already is
 * kept until trimmed. In a capture it bounds what borrows there come from.
 * @return success; invalid handle; busy (another thread holds borrows, here and below); forked. */
JALLOC_API jstatus_t jhandle_set_budget(jhandle_t *handle, size_t budget_bytes);
/** The bound; JALLOC_UNLIMITED: none. @return success; invalid handle; invalid pointer. */
JALLOC_API jstatus_t jhandle_get_budget(const jhandle_t *handle, size_t *budget_bytes);

/** Default mode: gives workspace back if more than keep_bytes are held. Fixed modes: no effect.
 * Synchronizes with the stream if the workspace was used, unless the allocator takes it back in
 * stream order.
 * @return success; invalid handle; busy; capturing; device error; forked. */
JALLOC_API jstatus_t jhandle_trim(jhandle_t *handle, size_t keep_bytes);

/** From now on growth in default mode is refused with sealed, and the message names the routine
 * that wanted it. So is taking memory for a capture.
 * @return success; invalid handle; busy; forked. */
JALLOC_API jstatus_t jhandle_seal(jhandle_t *handle);
/** Ends the seal. @return success; invalid handle; busy; forked. */
JALLOC_API jstatus_t jhandle_unseal(jhandle_t *handle);
/** Whether it is sealed. False for what is no handle. */
JALLOC_API bool jhandle_is_sealed(const jhandle_t *handle);

/** @} @name Host workspace
 * What a GPU vendor's library computes (jlapack.h says which routines) may want memory of the host
 * beside the workspace, until the stream has passed. The handle owns it, pinned: one block, which
 * no two calls use at once. In default mode it grows on demand, as the workspace does, but no
 * budget bounds it and jhandle_trim() leaves it; in the fixed modes it does not grow. A size query
 * answers it apart from the workspace's bytes, and a handle that enters a fixed mode after a query
 * of its own takes at least what that answered. Devices other than GPUs, and all of jblas, want
 * none.
 * @{ */

/** The largest host workspace of any call of the size query under way, or of the last one; 0 before
 * the first. @return success; invalid handle; invalid pointer. */
JALLOC_API jstatus_t jhandle_get_host_query_size(const jhandle_t *handle, size_t *size_bytes);
/** From now on the handle holds exactly size_bytes; 0 gives the block back. The mode stays. The new
 * block is taken before the old one is given back, once no work uses it; on failure it is as it
 * was.
 * @return success; invalid handle; busy (a borrow is live); invalid size (more than memory can
 * hold); memory error; forked; device error. */
JALLOC_API jstatus_t jhandle_set_host_workspace_size(jhandle_t *handle, size_t size_bytes);
/** What it holds. @return success; invalid handle; invalid pointer. */
JALLOC_API jstatus_t jhandle_get_host_workspace_size(const jhandle_t *handle, size_t *size_bytes);

/** @} @name Size query
 * Between start and stop, routines only say how much workspace serves them best. A handle whose
 * workspace has exactly the bytes that a query gave, and its host workspace those that it gave
 * beside them, runs each of the queried calls on rung 0.
 * @{ */

/** Starts; the maximum falls to 0. @return success; size query mismatch (already querying: the
 * maximum is kept); invalid handle; busy (a borrow is live); forked. */
JALLOC_API jstatus_t jhandle_start_size_query(jhandle_t *handle);
/** Stops and gives the largest size of any call. @return success; size query mismatch (not
 * querying); invalid pointer
 *  (still querying); invalid handle; busy; forked. */
JALLOC_API jstatus_t jhandle_stop_size_query(jhandle_t *handle, size_t *size_bytes);
/** Whether a query is under way; false for NULL. */
JALLOC_API bool jhandle_is_size_query(const jhandle_t *handle);
/** Answers a query with the sizes of the buffers that would serve the call best: each rounded up to
 * the granule, then summed. For authors of routines; JALLOC_SET_OPTIMAL_SIZE takes the sizes as
 * arguments.
 * @return size increased; size unchanged; size query mismatch (not querying); invalid handle; busy;
 *         forked; invalid pointer; invalid size (the sum overflows). */
JALLOC_API jstatus_t jhandle_set_optimal_size(jhandle_t *handle, size_t count,
                                              const size_t *size_bytes);

/** @} @name Stream and modes
 * @{ */

/** Work goes to `stream` from now on, which first waits, by an event, for the workspace's last use
 * in the old one. The host does not wait (but for the host device's NULL stream, which is the
 * calling thread). Between streams of which one is being captured, that is done at the first borrow
 * outside of captures.
 * @return success; invalid handle; busy (a borrow is live); invalid value (stream of another
 * device); memory error; device error; forked. */
JALLOC_API jstatus_t jhandle_set_stream(jhandle_t *handle, jstream_t *stream);
/** The caller promises that no stream of the handle is captured while it is used: then no borrow
 * asks whether it is, and borrows on a GPU are as cheap as on the host. A call that is captured all
 * the same uses the ordinary workspace.
 * @return success; invalid handle; busy (a borrow is live); capturing (it is being captured now);
 * device error; forked.
 */
JALLOC_API jstatus_t jhandle_set_never_captured(jhandle_t *handle, bool never_captured);
/** @return success; invalid handle; invalid pointer. */
JALLOC_API jstatus_t jhandle_get_never_captured(const jhandle_t *handle, bool *never_captured);
/** @return success; invalid handle; invalid pointer. */
JALLOC_API jstatus_t jhandle_get_stream(const jhandle_t *handle, jstream_t **stream);
/** The handle's device; NULL for an invalid handle. */
JALLOC_API jdevice_t *jhandle_device(const jhandle_t *handle);
/** The allocator that the workspace comes from; NULL for an invalid handle. */
JALLOC_API jallocator_t *jhandle_allocator(const jhandle_t *handle);
/** @return success; invalid handle; invalid value; busy; forked. */
JALLOC_API jstatus_t jhandle_set_pointer_mode(jhandle_t *handle, jpointer_mode_t mode);
/** @return success; invalid handle; invalid pointer. */
JALLOC_API jstatus_t jhandle_get_pointer_mode(const jhandle_t *handle, jpointer_mode_t *mode);
/** @return success; invalid handle; invalid value; busy; forked. */
JALLOC_API jstatus_t jhandle_set_result_policy(jhandle_t *handle, jresult_policy_t policy);
/** @return success; invalid handle; invalid pointer. */
JALLOC_API jstatus_t jhandle_get_result_policy(const jhandle_t *handle, jresult_policy_t *policy);
/** How accurate the calls from now on are. Size queries answer for the accuracy that is set when
 * they are asked.
 * @return success; invalid handle; invalid value; busy; forked. */
JALLOC_API jstatus_t jhandle_set_accuracy(jhandle_t *handle, jaccuracy_t accuracy);
/** @return success; invalid handle; invalid pointer. */
JALLOC_API jstatus_t jhandle_get_accuracy(const jhandle_t *handle, jaccuracy_t *accuracy);

/** What becomes of calls for whose rung 0 the workspace does not suffice.
 * @return success; invalid handle; invalid value; busy; forked. */
JALLOC_API jstatus_t jhandle_set_degradation(jhandle_t *handle, jdegradation_t degradation);
/** @return success; invalid handle; invalid pointer. */
JALLOC_API jstatus_t jhandle_get_degradation(const jhandle_t *handle, jdegradation_t *degradation);

/** @} @name Threads
 * Whose threads the host's routines work with. Results do not depend on it.
 *
 * By default it is the process's team: worker threads that handles share. They are made by
 * jhandle_create(), jhandle_set_threads() and jhandle_set_executor(), as many as a handle of the
 * host may use and are not there yet; no other call makes one. A call that is large enough to be
 * shared has those that are free when it begins, and never waits for one. Calls with handles in
 * several threads so divide the processors among them: when each processor has a thread with such
 * a call, all work alone.
 * @{ */

/** The most threads that a call with this handle uses, the calling one included; 0: the default,
 * which is what JALLOC_THREADS says, or else what an executor offers, or else the processors that
 * the calling thread may run on (affinity), or fewer where the process's control group leaves it
 * less of their time. 1: the calling thread alone. More than there are processors is for tests:
 * a call has them while no other large one is under way. Where the system has no more threads to
 * give, calls have fewer.
 * @return success; invalid handle; invalid value (below 0); busy; forked. */
JALLOC_API jstatus_t jhandle_set_threads(jhandle_t *handle, int count);
/** The most threads that a call uses; 0: as many as the executor offers.
 * @return success; invalid handle; invalid pointer. */
JALLOC_API jstatus_t jhandle_get_threads(const jhandle_t *handle, int *count);
/** Calls share their work by this executor from now on; NULL: with the process's team. It is not
 * copied: it must stay as it is until another is set or the handle is destroyed, and the stream has
 * passed.
 * @return success; invalid handle; invalid pointer (one of its functions is NULL); invalid value
 * (struct_size); busy; forked. */
JALLOC_API jstatus_t jhandle_set_executor(jhandle_t *handle, const jexecutor_t *executor);
/** The executor; NULL: the process's team, or an invalid handle. */
JALLOC_API const jexecutor_t *jhandle_executor(const jhandle_t *handle);

/** @} @name Diagnosis
 * @{ */

#define JHANDLE_MAX_RUNGS 8      /**< rungs that are counted apart, and most that a plan may have */
#define JHANDLE_SHAPE_BYTES 48   /**< kept of a shape, its zero byte included */
#define JHANDLE_ROUTINE_BYTES 32 /**< kept of a routine's name, its zero byte included */

/** What a handle has done since it was made or since jhandle_clear_stats. */
typedef struct jhandle_stats_t {
    size_t struct_size;                       /**< in: sizeof(jhandle_stats_t) of the caller */
    uint64_t borrow_count;                    /**< borrows that succeeded */
    uint64_t live_borrow_count;               /**< borrows not ended yet */
    size_t in_use_bytes;                      /**< borrowed now */
    size_t high_watermark_bytes;              /**< most that was borrowed at once */
    char peak_routine[JHANDLE_ROUTINE_BYTES]; /**< the routine that set the high watermark */
    char peak_shape[JHANDLE_SHAPE_BYTES];     /**< and its shape, such as "m=512 n=64" */
    uint64_t growth_count;                    /**< times default mode took a larger block */
    uint64_t allocation_count;                /**< workspace blocks taken */
    uint64_t deallocation_count;              /**< workspace blocks given back */
    /** times the host waited for a stream; the list above */
    uint64_t synchronization_count;
    /** planned calls by rung; one way that needs no bytes is no plan */
    uint64_t rung_count[JHANDLE_MAX_RUNGS];
    uint64_t degraded_count; /**< planned calls below rung 0 */
    /** ends out of order or of what is not live, abandonments, busy refusals of the borrowing
     * thread */
    uint64_t misuse_count;
    /** captures that borrowed, each time one was entered */
    uint64_t capture_count;
    /** workspace that graphs own now, alone or beside the handle */
    size_t captured_bytes;
    /** calls with a plan that the program, which the handle follows, does not know */
    uint64_t unplanned_count;
    /** where it follows one, or degradation is announced: calls for whose planned rung, or rung 0,
     * the workspace did not suffice, refused ones among them */
    uint64_t unannounced_count;
} jhandle_stats_t;
#define JHANDLE_STATS_INIT                                                                         \
    { sizeof(jhandle_stats_t), 0, 0, 0, 0, {0}, {0}, 0, 0, 0, 0, {0}, 0, 0, 0, 0, 0, 0 }

/** Statistics. `stats` begins as JHANDLE_STATS_INIT.
 * @return success; invalid handle; invalid pointer; invalid value (struct_size). */
JALLOC_API jstatus_t jhandle_get_stats(const jhandle_t *handle, jhandle_stats_t *stats);
/** Counters fall to 0, the high watermark to what is in use. @return success; invalid handle; busy;
 * forked. */
JALLOC_API jstatus_t jhandle_clear_stats(jhandle_t *handle);
/** The message of the last error of a call with this handle; empty before the first. Valid until
 * the next one. */
JALLOC_API const char *jhandle_last_message(const jhandle_t *handle);
/** Which argument the handle's last error was about, so that an error handler such as BLAS's xerbla
 * needs no message: the routine's and the argument's name (static texts, as the declaration has
 * them), and its number, counted from 1 in the order of the declaration without the handle, which
 * is BLAS's. Goes with jhandle_last_message(): the handle's next error replaces it, a success does
 * not. Each of the three may be NULL: not wanted.
 * @return success; not found (there was no error, or it was not about one argument); invalid
 * handle. */
JALLOC_API jstatus_t jhandle_get_refused_argument(const jhandle_t *handle, const char **routine,
                                                  const char **name, int *number);
/** Keeps a message for jhandle_last_message() and jstatus_last_message(), logs it, returns
 * `status`. For authors of routines. */
JALLOC_API jstatus_t jhandle_fail(jhandle_t *handle, jstatus_t status, const char *format, ...)
    JALLOC_PRINTF(3, 4);
/** Declares every live borrow of the calling thread ended: for borrows whose scope was left by
 * longjmp or whose end was lost. A guard that ends later all the same is answered with not found,
 * as long as the handle lives. Works in a forked child too, before jhandle_destroy().
 * @return success (none was live); leaked (the message names them; they are ended); invalid handle;
 *         busy (they are another thread's: see jhandle_adopt_borrows()); forked (none was live). */
JALLOC_API jstatus_t jhandle_abandon_borrows(jhandle_t *handle);
/** The calling thread becomes the one that holds the live borrows: for a thread that goes on with
 * another's work, or has to clean up after one that ended without ending its borrows. The caller
 * sees to it that the other uses the handle no more; jalloc cannot tell. @return success (also when
 * none is live); invalid handle. */
JALLOC_API jstatus_t jhandle_adopt_borrows(jhandle_t *handle);
/** The layers (JLOG_LAYER_*) that the handle logs. */
JALLOC_API unsigned jhandle_layers(const jhandle_t *handle);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
