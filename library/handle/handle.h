/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_HANDLE_HANDLE_H
#define JALLOC_HANDLE_HANDLE_H

/* The handle's content. libjblas reads the first members inline; everyone changes them through
 * functions.
 *
 *     handle.c     a handle's life, and what each call asks of one; read this after the drawing
 *     borrow.c     borrows begin and end
 *     workspace.c  blocks: taken, grown, given back
 *     plan.c       plans and size queries
 *     settings.c   what is read of a handle and set on it
 *     threads.c    how many threads its calls may use, and whose
 *     capture.c    memory that graphs own
 *     host_workspace.c  what a GPU's routines want of the host's memory
 *
 *   blocks[0]                                          blocks[1], only while nested borrows did not
 *                                                      fit (default mode)
 *   +---------+-------------+--------------+           +---------------+--------+
 *   | frame 0 | frame 1     | free         |           | frame 2       | free   |
 *   +---------+-------------+--------------+           +---------------+--------+
 *   base                    top in frame 2             base            top      limit
 *
 * What always holds: borrows.frames[0..depth), which end before borrows.frame, are the borrows that
 * have begun and whose memory is not free again, innermost last; the memory in [top, limit) of
 * blocks[block] is free, top being borrows.frame's, and so are all blocks behind it; every top is a
 * multiple of the granule; while idle (depth 0) block is 0 and top its base; frame_block[i] is 0,
 * and so is bit i of `ended`, for i >= depth. Whatever changes one of the things that borrows.user
 * and fast_end stand for calls ji_handle_refresh. Addresses are numbers here: workspace memory is
 * never read or written by the handle. While the stream is captured into a graph, default mode's
 * blocks are the graph's, and the ordinary ones are in `aside` (capture.c). */

#include "core/core.h"
#include "core/list.h"
#include "core/sized.h"
#include "core/threads.h"
#include "device/device.h"
#include "jalloc/borrow.h"
#include "jalloc/handle.h"
#include "jalloc/provider.h"

/* The first word of a handle says in one comparison that it is one and what it may do. */
#define JI_HANDLE_READY 0x6a68616eu    /* borrows are allowed */
#define JI_HANDLE_QUERYING 0x6a717279u /* a size query is under way */
#define JI_HANDLE_FORKED 0x6a666b64u   /* inherited: its borrows end, it is destroyed, no more */
#define JI_HANDLE_DESTROYED 0u

typedef struct ji_block {
    uintptr_t base;    /* 0 when empty */
    size_t size_bytes; /* a multiple of the granule */
} ji_block_t;

/* Why workspace could not be had. It is made a message only where somebody reads it: a plan that
 * has a lower rung goes on without a word. */
typedef struct ji_refusal {
    size_t needed_bytes; /* JALLOC_SIZE_OVERFLOW: the sizes are no size */
    /* Static text, or the thread's last message; NULL: the handle's message says it already. */
    const char *why;
} ji_refusal_t;

/* Pinned memory of the host, for one call at a time; host_workspace.c. */
typedef struct ji_host_workspace {
    void *base;
    size_t size_bytes;
    size_t query_bytes; /* maximum of the query under way, or of the last one */
    jevent_t *event;    /* behind what used it last; made with the first block */
    bool used;          /* since it was last waited for */
} ji_host_workspace_t;

/* Who is told of the calls of a handle: program/, which the handle does not know. */
typedef struct ji_watcher ji_watcher_t;
struct ji_watcher {
    /* A size query was answered with this plan, which is sound. */
    void (*answered)(ji_watcher_t *watcher, const jhandle_t *handle, const jplan_t *plan);
    /* The rung that was planned for a call; -1: the watcher does not know this plan. *announced: it
     * was said that the call will be slower than it could be. */
    int (*planned)(const ji_watcher_t *watcher, const jplan_t *plan, bool *announced);
    /* The handle is destroyed; of a query's, it has ended without who started it. */
    void (*forget)(ji_watcher_t *watcher);
    ji_watcher_t *next; /* of the handle */
};

typedef struct ji_shared_block ji_shared_block_t;     /* capture.c */
typedef struct ji_capture_source ji_capture_source_t; /* capture.c */

struct jhandle {
    jborrow_frames_ borrows; /* first: JALLOC_BORROW knows it */

