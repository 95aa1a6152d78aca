/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Borrow and return. A borrow fills the frame on top and writes into the next where free memory
 * begins behind it; its end takes the frame away, and what was before is on top again. The usual
 * case is inline in borrow.h; here is the whole of it: growth, a new high watermark, refusals,
 * plans, ends out of order.
 *
 * Two words join the two. borrows.user is the thread that borrowed last, so that another's first
 * borrow comes here, or NULL while ends have to. fast_end is one past the highest top that a borrow
 * may reach without anybody having to know: the smaller of the block's end and the high watermark,
 * or 0 while borrowing is refused or the handle's blocks are to become one, or whoever borrows has
 * to ask the stream whether it is being captured (capture.c). So the counters that the inline path
 * does not keep can all be derived, bytes in use and borrows from the frames.
 *
 * The frames live in the handle, not on the caller's stack, so a borrow that was lost (longjmp, a
 * forgotten end) can be named and abandoned without touching memory that is gone. */

#include <stdio.h>

#include "handle/capture.h"

static const char *name_of(const char *routine) { return routine ? routine : "(unnamed)"; }

void ji_handle_refresh(jhandle_t *handle) {
    jborrow_frames_ *borrows = &handle->borrows;
    const bool regular = handle->block == 0 && handle->ended == 0;
    __atomic_store_n(&borrows->user, regular ? handle->holder : NULL, __ATOMIC_RELAXED);

    /* Above, an end that a borrow has no room for could be past the last address, and so low. */
    const bool ends_low =
        handle->limit <=
        UINTPTR_MAX - JBORROW_MAX_BUFFERS * (JBORROW_MAX_SIZE_BYTES_ + borrows->granule_mask);
    bool usual = handle->state == JI_HANDLE_READY && regular && ends_low &&
                 handle->block_count == 1 && !ji_capture_asks(handle);
    uintptr_t watermark = handle->blocks[0].base + handle->high_watermark;
    borrows->fast_end = !usual ? 0 : 1 + (watermark < handle->limit ? watermark : handle->limit);
}

size_t ji_handle_in_use(const jhandle_t *handle) {
    const jborrow_frames_ *borrows = &handle->borrows;
    size_t bytes = ji_handle_top(handle) - handle->blocks[handle->block].base;
    uint32_t block = handle->block;
    for (uint32_t i = ji_handle_depth(handle); i-- > 0;) {

        uint32_t before = handle->frame_block[i];
        if (before != block) /* frame i left this block for a further one */
            bytes += borrows->frames[i].top - handle->blocks[before].base;
        block = before;
    }
    return bytes;
}

uint64_t ji_handle_borrow_count(const jhandle_t *handle) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < JBORROW_MAX_DEPTH; ++i)
        count += handle->borrows.frames[i].serial / JBORROW_SERIAL_STEP_;
    return count;
}

uint64_t ji_handle_use_count(const jhandle_t *handle) {
    return ji_handle_borrow_count(handle) - handle->graph_borrow_count;
}

/* The calling thread is who borrows. */
static void borrow_hold(jhandle_t *handle) {
    __atomic_store_n(&handle->holder, __builtin_thread_pointer(), __ATOMIC_RELAXED);
}

/* The index of a borrow's frame. */
static uint32_t borrow_index(uint64_t serial) { return serial % JBORROW_SERIAL_STEP_; }

/* Whether that borrow is live. */
static bool borrow_is_live(const jhandle_t *handle, uint64_t serial) {
    const uint32_t index = borrow_index(serial);
    return index < ji_handle_depth(handle) && handle->borrows.frames[index].serial == serial &&
           !(handle->ended >> index & 1);
}

static jstatus_t borrow_nothing(jborrow_t *borrow, jstatus_t status) {
    *borrow = (jborrow_t){.status = status, .rung = -1};
    return status;
}

