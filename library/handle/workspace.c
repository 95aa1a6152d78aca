/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The workspace's blocks: how they are taken, grown, changed and given back.
 *
 * Default mode holds one block that is as large as any call needed. A nested borrow that does not
 * fit cannot move what the outer borrows point to, so it gets a further block; when the handle is
 * idle the next borrow makes one block of them. New memory is always taken before old memory is
 * given back: a growth that fails leaves the handle as it was.
 *
 * Memory is used again only after the stream has passed the last use. Where the allocator sees to
 * that (a provider of memory in stream order, a policy with its fences) it is told the stream, and
 * nobody waits; for any other the host does before it gives memory back. That is the one reason why
 * a handle ever waits. Memory that comes in stream order is as little ready before its stream as
 * used memory is, so then the workspace counts as used from the beginning.
 *
 * While the stream is captured, default mode's blocks are the graph's: they are not given back,
 * only lent from no more. */

#include "handle/capture.h"

static const char *name_of(const char *routine) { return routine ? routine : "a borrow"; }

static size_t blocks_bytes(const ji_block_t *blocks, uint32_t count) {
    size_t total = 0;
    for (uint32_t i = 0; i < count; ++i)
        total += blocks[i].size_bytes;
    return total;
}

size_t ji_workspace_bytes(const jhandle_t *handle) {
    return blocks_bytes(handle->blocks, handle->block_count);
}

size_t ji_workspace_ordinary_bytes(const jhandle_t *handle) {
    return ji_capture_lends(handle) ? blocks_bytes(handle->aside, handle->aside_count)
                                    : ji_workspace_bytes(handle);
}

jstatus_t ji_workspace_take(jhandle_t *handle, size_t size_bytes, const char *routine,
                            ji_block_t *block) {
    void *pointer;
    jtag_t tag = jtag_current();
    bool captured = ji_capture_lends(handle);
    if (!captured)
        ji_capture_collect(handle);

    if (tag == 0)
        (void)jtag_set(jtag_intern(routine));
    jstatus_t status =
        captured ? ji_capture_take(handle, size_bytes, &pointer)
                 : jallocator_allocate(handle->allocator, size_bytes,
                                       handle->borrows.granule_mask + 1, handle->stream, &pointer);
    (void)jtag_set(tag);

    if (status != JSTATUS_SUCCESS)
        return status;

    ++handle->allocation_count;
    *block = (ji_block_t){(uintptr_t)pointer, size_bytes};
    return JSTATUS_SUCCESS;
}

/* Memory that was taken in the handle's stream is what borrows come from now. What comes in stream
 * order counts as used. */
static void workspace_begin_use(jhandle_t *handle) {
    handle->used_stream = handle->stream;
    if (handle->takes_in_order && !handle->runs_inline)
        handle->waited_count = ji_handle_use_count(handle) - 1;
}

/* Sees to it that blocks may be given back in used_stream: waits until it uses them no more, unless
 * the allocator or a graph's ownership makes that unnecessary. What a graph owns beside the handle
 * is given back in no stream's order. */
static jstatus_t workspace_wait(jhandle_t *handle) {
    if (handle->takes_in_order && !ji_capture_is_shared(handle))
        return JSTATUS_SUCCESS;

    if (ji_handle_use_count(handle) != handle->waited_count && !handle->runs_inline)
        JTRY_RETURN(ji_handle_wait(handle, handle->used_stream));
    handle->waited_count = ji_handle_use_count(handle);
    return JSTATUS_SUCCESS;
}

/* `stream`: where the block was last used, or taken. */
static void workspace_give_back(jhandle_t *handle, ji_block_t block, jstream_t *stream) {
    if (block.base == 0 || ji_capture_lends(handle))
        return;

    jstatus_t status =
        jallocator_deallocate(handle->allocator, (void *)block.base, block.size_bytes, stream);
    if (status == JSTATUS_SUCCESS)
        ++handle->deallocation_count;
    else if (!ji_capture_give_later(handle, block, stream))
        jlog_write(JLOG_WARNING, __func__, "giving back %zu bytes of workspace: %s: %s",
                   block.size_bytes, jstatus_name(status), jstatus_last_message());
}

