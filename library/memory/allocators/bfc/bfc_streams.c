/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What is free behind the work of each stream (frontier.h): which bins a call takes from, where a
 * chunk goes that is freed now, and when it is there for all. */

#include "memory/allocators/bfc/bfc.h"
#include "memory/allocators/policy.h"

#include <string.h>

bfc_stream_t *ji_bfc_stream_at(bfc_t *bfc, uint32_t index) {
    if (index >= bfc->stream_count) {
        uint32_t count = index + 1 + bfc->stream_count;
        bfc_stream_t **streams = ji_metadata_zalloc(count * sizeof(bfc->streams[0]));
        if (streams == NULL)
            return NULL;
        memcpy(streams, bfc->streams, bfc->stream_count * sizeof(bfc->streams[0]));
        ji_metadata_free(bfc->streams);
        bfc->streams = streams;
        bfc->stream_count = count;
    }

    if (bfc->streams[index] == NULL &&
        (bfc->streams[index] = ji_metadata_zalloc(sizeof(bfc_stream_t))) != NULL) {
        bfc->streams[index]->index = index;
        bfc_bins_init(&bfc->streams[index]->bins);
    }

    return bfc->streams[index];
}

jstatus_t ji_bfc_stream_of(bfc_t *bfc, jstream_t *stream, bfc_stream_t **of) {
    uint32_t index;
    JTRY_RETURN(ji_frontier_index(&bfc->frontier, stream, &index));
    bfc_stream_t *found = ji_bfc_stream_at(bfc, index);
    if (found == NULL)
        return ji_refuse_bookkeeping();

    *of = found;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_bfc_stream_mark(bfc_t *bfc, jstream_t *stream, bfc_stream_t **of, uint64_t *serial) {
    ji_fence_t fence;
    JTRY_RETURN(ji_frontier_mark(&bfc->frontier, stream, &fence));

    bfc_stream_t *found = ji_bfc_stream_at(bfc, fence.index);
    if (found == NULL) {
        JTRY_RETURN(ji_frontier_drain(&bfc->frontier, fence));
        found = bfc->ready;
        fence.serial = 0;
    }

    *of = found;
    *serial = fence.serial;
    return JSTATUS_SUCCESS;
}

/* Looks how far a stream has come; an event is recorded where none is under way. */
static void bfc_look(bfc_t *bfc, uint32_t index) {
    (void)ji_frontier_passed_by_all(&bfc->frontier,
                                    (ji_fence_t){bfc->frontier.streams[index].issued, index});
}

void ji_bfc_absorb(bfc_t *bfc) {
    for (uint32_t i = 1; i < bfc->stream_count; ++i) {
        bfc_stream_t *stream = bfc->streams[i];
        uint64_t passed = stream != NULL ? bfc->frontier.streams[i].passed : 0;
        if (stream == NULL || passed == stream->absorbed)
            continue;

        stream->absorbed = passed;
        for (unsigned bin = 0; (bin = bfc_bins_next(&stream->bins, bin)) < BFC_BIN_COUNT; ++bin)
            for (bfc_chunk_t *chunk = bfc_bins_first(&stream->bins, bin), *next; chunk != NULL;
                 chunk = next) {
                next = bfc_bins_after(&stream->bins, bin, chunk);
                if (chunk->serial > passed)
                    continue;
                bfc_unbin(bfc, chunk);
                bfc_settle(bfc, bfc->ready, chunk, 0);
            }
    }
}

void ji_bfc_look_and_absorb(bfc_t *bfc) {
    for (uint32_t i = 1; i < bfc->stream_count; ++i)
        if (bfc->streams[i] != NULL && bfc->streams[i]->bins.words != 0)
            bfc_look(bfc, i);

    ji_bfc_absorb(bfc);
}
