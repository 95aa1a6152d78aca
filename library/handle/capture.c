/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Workspace in captured graphs.
 *
 * A call that is captured is not done: it is written down, and done each time the graph is
 * launched, also long after the handle is destroyed. So the memory that it borrowed must be there
 * as long as the graph is, and nobody else may use it at a time that the handle knows of. Whoever
 * borrows need not know of this: an outermost borrow asks the stream whether it is being captured,
 * and the handle follows.
 *
 *     borrows        1     2     3   |  4     5      6  |   7      8   |  9
 *     stream         -     -     -   |  capture 17      |   capture 18 |  -
 *     lent from      ordinary        |  A -> B          |   C          |  ordinary
 *                    workspace       |                  |              |  workspace
 *                                    |  (set aside ------------------> back)
 *     owned by       the handle      |  graph 17: A, B  |   graph 18: C
 *
 * Default mode. The ordinary workspace is set aside, and borrows come from blocks that the graph is
 * made the owner of when they are taken. They are never given back while it is captured, because
 * what was written down uses them: what is too small is only not lent from any more, and a larger
 * block is half as large again as what there was, so that all together are at most a few times the
 * largest. When the graph and all that was instantiated from it are destroyed, the runtime calls
 * shared_release(), in a thread where nothing of the device may be called; the block is put in a
 * list without a lock, and given back at the next safe moment: when a handle is made, destroyed,
 * trimmed or resized, changes its stream, or grows outside of captures.
 *
 * Blocks are taken from the handle's allocator, so its limits hold and its books tell. But not on
 * the stream that is captured: what an allocator does on a stream to hand out memory (an event to
 * wait for, a fill, an allocation in stream order) would become a part of the graph and be done
 * again at each launch. They are taken, and later given back, on a stream of their own that nobody
 * captures, and the host waits until it has passed them: whoever launches the graph, wherever,
 * finds them ready.
 *
 * Preallocate and manual mode. Nothing is allocated in a call, so the block stays the one block;
 * each graph becomes its owner beside the handle. It is given back by the last of them. Launches
 * share it with the handle's work: they must be ordered with it. User-owned mode: the caller's
 * memory, the caller's care.
 *
 *     owners of a block     +1  the handle, while it is a fixed mode's block or is being taken
 *                           +1  each graph (`graphs`)         0 -> list of the source -> below
 *
 * What outlives a handle hangs on a source: the allocator, the stream of its own and the list of
 * blocks. A source whose handle is gone is an orphan; whichever handle passes by looks after it.
 * Where the runtime's graphs cannot own anything, the handle keeps the blocks of captures until it
 * is destroyed: then the graphs must be gone.
 *
 * Changes of stream. In a capture an event is a line of the graph: an event recorded in a captured
 * stream cannot order what is not captured, and a captured stream cannot wait for what is not in
 * its capture. So the ordinary workspace has a stream of its own, used_stream: where it was last
 * used. A change of stream while one of the two is captured leaves it as it is, and the first
 * borrow outside of captures puts the handle's stream behind it. Between two streams of one capture
 * an event orders the graph's own memory: graph_stream is where that was last used, also while the
 * handle is elsewhere. */

#include <stdatomic.h>

#include "handle/capture.h"
#include "memory/memory.h"

struct ji_shared_block {
    ji_capture_source_t *source;
    void *pointer;
    size_t size_bytes;
    atomic_size_t owners, graphs; /* owners: graphs, and the handle */
    bool kept;                    /* the handle stands in for a graph that cannot own it */
    ji_link_t link;               /* in the source's list, by whoever looks after it */
    ji_shared_block_t *next_released;
};

struct ji_capture_source {
    jdevice_t *device;
    jallocator_t *allocator;
    bool owns_allocator;                   /* an orphan's: else it is retained */
    jstream_t *stream;                     /* that nobody captures; NULL: not made yet */
    ji_list_t blocks;                      /* all that are not given back */
    _Atomic(ji_shared_block_t *) released; /* without an owner; put there by any thread */
    atomic_size_t captured_bytes;
    ji_capture_source_t *next_orphan;
};

static _Atomic(ji_capture_source_t *) capture_orphans;

/* ---- Owners ---- */

/* One owner less. Nothing of the block is touched after that, nor of its source after a block is in
 * the list. */
static void shared_let_go(ji_shared_block_t *block) {
    if (atomic_fetch_sub_explicit(&block->owners, 1, memory_order_acq_rel) != 1)
        return;

    _Atomic(ji_shared_block_t *) *list = &block->source->released;
    ji_shared_block_t *first = atomic_load_explicit(list, memory_order_relaxed);
    do
        block->next_released = first;
    while (!atomic_compare_exchange_weak_explicit(list, &first, block, memory_order_release,
                                                  memory_order_relaxed));
}

