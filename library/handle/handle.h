/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_HANDLE_HANDLE_H
#define JALLOC_HANDLE_HANDLE_H

/* The handle's content. libjblas reads the first members inline; everyone changes them through functions.
 *
 *   blocks[0]                                          blocks[1], only while nested borrows did not fit (default mode)
 *   +---------+-------------+--------------+           +---------------+--------+
 *   | frame 0 | frame 1     | free         |           | frame 2       | free   |
 *   +---------+-------------+--------------+           +---------------+--------+
 *   base                    top in frame 2             base            top      limit
 *
 * What always holds: frames[0..depth) are the borrows that have begun and whose memory is not free again, innermost last;
 * the memory in [top, limit) of blocks[block] is free, and so are all blocks behind it; every top is a multiple of the
 * granule; while idle (depth 0) block is 0 and top its base. Addresses are numbers here: workspace memory is never read or
 * written by the handle. */

#include "core/core.h"
#include "device/device.h"
#include "jalloc/borrow.h"
#include "jalloc/handle.h"

/* The first word of a handle says in one comparison that it is one and what it may do. */
#define JI_HANDLE_READY 0x6a68616eu    /* borrows are allowed */
#define JI_HANDLE_QUERYING 0x6a717279u /* a size query is under way */
#define JI_HANDLE_DESTROYED 0u

/* One borrow that has begun. The fields restore what was before it. */
typedef struct ji_frame {
    uintptr_t top;       /* the handle's before */
    size_t in_use;       /* the handle's before */
    const char *routine; /* who borrowed; static text or NULL */
    uint32_t serial;     /* equals the borrow's serial_ while it is this frame's */
    uint32_t block;      /* the handle's before */
    bool ended;          /* ended out of order: popped with the frames above it */
} ji_frame_t;

typedef struct ji_block {
    uintptr_t base;    /* 0 when empty */
    size_t size_bytes; /* a multiple of the granule */
} ji_block_t;

struct jhandle {
    /* Read by every call. */
    uint32_t state; /* JI_HANDLE_* */
    unsigned fork_generation;
    jstream_t *stream;
    jdevice_t *device;
    jpointer_mode_t pointer_mode;
    jresult_policy_t result_policy;
    unsigned layers; /* JLOG_LAYER_* */
    bool workspace_used; /* borrowed since the host last waited for the stream */
    bool sealed;

    /* The borrow stack. */
    _Atomic(const void *) user; /* the thread that holds the outermost borrow */
    uintptr_t top;
    uintptr_t limit;
    size_t in_use;
    size_t high_watermark;
    uint64_t borrow_count;
    uint32_t depth;
    uint32_t serial; /* of the borrow begun last */
    uint32_t block;  /* index of the block that top and limit are in */
    ji_frame_t frames[JBORROW_MAX_DEPTH];

    /* The workspace. */
    jhandle_mode_t mode;
    uint32_t block_count; /* blocks[0] counts even when it is empty */
    ji_block_t blocks[JBORROW_MAX_DEPTH + 1];
    size_t granule_mask;
    size_t budget_bytes;
    size_t query_bytes; /* maximum of the query under way */
    jallocator_t *allocator;
    bool owns_allocator;
    jevent_t *event; /* orders a change of stream; made when first needed */

    /* Counters and the last message. */
    uint64_t growth_count, allocation_count, deallocation_count, synchronization_count;
    uint64_t rung_count[JHANDLE_MAX_RUNGS], degraded_count, misuse_count;
    char peak_routine[JHANDLE_MAX_ROUTINE + 1];
    char peak_shape[JHANDLE_MAX_SHAPE + 1];
    char message[256];
};

/* The address of this marks the calling thread. */
extern __thread char ji_handle_thread_mark __attribute__((tls_model("initial-exec")));

static inline bool ji_handle_is_valid(const jhandle_t *handle) {
    return JI_LIKELY(handle != NULL) && JI_LIKELY(handle->state == JI_HANDLE_READY || handle->state == JI_HANDLE_QUERYING);
}

/* The checks of a function that changes the handle: valid, and not made before a fork. */
jstatus_t ji_handle_check(const jhandle_t *handle, const char *caller);
/* As above, and idle: no borrow is live. */
jstatus_t ji_handle_check_idle(jhandle_t *handle, const char *caller);

/* Total bytes of the blocks. */
size_t ji_workspace_bytes(const jhandle_t *handle);
/* Makes [top, limit) hold at least `needed` bytes, by growing where the mode allows it. The routine is named in messages.
 * success; memory error (too little, over budget, or no memory); sealed; device error. On failure nothing has changed. */
jstatus_t ji_workspace_reserve(jhandle_t *handle, size_t needed, const char *routine);
/* Takes a block of exactly size_bytes (a multiple of the granule). */
jstatus_t ji_workspace_take(jhandle_t *handle, size_t size_bytes, ji_block_t *block);
/* Gives everything back that is jalloc's, after the stream has passed; leaves one empty block. Idle handles only. */
jstatus_t ji_workspace_retire(jhandle_t *handle);
/* Makes `block` the one block, in `mode`. Nothing else may be held. */
void ji_workspace_adopt(jhandle_t *handle, ji_block_t block, jhandle_mode_t mode);

#endif
