/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The live runtimes, buffer allocators and buffers of the process.
 *
 * They are chained through themselves in a table by address, so that keeping the books takes no
 * memory and cannot fail, and so that a pointer is told to be one of them without being followed:
 * one that was freed, or never was any, is a status, until a new object gets the address of a freed
 * one. References are counted under the table's lock. Whoever retains thereby either comes before
 * the last release or finds nothing.
 *
 * The program's references and the library's are counted apart. An allocator that buffers hold
 * lives on when the program has given its last reference back, and one release too many then finds
 * none to give back: it is refused, where it would otherwise take a buffer's. */

#include "buffer/buffer.h"

#include <pthread.h>

#include "core/hash.h"
#include "core/lock.h"

#define OBJECT_BUCKET_BITS 10

static ji_lock_t object_lock;
static ji_object_t *object_buckets[1 << OBJECT_BUCKET_BITS]; /* under the lock */

static void object_start(void) { ji_lock_init(&object_lock); }
static void object_acquire(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, object_start);
    ji_lock_acquire(&object_lock);
}

/* Where an object is, or would be, in the table: the link that leads to it. */
static ji_object_t **object_find(const void *object) {
    ji_object_t **link =
        &object_buckets[ji_hash_spread((uintptr_t)object, 64 - OBJECT_BUCKET_BITS)];
    while (*link != NULL && *link != object)
        link = &(*link)->next;
    return link;
}

static jstatus_t object_refuse(const void *object, ji_object_kind_t kind, const char *caller) {
    static const char *const names[] = {"runtime", "buffer allocator", "buffer"};
    if (object == NULL)
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: the %s is NULL", caller, names[kind]);
    return ji_fail(JSTATUS_NOT_FOUND, "%s: %p is no live %s: it was freed, or never was one",
                   caller, object, names[kind]);
}

void ji_object_enter(ji_object_t *object, ji_object_kind_t kind) {
    object->kind = kind;
    atomic_init(&object->references[JI_OWNER_PROGRAM], 1);
    atomic_init(&object->references[JI_OWNER_LIBRARY], 0);
    object->next = NULL;

    object_acquire();
    *object_find(object) = object;

    ji_lock_release(&object_lock);
}

jstatus_t ji_object_check(const void *object, ji_object_kind_t kind, const char *caller) {
    object_acquire();
    const ji_object_t *found = *object_find(object);

    const bool live = found != NULL && found->kind == kind;
    ji_lock_release(&object_lock);
    return JI_LIKELY(live) ? JSTATUS_SUCCESS : object_refuse(object, kind, caller);
}

jstatus_t ji_object_retain(void *object, ji_object_kind_t kind, ji_owner_t owner,
                           const char *caller) {
    object_acquire();
    ji_object_t *found = *object_find(object);

    const bool live = found != NULL && found->kind == kind;
    if (live)
        atomic_fetch_add_explicit(&found->references[owner], 1, memory_order_relaxed);
    ji_lock_release(&object_lock);
    return live ? JSTATUS_SUCCESS : object_refuse(object, kind, caller);
}

static size_t object_references(const ji_object_t *object, ji_owner_t owner) {
    return atomic_load_explicit(&object->references[owner], memory_order_relaxed);
}

jstatus_t ji_object_release(void *object, ji_object_kind_t kind, ji_owner_t owner,
                            const char *caller, bool *last) {
    object_acquire();
    ji_object_t **link = object_find(object), *found = *link;
    const bool live = found != NULL && found->kind == kind,
               has = live && object_references(found, owner) > 0;

    if (has)
        atomic_fetch_sub_explicit(&found->references[owner], 1, memory_order_relaxed);

    *last = has && object_references(found, JI_OWNER_PROGRAM) +
                           object_references(found, JI_OWNER_LIBRARY) ==
                       0;
    if (*last)
        *link = found->next;
    ji_lock_release(&object_lock);

    if (!live)
        return object_refuse(object, kind, caller);
    return has ? JSTATUS_SUCCESS
               : ji_fail(JSTATUS_NOT_FOUND,
                         "%s: released more often than retained: %p lives on, held by what was "
                         "made of it",
                         caller, object);
}
