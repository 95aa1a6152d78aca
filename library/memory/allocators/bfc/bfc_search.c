/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* A chunk where the bins give none at once. The ways, from the cheapest to the most expensive:
 *
 *     1. bins whose chunks may be too small or not aligned, chunk by chunk
 *     2. neighbours that are free behind different streams and whose fences have been passed, as
 *        one chunk
 *     3. decommitted pages: of one chunk, or of neighbours as in 2
 *     4. a region from below
 *     5. neighbours as in 3, for whose fences the request's stream waits
 *     6. a region from below, after free ones were given back
 *
 * Where none serves, the message says what there is and how scattered it is. */

#include "memory/allocators/bfc/bfc.h"

#include <stdio.h>

static bool bfc_fits(uintptr_t address, size_t size_bytes, size_t need, size_t alignment) {
    size_t front = -address & (alignment - 1);
    return size_bytes >= front && size_bytes - front >= need;
}

/* A chunk of the bins that serves, looked at one by one: alignment may ask for more than a granule,
 * and a chunk of the request's own bin may be large enough. */
static bfc_chunk_t *bfc_find_exactly(const bfc_stream_t *stream, size_t need, size_t alignment) {
    for (unsigned bin = bfc_bin_of(need); (bin = bfc_bins_next(&stream->bins, bin)) < BFC_BIN_COUNT;
         ++bin)
        for (bfc_chunk_t *chunk = bfc_bins_first(&stream->bins, bin); chunk != NULL;
             chunk = bfc_bins_after(&stream->bins, bin, chunk))
            if (bfc_fits(chunk->address, chunk->size_bytes, need, alignment))
                return chunk;
    return NULL;
}

/* Which chunks a run may consist of: each beside those before it. */
typedef enum bfc_run {
    BFC_RUN_OWN, /* behind no fence but the stream's own */
    BFC_RUN_COMMIT,
    BFC_RUN_WAIT /* behind any fence */
} bfc_run_t;

static bool bfc_run_may_have(const bfc_chunk_t *chunk, const bfc_stream_t *own, bfc_run_t of) {
    if (bfc_is_decommitted(chunk))
        return of >= BFC_RUN_COMMIT;
    return bfc_is_ready(chunk) || chunk->where == own->index ||
           (bfc_is_free(chunk) && of == BFC_RUN_WAIT);
}

/* The smallest run of neighbours that are free and suffice together, and its bytes; NULL: there is
 * none. */
static bfc_chunk_t *bfc_find_run(const bfc_t *bfc, const bfc_stream_t *own, size_t need,
                                 size_t alignment, bfc_run_t of, size_t *size_bytes) {
    bfc_chunk_t *best = NULL;
    *size_bytes = SIZE_MAX;

    JI_LIST_EACH(&bfc->regions, bfc_chunk_t, region, link)
        for (bfc_chunk_t *chunk = region->right, *first = NULL; chunk != region;
             chunk = chunk->right) {
            if (!bfc_run_may_have(chunk, own, of)) {
                first = NULL;
                continue;
            }

            if (first == NULL)
                first = chunk;
            size_t bytes = chunk->address + chunk->size_bytes - first->address;
            if (bytes < *size_bytes && bfc_fits(first->address, bytes, need, alignment)) {
                best = first;
                *size_bytes = bytes;
            }
        }
    return best;
}

/* Where a run ends that becomes the stream's: behind it may lie a chunk of the stream's own, with
 * which it is merged, as neighbours are that are free behind one stream. */
static uintptr_t bfc_run_end(const bfc_chunk_t *first, size_t size_bytes, const bfc_stream_t *own) {
    const uintptr_t end = first->address + size_bytes;
    const bfc_chunk_t *behind = first;
    while (!bfc_is_border(behind) && behind->address != end)
        behind = behind->right;
    return behind->where == own->index ? end + behind->size_bytes : end;
}

