/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Extents of pages: taken from bins of free ones, split, freed, joined with free neighbours
 * (boundary tags, Knuth 1973, here in the page table instead of in the memory).
 *
 * Bins are exact up to 32 pages and then eight to each doubling, as in the two-level segregated fit
 * of Masmano et al. (2004): an extent of any bin above that of a request fits it, so one look at a
 * bitmap finds one. In the request's own bin, and where a multiple is asked for, the first few are
 * looked at, and all of them before the answer is "no memory".
 *
 * Nothing read here is trusted: an extent's word must be one, its neighbours' links must lead back
 * to it, and no walk is longer than there are pages. What does not fit poisons the segment. */

#include "shm/shm.h"

#define PAGES_LOOK 32 /* extents of one bin that are looked at for a good fit */

uint64_t ji_pages_total(const jsegment_t *segment) {
    return atomic_load_explicit(&segment->known_pages, memory_order_relaxed);
}

/* It may also have become smaller: a growth that was seen without the lock and then undone. The
 * memory stays. */
bool ji_pages_refresh(jsegment_t *segment) {
    const uint64_t known = ji_pages_total(segment), total = shm_load(&segment->header->total_pages);
    if (JI_LIKELY(total == known && total != 0))
        return true;

    if (total <= segment->constants.first_page || total > segment->max_pages ||
        (total > known && shm_backing_size(&segment->backing) >> SHM_PAGE_SHIFT < total))
        return false;

    atomic_store_explicit(&segment->known_pages, total, memory_order_relaxed);
    return true;
}

bool ji_pages_is_extent(const jsegment_t *segment, uint64_t page, uint64_t word) {
    const shm_state_t state = SHM_STATE(word);
    const uint64_t pages = SHM_PAGES(word), total = ji_pages_total(segment);
    return state != SHM_INSIDE && state != SHM_TAIL && state <= SHM_DEAD && pages != 0 &&
           page < total && pages <= total - page;
}

unsigned ji_pages_bin(uint64_t pages) {
    if (pages <= 32)
        return (unsigned)pages - 1;

    const unsigned exponent = 63u - (unsigned)__builtin_clzll(pages);
    return 32 + (exponent - 5) * 8 + ((unsigned)(pages >> (exponent - 3)) & 7);
}

/* ---- Lists ---- */

#define LINKS(next, previous) ((uint64_t)(next) | (uint64_t)(previous) << 32)
#define NEXT(links) ((links)&0xffffffffu)
#define PREVIOUS(links) ((links) >> 32)

static uint64_t *links_of(jsegment_t *segment, uint64_t page) {
    return &segment->table[page].links;
}

static bool list_may_hold(const jsegment_t *segment, uint64_t page) {
    return page >= segment->constants.first_page && page < ji_pages_total(segment);
}

void ji_page_list_insert(jsegment_t *segment, uint64_t *head, uint64_t page) {
    const uint64_t next = shm_load(head);
    if (next != 0) {
        if (!list_may_hold(segment, next)) {
            (void)JI_POISON(segment, "a list begins at page %llu", (unsigned long long)next);
            segment->broken = true;
            return;
        }
        ji_put(segment, links_of(segment, next),
               LINKS(NEXT(shm_load(links_of(segment, next))), page));
    }

    ji_put(segment, links_of(segment, page), LINKS(next, 0));
    ji_put(segment, head, page);
}

jstatus_t ji_page_list_remove(jsegment_t *segment, uint64_t *head, uint64_t page) {
    const uint64_t links = shm_load(links_of(segment, page)), next = NEXT(links),
                   previous = PREVIOUS(links);
    if ((previous == 0 ? shm_load(head) != page
                       : !list_may_hold(segment, previous) ||
                             NEXT(shm_load(links_of(segment, previous))) != page) ||
        (next != 0 &&
         (!list_may_hold(segment, next) || PREVIOUS(shm_load(links_of(segment, next))) != page)))
        return JI_POISON(segment, "the links of page %llu do not lead back to it",
                         (unsigned long long)page);

    if (previous == 0)
        ji_put(segment, head, next);
    else
        ji_put(segment, links_of(segment, previous),
               LINKS(next, PREVIOUS(shm_load(links_of(segment, previous)))));
    if (next != 0)
        ji_put(segment, links_of(segment, next),
               LINKS(NEXT(shm_load(links_of(segment, next))), previous));

    ji_put(segment, links_of(segment, page), 0);
    return JSTATUS_SUCCESS;
}

/* ---- Bins ---- */

static void bin_insert(jsegment_t *segment, uint64_t page, uint64_t pages) {
    const unsigned bin = ji_pages_bin(pages);
    uint64_t *bits = &segment->header->bin_bits[bin / 64];
    const uint64_t bit = (uint64_t)1 << bin % 64;

    ji_page_list_insert(segment, &segment->header->bins[bin], page);
    if ((shm_load(bits) & bit) == 0)
        ji_put(segment, bits, shm_load(bits) | bit);
}

