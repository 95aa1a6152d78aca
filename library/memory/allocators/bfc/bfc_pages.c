/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Memory of free pages goes back to the system while the region stays (after jemalloc's dirty and
 * retained extents).
 *
 *     region   | live |   free, ready    | live | free | live |
 *     pages           :     :     :     :     :     :
 *     then     | live |r|  decommitted  |r| live | free | live |      r: less than a page, ready
 *
 * Decommitted chunks are free behind no stream, but in bins of their own, so that they are merged
 * with each other and not with what has memory. A request is served from what has memory as long as
 * that serves it; then from them, before a region is taken from below: as many pages as it needs
 * are ready again.
 *
 * They become decommitted
 *
 *     - before more is held than ever before. So what is held at most is what was needed at most,
 *       and a program that goes round and round pays for it in its first round alone.
 *     - when they have been free, and were merged with nothing, for a second. Who does not allocate
 *       or free has nobody to look at the clock: it is looked at after each MiB that is freed and
 *       merged, and with each 1024th allocation.
 *     - by trim.
 *
 * Only chunks that every stream may use are, so no work is ahead in them. Where below refuses, or
 * there is no memory for records, they stay as they are. */

#include <time.h>

#include "memory/allocators/bfc/bfc.h"

#define BFC_AGE_STEPS (BFC_AGE_MS / BFC_AGE_STEP_MS)
#define BFC_COUNTDOWN_BYTES ((size_t)1 << 20)
/* Less is not committed at once: what is beside it is wanted next, as a rule. */
#define BFC_LEAST_COMMITTED_BYTES ((size_t)64 << 10)

/* ---- Decommitting ---- */

/* Cutting a front and an end off takes two records, which a call under way must not lack. */
static bool pages_have_room(bfc_t *bfc) {
    if (bfc->spare_count < BFC_RECORDS_PER_CALL + 2 && !ji_bfc_records_add(bfc))
        return false;

    if (bfc->decommitted == NULL &&
        (bfc->decommitted = ji_metadata_zalloc(sizeof *bfc->decommitted)) != NULL) {
        bfc->decommitted->index = BFC_DECOMMITTED;
        bfc_bins_init(&bfc->decommitted->bins);
    }
    return bfc->decommitted != NULL;
}

/* The whole pages of a chunk that is ready; as many bytes from the first on as there are. */
static uintptr_t pages_of(const bfc_t *bfc, const bfc_chunk_t *chunk, size_t *bytes) {
    uintptr_t mask = bfc->page_bytes - 1, first = (chunk->address + mask) & ~mask,
              end = (chunk->address + chunk->size_bytes) & ~mask;
    *bytes = end > first ? end - first : 0;
    return first;
}

/* At most `bytes`, in whole pages, of a chunk that is ready; how many were. 0: none, and none can
 * be. */
static size_t pages_decommit(bfc_t *bfc, bfc_chunk_t *chunk, uintptr_t first, size_t bytes) {
    if (first != chunk->address)
        chunk = ji_bfc_cut_front(bfc, chunk, first - chunk->address);
    if (bytes < chunk->size_bytes)
        (void)ji_bfc_cut_front(bfc, chunk, bytes);

    bool given = ji_allocator_set_pages(bfc->below, (void *)first, bytes,
                                        JALLOCATOR_PAGES_DECOMMIT) == JSTATUS_SUCCESS;
    bfc_unbin(bfc, chunk);
    bfc->decommitted_bytes += given ? bytes : 0;
    bfc_settle(bfc, given ? bfc->decommitted : bfc->ready, chunk, 0);
    return given ? bytes : 0;
}