/* Has the stream wait for the fences of a run; *serial is the latest of them. */
static jstatus_t bfc_wait_for_run(bfc_t *bfc, const bfc_chunk_t *first, uintptr_t end,
                                  jstream_t *stream, uint64_t *serial) {
    *serial = 0;
    for (const bfc_chunk_t *chunk = first; !bfc_is_border(chunk) && chunk->address != end;
         chunk = chunk->right) {
        ji_fence_t fence = {chunk->where != 0 ? chunk->serial : 0, chunk->where};
        JTRY_RETURN(ji_frontier_wait(&bfc->frontier, fence, stream));
        if (*serial < fence.serial)
            *serial = fence.serial;
    }
    return JSTATUS_SUCCESS;
}

/* Commits what is decommitted of the smallest run, which may be another one afterwards, and so on.
 * NULL: there is none. */
static jstatus_t bfc_commit_run(bfc_t *bfc, const bfc_stream_t *own, size_t need, size_t alignment,
                                bfc_run_t of, bfc_chunk_t **run, size_t *size_bytes) {
    for (bool made_way = of == BFC_RUN_OWN;; made_way = true) {
        *run = bfc_find_run(bfc, own, need, alignment, of, size_bytes);
        if (*run == NULL)
            return JSTATUS_SUCCESS;

        const uintptr_t end = (*run)->address + *size_bytes;
        bfc_chunk_t *first = NULL;
        size_t bytes = 0;
        for (bfc_chunk_t *chunk = *run; !bfc_is_border(chunk) && chunk->address < end;
             chunk = chunk->right)
            if (bfc_is_decommitted(chunk)) {
                first = first == NULL ? chunk : first;
                bytes += chunk->size_bytes;
            }

        if (first == NULL)
            return JSTATUS_SUCCESS;
        if (made_way)
            JTRY_RETURN(ji_bfc_commit(bfc, first, first->size_bytes));
        else
            ji_bfc_make_way(bfc, bytes);
    }
}

/* Makes one chunk of a run, in no bin. */
static void bfc_merge_run(bfc_t *bfc, bfc_chunk_t *first, uintptr_t end) {
    bfc_unbin(bfc, first);
    for (bfc_chunk_t *other = first->right; !bfc_is_border(other) && other->address != end;
         other = first->right) {
        bfc_unbin(bfc, other);
        first->size_bytes += other->size_bytes;
        first->right = other->right;
        bfc_record_put(bfc, other);
    }
    first->right->left = first;
}

/* Makes one free chunk of neighbours that are free in different ways, for use on `stream`, which
 * waits for other streams by events. NULL with success where there is none. */
static jstatus_t bfc_gather(bfc_t *bfc, bfc_stream_t *own, jstream_t *stream, size_t need,
                            size_t alignment, bfc_run_t of, bfc_chunk_t **gathered) {
    *gathered = NULL;
    size_t size_bytes;
    bfc_chunk_t *first;
    JTRY_RETURN(bfc_commit_run(bfc, own, need, alignment, of, &first, &size_bytes));
    if (first == NULL)
        return JSTATUS_SUCCESS;

    const uintptr_t end = bfc_run_end(first, size_bytes, own);
    uint64_t serial;
    JTRY_RETURN(bfc_wait_for_run(bfc, first, end, stream, &serial));
    if (of == BFC_RUN_WAIT) { /* who comes after the stream's wait comes after what it waited for */
        ji_fence_t fence;
        JTRY_RETURN(ji_frontier_mark(&bfc->frontier, stream, &fence));
        serial = fence.serial;
    }

    bfc_merge_run(bfc, first, end);
    first->where = own->index;
    first->serial = serial;
    if (serial <= own->absorbed) /* passed already: what is left of it is to be absorbed, too */
        own->absorbed = UINT64_MAX;
    bfc->free_bytes += first->size_bytes;
    bfc_bins_insert(&own->bins, first, bfc_bin_of(first->size_bytes));
    *gathered = first;
    return JSTATUS_SUCCESS;
}