    /* Read by every call. */
    uint32_t state; /* JI_HANDLE_* */
    jstream_t *stream;
    jdevice_t *device;
    jpointer_mode_t pointer_mode;
    jresult_policy_t result_policy;
    jaccuracy_t accuracy;
    unsigned layers;      /* JLOG_LAYER_* */
    ji_threads_t threads; /* in force */
    /* Of jblas: nothing to log, and the CBLAS was found good; set by its first call. */
    bool calls_are_plain;
    bool sealed;
    /* The host's NULL stream: work is done when the call that orders it returns. */
    bool runs_inline;

    int asked_threads;       /* by the program; 0: the default */
    int environment_threads; /* by JALLOC_THREADS when the handle was made; 0: nothing */

    /* The rest of the borrow frames. */
    const void *holder;                      /* the thread that borrowed last; relaxed atomic */
    uint32_t ended;                          /* bit i: the borrow of frame i, out of order */
    uint32_t block;                          /* index of the block that the top is in */
    uint32_t frame_block[JBORROW_MAX_DEPTH]; /* `block` before each frame */
    uintptr_t limit;                         /* end of that block */
    size_t high_watermark;

    /* The workspace. */
    jhandle_mode_t mode;
    uint32_t block_count; /* blocks[0] counts even when it is empty */
    ji_block_t blocks[JBORROW_MAX_DEPTH + 1];
    size_t budget_bytes; /* JALLOC_UNLIMITED: no bound */
    size_t query_bytes;  /* maximum of the query under way */
    jallocator_t *allocator;
    bool owns_allocator;
    bool takes_in_order; /* the allocator takes memory back in stream order: nobody waits */
    /* Where the ordinary workspace was last used: `stream`, but after a change in a capture. */
    jstream_t *used_stream;
    jevent_t *event; /* orders a change of stream; made when first needed */
    ji_host_workspace_t host;

    /* Programs. */
    ji_watcher_t *query_watcher; /* NULL: of the query under way, the maximum is enough */
    /* For the drop-in's report: before each call of jblas the same call is made with this handle,
     * of which a size query is under way. NULL: none. */
    jhandle_t *asked_first;
    ji_watcher_t *watchers; /* others who want to know when the handle is destroyed */
    ji_watcher_t *follows;  /* of these, who has planned the calls' rungs; NULL: nobody */
    jdegradation_t degradation;
    /* The borrow of the last call that was planned: what its routine borrows within is its own. 0:
     * none. */
    uint64_t planned_serial;
    uint64_t unplanned_count, unannounced_count;

    /* Captures into graphs. */
    bool can_be_captured, graphs_can_own; /* what the device's runtime has */
    bool never_captured;                  /* promised */
    uint64_t capture;                     /* that the last outermost borrow was in; 0: none */
    /* The last capture that something was borrowed in, and its stream where that was. */
    uint64_t graph_capture;
    jstream_t *graph_stream;
    uint64_t graph_borrow_count; /* borrows begun for which a graph answers, not the handle */
    uint64_t capture_count;
    uint32_t aside_count; /* meaningful while default mode lends from a graph's blocks */
    ji_block_t aside[JBORROW_MAX_DEPTH + 1];
    /* The fixed modes' block, where graphs can own it as well; else NULL. */
    ji_shared_block_t *shared;
    ji_capture_source_t *source; /* made when first needed */

    /* Counters and the last message. */
    /* uses (ji_handle_use_count) when nothing that the workspace waits for was ahead in the
     * stream */
    uint64_t waited_count;
    uint64_t cleared_count; /* borrows begun when the counters were cleared */
    uint64_t growth_count, allocation_count, deallocation_count, synchronization_count;
    uint64_t rung_count[JHANDLE_MAX_RUNGS], degraded_count, misuse_count;
    char peak_routine[JHANDLE_ROUTINE_BYTES];
    char peak_shape[JHANDLE_SHAPE_BYTES];
    ji_refusal_t refusal; /* the last, where workspace was refused since */
    char message[256];
    /* Static; meaningful while refused_number is not 0. */
    const char *refused_routine, *refused_name;
    /* Of the argument that `message` is about; 0: of none. */
    int refused_number;

    ji_link_t link;  /* in the list of all handles of the process, for the child after a fork */
    uint64_t number; /* 1, 2, ... in the order in which the process made its handles */
};

