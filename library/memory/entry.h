/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_MEMORY_ENTRY_H
#define JALLOC_MEMORY_ENTRY_H

/* The entries: how the object calls an allocator's functions and keeps the books. There are five
 * ways, the first three with a ledger (the allocator does not know which blocks are its own) or
 * without one:
 *
 *     booked     one thread at a time: function, then books and ledger
 *     locked     the same under the object's lock
 *     unlocked   the function is safe by itself and called without the lock; books and ledger have
 *                it for a moment
 *     keeping    the functions keep books and ledger by themselves, under the lock; here a failure
 *                is counted
 *     straight   the allocator counts all by itself: its function, no more
 *
 * What is said of a block when it is given back is not to be believed. So a block is booked out
 * when it has been found live: in the ledger, or because the function has taken it.
 *
 * They are templates, written once. allocator.c instantiates them (JI_ENTRY) for functions behind a
 * table; a kind whose speed matters does for its own functions, which are inlined into the entry
 * then. `ledger` is a constant in each, so no entry asks at run time which one it is. */

#include "memory/call_traces.h"
#include "memory/memory.h"

typedef jstatus_t (*ji_allocate_function_t)(void *context, size_t size_bytes, size_t alignment,
                                            jstream_t *stream, void **pointer);
typedef jstatus_t (*ji_deallocate_function_t)(void *context, void *pointer, size_t size_bytes,
                                              jstream_t *stream);

/* ---- What is rare (allocator.c) ---- */

/* What an allocation answers when the allocator's function failed, or gave what it may not give:
 * its status, or internal error, with a message that names the allocator. `explained`: the function
 * left a message. */
jstatus_t ji_entry_judge(jallocator_t *allocator, jstatus_t status, void **pointer,
                         size_t size_bytes, size_t alignment, jstream_t *stream, bool explained)
    __attribute__((cold));
/* Of a pointer and size that are not in the ledger: not found; invalid size. */
jstatus_t ji_entry_refuse(jallocator_t *allocator, const void *pointer, size_t size_bytes)
    __attribute__((cold));
/* memory error: the ledger has no room for the block. */
jstatus_t ji_entry_lacks_books(jallocator_t *allocator) __attribute__((cold));

/* ---- Steps ---- */

/* The entry of a block that is given back; NULL where it is not live, or is of another size. */
static inline ji_ledger_entry_t *entry_in_ledger(jallocator_t *allocator, const void *pointer,
                                                 size_t size_bytes) {
    ji_ledger_entry_t *entry = ji_ledger_find(&allocator->ledger, pointer);
    return JI_LIKELY(entry != NULL && entry->size_bytes == size_bytes) ? entry : NULL;
}

/* Takes a block out of the counts. False where it cannot have been counted: a caller's `find` and
 * `deallocate` know blocks that did not come through this object. */
static inline bool entry_discount(jallocator_t *allocator, size_t size_bytes) {
    ji_books_t *books = &allocator->books;
    if (JI_UNLIKELY(books->live_count == 0 || books->in_use_bytes < size_bytes))
        return false;

    ji_books_deallocate(books, size_bytes);
    return true;
}

/* Asks the function for memory and looks at what it gives. *pointer is NULL before, and after a
 * failure. */
static inline jstatus_t entry_take(jallocator_t *allocator, size_t size_bytes, size_t alignment,
                                   jstream_t *stream, void **pointer,
                                   ji_allocate_function_t allocate) {
    unsigned messages = ji_message_count;
    jstatus_t status = allocate(allocator->context, size_bytes, alignment, stream, pointer);
    if (JI_UNLIKELY(status != JSTATUS_SUCCESS || *pointer == NULL ||
                    ((uintptr_t)*pointer & (alignment - 1)) != 0))
        return ji_entry_judge(allocator, status, pointer, size_bytes, alignment, stream,
                              ji_message_count != messages);

    if (JI_UNLIKELY(allocator->call_traces != NULL))
        ji_call_traces_put(allocator->call_traces, *pointer);
    return JSTATUS_SUCCESS;
}

/* ---- The five ways ---- */

