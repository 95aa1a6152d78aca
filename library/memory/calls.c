/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The calls on an allocator, whatever kind it is.
 *
 * Allocating and freeing check the arguments and go to the object's entry, which does the rest
 * (entry.h). All other calls are rare. They ask the functions of the table, or the object's ledger
 * where the allocator does not know its own blocks, and take the lock that the entry takes:
 *
 *     threads    around a function of the table    around books and ledger
 *     none       -                                 -
 *     lock       the lock                          the same hold of the lock
 *     safe       -                                 the lock
 *
 * So the functions of a "safe" allocator are called without the lock: they may call below, whose
 * visitors may look into this ledger. Only a walk through the ledger holds the lock while it asks
 * for the usable size of each block. */

#include "memory/memory.h"

#define ALLOCATOR_MAX_ALIGNMENT ((size_t)1 << 30)

/* ---- Taking and giving back ---- */

/* Refusals are called last, so that what is not refused costs no saving of registers. */
static jstatus_t __attribute__((cold, noinline))
allocator_refuse_alignment(const jallocator_t *allocator, size_t alignment) {
    return ji_fail(JSTATUS_INVALID_VALUE,
                   "allocator \"%s\": alignment %zu is not a power of two up to 2^30",
                   allocator->name, alignment);
}
static jstatus_t __attribute__((cold, noinline))
allocator_refuse_size(jallocator_t *allocator, size_t size_bytes) {
    if (size_bytes == 0)
        return JSTATUS_SUCCESS;

    /* Counted here; the entry counts all other failures. */
    bool locks = allocator->threads != JALLOCATOR_THREADS_NONE;
    if (locks)
        ji_lock_acquire(&allocator->lock);
    ++allocator->books.failure_count;
    if (locks)
        ji_lock_release(&allocator->lock);

    return ji_fail(JSTATUS_INVALID_SIZE,
                   "allocator \"%s\": %zu bytes are more than this machine can address",
                   allocator->name, size_bytes);
}

jstatus_t jallocator_allocate(jallocator_t *allocator, size_t size_bytes, size_t alignment,
                              jstream_t *stream, void **pointer) {
    JREQUIRE(pointer != NULL, JSTATUS_INVALID_POINTER);
    *pointer = NULL;
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);

    if (alignment == 0)
        alignment = allocator->granule_bytes;
    else if (JI_UNLIKELY(!ji_is_power_of_two(alignment) || alignment > ALLOCATOR_MAX_ALIGNMENT))
        return allocator_refuse_alignment(allocator, alignment);

    if (JI_UNLIKELY(size_bytes - 1 >= PTRDIFF_MAX - alignment)) /* no object can be larger */
        return allocator_refuse_size(allocator, size_bytes);

    return allocator->entry.allocate(allocator, size_bytes, alignment, stream, pointer);
}

jstatus_t jallocator_deallocate(jallocator_t *allocator, void *pointer, size_t size_bytes,
                                jstream_t *stream) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    if (pointer == NULL)
        return JSTATUS_SUCCESS;
    JREQUIRE_VALUE(size_bytes != 0, JSTATUS_INVALID_SIZE, __func__, "size_bytes", size_bytes,
                   "no block has 0 bytes");

    return allocator->entry.deallocate(allocator, pointer, size_bytes, stream);
}

const jallocator_calls_ jallocator_calls_2_ = {jallocator_allocate, jallocator_deallocate};

/* ---- Under the allocator's lock ---- */

/* Whether the lock is taken: see above. Calls on a const allocator take it, too, for it is no part
 * of the allocator's observable state. */
static bool allocator_locks(const jallocator_t *allocator, bool ledger) {
    return allocator->threads == JALLOCATOR_THREADS_LOCK ||
           (allocator->threads == JALLOCATOR_THREADS_SAFE && ledger);
}
static void allocator_enter(const jallocator_t *allocator, bool ledger) {
    if (allocator_locks(allocator, ledger))
        ji_lock_acquire((ji_lock_t *)&allocator->lock);
}
static void allocator_leave(const jallocator_t *allocator, bool ledger) {
    if (allocator_locks(allocator, ledger))
        ji_lock_release((ji_lock_t *)&allocator->lock);
}

jstatus_t ji_allocator_set_pages(jallocator_t *allocator, void *pointer, size_t size_bytes,
                                 jallocator_pages_t to) {
    allocator_enter(allocator, false);
    jstatus_t status = allocator->ops.set_pages(allocator->context, pointer, size_bytes, to);
    allocator_leave(allocator, false);
    return status;
}

