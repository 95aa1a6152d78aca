/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Buffers made by a function that is called for each block.
 *
 * What this process holds is divided into blocks: the layout's, or pieces of a size that
 * fits the second cache. Threads take block after block from a counter, so that none waits for
 * another as long as there is one left; the calling thread is one of them, and those that cannot be
 * had are done without. In host memory a block is filled where it lies. Otherwise each thread has a
 * block of its own on the host, which is copied to the device when it is full.
 *
 *     counter: 5     blocks  | 0 done | 1 done | 2 done | 3 thread B | 4 thread A | 5 | 6 | 7 |
 *
 * The first block that fails stops the counter; what the others have begun they end. */

#include "buffer/walk.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "device/device.h"

#define FUNCTION_PIECE_BYTES (256 << 10)          /* of a layout without blocks */
#define FUNCTION_THREADED_BYTES ((size_t)1 << 20) /* above: all threads, unless the caller says */
#define FUNCTION_MAX_THREADS 256

typedef struct function_work {
    jbuffer_function_t function;
    void *context;
    ji_elements_t part;           /* what this process holds, with blocks */
    jstructure_t structure;       /* of the whole */
    const jdistribution_t *whole; /* NULL: not distributed */
    bool zeroed;                  /* memory holds zeros already */
    bool in_place;                /* in host memory; otherwise: */
    jallocator_t *scratch;        /* a thread's own block comes from there */
    size_t block_bytes;           /* of the largest block, rounded */
    int64_t count;                /* of blocks */
    _Atomic(int64_t) next;        /* to be filled; count and above: none is left */
    pthread_mutex_t lock;         /* over what follows */
    jstatus_t status;             /* of the first block that failed */
    char message[256];
} function_work_t;

/* Notes the first failure, with the message of the thread that had it, and stops. */
static void function_fail(function_work_t *work, jstatus_t status) {
    pthread_mutex_lock(&work->lock);
    if (work->status == JSTATUS_SUCCESS) {
        work->status = status;
        snprintf(work->message, sizeof work->message, "%s", jstatus_last_message());
    }

    pthread_mutex_unlock(&work->lock);
    atomic_store_explicit(&work->next, work->count, memory_order_relaxed);
}

/* Whether a block has elements of the stored triangle: the nearest to it are in two of the
 * corners. */
static bool function_touches(jstructure_t structure, const int64_t *starts,
                             const int64_t *extents) {
    return structure == JSTRUCTURE_GENERAL ||
           ji_origin_of(structure, starts[0], starts[1] + extents[1] - 1) == JI_ORIGIN_STORED ||
           ji_origin_of(structure, starts[0] + extents[0] - 1, starts[1]) == JI_ORIGIN_STORED;
}

/* Fills block number n. `own`: this thread's memory for one, and as much again for staging; NULL
 * where not needed. */
static jstatus_t function_fill_block(const function_work_t *work, int64_t n, char *own) {
    int64_t starts[JLAYOUT_MAX_RANK], extents[JLAYOUT_MAX_RANK];
    JTRY_RETURN(jlayout_get_block(&work->part.layout, n, starts, extents));
    jstatus_t status = JSTATUS_SUCCESS;

    const ji_elements_t piece = ji_elements_slice(&work->part, starts, extents);
    for (int d = 0; work->whole != NULL && d < work->part.layout.rank; ++d)
        starts[d] = jdistribution_to_global(work->whole, d, work->whole->coordinates[d], starts[d]);

    if (!function_touches(work->structure, starts, extents))
        return JSTATUS_SUCCESS;

    ji_elements_t target = piece;
    if (!work->in_place) {
        target = (ji_elements_t){jdevice_host(), piece.type, {.rank = 0}, own};
        status = jlayout_init(&target.layout, piece.layout.rank, extents, JORDER_COLUMN_MAJOR);
        if (status != JSTATUS_SUCCESS)
            return status;
    }

    const jbuffer_block_t block = {piece.layout.rank,     piece.type, starts, extents,
                                   target.layout.strides, target.data};
    const jbuffer_filled_t filled = work->function(work->context, &block);

    if (filled == JBUFFER_BLOCK_ZERO) {
        if (work->zeroed)
            return JSTATUS_SUCCESS;
        ji_elements_fill_host(&target, NULL);
    } else if (filled != JBUFFER_BLOCK_FILLED) {
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "the function failed for block number %lld of this process", (long long)n);
    }

    if (work->in_place)
        return JSTATUS_SUCCESS;
    status = ji_elements_copy(&piece, &target, NULL, own + work->block_bytes);
    return status == JSTATUS_SUCCESS ? jstream_synchronize(piece.device, NULL) : status;
}

/* Takes blocks until none is left. */
static jstatus_t function_run(function_work_t *work) {
    void *own = NULL;
    if (!work->in_place) {
        JTRY_RETURN(
            jallocator_allocate(work->scratch, 2 * work->block_bytes, JI_ALIGNMENT, NULL, &own));
    }

    for (;;) {
        const int64_t n = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);

        if (n >= work->count)
            break;
        jstatus_t status = function_fill_block(work, n, own);
        if (status != JSTATUS_SUCCESS)
            function_fail(work, status);
    }

    if (own != NULL)
        (void)jallocator_deallocate(work->scratch, own, 2 * work->block_bytes, NULL);
    return JSTATUS_SUCCESS;
}