static inline bool ji_handle_is_valid(const jhandle_t *handle) {
    return handle != NULL &&
           (handle->state == JI_HANDLE_READY || handle->state == JI_HANDLE_QUERYING ||
            handle->state == JI_HANDLE_FORKED);
}

/* Whether a call may have the handle: success; invalid handle; forked. `why` then says what it is
 * or was. */
static inline jstatus_t ji_handle_judge(const jhandle_t *handle, const char **why) {
    if (!ji_handle_is_valid(handle)) {
        *why = handle != NULL ? "is destroyed or not a handle" : "is NULL";
        return JSTATUS_INVALID_HANDLE;
    }
    if (handle->state == JI_HANDLE_FORKED) {
        *why = "was made before a fork; make a new one in the child";
        return JSTATUS_FORKED;
    }
    return JSTATUS_SUCCESS;
}

/* Borrows that are live, those among them that ended out of order. */
static inline uint32_t ji_handle_depth(const jhandle_t *handle) {
    return (uint32_t)(handle->borrows.frame - handle->borrows.frames);
}

/* Where free memory begins. */
static inline uintptr_t ji_handle_top(const jhandle_t *handle) {
    return handle->borrows.frame->top;
}

/* Whether another thread holds borrows. Then nothing of the handle may be changed here. */
static inline bool ji_handle_is_foreign(const jhandle_t *handle) {
    return ji_handle_depth(handle) > 0 &&
           __atomic_load_n(&handle->holder, __ATOMIC_RELAXED) != __builtin_thread_pointer();
}

/* The host waits for the stream, and counts it. The host's NULL stream is the calling thread: there
 * is no waiting. */
static inline jstatus_t ji_handle_wait(jhandle_t *handle, jstream_t *stream) {
    if (stream == NULL && handle->device->kind == JDEVICE_HOST)
        return JSTATUS_SUCCESS;
    jstatus_t status = jstream_synchronize(handle->device, stream);
    handle->synchronization_count += status == JSTATUS_SUCCESS;
    return status;
}

/* What the last message is on: `number` counts as BLAS does, without the handle. Static text. */
static inline void ji_handle_keep_refused(jhandle_t *handle, const char *routine, const char *name,
                                          int number) {
    if (ji_handle_is_foreign(handle))
        return;
    handle->refused_routine = routine;
    handle->refused_name = name;
    handle->refused_number = number;
}

/* Whether a plan can be read: its caller may be of another version. */
static inline jstatus_t ji_plan_check(const jplan_t *plan) {
    if (JI_UNLIKELY(plan == NULL))
        return ji_fail(JSTATUS_INVALID_POINTER, "the plan is NULL");
    return JI_LIKELY(plan->struct_size == sizeof *plan) ? JSTATUS_SUCCESS
                                                        : JI_CHECK_SIZED(jplan_t, plan, rungs);
}

/* The checks of whatever changes the handle: valid, not made before a fork, no borrow of another
 * thread live. */
jstatus_t ji_handle_check(const jhandle_t *handle, const char *caller);
/* As above, and idle: no borrow is live. Forked takes precedence. */
jstatus_t ji_handle_check_idle(jhandle_t *handle, const char *caller);

/* Makes a handle of the host in the caller's memory, in manual mode with no bytes and one thread:
 * for a caller who has to compute where no handle can be had. It allocates nothing, nothing of the
 * environment is read, and it is not destroyed but left. */
void ji_handle_make_bare(jhandle_t *handle);

/* Sets the threads, by what was checked, and makes the workers that are missing. */
void ji_handle_use_threads(jhandle_t *handle, int asked, const jexecutor_t *executor);
/* Whether there are as many threads as an executor offers. */
bool ji_handle_takes_offers(const jhandle_t *handle);
/* success; invalid value (struct_size); invalid pointer. NULL is right. */
jstatus_t ji_executor_check(const jexecutor_t *executor);

/* Puts `to` behind what is in `from`, by an event. */
jstatus_t ji_handle_order(jhandle_t *handle, jstream_t *from, jstream_t *to);