static inline jstatus_t straight_allocate(jallocator_t *allocator, size_t size_bytes,
                                          size_t alignment, jstream_t *stream, void **pointer,
                                          ji_allocate_function_t allocate, bool ledger) {
    (void)ledger;
    return entry_take(allocator, size_bytes, alignment, stream, pointer, allocate);
}

/* The object may be gone when the function returns: nothing follows it. */
static inline jstatus_t straight_deallocate(jallocator_t *allocator, void *pointer,
                                            size_t size_bytes, jstream_t *stream,
                                            ji_deallocate_function_t deallocate, bool ledger) {
    (void)ledger;
    return deallocate(allocator->context, pointer, size_bytes, stream);
}

static inline jstatus_t keeping_allocate(jallocator_t *allocator, size_t size_bytes,
                                         size_t alignment, jstream_t *stream, void **pointer,
                                         ji_allocate_function_t allocate, bool ledger) {
    (void)ledger;
    jstatus_t status = entry_take(allocator, size_bytes, alignment, stream, pointer, allocate);
    if (JI_UNLIKELY(status != JSTATUS_SUCCESS)) {
        ji_lock_acquire(&allocator->lock);
        ++allocator->books.failure_count;
        ji_lock_release(&allocator->lock);
    }
    return status;
}

static inline jstatus_t keeping_deallocate(jallocator_t *allocator, void *pointer,
                                           size_t size_bytes, jstream_t *stream,
                                           ji_deallocate_function_t deallocate, bool ledger) {
    return straight_deallocate(allocator, pointer, size_bytes, stream, deallocate, ledger);
}

static inline jstatus_t booked_allocate(jallocator_t *allocator, size_t size_bytes,
                                        size_t alignment, jstream_t *stream, void **pointer,
                                        ji_allocate_function_t allocate, bool ledger) {
    jstatus_t status;
    if (ledger && JI_UNLIKELY(!ji_ledger_reserve(&allocator->ledger)))
        status = ji_entry_lacks_books(allocator);
    else
        status = entry_take(allocator, size_bytes, alignment, stream, pointer, allocate);

    if (JI_UNLIKELY(status != JSTATUS_SUCCESS)) {
        ++allocator->books.failure_count;
        return status;
    }

    ji_books_allocate(&allocator->books, size_bytes);
    if (ledger)
        ji_ledger_insert(&allocator->ledger, *pointer, size_bytes, ji_tag_current);
    return JSTATUS_SUCCESS;
}

static inline jstatus_t booked_deallocate(jallocator_t *allocator, void *pointer, size_t size_bytes,
                                          jstream_t *stream, ji_deallocate_function_t deallocate,
                                          bool ledger) {
    ji_ledger_entry_t *entry = ledger ? entry_in_ledger(allocator, pointer, size_bytes) : NULL;
    if (ledger && JI_UNLIKELY(entry == NULL))
        return ji_entry_refuse(allocator, pointer, size_bytes);

    jstatus_t status = deallocate(allocator->context, pointer, size_bytes, stream);
    if (JI_LIKELY(status == JSTATUS_SUCCESS)) {
        (void)entry_discount(allocator, size_bytes);
        if (ledger)
            ji_ledger_remove(&allocator->ledger, entry);
    }
    return status;
}

static inline jstatus_t locked_allocate(jallocator_t *allocator, size_t size_bytes,
                                        size_t alignment, jstream_t *stream, void **pointer,
                                        ji_allocate_function_t allocate, bool ledger) {
    ji_lock_acquire(&allocator->lock);
    jstatus_t status =
        booked_allocate(allocator, size_bytes, alignment, stream, pointer, allocate, ledger);
    ji_lock_release(&allocator->lock);
    return status;
}

static inline jstatus_t locked_deallocate(jallocator_t *allocator, void *pointer, size_t size_bytes,
                                          jstream_t *stream, ji_deallocate_function_t deallocate,
                                          bool ledger) {
    ji_lock_acquire(&allocator->lock);
    jstatus_t status =
        booked_deallocate(allocator, pointer, size_bytes, stream, deallocate, ledger);
    ji_lock_release(&allocator->lock);
    return status;
}

