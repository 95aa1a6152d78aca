/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The kinds there are: what a composition can name. Kinds that need a function or a pointer of the
 * caller's cannot be written as text and are not here. */

#include "memory/compose/compose.h"

static const ji_kind_t *const kinds[] = {
    /* Providers. */
    &ji_kind_malloc,
    &ji_kind_mmap,
    &ji_kind_numa,
    &ji_kind_huge,
    &ji_kind_device,
    &ji_kind_segment,
    &ji_kind_null,
    /* Policies. */
    &ji_kind_stack,
    &ji_kind_slots,
    &ji_kind_pool,
    &ji_kind_lru,
    &ji_kind_bfc,
    &ji_kind_small,
    &ji_kind_general,
    /* Adaptors. */
    &ji_kind_track,
    &ji_kind_record,
    &ji_kind_exact,
    &ji_kind_guard,
    &ji_kind_fill,
    &ji_kind_limit,
    &ji_kind_retry,
    &ji_kind_align,
    &ji_kind_lock,
    &ji_kind_visit,
    &ji_kind_statistics,
    &ji_kind_quota,
};

const jallocator_key_t ji_no_keys[1] = {{NULL, NULL, NULL, NULL}};

const jallocator_kind_t *jallocator_kind_at(size_t index) {
    return index < sizeof kinds / sizeof kinds[0] ? &kinds[index]->public : NULL;
}