static void shared_enter_graph(ji_shared_block_t *block) {
    atomic_fetch_add_explicit(&block->owners, 1, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&block->graphs, 1, memory_order_relaxed) == 0)
        atomic_fetch_add_explicit(&block->source->captured_bytes, block->size_bytes,
                                  memory_order_relaxed);
}

/* Also called by the runtime, when a graph and all that was made of it are destroyed. */
static void shared_release(void *object) {
    ji_shared_block_t *block = object;
    if (atomic_fetch_sub_explicit(&block->graphs, 1, memory_order_relaxed) == 1)
        atomic_fetch_sub_explicit(&block->source->captured_bytes, block->size_bytes,
                                  memory_order_relaxed);
    shared_let_go(block);
}

/* The graph that the handle's stream is captured into becomes an owner. */
static jstatus_t shared_keep(jhandle_t *handle, ji_shared_block_t *block) {
    shared_enter_graph(block);
    jstatus_t status = handle->device->ops->stream_keep_in_capture(handle->device, handle->stream,
                                                                   shared_release, block);
    if (status != JSTATUS_SUCCESS)
        shared_release(block); /* the caller is an owner: it stays */
    return status;
}

static ji_shared_block_t *shared_make(ji_capture_source_t *source, size_t size_bytes) {
    ji_shared_block_t *block = ji_metadata_zalloc(sizeof *block);
    if (block == NULL)
        return NULL;
    block->source = source;
    block->size_bytes = size_bytes;
    atomic_init(&block->owners, 1);
    ji_list_push_front(&source->blocks, &block->link);
    return block;
}

static void shared_free(ji_shared_block_t *block) {
    if (block == NULL)
        return;
    ji_list_remove(&block->link);
    ji_metadata_free(block);
}

/* ---- Sources ---- */

static jstatus_t source_get(jhandle_t *handle, ji_capture_source_t **out) {
    if (handle->source == NULL) {
        ji_capture_source_t *source = ji_metadata_zalloc(sizeof *source);
        if (source == NULL)
            return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");

        ji_list_init(&source->blocks);
        source->device = handle->device;
        source->allocator = handle->allocator;
        handle->source = source;
    }
    *out = handle->source;
    return JSTATUS_SUCCESS;
}

static jstatus_t source_make_stream(ji_capture_source_t *source) {
    return source->stream != NULL ? JSTATUS_SUCCESS
                                  : jstream_create(source->device, &source->stream);
}

/* Gives a block without an owner back; false: not now. */
static bool source_give_back(ji_capture_source_t *source, ji_shared_block_t *block) {
    jstatus_t status = source_make_stream(source);
    if (status == JSTATUS_SUCCESS || status == JSTATUS_FORKED)
        status = jallocator_deallocate(source->allocator, block->pointer, block->size_bytes,
                                       source->stream);
    if (status != JSTATUS_SUCCESS) {
        jlog_write(JLOG_INFO, __func__, "giving back %zu bytes that a graph has owned: %s: %s",
                   block->size_bytes, jstatus_name(status), jstatus_last_message());
        return false;
    }

    shared_free(block);
    return true;
}

/* Gives back all that have no owner; how many went. */
static size_t source_collect(ji_capture_source_t *source) {
    size_t count = 0;
    ji_shared_block_t *block = atomic_load_explicit(&source->released, memory_order_relaxed), *next;
    if (block != NULL)
        block = atomic_exchange_explicit(&source->released, NULL, memory_order_acquire);

    for (; block != NULL; block = next) {
        next = block->next_released;
        if (source_give_back(source, block)) {
            ++count;
        } else { /* once more into the list */
            atomic_store_explicit(&block->owners, 1, memory_order_relaxed);
            shared_let_go(block);
        }
    }
    return count;
}

/* A source without a handle and without blocks. */
static void source_free(ji_capture_source_t *source) {
    (void)jstream_destroy(source->stream);
    if (source->owns_allocator)
        (void)jallocator_destroy(source->allocator);
    else
        (void)jallocator_release(source->allocator);
    ji_metadata_free(source);
}

static void orphans_add(ji_capture_source_t *source) {
    ji_capture_source_t *first = atomic_load_explicit(&capture_orphans, memory_order_relaxed);
    do
        source->next_orphan = first;
    while (!atomic_compare_exchange_weak_explicit(&capture_orphans, &first, source,
                                                  memory_order_release, memory_order_relaxed));
}

static void orphans_collect(void) {
    ji_capture_source_t *source = atomic_load_explicit(&capture_orphans, memory_order_relaxed),
                        *next;
    if (source != NULL)
        source = atomic_exchange_explicit(&capture_orphans, NULL, memory_order_acquire);
    for (; source != NULL; source = next) {
        next = source->next_orphan;
        (void)source_collect(source);
        if (ji_list_is_empty(&source->blocks))
            source_free(source);
        else
            orphans_add(source);
    }
}

