/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What the best-fit policy can say about its memory, and whether its records still fit together.
 * None of this is fast: it walks regions and chunks. */

#include "memory/allocators/bfc/bfc.h"

static size_t bfc_largest_of(const bfc_stream_t *stream, size_t largest) {
    if (stream == NULL || stream->bins.words == 0)
        return largest;

    const bfc_bins_t *bins = &stream->bins;
    unsigned word = 63u - (unsigned)__builtin_clzll(bins->words);
    /* The last that has chunks. */
    unsigned bin = 64 * word + 63u - (unsigned)__builtin_clzll(bins->bits[word]);

    for (const bfc_chunk_t *chunk = bfc_bins_first(bins, bin); chunk != NULL;
         chunk = bfc_bins_after(bins, bin, chunk))
        if (chunk->size_bytes > largest)
            largest = chunk->size_bytes;
    return largest;
}

size_t ji_bfc_largest_free(const bfc_t *bfc) {
    size_t largest = bfc_largest_of(bfc->decommitted, 0);
    for (uint32_t s = 0; s < bfc->stream_count; ++s)
        largest = bfc_largest_of(bfc->streams[s], largest);
    return largest;
}

static void bfc_describe(const bfc_chunk_t *chunk, jallocation_t *block) {
    block->live = bfc_is_live(chunk);
    block->pointer = (void *)chunk->address;
    block->size_bytes = block->live ? chunk->requested_bytes : chunk->size_bytes;
    block->usable_bytes = chunk->size_bytes;
    block->tag = block->live ? chunk->tag : 0;
}

/* The chunk that contains an address; NULL where it is in no region. */
static const bfc_chunk_t *bfc_chunk_around(const bfc_t *bfc, const void *pointer) {
    JI_LIST_EACH(&bfc->regions, const bfc_chunk_t, region, link)
        if ((uintptr_t)pointer - region->address < region->size_bytes)
            for (const bfc_chunk_t *chunk = region->right; chunk != region; chunk = chunk->right)
                if ((uintptr_t)pointer - chunk->address < chunk->size_bytes)
                    return chunk;
    return NULL;
}

jstatus_t ji_bfc_find(void *context, const void *pointer, jallocation_t *block) {
    const bfc_t *bfc = context;
    const bfc_slot_t *slot = bfc_slot_find(bfc, pointer);
    const bfc_chunk_t *chunk = slot != NULL ? slot->chunk : bfc_chunk_around(bfc, pointer);
    if (chunk == NULL || !bfc_is_live(chunk) ||
        (uintptr_t)pointer - chunk->address >= chunk->requested_bytes)
        return JSTATUS_NOT_FOUND;

    bfc_describe(chunk, block);
    return JSTATUS_SUCCESS;
}

void ji_bfc_visit(void *context, jallocation_visitor_t visitor, void *visitor_context) {
    bfc_t *bfc = context;
    ji_bfc_flush(bfc);

    JI_LIST_EACH(&bfc->regions, const bfc_chunk_t, region, link)
        for (const bfc_chunk_t *chunk = region->right; chunk != region; chunk = chunk->right) {
            jallocation_t block = JALLOCATION_INIT;
            bfc_describe(chunk, &block);
            if (!visitor(visitor_context, &block))
                return;
        }
}

/* ---- Check ---- */

/* What a walk has seen, to be compared with what the books say. */
typedef struct bfc_census {
    size_t reserved_bytes, free_bytes, decommitted_bytes, requested_bytes, free_count, live_count;
} bfc_census_t;

static jstatus_t bfc_corrupted(const bfc_t *bfc, const bfc_chunk_t *chunk, const char *what) {
    return ji_fail(JSTATUS_CORRUPTED,
                   "allocator \"%s\": the %s at %p of %zu bytes, tagged \"%s\": %s", bfc->name,
                   bfc_is_live(chunk)     ? "live chunk"
                   : bfc_is_border(chunk) ? "region"
                                          : "free chunk",
                   (void *)chunk->address, chunk->size_bytes,
                   bfc_is_live(chunk) ? jtag_name(chunk->tag) : "", what);
}