static jstatus_t bin_remove(jsegment_t *segment, uint64_t page, uint64_t pages) {
    const unsigned bin = ji_pages_bin(pages);
    jstatus_t status = ji_page_list_remove(segment, &segment->header->bins[bin], page);

    if (status == JSTATUS_SUCCESS && shm_load(&segment->header->bins[bin]) == 0) {
        uint64_t *bits = &segment->header->bin_bits[bin / 64];
        ji_put(segment, bits, shm_load(bits) & ~((uint64_t)1 << bin % 64));
    }
    return status;
}

/* Makes [page, page + pages) a free extent. */
static void pages_write_free(jsegment_t *segment, uint64_t page, uint64_t pages) {
    ji_put(segment, &segment->table[page].word, SHM_WORD(SHM_FREE, 0, 0, 0, pages));
    if (pages > 1)
        ji_put(segment, &segment->table[page + pages - 1].word,
               SHM_WORD(SHM_TAIL, 0, 0, 0, pages - 1));
    bin_insert(segment, page, pages);
}

/* Where in a free extent a request fits; 0: nowhere. */
static uint64_t pages_fit(uint64_t page, uint64_t length, uint64_t pages, uint64_t multiple) {
    const uint64_t begin = (page + multiple - 1) & ~(multiple - 1);
    return begin - page <= length && length - (begin - page) >= pages ? begin : 0;
}

/* A free extent, as it was seen: its length is not looked at twice, since another process might
 * change it between. */
typedef struct pages_found {
    uint64_t page, length;
    uint64_t begin; /* where in it a request fits; 0: nothing was found */
} pages_found_t;

/* Looks through one bin. `look`: how many extents. */
static jstatus_t pages_search(jsegment_t *segment, unsigned bin, uint64_t look, uint64_t pages,
                              uint64_t multiple, pages_found_t *found) {
    for (uint64_t page = shm_load(&segment->header->bins[bin]); page != 0 && look > 0; --look) {
        const uint64_t word = list_may_hold(segment, page) ? shm_page_word(segment, page) : 0;
        if (SHM_STATE(word) != SHM_FREE || !ji_pages_is_extent(segment, page, word) ||
            ji_pages_bin(SHM_PAGES(word)) != bin)
            return JI_POISON(segment, "page %llu is in bin %u and is no free extent of it",
                             (unsigned long long)page, bin);

        *found = (pages_found_t){page, SHM_PAGES(word),
                                 pages_fit(page, SHM_PAGES(word), pages, multiple)};
        if (found->begin != 0)
            return JSTATUS_SUCCESS;

        page = NEXT(shm_load(links_of(segment, page)));
    }
    return JSTATUS_SUCCESS;
}

static jstatus_t pages_find(jsegment_t *segment, uint64_t pages, uint64_t multiple,
                            pages_found_t *found) {
    const uint64_t total = ji_pages_total(segment);
    found->begin = 0;
    if (pages > total)
        return JSTATUS_SUCCESS;

    for (int all = 0; all <= 1; ++all)
        for (unsigned from = ji_pages_bin(pages), word = from / 64; word < SHM_BINS / 64; ++word) {
            uint64_t bits = shm_load(&segment->header->bin_bits[word]);
            if (word == from / 64)
                bits &= ~(uint64_t)0 << from % 64;

            for (; bits != 0; bits &= bits - 1) {
                const unsigned bin = word * 64 + (unsigned)__builtin_ctzll(bits);
                jstatus_t status =
                    pages_search(segment, bin, all ? total : PAGES_LOOK, pages, multiple, found);
                if (status != JSTATUS_SUCCESS || found->begin != 0)
                    return status;
            }
        }
    return JSTATUS_SUCCESS;
}

/* Takes so many pages out of a free extent, where they fit. */
static jstatus_t pages_carve(jsegment_t *segment, const pages_found_t *found, uint64_t pages,
                             uint64_t word) {
    const uint64_t page = found->page, length = found->length, begin = found->begin,
                   end = page + length;
    JTRY_RETURN(bin_remove(segment, page, length));

    if (length > 1)
        ji_put(segment, &segment->table[end - 1].word, 0);

    if (begin > page)
        pages_write_free(segment, page, begin - page);
    if (begin + pages < end)
        pages_write_free(segment, begin + pages, end - begin - pages);

    ji_put(segment, &segment->table[begin].word, (word & 0xffffffffu) | pages << 32);
    return JSTATUS_SUCCESS;
}

jstatus_t ji_pages_take(jsegment_t *segment, uint64_t pages, uint64_t multiple, uint64_t word,
                        uint64_t *page) {
    pages_found_t found;
    JTRY_RETURN(pages_find(segment, pages, multiple, &found));
    if (found.begin == 0)
        return JSTATUS_MEMORY_ERROR;

    jstatus_t status = pages_carve(segment, &found, pages, word);
    if (status == JSTATUS_SUCCESS)
        *page = found.begin;
    return status;
}