static void *function_serve(void *work) {
    (void)function_run(work); /* without memory of its own it leaves its blocks to the others */
    return NULL;
}

/* Starts that many threads, or as many as come. Signals are for the program's own. */
static int function_start(function_work_t *work, int count, pthread_t *threads) {
    int started = 0;
    sigset_t all, before;
    if (count == 0)
        return 0; /* two calls of the system take as long as filling a small buffer */

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);

    while (started < count && pthread_create(&threads[started], NULL, function_serve, work) == 0)
        ++started;

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Fills all blocks, with this thread and at most threads - 1 more. */
static jstatus_t function_run_all(function_work_t *work, int threads) {
    pthread_t others[FUNCTION_MAX_THREADS - 1];
    int started = function_start(work, threads - 1, others);

    jstatus_t status = function_run(work);
    if (status != JSTATUS_SUCCESS)
        function_fail(work, status);

    while (started > 0)
        pthread_join(others[--started], NULL);
    return work->status == JSTATUS_SUCCESS ? JSTATUS_SUCCESS
                                           : ji_fail(work->status, "%s", work->message);
}

/* What this process holds, in blocks. */
static ji_elements_t function_part(const jbuffer_t *made) {
    if (ji_buffer_kind(made) == JBUFFER_DISTRIBUTED) {
        ji_elements_t part = ji_buffer_part_elements(made);
        for (int d = 0; d < 2; ++d)
            part.layout.blocks[d] = made->storage->distribution.blocks[d];
        if (part.layout.extents[0] > 0 && part.layout.extents[1] > 0)
            part.layout.rank = made->layout.rank; /* a vector's column is here */
        return part;
    }

    ji_elements_t part = ji_buffer_elements(made);

    bool divided = false;
    for (int d = 0; d < part.layout.rank; ++d)
        divided = divided || part.layout.blocks[d] > 0;

    if (!divided)
        part.layout = ji_layout_divide(
            &part.layout, FUNCTION_PIECE_BYTES / (int64_t)jhandle_sizeof_datatype(part.type));
    part.layout.structure = JSTRUCTURE_GENERAL;
    return part;
}

static jstatus_t function_fill(const ji_construct_t *construct, jbuffer_function_t function,
                               void *context, int max_threads) {
    const jbuffer_t *made = construct->made;
    const ji_storage_t *storage = made->storage;
    jruntime_info_t info = JRUNTIME_INFO_INIT;

    if (!ji_buffer_writes(made))
        return JSTATUS_SUCCESS;
    JTRY_RETURN(jruntime_get_info(ji_buffer_runtime(made), &info));

    function_work_t work = {
        .function = function,
        .context = context,
        .part = function_part(made),
        .structure = made->layout.structure,
        .whole = ji_buffer_kind(made) == JBUFFER_DISTRIBUTED ? &storage->distribution : NULL,
        .zeroed = storage->zeroed,
        .in_place = jdevice_kind(ji_buffer_device(made)) == JDEVICE_HOST,
        .lock = PTHREAD_MUTEX_INITIALIZER};

    JTRY_RETURN(jlayout_get_block_count(&work.part.layout, &work.count));
    if (work.count == 0)
        return JSTATUS_SUCCESS;

    if (!work.in_place) {
        int64_t starts[JLAYOUT_MAX_RANK], extents[JLAYOUT_MAX_RANK];
        /* None is larger than the first. */
        JTRY_RETURN(jlayout_get_block(&work.part.layout, 0, starts, extents));
        work.block_bytes = jhandle_sizeof_datatype(work.part.type);
        for (int d = 0; d < work.part.layout.rank; ++d)
            work.block_bytes *= (size_t)extents[d];
        work.block_bytes = ji_align_bytes(work.block_bytes);
        JTRY_RETURN(ji_construct_scratch(construct, &work.scratch));
    }

    int threads = max_threads > 0                                 ? max_threads
                  : storage->size_bytes > FUNCTION_THREADED_BYTES ? info.threads
                                                                  : 1;
    threads = threads > FUNCTION_MAX_THREADS ? FUNCTION_MAX_THREADS : threads;
    return function_run_all(&work, threads > work.count ? (int)work.count : threads);
}

jstatus_t jbuffer_construct_function(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                                     jbuffer_function_t function, void *context, int max_threads,
                                     jbuffer_t **buffer) {
    JTRY_RETURN(ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__));
    jstatus_t status = JSTATUS_SUCCESS;

    if (buffer == NULL || function == NULL)
        status = ji_fail(JSTATUS_INVALID_POINTER, "%s: requires buffer != NULL && function != NULL",
                         __func__);
    else if (max_threads < 0)
        status = ji_fail(JSTATUS_INVALID_VALUE, "%s: max_threads is %d", __func__, max_threads);

    ji_construct_t construct;
    status = ji_construct_begin(&construct, allocator, layout, NULL, status);
    if (status == JSTATUS_SUCCESS)
        status = function_fill(&construct, function, context, max_threads);
    return ji_construct_end(&construct, status, buffer);
}
