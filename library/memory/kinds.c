/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The kinds there are: what a composition can name. Kinds that need a function or a pointer of the caller's cannot be
 * written as text and are not here. */

#include "memory/memory.h"

static const ji_kind_t *const kinds[] = {
    /* Providers. */
    &ji_kind_malloc,
    &ji_kind_mmap,
    &ji_kind_device,
    /* Policies. */
    &ji_kind_lru,
    /* Adaptors. */
    &ji_kind_quota,
};

const jallocator_kind_t *jallocator_kind_get(size_t index) {
    return index < sizeof kinds / sizeof kinds[0] ? &kinds[index]->public : NULL;
}
