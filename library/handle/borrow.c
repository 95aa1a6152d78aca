/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Borrow and return: the path that every routine with workspace takes, so it costs a few nanoseconds and nothing more.
 *
 * A borrow moves `top` up and pushes a frame that says what was before; its end moves `top` back. Everything rare stands
 * apart in cold functions: growth, a new high watermark, a refusal, an end out of order. The frames live in the handle, not
 * on the caller's stack, so a borrow that was lost (longjmp, a forgotten end) can be named and abandoned without touching
 * memory that is gone. */

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "handle/handle.h"

__thread char ji_handle_thread_mark __attribute__((tls_model("initial-exec")));

static inline const void *this_thread(void) { return &ji_handle_thread_mark; }

/* No sum of JBORROW_MAX_BUFFERS sizes below this overflows. */
#define BORROW_MAX_SIZE_BYTES (SIZE_MAX / (2 * JBORROW_MAX_BUFFERS))

static jstatus_t borrow_nothing(jborrow_t *borrow, jstatus_t status) {
    *borrow = (jborrow_t){.status = status, .rung = -1};
    return status;
}

/* Says why a handle cannot lend now. */
__attribute__((cold, noinline)) static jstatus_t borrow_refuse(jborrow_t *borrow, jhandle_t *handle, const char *routine) {
    const char *who = routine ? routine : "a borrow";
    jstatus_t status = ji_handle_check(handle, who);
    if (status != JSTATUS_SUCCESS)
        return borrow_nothing(borrow, status);
    if (handle->state == JI_HANDLE_QUERYING)
        return borrow_nothing(
            borrow, jhandle_fail(handle, JSTATUS_SIZE_QUERY_MISMATCH, "%s: borrowing during a size query", who));
    if (handle->depth == JBORROW_MAX_DEPTH)
        return borrow_nothing(borrow, jhandle_fail(handle, JSTATUS_INVALID_VALUE,
                                                   "%s: more than %d borrows are live at once", who, JBORROW_MAX_DEPTH));
    /* Another thread holds a borrow. Its handle: nothing but the message counter may be touched here. */
    return borrow_nothing(borrow, ji_fail(JSTATUS_BUSY, "%s: the handle is in use by another thread", who));
}

static inline bool borrow_is_allowed(const jhandle_t *handle) {
    if (JI_UNLIKELY(handle == NULL) || JI_UNLIKELY(handle->state != JI_HANDLE_READY) ||
        JI_UNLIKELY(handle->fork_generation != ji_fork_generation) || JI_UNLIKELY(handle->depth == JBORROW_MAX_DEPTH))
        return false;
    return handle->depth == 0 || atomic_load_explicit(&handle->user, memory_order_relaxed) == this_thread();
}

/* A new high watermark: who set it, with which sizes. */
__attribute__((cold, noinline)) static void borrow_record_peak(jhandle_t *handle, const char *routine, const jplan_t *plan) {
    handle->high_watermark = handle->in_use;
    snprintf(handle->peak_routine, sizeof handle->peak_routine, "%s", routine ? routine : "");
    handle->peak_shape[0] = '\0';
    if (plan == NULL)
        return;
    size_t length = 0;
    for (int i = 0; i < 4 && plan->shape_names && plan->shape_names[i] && length < sizeof handle->peak_shape; ++i)
        length += (size_t)snprintf(handle->peak_shape + length, sizeof handle->peak_shape - length, "%s%c=%" PRId64,
                                   i ? " " : "", plan->shape_names[i], plan->shape[i]);
}

/* Takes `total` bytes, which fit, and pushes the frame. The pointers are the caller's to set. */
static inline void borrow_push(jborrow_t *borrow, jhandle_t *handle, const char *routine, const jplan_t *plan,
                               uintptr_t top, uint32_t block, size_t total) {
    uint32_t depth = handle->depth, serial = handle->serial + 1;
    ji_frame_t *frame = &handle->frames[depth];
    frame->top = top;
    frame->in_use = handle->in_use;
    frame->routine = routine;
    frame->serial = serial;
    frame->block = block;
    frame->ended = false;
    if (depth == 0)
        atomic_store_explicit(&handle->user, this_thread(), memory_order_relaxed);
    handle->depth = depth + 1;
    handle->serial = serial;
    handle->top += total;
    handle->in_use += total;
    handle->workspace_used = true;
    ++handle->borrow_count;
    borrow->serial_ = serial;
    borrow->depth_ = depth;
    borrow->handle_ = handle;
    borrow->ok = true;
    borrow->rung = 0;
    borrow->status = JSTATUS_SUCCESS;
    if (JI_UNLIKELY(handle->in_use > handle->high_watermark))
        borrow_record_peak(handle, routine, plan);
}