/* The free extent that ends where `page` begins; 0: none. */
static jstatus_t pages_before(jsegment_t *segment, uint64_t page, uint64_t *before) {
    *before = 0;
    if (page <= segment->constants.first_page)
        return JSTATUS_SUCCESS;

    const uint64_t word = shm_page_word(segment, page - 1), back = SHM_PAGES(word);
    if (SHM_STATE(word) == SHM_FREE && back == 1) {
        *before = page - 1;
    } else if (SHM_STATE(word) == SHM_TAIL) {
        const uint64_t first = page - 1 - back;
        if (back >= page || first < segment->constants.first_page ||
            shm_page_word(segment, first) != SHM_WORD(SHM_FREE, 0, 0, 0, back + 1))
            return JI_POISON(segment, "page %llu ends an extent that is not there",
                             (unsigned long long)page - 1);
        *before = first;
    }
    return JSTATUS_SUCCESS;
}

jstatus_t ji_pages_free(jsegment_t *segment, uint64_t page, uint64_t *end) {
    uint64_t word = shm_page_word(segment, page), first = page, last = page + SHM_PAGES(word),
             before;

    if (!ji_pages_is_extent(segment, page, word) || SHM_STATE(word) == SHM_FREE)
        return JI_POISON(segment, "page %llu is freed and is no extent", (unsigned long long)page);

    JTRY_RETURN(pages_before(segment, page, &before));
    jstatus_t status = JSTATUS_SUCCESS;

    if (before != 0) {
        if ((status = bin_remove(segment, before, page - before)) != JSTATUS_SUCCESS)
            return status;
        ji_put(segment, &segment->table[page - 1].word, 0);
        first = before;
    }

    ji_put(segment, &segment->table[page].word, 0);
    if (shm_load(links_of(segment, page)) != 0)
        ji_put(segment, links_of(segment, page), 0);

    if (last < ji_pages_total(segment)) {
        const uint64_t next = last;
        word = shm_page_word(segment, next);
        if (SHM_STATE(word) == SHM_FREE) {
            if (!ji_pages_is_extent(segment, next, word))
                return JI_POISON(segment, "page %llu begins a free extent beyond the end",
                                 (unsigned long long)next);
            if ((status = bin_remove(segment, next, SHM_PAGES(word))) != JSTATUS_SUCCESS)
                return status;
            last = next + SHM_PAGES(word);
            ji_put(segment, &segment->table[next].word, 0);
        }
    }

    if (JI_PLANTED(6))
        (void)ji_commit(segment);
    pages_write_free(segment, first, last - first);
    if (end != NULL)
        *end = last;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_pages_resize(jsegment_t *segment, uint64_t page, uint64_t pages) {
    const uint64_t word = shm_page_word(segment, page), length = SHM_PAGES(word);
    jstatus_t status = JSTATUS_SUCCESS;
    if (!ji_pages_is_extent(segment, page, word))
        return JI_POISON(segment, "page %llu is resized and is no extent",
                         (unsigned long long)page);

    if (pages > length) {
        const uint64_t next = page + length, more = pages - length;
        const uint64_t behind = next < ji_pages_total(segment) ? shm_page_word(segment, next) : 0;
        if (SHM_STATE(behind) != SHM_FREE || SHM_PAGES(behind) < more)
            return JSTATUS_MEMORY_ERROR;

        if (!ji_pages_is_extent(segment, next, behind))
            return JI_POISON(segment, "page %llu begins a free extent beyond the end",
                             (unsigned long long)next);

        const pages_found_t found = {next, SHM_PAGES(behind), next};
        if ((status = pages_carve(segment, &found, more, SHM_WORD(SHM_DEAD, 0, 0, 0, 0))) !=
            JSTATUS_SUCCESS)
            return status;

        ji_put(segment, &segment->table[next].word, 0);
    } else if (pages < length) {
        ji_put(segment, &segment->table[page + pages].word,
               SHM_WORD(SHM_DEAD, 0, 0, 0, length - pages));
    }

    ji_put(segment, &segment->table[page].word, (word & 0xffffffffu) | pages << 32);
    return pages < length ? ji_pages_free(segment, page + pages, NULL) : status;
}

jstatus_t ji_pages_add(jsegment_t *segment, uint64_t from, uint64_t to) {
    ji_put(segment, &segment->header->total_pages, to);
    /* What lies there may be of one who was killed while it grew; nobody has looked at it. */
    ji_put(segment, &segment->table[from].word, SHM_WORD(SHM_DEAD, 0, 0, 0, to - from));
    atomic_store_explicit(&segment->known_pages, to, memory_order_relaxed);
    return ji_pages_free(segment, from, NULL);
}