static inline jstatus_t unlocked_allocate(jallocator_t *allocator, size_t size_bytes,
                                          size_t alignment, jstream_t *stream, void **pointer,
                                          ji_allocate_function_t allocate, bool ledger) {
    jstatus_t status = entry_take(allocator, size_bytes, alignment, stream, pointer, allocate);
    void *unbooked = NULL;

    ji_lock_acquire(&allocator->lock);
    if (ledger && status == JSTATUS_SUCCESS &&
        JI_UNLIKELY(!ji_ledger_reserve(&allocator->ledger))) {
        status = ji_entry_lacks_books(allocator);
        unbooked = *pointer;
    }

    if (JI_LIKELY(status == JSTATUS_SUCCESS)) {
        ji_books_allocate(&allocator->books, size_bytes);
        if (ledger)
            ji_ledger_insert(&allocator->ledger, *pointer, size_bytes, ji_tag_current);
    } else {
        ++allocator->books.failure_count;
    }

    ji_lock_release(&allocator->lock);

    if (JI_UNLIKELY(unbooked != NULL)) {
        *pointer = NULL;
        (void)allocator->ops.deallocate(allocator->context, unbooked, size_bytes, stream);
    }
    return status;
}

/* With a ledger a block is booked out before it is given back, since another thread may have the
 * memory the moment it is; and in again if it stays after all. Without one only the function knows
 * whether there is such a block: it is booked out afterwards, and if another thread is given the
 * memory before that, both are live for a moment. */
static inline jstatus_t unlocked_deallocate(jallocator_t *allocator, void *pointer,
                                            size_t size_bytes, jstream_t *stream,
                                            ji_deallocate_function_t deallocate, bool ledger) {
    jtag_t tag = 0;
    if (ledger) {
        ji_lock_acquire(&allocator->lock);
        ji_ledger_entry_t *entry = entry_in_ledger(allocator, pointer, size_bytes);
        if (JI_UNLIKELY(entry == NULL)) {
            jstatus_t refused = ji_entry_refuse(allocator, pointer, size_bytes);
            ji_lock_release(&allocator->lock);
            return refused;
        }

        tag = entry->tag;
        ji_ledger_remove(&allocator->ledger, entry);
        ji_books_deallocate(&allocator->books, size_bytes);
        ji_lock_release(&allocator->lock);
    }

    jstatus_t status = deallocate(allocator->context, pointer, size_bytes, stream);
    if (ledger == (status == JSTATUS_SUCCESS)) /* all is booked: the object may be gone */
        return status;

    ji_lock_acquire(&allocator->lock);
    if (ledger) {
        ji_books_restore(&allocator->books, size_bytes);
        (void)ji_ledger_restore(&allocator->ledger, pointer, size_bytes, tag);
    } else {
        (void)entry_discount(allocator, size_bytes);
    }
    ji_lock_release(&allocator->lock);
    return status;
}

/* ---- Instances ---- */

/* Makes the entry `name` of one of the ways above. allocate and deallocate are functions, or
 * expressions of one in terms of `allocator`. */
#define JI_ENTRY(name, way, allocate, deallocate, ledger)                                          \
    static __attribute__((flatten))                                                                \
    jstatus_t name##_allocate(jallocator_t *allocator, size_t size_bytes, size_t alignment,        \
                              jstream_t *stream, void **pointer) {                                 \
        return way##_allocate(allocator, size_bytes, alignment, stream, pointer, allocate,         \
                              ledger);                                                             \
    }                                                                                              \
    static __attribute__((flatten)) jstatus_t name##_deallocate(                                   \
        jallocator_t *allocator, void *pointer, size_t size_bytes, jstream_t *stream) {            \
        return way##_deallocate(allocator, pointer, size_bytes, stream, deallocate, ledger);       \
    }                                                                                              \
    static const ji_entry_t name = {name##_allocate, name##_deallocate};

/* The two entries of a policy that knows its blocks, NAME_single and NAME_locked. */
#define JI_POLICY_ENTRIES(policy)                                                                  \
    JI_ENTRY(policy##_single, booked, policy##_allocate, policy##_deallocate, false)               \
    JI_ENTRY(policy##_locked, locked, policy##_allocate, policy##_deallocate, false)

#endif
