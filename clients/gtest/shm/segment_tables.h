/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_CLIENTS_GTEST_SEGMENT_TABLES_H
#define JALLOC_CLIENTS_GTEST_SEGMENT_TABLES_H

/* The tables of a segment, as layout.h says: for tests that plant in them what a process that died,
 * stopped or scribbled would have left there. */

#include "segment_helper.h"
#include "shm/layout.h"

static inline shm_header_t *header_of(jsegment_t *segment) {
    return (shm_header_t *)((char *)jsegment_pointer(segment, 4096, 1) - 4096);
}
static inline shm_slot_t *slot_of(jsegment_t *segment, unsigned slot) {
    shm_header_t *header = header_of(segment);
    return (shm_slot_t *)((char *)header + header->constants.slots_offset) + (slot - 1);
}
/* The entry of the page that an offset lies in. */
static inline shm_page_t *page_of(jsegment_t *segment, joffset_t offset) {
    shm_header_t *header = header_of(segment);
    return (shm_page_t *)((char *)header + header->constants.table_offset) +
           (offset >> SHM_PAGE_SHIFT);
}

/* As the holder of the lock does. An attachment of the same process will do: nobody else gets in
 * until the lock is let go, and who waits for it is told that it is busy. */
static inline void hold_lock(jsegment_t *segment) {
    const unsigned slot = jsegment_slot(segment);
    __atomic_store_n(&header_of(segment)->lock,
                     SHM_LOCK_WORD(slot, slot_of(segment, slot)->generation), __ATOMIC_SEQ_CST);
}
static inline void drop_lock(jsegment_t *segment) {
    __atomic_store_n(&header_of(segment)->lock, 0, __ATOMIC_SEQ_CST);
}

#endif