void ji_capture_collect(jhandle_t *handle) {
    if (handle != NULL && handle->source != NULL)
        handle->deallocation_count += source_collect(handle->source);
    orphans_collect();
}

size_t ji_capture_bytes(const jhandle_t *handle) {
    return handle->source != NULL
               ? atomic_load_explicit(&handle->source->captured_bytes, memory_order_relaxed)
               : 0;
}

/* It is given back in another stream's order by then, so the host waits for this one. */
bool ji_capture_give_later(jhandle_t *handle, ji_block_t block, jstream_t *stream) {
    ji_capture_source_t *source = NULL;
    ji_shared_block_t *later;
    if (ji_handle_wait(handle, stream) != JSTATUS_SUCCESS ||
        source_get(handle, &source) != JSTATUS_SUCCESS ||
        (later = shared_make(source, block.size_bytes)) == NULL)
        return false;

    later->pointer = (void *)block.base;
    shared_let_go(later);
    return true;
}

/* ---- Memory ---- */

jstatus_t ji_capture_take(jhandle_t *handle, size_t size_bytes, void **pointer) {
    jstatus_t status;
    void *memory = NULL;
    ji_capture_source_t *source = NULL;
    ji_shared_block_t *block = NULL;
    JTRY(source_get(handle, &source));
    JTRY(source_make_stream(source));
    JTRY_ALLOC(block = shared_make(source, size_bytes));

    JTRY(jallocator_allocate(handle->allocator, size_bytes, handle->borrows.granule_mask + 1,
                             source->stream, &memory));
    JTRY(ji_handle_wait(handle, source->stream));

    block->pointer = memory;
    status = handle->graphs_can_own ? shared_keep(handle, block) : JSTATUS_NOT_IMPLEMENTED;
    if (status == JSTATUS_NOT_IMPLEMENTED) {
        shared_enter_graph(block);
        block->kept = true;
        status = JSTATUS_SUCCESS;
    }
    if (status != JSTATUS_SUCCESS)
        goto done;

    shared_let_go(block); /* the graph's alone from now on */
    *pointer = memory;
    return JSTATUS_SUCCESS;
done:
    if (memory != NULL &&
        jallocator_deallocate(handle->allocator, memory, size_bytes, source->stream) !=
            JSTATUS_SUCCESS) { /* not now: later, with what graphs have owned */
        block->pointer = memory;
        shared_let_go(block);
        block = NULL;
    }
    shared_free(block);
    return status;
}

jstatus_t ji_capture_share(jhandle_t *handle, ji_block_t block, ji_shared_block_t **shared) {
    *shared = NULL;
    if (!handle->graphs_can_own)
        return JSTATUS_SUCCESS;

    ji_capture_source_t *source = NULL;
    JTRY_RETURN(source_get(handle, &source));
    *shared = shared_make(source, block.size_bytes);
    if (*shared == NULL)
        return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");

    (*shared)->pointer = (void *)block.base;
    return JSTATUS_SUCCESS;
}

void ji_capture_discard(ji_shared_block_t *shared) { shared_free(shared); }

bool ji_capture_is_shared(const jhandle_t *handle) {
    return handle->shared != NULL &&
           atomic_load_explicit(&handle->shared->owners, memory_order_acquire) > 1;
}

bool ji_capture_unshare(jhandle_t *handle) {
    ji_shared_block_t *block = handle->shared;
    handle->shared = NULL;
    if (block == NULL)
        return true;

    /* Where there is no other, nobody becomes one: the memory need not go through the list. */
    size_t owners = 1;
    if (atomic_compare_exchange_strong_explicit(&block->owners, &owners, 0, memory_order_acq_rel,
                                                memory_order_relaxed)) {
        shared_free(block);
        return true;
    }

    shared_let_go(block);
    return false;
}

/* ---- Following the stream ---- */

jstatus_t ji_capture_of(const jhandle_t *handle, jstream_t *stream, uint64_t *capture) {
    *capture = 0;
    if (!handle->can_be_captured || handle->never_captured || stream == NULL)
        return JSTATUS_SUCCESS;

    jstatus_t status = jstream_get_capture(handle->device, stream, capture);
    if (status != JSTATUS_CAPTURING)
        return status;

    *capture = UINT64_MAX; /* it has failed, and is not ended */
    return JSTATUS_SUCCESS;
}

jstatus_t ji_capture_refuse(jhandle_t *handle, jstream_t *stream, const char *caller) {
    uint64_t capture;
    jstatus_t status = ji_capture_of(handle, stream, &capture);
    if (status == JSTATUS_SUCCESS && capture != 0)
        status = ji_fail(JSTATUS_CAPTURING,
                         "%s: the stream is being captured; do this before the capture begins or "
                         "after it has ended",
                         caller);
    return status;
}