static jstatus_t bfc_exhausted(bfc_t *bfc, size_t need, size_t alignment, jstatus_t status) {
    size_t largest = ji_bfc_largest_free(bfc), free_bytes = bfc->free_bytes;
    char limit[32] = "no limit";
    if (bfc->limit_bytes != SIZE_MAX)
        snprintf(limit, sizeof limit, "limit %zu", bfc->limit_bytes);

    return ji_fail(status,
                   "%zu bytes aligned to %zu requested; %zu in use, %zu reserved, %s, %zu free, "
                   "largest free block %zu, fragmentation %.3f (%s)",
                   need, alignment, bfc->reserved_bytes - free_bytes, bfc->reserved_bytes, limit,
                   free_bytes, largest,
                   free_bytes != 0 ? 1.0 - (double)largest / (double)free_bytes : 0.0,
                   jstatus_last_message());
}

/* The same of the stream's own bins, then of those for all. */
static bfc_chunk_t *bfc_find_own(bfc_t *bfc, const bfc_stream_t *own, size_t need,
                                 size_t alignment) {
    bfc_chunk_t *chunk = bfc_find_exactly(own, need, alignment);
    return chunk != NULL || own == bfc->ready ? chunk
                                              : bfc_find_exactly(bfc->ready, need, alignment);
}

/* Of decommitted pages. Where below does not commit them there are other ways. */
static bool bfc_find_committed(bfc_t *bfc, bfc_stream_t *own, jstream_t *stream, size_t need,
                               size_t alignment, bfc_chunk_t **found) {
    *found = NULL;
    if (ji_bfc_commit_for(bfc, need, alignment) == JSTATUS_SUCCESS)
        *found = bfc_find_own(bfc, own, need, alignment);
    if (*found == NULL &&
        bfc_gather(bfc, own, stream, need, alignment, BFC_RUN_COMMIT, found) != JSTATUS_SUCCESS)
        *found = NULL;
    return *found != NULL;
}

jstatus_t ji_bfc_search(bfc_t *bfc, bfc_stream_t *own, jstream_t *stream, size_t need,
                        size_t alignment, bfc_chunk_t **found) {
    /* What quick lists have would not do: they need not be emptied for it. */
    if (bfc->decommitted_bytes >= need && bfc_quick_bytes(bfc) < need &&
        ji_bfc_commit_for(bfc, need, alignment) == JSTATUS_SUCCESS &&
        (*found = bfc_find_own(bfc, own, need, alignment)) != NULL)
        return JSTATUS_SUCCESS;

    ji_bfc_flush(bfc);
    if ((*found = bfc_find_own(bfc, own, need, alignment)) != NULL)
        return JSTATUS_SUCCESS;

    ji_bfc_look_and_absorb(bfc);
    jstatus_t status = bfc_gather(bfc, own, stream, need, alignment, BFC_RUN_OWN, found);
    if (status != JSTATUS_SUCCESS || *found != NULL)
        return status;
    if (bfc->decommitted_bytes != 0 && bfc_find_committed(bfc, own, stream, need, alignment, found))
        return JSTATUS_SUCCESS;

    status = ji_bfc_grow(bfc, own, stream, need, alignment);
    if (bfc_is_refusal(status)) {
        jstatus_t waited = bfc_gather(bfc, own, stream, need, alignment, BFC_RUN_WAIT, found);
        if (waited != JSTATUS_SUCCESS || *found != NULL)
            return waited;
        if (!bfc->keep_regions && ji_bfc_evict(bfc, need))
            status = ji_bfc_grow(bfc, own, stream, need, alignment);
    }

    if (status == JSTATUS_SUCCESS && (*found = bfc_find_own(bfc, own, need, alignment)) == NULL)
        status = ji_fail(JSTATUS_INTERNAL_ERROR, "a region of %zu bytes serves no request of %zu",
                         JI_LIST_FIRST(&bfc->regions, bfc_chunk_t, link)->size_bytes, need);

    return bfc_is_refusal(status) ? bfc_exhausted(bfc, need, alignment, status) : status;
}