/* Whether the handle may lend to this thread now; else the borrow says why not. */
static bool borrow_is_allowed(jborrow_t *borrow, jhandle_t *handle, const char *routine) {
    jstatus_t status = ji_handle_check(handle, name_of(routine));
    if (status != JSTATUS_SUCCESS)
        borrow_nothing(borrow, status);
    else if (handle->state == JI_HANDLE_QUERYING)
        borrow_nothing(borrow, jhandle_fail(handle, JSTATUS_SIZE_QUERY_MISMATCH,
                                            "%s: borrowing during a size query, which is to be "
                                            "answered (jhandle_is_size_query) instead",
                                            name_of(routine)));
    else if (ji_handle_depth(handle) == JBORROW_MAX_DEPTH)
        borrow_nothing(borrow, jhandle_fail(handle, JSTATUS_INVALID_VALUE,
                                            "%s: more than %d borrows are live at once",
                                            name_of(routine), JBORROW_MAX_DEPTH));
    else
        return true;
    return false;
}

/* A new high watermark: who set it, with which sizes. */
static void borrow_record_peak(jhandle_t *handle, size_t in_use, const char *routine,
                               const jplan_t *plan) {
    handle->high_watermark = in_use;
    snprintf(handle->peak_routine, sizeof handle->peak_routine, "%s", routine ? routine : "");
    handle->peak_shape[0] = '\0';
    if (plan != NULL)
        ji_plan_shape(plan, handle->peak_shape, sizeof handle->peak_shape);
}

/* What the buffers take, each rounded up to a granule. False where a size is too large, the
 * callees' among them; then the handle knows. */
static bool borrow_sum(jhandle_t *handle, size_t count, const size_t *size_bytes,
                       size_t callee_bytes, size_t *total_bytes) {
    size_t mask = handle->borrows.granule_mask, total = 0, bits = callee_bytes;
    for (size_t i = 0; i < count; ++i) {
        bits |= size_bytes[i];
        total += (size_bytes[i] + mask) & ~mask;
    }
    if (bits > JBORROW_MAX_SIZE_BYTES_) {
        handle->refusal = (ji_refusal_t){JALLOC_SIZE_OVERFLOW, "the sizes of a borrow overflow"};
        return false;
    }
    *total_bytes = total;
    return true;
}

/* Hands out the buffers, for which there is room, and notes in a frame what was before. */
static void borrow_push(jborrow_t *borrow, jhandle_t *handle, const char *routine, size_t count,
                        const size_t *size_bytes, uintptr_t before_top, uint32_t before_block) {
    jborrow_frame_ *frame = handle->borrows.frame;
    size_t mask = handle->borrows.granule_mask;
    uintptr_t next = frame->top; /* in a further block, not what was before */
    *borrow = (jborrow_t){.ok = true,
                          .serial_ = frame->serial + JBORROW_SERIAL_STEP_,
                          .handle_ = handle,
                          .frame_ = frame};
    for (size_t i = 0; i < count; ++i) {
        borrow->ptr[i] = size_bytes[i] ? (void *)next : NULL;
        next += (size_bytes[i] + mask) & ~mask;
    }

    *frame = (jborrow_frame_){.top = before_top, .serial = borrow->serial_, .routine = routine};
    frame[1].top = next;
    handle->frame_block[ji_handle_depth(handle)] = before_block;
    handle->borrows.frame = frame + 1;
    handle->graph_borrow_count += ji_capture_answers(handle);
}

/* Takes buffers, after reserving `callee_bytes` behind them. Where that fails, the borrow holds
 * nothing, and the reason waits in the handle for ji_workspace_explain(). */