static jstatus_t bfc_check_chunk(const bfc_t *bfc, const bfc_chunk_t *chunk, bfc_census_t *census) {
    if (chunk->size_bytes == 0 || chunk->size_bytes % BFC_GRANULE_BYTES != 0)
        return bfc_corrupted(bfc, chunk, "its size is no multiple of the granule");
    if (chunk->right->left != chunk || chunk->left->right != chunk)
        return bfc_corrupted(bfc, chunk, "its neighbours do not know it");

    if (bfc_is_live(chunk)) {
        const bfc_slot_t *slot = bfc_slot_find(bfc, (void *)chunk->address);
        if (slot == NULL || slot->chunk != chunk)
            return bfc_corrupted(bfc, chunk, "it is not found by its address");
        if (chunk->requested_bytes > chunk->size_bytes)
            return bfc_corrupted(bfc, chunk, "it is smaller than its request");
        census->requested_bytes += chunk->requested_bytes;
        ++census->live_count;
        return JSTATUS_SUCCESS;
    }

    ++census->free_count;
    census->free_bytes += chunk->size_bytes;
    if (chunk->right->where == chunk->where)
        return bfc_corrupted(bfc, chunk,
                             "its right neighbour is free as well and was not merged with it");

    if (bfc_is_decommitted(chunk)) {
        census->decommitted_bytes += chunk->size_bytes;
        return ((chunk->address | chunk->size_bytes) & (bfc->page_bytes - 1)) == 0 &&
                       bfc->page_bytes != 0
                   ? JSTATUS_SUCCESS
                   : bfc_corrupted(bfc, chunk, "it is decommitted, and not whole pages");
    }

    if (!bfc_is_free(chunk) || chunk->where >= bfc->stream_count ||
        bfc->streams[chunk->where] == NULL)
        return bfc_corrupted(bfc, chunk, "it is neither live nor free");
    if (chunk->where != 0 && chunk->serial > bfc->frontier.streams[chunk->where].issued)
        return bfc_corrupted(bfc, chunk, "its fence was never issued");

    const bfc_stream_t *stream = bfc->streams[chunk->where];
    if (chunk->where != 0 && chunk->serial <= stream->absorbed && stream->absorbed != UINT64_MAX)
        return bfc_corrupted(bfc, chunk, "its fence was passed, and it is not for all");
    return JSTATUS_SUCCESS;
}

static jstatus_t bfc_check_region(const bfc_t *bfc, const bfc_chunk_t *border,
                                  bfc_census_t *census) {
    uintptr_t address = border->address;
    for (const bfc_chunk_t *chunk = border->right; chunk != border; chunk = chunk->right) {
        if (chunk->address != address)
            return bfc_corrupted(bfc, chunk, "it does not begin where its left neighbour ends");
        JTRY_RETURN(bfc_check_chunk(bfc, chunk, census));
        address += chunk->size_bytes;
    }

    if (address - border->address != border->size_bytes)
        return bfc_corrupted(bfc, border, "its chunks do not fill it");

    address = border->address;
    for (const bfc_chunk_t *seam = border->seams; seam != NULL;
         address = seam->address, seam = seam->seams)
        if (seam->address <= address || seam->address - border->address >= border->size_bytes)
            return bfc_corrupted(bfc, border, "its seams are not in order");

    census->reserved_bytes += border->size_bytes;
    return JSTATUS_SUCCESS;
}

/* Every chunk in the bins is free, of that stream, and in the bin of its size; `count` of them are
 * seen. */
static jstatus_t bfc_check_bins(const bfc_t *bfc, const bfc_stream_t *stream, size_t *count) {
    for (unsigned bin = 0; bin < BFC_BIN_COUNT; ++bin) {
        const ji_link_t *head = &stream->bins.chunks[bin].ring, *previous = head;
        if ((head->next != head) != (stream->bins.bits[bin / 64] >> bin % 64 & 1) ||
            (stream->bins.bits[bin / 64] != 0) != (stream->bins.words >> bin / 64 & 1))
            return ji_fail(JSTATUS_CORRUPTED,
                           "allocator \"%s\": bin %u of stream %u: its bit is wrong", bfc->name,
                           bin, stream->index);

        for (const bfc_chunk_t *chunk = bfc_bins_first(&stream->bins, bin); chunk != NULL;
             previous = &chunk->link, chunk = bfc_bins_after(&stream->bins, bin, chunk)) {
            if (chunk->where != stream->index || chunk->link.previous != previous ||
                bfc_bin_of(chunk->size_bytes) != bin)
                return bfc_corrupted(bfc, chunk, "it is in a bin that is not its own");
            ++*count;
        }
    }
    return JSTATUS_SUCCESS;
}

jstatus_t ji_bfc_check(void *context) {
    bfc_t *bfc = context;
    bfc_census_t census = {0};
    size_t binned = 0;
    jstatus_t status = JSTATUS_SUCCESS;

    ji_bfc_flush(bfc);
    JI_LIST_EACH(&bfc->regions, const bfc_chunk_t, region, link)
        JTRY(bfc_check_region(bfc, region, &census));
    for (uint32_t s = 0; s < bfc->stream_count; ++s)
        if (bfc->streams[s] != NULL)
            JTRY(bfc_check_bins(bfc, bfc->streams[s], &binned));
    if (bfc->decommitted != NULL)
        JTRY(bfc_check_bins(bfc, bfc->decommitted, &binned));

    if (binned != census.free_count || census.live_count != bfc->slots.count ||
        census.free_bytes != bfc->free_bytes ||
        census.decommitted_bytes != bfc->decommitted_bytes ||
        census.reserved_bytes != bfc->reserved_bytes ||
        census.requested_bytes != ji_level_now(&bfc->requested) || bfc->quick_count != 0 ||
        bfc_quick_bytes(bfc) != 0)
        status = ji_fail(JSTATUS_CORRUPTED,
                         "allocator \"%s\": the sums are wrong: %zu reserved bytes (%zu found), "
                         "%zu free (%zu), %zu live chunks (%zu), %zu chunks in bins (%zu)",
                         bfc->name, bfc->reserved_bytes, census.reserved_bytes, bfc->free_bytes,
                         census.free_bytes, bfc->slots.count, census.live_count, binned,
                         census.free_count);
done:
    return status;
}