/* ---- Which block ---- */

size_t jallocator_usable_size(const jallocator_t *allocator, const void *pointer,
                              size_t size_bytes) {
    if (allocator == NULL || pointer == NULL)
        return 0;

    allocator_enter(allocator, false);
    size_t usable = allocator->ops.usable_size(allocator->context, pointer, size_bytes);
    allocator_leave(allocator, false);

    return usable > size_bytes ? usable : size_bytes;
}

/* The live block around a pointer, as the ledger knows it. The functions are asked without its
 * lock: they may call below, whose visitors look into this ledger (allocator_walk_step). */
static jstatus_t allocator_find_in_ledger(const jallocator_t *allocator, const void *pointer,
                                          jallocation_t *block) {
    allocator_enter(allocator, true);
    const ji_ledger_entry_t *entry = ji_ledger_find(&allocator->ledger, pointer);
    if (entry == NULL)
        entry = ji_ledger_find_containing(&allocator->ledger, pointer);

    if (entry != NULL) {
        block->pointer = (void *)entry->address;
        block->size_bytes = entry->size_bytes;
        block->tag = entry->tag;
    }

    allocator_leave(allocator, true);
    if (block->pointer == NULL)
        return JSTATUS_NOT_FOUND;

    block->usable_bytes = jallocator_usable_size(allocator, block->pointer, block->size_bytes);
    return JSTATUS_SUCCESS;
}

static bool allocator_ledger_has(const jallocator_t *allocator, const void *pointer) {
    allocator_enter(allocator, true);
    bool has = ji_ledger_find(&allocator->ledger, pointer) != NULL;
    allocator_leave(allocator, true);
    return has;
}

/* The live block around a pointer. What a `find` gives may be a block of below that is not this
 * allocator's. */
static jstatus_t allocator_find(const jallocator_t *allocator, const void *pointer,
                                jallocation_t *block) {
    *block = (jallocation_t){
        .struct_size = sizeof *block, .allocator = (jallocator_t *)allocator, .live = true};

    if (allocator->ops.find == NULL)
        return allocator_find_in_ledger(allocator, pointer, block);

    allocator_enter(allocator, false);
    jstatus_t status = allocator->ops.find(allocator->context, pointer, block);
    allocator_leave(allocator, false);

    bool is_foreign = status == JSTATUS_SUCCESS && allocator->has_ledger &&
                      !allocator_ledger_has(allocator, block->pointer);
    return is_foreign ? JSTATUS_NOT_FOUND : status;
}

jstatus_t jallocator_find(const jallocator_t *allocator, const void *pointer,
                          jallocation_t *block) {
    JREQUIRE(allocator != NULL && pointer != NULL && block != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jallocation_t, block, pointer));

    jallocation_t found;
    jstatus_t status = allocator_find(allocator, pointer, &found);
    if (status == JSTATUS_NOT_FOUND)
        ji_fail(status, "allocator \"%s\": %p is in no live block", allocator->name, pointer);
    if (status == JSTATUS_SUCCESS)
        JI_GIVE_RESULT(block, &found);

    return status;
}

jstatus_t jallocation_find(const void *pointer, jallocation_t *block) {
    JREQUIRE(pointer != NULL && block != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jallocation_t, block, pointer));

    jallocation_t found;
    jstatus_t status = JSTATUS_NOT_FOUND;

    const ji_list_t *allocators = ji_allocator_list_acquire();
    JI_LIST_WHILE(status != JSTATUS_SUCCESS, allocators, jallocator_t, allocator, link)
        status = allocator_find(allocator, pointer, &found);
    ji_allocator_list_release();

    if (status != JSTATUS_SUCCESS)
        return ji_fail(JSTATUS_NOT_FOUND, "%p is in no live block of any allocator", pointer);

    JI_GIVE_RESULT(block, &found);
    return JSTATUS_SUCCESS;
}

/* ---- All blocks ---- */

/* Passes over live blocks of below that are not this allocator's; says whose blocks they are, where
 * the allocator's function did not. */
typedef struct allocator_walk {
    const jallocator_t *allocator;
    jallocation_visitor_t visitor;
    void *context;
} allocator_walk_t;