static jstatus_t borrow_take(jborrow_t *borrow, jhandle_t *handle, const char *routine,
                             const jplan_t *plan, size_t count, const size_t *size_bytes,
                             size_t callee_bytes) {
    jborrow_frames_ *borrows = &handle->borrows;
    size_t total;
    if (!borrow_sum(handle, count, size_bytes, callee_bytes, &total))
        return borrow_nothing(borrow, JSTATUS_INVALID_SIZE);

    const bool was_idle = ji_handle_depth(handle) == 0;
    jstatus_t status = JSTATUS_SUCCESS;
    if (was_idle && ji_capture_asks(handle)) {
        handle->refusal = (ji_refusal_t){0, NULL};
        status = ji_capture_follow(handle, routine);
    }
    if (status != JSTATUS_SUCCESS)
        return borrow_nothing(borrow, status);

    uintptr_t before_top = ji_handle_top(handle);
    uint32_t before_block = handle->block;
    status = ji_workspace_reserve(handle, total + callee_bytes, routine);
    if (status != JSTATUS_SUCCESS)
        return borrow_nothing(borrow, status);
    if (was_idle) { /* the block may have been replaced: an idle handle's top is its base */
        before_top = ji_handle_top(handle);
        before_block = handle->block;
        borrow_hold(handle);
        __atomic_store_n(&borrows->user, handle->holder, __ATOMIC_RELAXED); /* and so regular */
    }
    borrow_push(borrow, handle, routine, count, size_bytes, before_top, before_block);

    if (handle->block_count == 1 && ji_handle_top(handle) < borrows->fast_end)
        return JSTATUS_SUCCESS; /* below the watermark, and nothing unusual */
    size_t in_use = ji_handle_in_use(handle);
    if (in_use > handle->high_watermark)
        borrow_record_peak(handle, in_use, routine, plan);
    ji_handle_refresh(handle);
    return JSTATUS_SUCCESS;
}

jstatus_t jborrow_begin(jborrow_t *borrow, jhandle_t *handle, const char *routine, size_t count,
                        const size_t *size_bytes) {
    JREQUIRE(borrow != NULL, JSTATUS_INVALID_POINTER);
    if (!borrow_is_allowed(borrow, handle, routine))
        return borrow->status;

    if (count > JBORROW_MAX_BUFFERS)
        return borrow_nothing(borrow, jhandle_fail(handle, JSTATUS_INVALID_VALUE,
                                                   "%s: %zu buffers, at most %d", name_of(routine),
                                                   count, JBORROW_MAX_BUFFERS));
    if (count != 0 && size_bytes == NULL)
        return borrow_nothing(borrow, jhandle_fail(handle, JSTATUS_INVALID_POINTER,
                                                   "%s: sizes are NULL", name_of(routine)));

    jstatus_t status = borrow_take(borrow, handle, routine, NULL, count, size_bytes, 0);
    return status == JSTATUS_SUCCESS ? status : ji_workspace_explain(handle, status, routine);
}

/* What was planned for a call: the rung to begin with. *announced: that it is slower than it could
 * be. */
static uint32_t borrow_planned_rung(jhandle_t *handle, const jplan_t *plan, bool *announced) {
    *announced = false;
    if (handle->follows == NULL)
        return 0;

    const int rung = handle->follows->planned(handle->follows, plan, announced);
    if (rung >= 0)
        return (uint32_t)rung;

    if (handle->unplanned_count++ == 0)
        jlog_write(JLOG_WARNING, __func__,
                   "%s is not in the program that the handle follows, and takes what fits; further "
                   "ones are counted",
                   name_of(plan->routine));
    return 0;
}

/* Whether a borrow now is of a routine whose call was planned, and no call of the program's. */
static bool borrow_is_within(const jhandle_t *handle) {
    return borrow_is_live(handle, handle->planned_serial);
}