void ji_bfc_decommit(bfc_t *bfc, size_t bytes, uint32_t steps) {
    const size_t mask = bfc->page_bytes - 1;
    if (bfc->page_bytes == 0 || bytes == 0)
        return;

    bytes = bytes > SIZE_MAX - mask ? ~mask : (bytes + mask) & ~mask;
    for (unsigned bin = BFC_BIN_COUNT - 1; bin >= bfc_bin_of(BFC_LEAST_DECOMMITTED_BYTES); --bin)
        for (bfc_chunk_t *chunk = bfc_bins_first(&bfc->ready->bins, bin), *next; chunk != NULL;
             chunk = next) {
            next = bfc_bins_after(&bfc->ready->bins, bin, chunk);
            size_t found;
            uintptr_t first = pages_of(bfc, chunk, &found);
            if (bfc->now - chunk->age_of < steps || found < BFC_LEAST_DECOMMITTED_BYTES)
                continue;
            if (found > bytes)
                found = bytes < BFC_LEAST_DECOMMITTED_BYTES ? BFC_LEAST_DECOMMITTED_BYTES : bytes;
            if (!pages_have_room(bfc) || (found = pages_decommit(bfc, chunk, first, found)) == 0)
                return;
            if (bytes <= found)
                return;
            bytes -= found;
        }
}

uint32_t ji_bfc_clock(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &time); /* cannot fail */
    return (uint32_t)(((uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000) /
                      BFC_AGE_STEP_MS);
}

void ji_bfc_age(bfc_t *bfc) {
    bfc->countdown_bytes = BFC_COUNTDOWN_BYTES;
    if (!bfc_decommits(bfc))
        return;

    uint32_t now = ji_bfc_clock();
    if (now == bfc->now)
        return;

    ji_bfc_flush(bfc); /* nothing gets younger by being merged now */
    ji_bfc_absorb(bfc);
    bfc->now = now;
    ji_bfc_decommit(bfc, SIZE_MAX, BFC_AGE_STEPS);
}

/* ---- Committing ---- */

jstatus_t ji_bfc_commit(bfc_t *bfc, bfc_chunk_t *chunk, size_t front_bytes) {
    JTRY_RETURN(ji_allocator_set_pages(bfc->below, (void *)chunk->address, front_bytes,
                                       JALLOCATOR_PAGES_COMMIT));
    if (front_bytes < chunk->size_bytes)
        (void)ji_bfc_cut_front(bfc, chunk, front_bytes);
    bfc_unbin(bfc, chunk);
    bfc->decommitted_bytes -= front_bytes;
    bfc_settle(bfc, bfc->ready, chunk, 0);
    bfc_note_held(bfc);
    return JSTATUS_SUCCESS;
}

/* The smallest chunk, nearly, that has so many bytes. */
static bfc_chunk_t *pages_find(const bfc_t *bfc, size_t bytes) {
    const bfc_bins_t *bins = &bfc->decommitted->bins;
    for (unsigned bin = bfc_bin_of(bytes); (bin = bfc_bins_next(bins, bin)) < BFC_BIN_COUNT; ++bin)
        for (bfc_chunk_t *chunk = bfc_bins_first(bins, bin); chunk != NULL;
             chunk = bfc_bins_after(bins, bin, chunk))
            if (chunk->size_bytes >= bytes)
                return chunk;
    return NULL;
}

jstatus_t ji_bfc_commit_for(bfc_t *bfc, size_t need, size_t alignment) {
    const size_t mask = bfc->page_bytes - 1;
    if (bfc->decommitted_bytes < need)
        return JSTATUS_SUCCESS;

    /* Pages are as aligned as they are large. */
    size_t bytes = alignment > bfc->page_bytes ? need + alignment - bfc->page_bytes : need;
    bytes = (bytes + mask) & ~mask;
    if (pages_find(bfc, bytes) == NULL)
        return JSTATUS_SUCCESS;

    ji_bfc_make_way(bfc, bytes); /* may merge what was found with more, or give its region back */
    bfc_chunk_t *chunk = bfc->decommitted_bytes < bytes ? NULL : pages_find(bfc, bytes);
    if (chunk == NULL)
        return JSTATUS_SUCCESS;

    if (bytes < BFC_LEAST_COMMITTED_BYTES)
        bytes = (BFC_LEAST_COMMITTED_BYTES + mask) & ~mask;
    return ji_bfc_commit(bfc, chunk, bytes < chunk->size_bytes ? bytes : chunk->size_bytes);
}