/* Puts the handle's stream behind the last use of the ordinary workspace, after changes of stream
 * during a capture. */
static jstatus_t capture_catch_up(jhandle_t *handle) {
    if (handle->used_stream == handle->stream)
        return JSTATUS_SUCCESS;

    jstatus_t status =
        ji_capture_refuse(handle, handle->used_stream, "waiting for the stream that was left");
    if (status == JSTATUS_SUCCESS)
        status = ji_handle_order(handle, handle->used_stream, handle->stream);
    if (status == JSTATUS_SUCCESS)
        handle->used_stream = handle->stream;
    return status;
}

jstatus_t ji_capture_order(jhandle_t *handle, uint64_t capture, jstream_t *stream) {
    if (capture == 0 || capture != handle->graph_capture || stream == handle->graph_stream)
        return JSTATUS_SUCCESS;

    JTRY_RETURN(ji_handle_order(handle, handle->graph_stream, stream));
    handle->graph_stream = stream;
    return JSTATUS_SUCCESS;
}

void ji_capture_leave(jhandle_t *handle) {
    if (ji_capture_lends(handle)) { /* what was lent from is the graph's */
        for (uint32_t i = 0; i < handle->aside_count; ++i)
            handle->blocks[i] = handle->aside[i];
        handle->block_count = handle->aside_count;
        handle->capture = 0;
        ji_workspace_open(handle, 0);
    }
    handle->capture = 0;
}

static void capture_enter(jhandle_t *handle, uint64_t capture) {
    ji_capture_leave(handle);
    handle->capture = capture;
    ++handle->capture_count;
    if (handle->mode != JHANDLE_MODE_DEFAULT)
        return;

    for (uint32_t i = 0; i < handle->block_count; ++i)
        handle->aside[i] = handle->blocks[i];
    handle->aside_count = handle->block_count;
    handle->blocks[0] = (ji_block_t){0, 0};
    handle->block_count = 1;
    ji_workspace_open(handle, 0);
}

jstatus_t ji_capture_follow(jhandle_t *handle, const char *routine) {
    uint64_t capture = 0;
    jstatus_t status = handle->stream != NULL
                           ? jstream_get_capture(handle->device, handle->stream, &capture)
                           : JSTATUS_SUCCESS;
    if (status == JSTATUS_SUCCESS)
        status = capture == 0 ? capture_catch_up(handle)
                              : ji_capture_order(handle, capture, handle->stream);
    if (status == JSTATUS_SUCCESS && capture != 0 && capture != handle->capture &&
        handle->shared != NULL)
        status = shared_keep(handle, handle->shared);

    if (status != JSTATUS_SUCCESS)
        return jhandle_fail(handle, status, "%s: %s", routine ? routine : "a borrow",
                            jstatus_last_message());

    if (capture == 0) {
        ji_capture_leave(handle);
        return JSTATUS_SUCCESS;
    }

    if (capture != handle->capture)
        capture_enter(handle, capture);
    handle->graph_capture = capture;
    handle->graph_stream = handle->stream;
    return JSTATUS_SUCCESS;
}

/* ---- The end ---- */

static bool source_has_kept(const ji_capture_source_t *source) {
    if (source != NULL)
        JI_LIST_EACH(&source->blocks, ji_shared_block_t, block, link)
            if (block->kept)
                return true;
    return false;
}

jstatus_t ji_capture_may_end(jhandle_t *handle) {
    if (!source_has_kept(handle->source))
        return JSTATUS_SUCCESS;

    jstatus_t status = ji_capture_refuse(handle, handle->stream, "jhandle_destroy");
    /* The graphs are gone, says the caller; their last launch may be in the handle's stream. */
    return status == JSTATUS_SUCCESS ? ji_handle_wait(handle, handle->stream) : status;
}

void ji_capture_forget_graphs(jhandle_t *handle) {
    if (handle->source == NULL)
        return;

    atomic_store_explicit(&handle->source->released, NULL, memory_order_relaxed);
    JI_LIST_EACH(&handle->source->blocks, ji_shared_block_t, block, link) {
        atomic_store_explicit(&block->owners, 1, memory_order_relaxed);
        if (block != handle->shared)
            shared_let_go(block);
    }
}

void ji_capture_end(jhandle_t *handle) {
    ji_capture_source_t *source = handle->source;
    handle->source = NULL;
    source->owns_allocator = handle->owns_allocator;

    JI_LIST_EACH(&source->blocks, ji_shared_block_t, block, link)
        if (block->kept) {
            block->kept = false;
            shared_release(block);
        }

    (void)source_collect(source);
    if (ji_list_is_empty(&source->blocks))
        source_free(source);
    else
        orphans_add(source);
}