/* A rung that fits, from `first` on. *above: why the one before did not, or success. */
static jstatus_t borrow_rung_from(jborrow_t *borrow, jhandle_t *handle, const jplan_t *plan,
                                  uint32_t first, bool may_degrade, jstatus_t *above) {
    for (uint32_t i = first; i < plan->rung_count; ++i) {
        const jplan_rung_t *rung = &plan->rungs[i];
        if (!ji_rung_is_allowed(plan, i))
            continue;

        jstatus_t status = borrow_take(borrow, handle, plan->routine, plan, rung->buffer_count,
                                       rung->bytes, rung->callee_bytes);
        if (status == JSTATUS_SUCCESS) {
            ++handle->rung_count[i];
            borrow->rung = (int)i;
            borrow->way = rung->name;
            return status;
        }

        *above = status;
        /* Too little memory, or sizes that no memory has: a lower rung may do. Else an error. */
        if (!may_degrade || (status != JSTATUS_MEMORY_ERROR && status != JSTATUS_INVALID_SIZE))
            return status;
    }
    return *above;
}

/* A call that would be slower than it was said is refused. */
static jstatus_t borrow_refuse_unannounced(jhandle_t *handle, jstatus_t status,
                                           const jplan_t *plan) {
    char shape[JHANDLE_SHAPE_BYTES] = "";
    ji_plan_shape(plan, shape, sizeof shape);
    (void)ji_workspace_explain(handle, status, plan->routine);

    char why[sizeof handle->message];
    snprintf(why, sizeof why, "%s", handle->message);
    return jhandle_fail(handle, status, "%s (%s); to degrade was not announced", why, shape);
}

/* The best rung that fits, or that was planned. The plan is sound. */
static jstatus_t borrow_best_rung(jborrow_t *borrow, jhandle_t *handle, const jplan_t *plan) {
    const bool watched = handle->follows != NULL || handle->degradation != JDEGRADATION_ALLOWED;
    const bool within = !watched || borrow_is_within(handle);
    bool announced = false;
    const uint32_t first = within ? 0 : borrow_planned_rung(handle, plan, &announced);

    const bool may_degrade = within || handle->degradation == JDEGRADATION_ALLOWED;
    jstatus_t above = JSTATUS_SUCCESS;
    const jstatus_t status = borrow_rung_from(borrow, handle, plan, first, may_degrade, &above);
    handle->unannounced_count += above != JSTATUS_SUCCESS && !within;
    if (status != JSTATUS_SUCCESS)
        return may_degrade ? ji_workspace_explain(handle, status, plan->routine)
                           : borrow_refuse_unannounced(handle, status, plan);

    if (!within)
        handle->planned_serial = borrow->serial_;
    const bool degraded = announced || above != JSTATUS_SUCCESS;
    handle->degraded_count += degraded;
    return borrow->status = degraded ? JSTATUS_PERF_DEGRADED : JSTATUS_SUCCESS;
}

jstatus_t jborrow_begin_plan(jborrow_t *borrow, jhandle_t *handle, const jplan_t *plan) {
    JREQUIRE(borrow != NULL, JSTATUS_INVALID_POINTER);
    if (plan == NULL)
        return borrow_nothing(borrow,
                              ji_fail(JSTATUS_INVALID_POINTER, "%s: plan is NULL", __func__));
    if (ji_plan_check(plan) != JSTATUS_SUCCESS)
        return borrow_nothing(borrow, JSTATUS_INVALID_VALUE);

    if (!borrow_is_allowed(borrow, handle, plan->routine))
        return borrow->status;

    if (plan->status != JSTATUS_SUCCESS || plan->rung_count == 0)
        return borrow_nothing(
            borrow, jhandle_fail(handle, plan->status ? plan->status : JSTATUS_INVALID_VALUE,
                                 "%s: the plan is not sound (%u rungs, %s)", name_of(plan->routine),
                                 plan->rung_count, jstatus_name(plan->status)));

    ji_message_try_t attempt; /* a rung that does not fit is no error where a lower one does */
    ji_message_try_begin(&attempt);
    const jstatus_t status = borrow_best_rung(borrow, handle, plan);
    ji_message_try_end(&attempt, !jstatus_is_error(status));
    return status;
}

