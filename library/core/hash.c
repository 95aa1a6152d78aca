/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* What of the hash table is done seldom. */

#include "core/hash.h"

bool ji_hash_resize(ji_hash_t *hash, unsigned bits, size_t entry_bytes) {
    const size_t slots = (size_t)1 << bits;
    ji_hash_t resized = {.mask = slots - 1, .shift = 64 - bits};
    size_t bytes;
    if (!ji_size_mul(slots, entry_bytes, &bytes) ||
        (resized.slots = ji_metadata_zalloc(bytes)) == NULL)
        return false;

    for (const uintptr_t *entry = NULL; (entry = ji_hash_next(hash, entry, entry_bytes)) != NULL;)
        memcpy(ji_hash_insert(&resized, *entry, entry_bytes), entry, entry_bytes);

    ji_metadata_free(hash->slots);
    *hash = resized;
    return true;
}

void *ji_hash_next(const ji_hash_t *hash, const void *entry, size_t entry_bytes) {
    if (hash->slots == NULL)
        return NULL;

    size_t slot = entry != NULL
                      ? (size_t)((const char *)entry - (const char *)hash->slots) / entry_bytes + 1
                      : 0;

    for (; slot <= hash->mask; ++slot)
        if (*ji_hash_at_(hash, slot, entry_bytes) != 0)
            return ji_hash_at_(hash, slot, entry_bytes);
    return NULL;
}

void ji_hash_fini(ji_hash_t *hash) {
    ji_metadata_free(hash->slots);
    *hash = (ji_hash_t){NULL, 0, 0, 0};
}