void ji_workspace_open(jhandle_t *handle, uint32_t index) {
    handle->block = index;
    handle->borrows.frame->top = handle->blocks[index].base;
    handle->limit = handle->blocks[index].base + handle->blocks[index].size_bytes;
    ji_handle_refresh(handle);
}

void ji_workspace_adopt(jhandle_t *handle, ji_block_t block, jhandle_mode_t mode) {
    handle->mode = mode;
    handle->blocks[0] = block;
    handle->block_count = 1;
    handle->used_stream = handle->stream;
    handle->waited_count = ji_handle_use_count(handle); /* of this, nothing is used yet */
    if (block.base != 0 && mode != JHANDLE_MODE_USER_OWNED)
        workspace_begin_use(handle);
    ji_workspace_open(handle, 0);
}

static bool workspace_holds_from(const jhandle_t *handle, uint32_t first) {
    return !ji_capture_lends(handle) &&
           blocks_bytes(handle->blocks + first, handle->block_count - first) != 0;
}

/* Gives back the blocks from number `first` on, which are free, after the stream has passed. In a
 * capture they stay the graph's. On failure they are as they were. */
static jstatus_t workspace_drop(jhandle_t *handle, uint32_t first) {
    JTRY_RETURN(workspace_holds_from(handle, first) ? workspace_wait(handle) : JSTATUS_SUCCESS);
    while (handle->block_count > first) {
        ji_block_t block = handle->blocks[--handle->block_count];
        if (ji_capture_unshare(handle))
            workspace_give_back(handle, block, handle->used_stream);
    }
    return JSTATUS_SUCCESS;
}

jstatus_t ji_workspace_retire(jhandle_t *handle, const char *caller) {
    bool holds =
        handle->mode != JHANDLE_MODE_USER_OWNED && ji_workspace_ordinary_bytes(handle) != 0;
    jstatus_t status = JSTATUS_SUCCESS;
    if (holds && handle->state != JI_HANDLE_FORKED)
        status = ji_capture_refuse(handle, handle->used_stream, caller);
    if (status != JSTATUS_SUCCESS)
        return status;

    ji_capture_leave(handle);
    if (holds)
        status = workspace_drop(handle, 0);

    if (status == JSTATUS_SUCCESS)
        ji_workspace_adopt(handle, (ji_block_t){0, 0}, handle->mode);
    return status;
}

/* A free block that holds `needed` bytes becomes number `first`, which lends from now on. All from
 * `first` on are free. False: there is none. */
static bool workspace_reuse(jhandle_t *handle, uint32_t first, size_t needed) {
    for (uint32_t i = first; i < handle->block_count; ++i) {
        ji_block_t block = handle->blocks[i];
        if (block.size_bytes < needed)
            continue;

        handle->blocks[i] = handle->blocks[first];
        handle->blocks[first] = block;
        ji_workspace_open(handle, first);
        return true;
    }
    return false;
}

/* A new block as number `first`, in place of those from there on, which are free. *why: what a
 * failure comes from. */
static jstatus_t workspace_grow(jhandle_t *handle, uint32_t first, size_t size_bytes,
                                const char *routine, const char **why) {
    if (handle->sealed) {
        *why = "the handle is sealed";
        return JSTATUS_SEALED;
    }
    size_t kept = blocks_bytes(handle->blocks, first);

    if (kept > handle->budget_bytes || size_bytes > handle->budget_bytes - kept) {
        *why = "the budget does not allow more";
        return JSTATUS_MEMORY_ERROR;
    }

    ji_block_t block;
    jstatus_t status = JSTATUS_SUCCESS;
    if (workspace_holds_from(handle, first))
        status = ji_capture_refuse(handle, handle->used_stream, name_of(routine));
    if (status == JSTATUS_SUCCESS)
        status = ji_workspace_take(handle, size_bytes, routine, &block);
    if (status != JSTATUS_SUCCESS) {
        *why = jstatus_last_message(); /* not before: a thread's first has no buffer yet */
        return status;
    }

    status = workspace_drop(handle, first);
    if (status != JSTATUS_SUCCESS) {
        *why = jstatus_last_message();
        workspace_give_back(handle, block, handle->stream);
        return status;
    }

    handle->blocks[first] = block;
    handle->block_count = first + 1;
    if (!ji_capture_lends(handle))
        workspace_begin_use(handle);
    ji_workspace_open(handle, first);
    ++handle->growth_count;
    return JSTATUS_SUCCESS;
}

