/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Named roots. A root is found without a lock, by processes that may only read: its state is odd
 * while it is valid, is stored last when a root is made, first when it goes, and counts on, so a
 * reader that meets a change sees that it has. Replacing the offset of a name that is there is one
 * store. */

#include "shm/shm.h"

#include <string.h>

#define ROOT_ATTEMPTS 100 /* of a reader that meets changes */

/* Eight characters at a time, as words: another process may be writing them. */
static void root_copy_name(const shm_root_t *root, char copy[sizeof root->name]) {
    for (size_t i = 0; i < sizeof root->name; i += 8) {
        uint64_t word = shm_load((const uint64_t *)(root->name + i));
        memcpy(copy + i, &word, 8);
    }
}

static bool root_has_name(const shm_root_t *root, const char *name) {
    char copy[sizeof root->name];
    root_copy_name(root, copy);
    return strncmp(copy, name, sizeof copy) == 0;
}

static shm_root_t *root_find(const jsegment_t *segment, const char *name) {
    for (unsigned i = 0; i < SHM_ROOTS; ++i)
        if ((shm_load(&segment->roots[i].state) & 1) != 0 &&
            root_has_name(&segment->roots[i], name))
            return &segment->roots[i];
    return NULL;
}

static jstatus_t root_check_name(const char *name) {
    const size_t length = strnlen(name, JSEGMENT_ROOT_NAME_BYTES);
    return length > 0 && length < JSEGMENT_ROOT_NAME_BYTES
               ? JSTATUS_SUCCESS
               : ji_fail(JSTATUS_INVALID_VALUE, "a root's name has 1 to %d characters",
                         JSEGMENT_ROOT_NAME_BYTES - 1);
}

/* Makes an entry that nobody takes for a root valid. */
static void root_make(shm_root_t *root, const char *name, joffset_t offset) {
    char text[sizeof root->name] = {0};
    memcpy(text, name, strlen(name) + 1);
    for (size_t part = 0; part < sizeof text; part += 8) {
        uint64_t word;
        memcpy(&word, text + part, 8);
        shm_store((uint64_t *)(root->name + part), word);
    }

    shm_store(&root->offset, offset);
    atomic_signal_fence(memory_order_seq_cst);
    shm_store(&root->state, shm_load(&root->state) + 1);
}

/* Under the segment's lock. */
static jstatus_t root_set(jsegment_t *segment, const char *name, joffset_t offset) {
    shm_root_t *root = root_find(segment, name);
    if (offset != JOFFSET_NULL && jsegment_pointer(segment, offset, 1) == NULL)
        return ji_fail(JSTATUS_INVALID_VALUE, "root \"%s\": offset %llu is not in the segment",
                       name, (unsigned long long)offset);

    if (root != NULL && offset != JOFFSET_NULL) {
        shm_store(&root->offset, offset);
        return JSTATUS_SUCCESS;
    }

    if (root != NULL) {
        shm_store(&root->state, shm_load(&root->state) + 1);
        return JSTATUS_SUCCESS;
    }

    if (offset == JOFFSET_NULL)
        return ji_fail(JSTATUS_NOT_FOUND, "there is no root \"%s\"", name);

    unsigned i = 0;
    while (i < SHM_ROOTS && (shm_load(&segment->roots[i].state) & 1) != 0)
        ++i;
    if (i == SHM_ROOTS)
        return ji_fail(JSTATUS_MEMORY_ERROR, "the segment has %d roots already", SHM_ROOTS);

    root_make(&segment->roots[i], name, offset);
    return JSTATUS_SUCCESS;
}

jstatus_t jsegment_set_root(jsegment_t *segment, const char *name, joffset_t offset) {
    JREQUIRE(segment != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(name != NULL, JSTATUS_INVALID_POINTER);

    jstatus_t status = root_check_name(name);
    if (status == JSTATUS_SUCCESS)
        status = ji_segment_lock(segment);
    return status == JSTATUS_SUCCESS ? ji_segment_unlock(segment, root_set(segment, name, offset))
                                     : status;
}

jstatus_t jsegment_get_root(const jsegment_t *segment, const char *name, joffset_t *offset) {
    JREQUIRE(segment != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(name != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(offset != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(root_check_name(name));

    for (int attempt = 0; attempt < ROOT_ATTEMPTS; ++attempt) {
        bool changed = false;
        for (unsigned i = 0; i < SHM_ROOTS; ++i) {
            const shm_root_t *root = &segment->roots[i];
            const uint64_t state = __atomic_load_n(&root->state, __ATOMIC_ACQUIRE);
            if ((state & 1) == 0)
                continue;

            const bool found = root_has_name(root, name);
            const uint64_t value = __atomic_load_n(&root->offset, __ATOMIC_ACQUIRE);
            if (shm_load(&root->state) != state) {
                changed = true; /* it may have been the one, under a name that is there again */
            } else if (found) {
                *offset = value;
                return JSTATUS_SUCCESS;
            }
        }

        if (!changed)
            break;
    }
    return ji_fail(JSTATUS_NOT_FOUND, "there is no root \"%s\"", name);
}

jstatus_t jsegment_get_root_at(const jsegment_t *segment, unsigned index,
                               char name[JSEGMENT_ROOT_NAME_BYTES], joffset_t *offset) {
    JREQUIRE(segment != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(name != NULL, JSTATUS_INVALID_POINTER);
    JREQUIRE(offset != NULL, JSTATUS_INVALID_POINTER);
    if (index >= JSEGMENT_MAX_ROOTS)
        return ji_fail(JSTATUS_INVALID_VALUE, "%s: index = %u: must be below %d", __func__, index,
                       JSEGMENT_MAX_ROOTS);

    const shm_root_t *root = &segment->roots[index];
    char copy[sizeof root->name];
    const uint64_t state = __atomic_load_n(&root->state, __ATOMIC_ACQUIRE);
    root_copy_name(root, copy);
    const uint64_t value = __atomic_load_n(&root->offset, __ATOMIC_ACQUIRE);
    if ((state & 1) == 0 || __atomic_load_n(&root->state, __ATOMIC_ACQUIRE) != state)
        return ji_fail(JSTATUS_NOT_FOUND, "there is no root with index %u", index);

    memcpy(name, copy, JSEGMENT_ROOT_NAME_BYTES - 1);
    name[JSEGMENT_ROOT_NAME_BYTES - 1] = '\0';
    *offset = value;
    return JSTATUS_SUCCESS;
}