/* Starts a size query; `watcher` (NULL: none) is told of each answer until it stops. */
jstatus_t ji_handle_start_query(jhandle_t *handle, ji_watcher_t *watcher, const char *caller);
/* The bytes of a rung, its buffers rounded up; JALLOC_SIZE_OVERFLOW. */
size_t ji_rung_bytes(const jplan_rung_t *rung, size_t granule_bytes);
/* Whether the result policy that the plan was made with allows the rung. */
static inline bool ji_rung_is_allowed(const jplan_t *plan, uint32_t rung) {
    return !plan->same_bits ||
           plan->rungs[rung].bits_class == plan->rungs[plan->rung_count - 1].bits_class;
}
/* "m=512 n=64"; nothing is written where a plan has no shape. */
void ji_plan_shape(const jplan_t *plan, char *text, size_t text_bytes);
/* What the rung costs; NULL: nobody said. */
const jprice_t *ji_plan_price(const jplan_t *plan, uint32_t rung);

/* Ends all live borrows. */
void ji_handle_end_borrows(jhandle_t *handle);
/* Recomputes borrows.user and borrows.fast_end. */
void ji_handle_refresh(jhandle_t *handle);
/* Borrows begun, ever. */
uint64_t ji_handle_borrow_count(const jhandle_t *handle);
/* Those of them that the handle's next use, and whoever gives the workspace back, come behind. */
uint64_t ji_handle_use_count(const jhandle_t *handle);
/* Bytes borrowed now. */
size_t ji_handle_in_use(const jhandle_t *handle);

/* Bytes of the blocks that borrows come from now; of those outside of captures. */
size_t ji_workspace_bytes(const jhandle_t *handle);
size_t ji_workspace_ordinary_bytes(const jhandle_t *handle);
/* Lends from this block from now on. */
void ji_workspace_open(jhandle_t *handle, uint32_t index);
/* Makes [top, limit) hold at least `needed` bytes, by growing where the mode allows it. The
 * routine tags the memory. success; memory error (too little, over budget, or no memory); sealed;
 * device error. On failure nothing has changed, and no message is there yet: ji_workspace_explain()
 * makes it. */
jstatus_t ji_workspace_reserve(jhandle_t *handle, size_t needed, const char *routine);
/* Keeps the message of the last refusal, which had this status. Returns the status. */
jstatus_t ji_workspace_explain(jhandle_t *handle, jstatus_t status, const char *routine)
    __attribute__((cold));
/* Takes a block of exactly size_bytes (a multiple of the granule) for use in the handle's stream.
 * It is tagged with the routine's name, if it has one (not NULL) and the thread has no tag of its
 * own. */
jstatus_t ji_workspace_take(jhandle_t *handle, size_t size_bytes, const char *routine,
                            ji_block_t *block);
/* The same for a fixed mode, outside of captures; *shared is as of ji_capture_share(). */
jstatus_t ji_workspace_take_fixed(jhandle_t *handle, size_t size_bytes, ji_block_t *block,
                                  ji_shared_block_t **shared, const char *caller);
/* Gives everything back that is jalloc's, after the stream has passed; leaves one empty block. Idle
 * handles only. On failure the ordinary workspace is as it was. */
jstatus_t ji_workspace_retire(jhandle_t *handle, const char *caller);
/* Makes `block` the one block, in `mode`. Nothing else may be held. */
void ji_workspace_adopt(jhandle_t *handle, ji_block_t block, jhandle_mode_t mode);

/* ---- The host workspace ---- */

/* Answers a size query beside the workspace's: the maximum runs over the calls. */
JI_SHARED void ji_host_workspace_ask(jhandle_t *handle, size_t size_bytes);
/* For one call, so many bytes which no work uses any more; NULL for 0. From end() on, whatever is
 * in the handle's stream then may use them. success; memory error; sealed; device error: kept as
 * the handle's message. After a success end() is to be called, also when nothing was enqueued. */
JI_SHARED jstatus_t ji_host_workspace_begin(jhandle_t *handle, const char *routine,
                                            size_t size_bytes, void **pointer);
JI_SHARED jstatus_t ji_host_workspace_end(jhandle_t *handle, const void *pointer);
/* At least what the last query answered. */
jstatus_t ji_host_workspace_take_queried(jhandle_t *handle, const char *caller);
/* Gives it back once nothing uses it. */
jstatus_t ji_host_workspace_retire(jhandle_t *handle);

#endif