__attribute__((cold, noinline)) static jstatus_t borrow_refuse_sizes(jborrow_t *borrow, jhandle_t *handle,
                                                                     const char *routine, size_t count,
                                                                     const size_t *size_bytes) {
    const char *who = routine ? routine : "a borrow";
    if (count > JBORROW_MAX_BUFFERS)
        return borrow_nothing(borrow, jhandle_fail(handle, JSTATUS_INVALID_VALUE, "%s: %zu buffers, at most %d", who, count,
                                                   JBORROW_MAX_BUFFERS));
    if (count != 0 && size_bytes == NULL)
        return borrow_nothing(borrow, jhandle_fail(handle, JSTATUS_INVALID_POINTER, "%s: sizes are NULL", who));
    return borrow_nothing(borrow, jhandle_fail(handle, JSTATUS_INVALID_SIZE, "%s: the sizes of a borrow overflow", who));
}

/* Takes buffers and reserves `callee_bytes` behind them. Where it must grow, and cannot, borrow holds nothing. */
static inline jstatus_t borrow_take(jborrow_t *borrow, jhandle_t *handle, const char *routine, const jplan_t *plan,
                                    size_t count, const size_t *size_bytes, size_t callee_bytes) {
    if (JI_UNLIKELY(count > JBORROW_MAX_BUFFERS) || JI_UNLIKELY(count != 0 && size_bytes == NULL))
        return borrow_refuse_sizes(borrow, handle, routine, count, size_bytes);

    size_t mask = handle->granule_mask, total = 0, bits = callee_bytes;
    for (size_t i = 0; i < count; ++i) {
        bits |= size_bytes[i];
        total += (size_bytes[i] + mask) & ~mask;
    }
    if (JI_UNLIKELY(bits > BORROW_MAX_SIZE_BYTES))
        return borrow_refuse_sizes(borrow, handle, routine, count, size_bytes);

    uintptr_t before_top = handle->top;
    uint32_t before_block = handle->block;
    if (JI_UNLIKELY(total + callee_bytes > (size_t)(handle->limit - handle->top)) ||
        JI_UNLIKELY(handle->block_count > 1 && handle->depth == 0)) {
        jstatus_t status = ji_workspace_reserve(handle, total + callee_bytes, routine);
        if (status != JSTATUS_SUCCESS)
            return borrow_nothing(borrow, status);
        if (handle->depth == 0) { /* the block was replaced: an idle handle stands here now */
            before_top = handle->top;
            before_block = handle->block;
        }
    }

    uintptr_t next = handle->top;
    size_t i = 0;
    for (; i < count; ++i) {
        borrow->ptr[i] = size_bytes[i] ? (void *)next : NULL;
        next += (size_bytes[i] + mask) & ~mask;
    }
    for (; i < JBORROW_MAX_BUFFERS; ++i)
        borrow->ptr[i] = NULL;
    borrow_push(borrow, handle, routine, plan, before_top, before_block, total);
    return JSTATUS_SUCCESS;
}

jstatus_t jborrow_begin(jborrow_t *borrow, jhandle_t *handle, const char *routine, size_t count,
                        const size_t *size_bytes) {
    JREQUIRE(borrow != NULL, JSTATUS_INVALID_POINTER);
    if (JI_UNLIKELY(!borrow_is_allowed(handle)))
        return borrow_refuse(borrow, handle, routine);
    return borrow_take(borrow, handle, routine, NULL, count, size_bytes, 0);
}

jstatus_t jborrow_begin_plan(jborrow_t *borrow, jhandle_t *handle, const jplan_t *plan) {
    JREQUIRE(borrow != NULL, JSTATUS_INVALID_POINTER);
    if (JI_UNLIKELY(plan == NULL))
        return borrow_nothing(borrow, ji_fail(JSTATUS_INVALID_POINTER, "%s: plan is NULL", __func__));
    if (JI_UNLIKELY(!borrow_is_allowed(handle)))
        return borrow_refuse(borrow, handle, plan->routine);
    if (JI_UNLIKELY(plan->status != JSTATUS_SUCCESS) || JI_UNLIKELY(plan->rung_count == 0))
        return borrow_nothing(borrow, jhandle_fail(handle, plan->status ? plan->status : JSTATUS_INVALID_VALUE,
                                                   "%s: the plan is not sound (%u rungs, %s)", plan->routine,
                                                   plan->rung_count, jstatus_name(plan->status)));

    uint32_t last_class = plan->rungs[plan->rung_count - 1].bits_class;
    jstatus_t better = JSTATUS_SUCCESS; /* why an allowed rung above did not fit */
    for (uint32_t i = 0; i < plan->rung_count; ++i) {
        const jplan_rung_t *rung = &plan->rungs[i];
        if (plan->same_bits && rung->bits_class != last_class)
            continue;
        jstatus_t status = borrow_take(borrow, handle, plan->routine, plan, rung->buffer_count, rung->bytes,
                                       rung->callee_bytes);
        if (status == JSTATUS_SUCCESS) {
            ++handle->rung_count[i];
            handle->degraded_count += better != JSTATUS_SUCCESS;
            borrow->rung = (int)i;
            borrow->status = better == JSTATUS_SUCCESS ? JSTATUS_SUCCESS : JSTATUS_PERF_DEGRADED;
            return borrow->status;
        }
        /* Too little memory, or sizes that no memory has: a lower rung may do. Anything else is an error. */
        if (status != JSTATUS_MEMORY_ERROR && status != JSTATUS_INVALID_SIZE)
            return status;
        better = status;
    }
    return borrow_nothing(borrow, better);
}