/* Drops the frames on top that have ended, down to a live one. */
static void borrow_pop_ended(jhandle_t *handle) {
    for (uint32_t depth; (depth = ji_handle_depth(handle)) > 0;) {
        const uint32_t last = depth - 1;
        if (!(handle->ended >> last & 1))
            break;

        --handle->borrows.frame;
        handle->ended &= ~(UINT32_C(1) << last);
        handle->block = handle->frame_block[last];
        handle->frame_block[last] = 0;
    }
    handle->limit = handle->blocks[handle->block].base + handle->blocks[handle->block].size_bytes;
    ji_handle_refresh(handle);
}

/* Reports a misuse that was survived. The message is the handle's last. */
static jstatus_t borrow_misused(jhandle_t *handle, jstatus_t status) {
    ++handle->misuse_count;
    jlog_write(JLOG_WARNING, __func__, "%s: %s", jstatus_name(status), handle->message);
    return status;
}

jstatus_t jborrow_end(jborrow_t *borrow) {
    JREQUIRE(borrow != NULL, JSTATUS_INVALID_POINTER);
    jhandle_t *handle = borrow->handle_;
    if (!borrow->ok)
        return JSTATUS_SUCCESS;
    if (!ji_handle_is_valid(handle))
        return ji_fail(JSTATUS_INVALID_HANDLE, "a borrow ended after its handle was destroyed");
    if (ji_handle_is_foreign(handle))
        return ji_fail(JSTATUS_BUSY,
                       "a borrow ended on another thread than it began on; it stays live");

    jborrow_frames_ *borrows = &handle->borrows;
    const uint32_t index = borrow_index(borrow->serial_);
    borrow->ok = false;
    borrow->handle_ = NULL;

    if (!borrow_is_live(handle, borrow->serial_))
        return borrow_misused(
            handle, jhandle_fail(handle, JSTATUS_NOT_FOUND,
                                 "a borrow ended that is not live: ended before, or abandoned"));

    handle->ended |= UINT32_C(1) << index;
    if (index + 1 == ji_handle_depth(handle)) {
        borrow_pop_ended(handle);
        return JSTATUS_SUCCESS;
    }

    ji_handle_refresh(handle);
    return borrow_misused(handle,
                          jhandle_fail(handle, JSTATUS_OUT_OF_ORDER,
                                       "a borrow of %s ended before %u inner ones, the last of %s",
                                       name_of(borrows->frames[index].routine),
                                       ji_handle_depth(handle) - 1 - index,
                                       name_of(borrows->frame[-1].routine)));
}

const jborrow_calls_ jborrow_calls_2_ = {jborrow_begin, jborrow_end};

void ji_handle_end_borrows(jhandle_t *handle) {
    handle->ended = (uint32_t)((UINT64_C(1) << ji_handle_depth(handle)) - 1);
    borrow_pop_ended(handle);
}

jstatus_t jhandle_adopt_borrows(jhandle_t *handle) {
    if (!ji_handle_is_valid(handle))
        return ji_handle_check(handle, __func__);
    borrow_hold(handle);
    ji_handle_refresh(handle);
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_abandon_borrows(jhandle_t *handle) {
    jstatus_t status = ji_handle_check(handle, __func__);
    bool may =
        status == JSTATUS_SUCCESS || (status == JSTATUS_FORKED && !ji_handle_is_foreign(handle));
    if (!may || ji_handle_depth(handle) == 0)
        return status;

    char names[160];
    size_t length = 0;
    for (uint32_t i = 0; i < ji_handle_depth(handle); ++i)
        if (length < sizeof names)
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "",
                                       name_of(handle->borrows.frames[i].routine));

    status = jhandle_fail(handle, JSTATUS_LEAKED, "%u borrows abandoned, %zu bytes: %s",
                          ji_handle_depth(handle), ji_handle_in_use(handle), names);
    ji_handle_end_borrows(handle);

    return borrow_misused(handle, status);
}