static bool allocator_walk_step(void *context, const jallocation_t *block) {
    const allocator_walk_t *walk = context;
    const jallocator_t *allocator = walk->allocator;

    if (block->live && allocator->has_ledger) {
        bool walk_has_lock = allocator_locks(allocator, false);
        if (walk_has_lock ? ji_ledger_find(&allocator->ledger, block->pointer) == NULL
                          : !allocator_ledger_has(allocator, block->pointer))
            return true;
    }

    jallocation_t shown = *block;
    shown.struct_size = sizeof shown;
    if (shown.allocator == NULL)
        shown.allocator = (jallocator_t *)allocator;

    return walk->visitor(walk->context, &shown);
}

static void allocator_visit_ledger(const jallocator_t *allocator, jallocation_visitor_t visitor,
                                   void *context) {
    for (const ji_ledger_entry_t *entry = NULL;
         (entry = ji_ledger_next(&allocator->ledger, entry)) != NULL;) {
        void *pointer = (void *)entry->address;
        size_t size = entry->size_bytes;
        jallocation_t block = {
            .struct_size = sizeof block,
            .allocator = (jallocator_t *)allocator,
            .pointer = pointer,
            .size_bytes = size,
            .usable_bytes = allocator->ops.usable_size(allocator->context, pointer, size),
            .tag = entry->tag,
            .live = true,
        };

        if (!visitor(context, &block))
            return;
    }
}

jstatus_t jallocator_visit(const jallocator_t *allocator, jallocation_visitor_t visitor,
                           void *context) {
    JREQUIRE(allocator != NULL && visitor != NULL, JSTATUS_INVALID_POINTER);

    allocator_walk_t walk = {allocator, visitor, context};
    bool ledger = allocator->ops.visit == NULL;

    allocator_enter(allocator, ledger);
    if (ledger)
        allocator_visit_ledger(allocator, visitor, context);
    else
        allocator->ops.visit(allocator->context, allocator_walk_step, &walk);
    allocator_leave(allocator, ledger);

    return JSTATUS_SUCCESS;
}

/* ---- Statistics and upkeep ---- */

jstatus_t jallocator_get_stats(const jallocator_t *allocator, jallocator_stats_t *stats) {
    JREQUIRE(allocator != NULL && stats != NULL, JSTATUS_INVALID_POINTER);
    JTRY_RETURN(JI_CHECK_SIZED(jallocator_stats_t, stats, allocation_count));

    jallocator_stats_t present = {.struct_size = sizeof present};

    allocator_enter(allocator, true);
    ji_books_report(&allocator->books, &present);

    /* Its functions may call below, which has locks of its own. */
    if (allocator->threads == JALLOCATOR_THREADS_SAFE)
        allocator_leave(allocator, true);
    allocator->ops.get_stats(allocator->context, &present);
    if (allocator->threads == JALLOCATOR_THREADS_LOCK)
        allocator_leave(allocator, true);

    present.fragmentation = present.free_bytes != 0 ? 1.0 - (double)present.largest_free_bytes /
                                                                (double)present.free_bytes
                                                    : 0;

    JI_GIVE_RESULT(stats, &present);
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_clear_stats(jallocator_t *allocator) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);

    allocator_enter(allocator, true);
    ji_books_clear(&allocator->books);

    if (allocator->threads == JALLOCATOR_THREADS_SAFE)
        allocator_leave(allocator, true);
    allocator->ops.clear_stats(allocator->context);
    if (allocator->threads == JALLOCATOR_THREADS_LOCK)
        allocator_leave(allocator, true);

    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_trim(jallocator_t *allocator, size_t keep_bytes) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);

    allocator_enter(allocator, false);
    jstatus_t status = allocator->ops.trim(allocator->context, keep_bytes);
    allocator_leave(allocator, false);

    return status;
}

jstatus_t jallocator_check(jallocator_t *allocator) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);

    allocator_enter(allocator, false);
    jstatus_t status = allocator->ops.check(allocator->context);
    allocator_leave(allocator, false);

    return status;
}

/* ---- What it is ---- */

const char *jallocator_name(const jallocator_t *allocator) {
    return allocator != NULL ? allocator->name : "(null)";
}
jdevice_t *jallocator_device(const jallocator_t *allocator) {
    return allocator != NULL ? allocator->device : NULL;
}
jallocator_t *jallocator_below(const jallocator_t *allocator) {
    if (allocator != NULL && allocator->below_is_part)
        allocator = allocator->below;
    return allocator != NULL ? allocator->below : NULL;
}
jallocator_threads_t jallocator_threads(const jallocator_t *allocator) {
    return allocator != NULL ? allocator->threads : JALLOCATOR_THREADS_NONE;
}