/* Drops the frames on top that have ended, down to a live one. */
static void borrow_pop_ended(jhandle_t *handle) {
    while (handle->depth > 0 && handle->frames[handle->depth - 1].ended) {
        const ji_frame_t *frame = &handle->frames[--handle->depth];
        handle->top = frame->top;
        handle->in_use = frame->in_use;
        handle->block = frame->block;
    }
    handle->limit = handle->blocks[handle->block].base + handle->blocks[handle->block].size_bytes;
}

__attribute__((cold, noinline)) static jstatus_t borrow_end_misused(jborrow_t *borrow, jhandle_t *handle) {
    if (!ji_handle_is_valid(handle))
        return ji_fail(JSTATUS_INVALID_HANDLE, "a borrow ended after its handle was destroyed");
    jstatus_t status;
    if (borrow->depth_ >= handle->depth || handle->frames[borrow->depth_].serial != borrow->serial_ ||
        handle->frames[borrow->depth_].ended) {
        status = jhandle_fail(handle, JSTATUS_NOT_FOUND, "a borrow ended that is not live: ended before, or abandoned");
    } else {
        ji_frame_t *frame = &handle->frames[borrow->depth_];
        const char *inner = handle->frames[handle->depth - 1].routine;
        frame->ended = true;
        status = jhandle_fail(handle, JSTATUS_OUT_OF_ORDER, "a borrow of %s ended before %u inner ones, the last of %s",
                              frame->routine ? frame->routine : "(unnamed)", handle->depth - 1 - borrow->depth_,
                              inner ? inner : "(unnamed)");
    }
    ++handle->misuse_count;
    jlog_write(JLOG_WARNING, borrow_end_misused, "%s", handle->message);
    return status;
}

jstatus_t jborrow_end(jborrow_t *borrow) {
    JREQUIRE(borrow != NULL, JSTATUS_INVALID_POINTER);
    jhandle_t *handle = borrow->handle_;
    if (handle == NULL)
        return JSTATUS_SUCCESS;
    borrow->handle_ = NULL;
    borrow->ok = false;
    uint32_t depth = borrow->depth_;
    ji_frame_t *frame = &handle->frames[depth];
    if (JI_UNLIKELY(handle->depth != depth + 1) || JI_UNLIKELY(frame->serial != borrow->serial_))
        return borrow_end_misused(borrow, handle);
    if (JI_UNLIKELY(atomic_load_explicit(&handle->user, memory_order_relaxed) != this_thread())) {
        borrow->handle_ = handle; /* still live: its own thread can end it */
        borrow->ok = true;
        return ji_fail(JSTATUS_BUSY, "a borrow ended on another thread than it began on");
    }
    if (JI_UNLIKELY(frame->block != handle->block) || JI_UNLIKELY(depth > 0 && handle->frames[depth - 1].ended)) {
        frame->ended = true;
        borrow_pop_ended(handle);
        return JSTATUS_SUCCESS;
    }
    handle->top = frame->top;
    handle->in_use = frame->in_use;
    handle->depth = depth;
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_abandon_borrows(jhandle_t *handle) {
    jstatus_t status = ji_handle_check(handle, __func__);
    if (status != JSTATUS_SUCCESS)
        return status;
    if (handle->depth == 0)
        return JSTATUS_SUCCESS;
    char names[160];
    size_t length = 0;
    for (uint32_t i = 0; i < handle->depth && length < sizeof names; ++i)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "",
                                   handle->frames[i].routine ? handle->frames[i].routine : "(unnamed)");
    status = jhandle_fail(handle, JSTATUS_LEAKED, "%u borrows abandoned, %zu bytes: %s", handle->depth, handle->in_use,
                          names);
    for (uint32_t i = 0; i < handle->depth; ++i)
        handle->frames[i].ended = true;
    borrow_pop_ended(handle);
    ++handle->misuse_count;
    jlog_write(JLOG_WARNING, jhandle_abandon_borrows, "%s", handle->message);
    return status;
}