/* A larger block than what is asked for, which would spare a later growth; 0: none. Blocks that
 * served together will do so as one. In a capture the smaller ones stay the graph's, so the next is
 * larger than need be. */
static size_t workspace_wish(const jhandle_t *handle, bool captured) {
    size_t held = ji_workspace_bytes(handle), mask = handle->borrows.granule_mask;
    if (ji_handle_depth(handle) > 0)
        return 0;
    if (captured)
        return (held + held / 2 + mask) & ~mask;
    return handle->block_count > 1 ? held : 0;
}

/* What is asked for is tried; more is a wish, and a wish that is not granted is no error. */
jstatus_t ji_workspace_reserve(jhandle_t *handle, size_t needed, const char *routine) {
    bool idle = ji_handle_depth(handle) == 0, captured = ji_capture_lends(handle);
    /* The blocks are to become one. */
    bool scattered = idle && !captured && handle->block_count > 1;
    if (!scattered && needed <= (size_t)(handle->limit - ji_handle_top(handle)))
        return JSTATUS_SUCCESS;

    const char *why = "the mode does not grow";
    jstatus_t status = JSTATUS_MEMORY_ERROR;
    if (handle->mode == JHANDLE_MODE_DEFAULT) {
        uint32_t first = idle ? 0 : handle->block + 1;
        size_t wish = workspace_wish(handle, captured);
        if (!scattered && workspace_reuse(handle, first, needed))
            return JSTATUS_SUCCESS;

        ji_message_try_t attempt;
        ji_message_try_begin(&attempt);
        if (wish > needed)
            status = workspace_grow(handle, first, wish, routine, &why);
        if (status != JSTATUS_SUCCESS && scattered && workspace_reuse(handle, first, needed))
            status = JSTATUS_SUCCESS;
        if (status != JSTATUS_SUCCESS)
            status = workspace_grow(handle, first, needed, routine, &why);
        ji_message_try_end(&attempt, status == JSTATUS_SUCCESS);
    }

    if (status == JSTATUS_SUCCESS)
        return status;

    handle->refusal = (ji_refusal_t){needed, why};
    return status;
}

jstatus_t ji_workspace_explain(jhandle_t *handle, jstatus_t status, const char *routine) {
    const ji_refusal_t *refusal = &handle->refusal;
    if (refusal->why == NULL)
        return status;

    if (refusal->needed_bytes == JALLOC_SIZE_OVERFLOW)
        return jhandle_fail(handle, status, "%s: %s", name_of(routine), refusal->why);
    return jhandle_fail(handle, status, "%s needs %zu bytes of workspace, %zu of %zu are free: %s",
                        name_of(routine), refusal->needed_bytes,
                        (size_t)(handle->limit - ji_handle_top(handle)), ji_workspace_bytes(handle),
                        refusal->why);
}

jstatus_t ji_workspace_take_fixed(jhandle_t *handle, size_t size_bytes, ji_block_t *block,
                                  ji_shared_block_t **shared, const char *caller) {
    JTRY_RETURN(ji_capture_refuse(handle, handle->stream, caller));

    ji_capture_leave(handle);
    JTRY_RETURN(ji_workspace_take(handle, size_bytes, NULL, block));

    jstatus_t status = ji_capture_share(handle, *block, shared);
    if (status != JSTATUS_SUCCESS)
        workspace_give_back(handle, *block, handle->stream);
    return status;
}

