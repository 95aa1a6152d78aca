/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_ALLOCATORS_BFC_BFC_BINS_H
#define JALLOC_MEMORY_ALLOCATORS_BFC_BFC_BINS_H

/* Bins of free chunks, found in constant time (two-level segregated fit: Masmano, Ripoll, Crespo,
 * Real, "TLSF", 2004).
 *
 * Sizes are counted in granules of 256 bytes. Up to 31 granules each size has a bin of its own;
 * above, each power of two is divided into 16 bins of equal width. Both levels together are one
 * number, so the next larger bin is the next number:
 *
 *     granules   1  2 ... 15 | 16 17 ... 31 | 32-33 34-35 ... 62-63 | 64-67 68-71 ... | ...
 *     bin        1  2 ... 15 | 16 17 ... 31 |   32    33  ...   47  |   48    49  ... | ...   831
 *
 * A chunk is in the bin that contains its size. A search begins at the first bin whose every
 * chunk is large enough and takes any chunk of the first bin from there that has one: from those
 * two bins no more than 1/8 above the request. Which bins have chunks is in 13 words of bits,
 * which words are not zero in a 14th. */

#include "core/core.h"
#include "core/list.h"
#include "jalloc/tag.h"

#define BFC_GRANULE_BYTES ((size_t)256)
#define BFC_BIN_WORDS 13
#define BFC_BIN_COUNT (64 * BFC_BIN_WORDS) /* sizes below 2^63 bytes fall into 1..831 */

/* A run of granules. A free one is in a bin, a border is no memory: it closes the ring of a
 * region's chunks, so that every chunk has two neighbours. One cache line. */
typedef struct bfc_chunk {
    uintptr_t address;
    size_t size_bytes;              /* a multiple of the granule; of a border: the region's */
    struct bfc_chunk *left, *right; /* neighbours by address */
    union {
        ji_link_t link; /* in a bin; of a border: among the regions */
        struct {
            struct bfc_chunk *next; /* in a quick list, or among the spare records */
            uint64_t quick_serial;  /* in the quick list of a stream: of its fence */
        };
    };
    union {
        size_t requested_bytes;  /* taken: live; 0: freed, but in a quick list, not coalesced */
        uint64_t serial;         /* free: of its fence (frontier.h) */
        struct bfc_chunk *seams; /* of a border: the region's first seam; of a seam the next */
    };
    /* Free: index of the stream that it was last used on, in whose bins it is; else one of
     * these: */
    uint32_t where;
#define BFC_TAKEN UINT32_MAX             /* from the bins, and in the table of slots */
#define BFC_BORDER (UINT32_MAX - 1)      /* what is smaller is in a bin */
#define BFC_DECOMMITTED (UINT32_MAX - 2) /* free, whole pages, without memory: bfc_pages.c */
    union {
        jtag_t tag;      /* live */
        uint32_t age_of; /* free: the time, in steps, when it was last put or merged */
    };
} bfc_chunk_t;

typedef struct bfc_bins {
    uint64_t words;                   /* bit i: bits[i] is not zero */
    uint64_t bits[BFC_BIN_WORDS + 1]; /* the last one is always zero */
    ji_list_t chunks[BFC_BIN_COUNT];
} bfc_bins_t;

/* The width of the bins around a size, as a power of two. */
static inline unsigned bfc_bin_shift(size_t granules) {
    return 59u - (unsigned)__builtin_clzll(granules | 16);
}

/* The bin that contains a size. */
static inline unsigned bfc_bin_of(size_t size_bytes) {
    size_t granules = size_bytes / BFC_GRANULE_BYTES;
    unsigned shift = bfc_bin_shift(granules);
    return (shift << 4) + (unsigned)(granules >> shift);
}

/* The first bin whose every chunk has at least so many bytes; BFC_BIN_COUNT where there is none. */
static inline unsigned bfc_bin_from(size_t size_bytes) {
    size_t granules = size_bytes / BFC_GRANULE_BYTES,
           below = ((size_t)1 << bfc_bin_shift(granules)) - 1;
    return bfc_bin_of(size_bytes) + ((granules & below) != 0);
}

static inline void bfc_bins_init(bfc_bins_t *bins) {
    for (unsigned bin = 0; bin < BFC_BIN_COUNT; ++bin)
        ji_list_init(&bins->chunks[bin]);
}

/* The first chunk of a bin, and the one after a chunk; NULL past the last. */
static inline bfc_chunk_t *bfc_bins_first(const bfc_bins_t *bins, unsigned bin) {
    return JI_LIST_FIRST(&bins->chunks[bin], bfc_chunk_t, link);
}
static inline bfc_chunk_t *bfc_bins_after(const bfc_bins_t *bins, unsigned bin,
                                          const bfc_chunk_t *chunk) {
    return JI_LIST_NEXT(&bins->chunks[bin], chunk, bfc_chunk_t, link);
}

static inline void bfc_bins_insert(bfc_bins_t *bins, bfc_chunk_t *chunk, unsigned bin) {
    ji_list_push_front(&bins->chunks[bin], &chunk->link);
    bins->bits[bin / 64] |= (uint64_t)1 << bin % 64;
    bins->words |= (uint64_t)1 << bin / 64;
}

static inline void bfc_bins_remove(bfc_bins_t *bins, bfc_chunk_t *chunk, unsigned bin) {
    /* Only the list's own is on both sides of one. */
    const bool last = chunk->link.next == chunk->link.previous;

    ji_list_remove(&chunk->link);
    bins->bits[bin / 64] &= ~((uint64_t)last << bin % 64);
    bins->words &= ~((uint64_t)(bins->bits[bin / 64] == 0) << bin / 64);
}

/* A chunk that was in `bin` has another size now: most often one of the same bin. */
static inline void bfc_bins_move(bfc_bins_t *bins, bfc_chunk_t *chunk, unsigned bin) {
    unsigned other = bfc_bin_of(chunk->size_bytes);
    if (other != bin) {
        bfc_bins_remove(bins, chunk, bin);
        bfc_bins_insert(bins, chunk, other);
    }
}

/* The first bin from `bin` on that has a chunk; BFC_BIN_COUNT or more where none has. Which word it
 * is in is as good as random, so both are read and one is chosen, without a branch. */
static inline unsigned bfc_bins_next(const bfc_bins_t *bins, unsigned bin) {
    unsigned word = bin / 64;
    unsigned other = (unsigned)__builtin_ctzll((bins->words & ~(uint64_t)1 << word) |
                                               (uint64_t)1 << BFC_BIN_WORDS);
    uint64_t bits = bins->bits[word] & ~(uint64_t)0 << bin % 64, other_bits = bins->bits[other];

    word = bits != 0 ? word : other;
    bits = bits != 0 ? bits : other_bits;
    return 64 * word + (bits != 0 ? (unsigned)__builtin_ctzll(bits) : 0);
}

#endif