/* `mode` on a block of size_bytes, rounded up; 0: on none. */
static jstatus_t workspace_set_size(jhandle_t *handle, size_t size_bytes, jhandle_mode_t mode,
                                    const char *caller) {
    JTRY_RETURN(ji_handle_check_idle(handle, caller));
    jstatus_t status = JSTATUS_SUCCESS;

    size_t rounded;
    if (!ji_size_round_up(size_bytes, handle->borrows.granule_mask + 1, &rounded))
        return jhandle_fail(handle, JSTATUS_INVALID_SIZE, "%s: %zu bytes are too many", caller,
                            size_bytes);

    if (mode != JHANDLE_MODE_DEFAULT)
        JTRY_RETURN(ji_host_workspace_take_queried(handle, caller));

    ji_block_t block = {0, 0};
    ji_shared_block_t *shared = NULL;
    if (rounded != 0) {
        status = ji_workspace_take_fixed(handle, rounded, &block, &shared, caller);
        if (status != JSTATUS_SUCCESS)
            return jhandle_fail(handle, status, "%s: %zu bytes: %s", caller, rounded,
                                jstatus_last_message());
    }

    status = ji_workspace_retire(handle, caller);
    if (status != JSTATUS_SUCCESS) {
        ji_capture_discard(shared);
        workspace_give_back(handle, block, handle->stream);
        return jhandle_fail(handle, status, "%s: the old workspace: %s", caller,
                            jstatus_last_message());
    }

    ji_workspace_adopt(handle, block, mode);
    handle->shared = shared;
    handle->sealed = false;
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_set_workspace_size(jhandle_t *handle, size_t size_bytes) {
    return workspace_set_size(
        handle, size_bytes, size_bytes != 0 ? JHANDLE_MODE_MANUAL : JHANDLE_MODE_DEFAULT, __func__);
}

jstatus_t jhandle_set_fixed_workspace_size(jhandle_t *handle, size_t size_bytes) {
    return workspace_set_size(handle, size_bytes, JHANDLE_MODE_MANUAL, __func__);
}

jstatus_t jhandle_set_workspace(jhandle_t *handle, void *pointer, size_t size_bytes) {
    JTRY_RETURN(ji_handle_check_idle(handle, __func__));
    const bool given = pointer != NULL && size_bytes != 0;
    if (given && ((uintptr_t)pointer & handle->borrows.granule_mask) != 0)
        return jhandle_fail(handle, JSTATUS_INVALID_POINTER, "%s: %p is not aligned to %zu bytes",
                            __func__, pointer, handle->borrows.granule_mask + 1);

    if (size_bytes > UINTPTR_MAX - (uintptr_t)pointer)
        return jhandle_fail(handle, JSTATUS_INVALID_SIZE, "%s: %zu bytes from %p on are too many",
                            __func__, size_bytes, pointer);

    if (given)
        JTRY_RETURN(ji_host_workspace_take_queried(handle, __func__));

    ji_capture_collect(handle);
    jstatus_t status = ji_workspace_retire(handle, __func__);
    if (status != JSTATUS_SUCCESS)
        return jhandle_fail(handle, status, "%s: the old workspace: %s", __func__,
                            jstatus_last_message());

    ji_block_t block = {0, 0};
    if (given)
        block = (ji_block_t){(uintptr_t)pointer, size_bytes & ~handle->borrows.granule_mask};

    ji_workspace_adopt(handle, block, given ? JHANDLE_MODE_USER_OWNED : JHANDLE_MODE_DEFAULT);
    handle->sealed = false;
    return JSTATUS_SUCCESS;
}

jstatus_t jhandle_trim(jhandle_t *handle, size_t keep_bytes) {
    JTRY_RETURN(ji_handle_check_idle(handle, __func__));

    ji_capture_collect(handle);
    if (handle->mode != JHANDLE_MODE_DEFAULT || ji_workspace_ordinary_bytes(handle) <= keep_bytes)
        return JSTATUS_SUCCESS;

    jstatus_t status = ji_workspace_retire(handle, __func__);
    if (status != JSTATUS_SUCCESS)
        return jhandle_fail(handle, status, "%s: the old workspace: %s", __func__,
                            jstatus_last_message());
    return JSTATUS_SUCCESS;
}
