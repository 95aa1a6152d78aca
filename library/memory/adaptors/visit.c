/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Visitors of blocks.
 *
 * For each live block there is a set of bits: which visitors know it, that is, were told that it
 * came and not yet that it goes. What each block's set should be is plain at any time: all present
 * visitors while the block stays, none once it is to go; and a visitor that was removed should be
 * in no set. All that ever happens is that a block is settled: while its set is not what it should
 * be, one visitor is told (of a coming in the order in which they were added, of a going in
 * reverse), without a lock, and its bit turned. An allocation settles its block before it is handed
 * out, a deallocation before it goes to below, adding and removing a visitor settle all blocks. So
 * a visitor sees every block exactly once in each direction and in this order, whoever adds,
 * removes, allocates and frees at the same time.
 *
 * One thread at a time settles a block: it has its turn, a record among its local variables.
 * Whoever wants to settle the same block waits for that turn to end; but a thread that is in a
 * visitor's function itself does not wait, since the other might wait for it. It leaves the work to
 * the turn that is under way, which goes on until the set is right. So visitors may call everything
 * here, also add and remove visitors; only freeing the very block that they are told of is refused.
 *
 * Removing waits until no other thread is in the visitor's functions: after it they are not called
 * any more. A child of a fork forgets the turns of the threads that it does not have. */

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "jalloc/adaptor.h"
#include "memory/adaptor.h"

#define VISIT_MAX_VISITORS 32 /* bits of a ledger entry's number */
#define VISIT_PAUSE_NS 50000

typedef struct visit_slot {
    jvisitor_t visitor;
    uint64_t order;     /* grows with every visitor added */
    size_t known_count; /* blocks that it knows */
    bool present;       /* was added and not removed */
} visit_slot_t;

/* A thread that settles a block. */
typedef struct visit_turn {
    const void *pointer;
    uintptr_t thread; /* by its name */
    int calling;      /* the slot whose function it is in; -1: none */
    struct visit_turn *next;
} visit_turn_t;

typedef struct visit_adaptor {
    ji_adaptor_t adaptor;
    /* Its lock is around everything below, never while a visitor is called; in its ledger of live
     * blocks `number` is the visitors that know them. */
    jallocator_t *self;
    visit_slot_t slots[VISIT_MAX_VISITORS];
    visit_turn_t *turns; /* under way */
    uint64_t last_order;
    unsigned fork_generation;
} visit_adaptor_t;

static void visit_enter(visit_adaptor_t *visit) {
    ji_lock_acquire(&visit->self->lock);
    if (JI_LIKELY(visit->fork_generation == ji_fork_generation))
        return;

    visit->fork_generation = ji_fork_generation;
    for (visit_turn_t **link = &visit->turns; *link != NULL;)
        if ((*link)->thread != ji_thread_self())
            *link = (*link)->next;
        else
            link = &(*link)->next;
}
static void visit_leave(visit_adaptor_t *visit) { ji_lock_release(&visit->self->lock); }

/* Lets others go on. Under the lock, which is free for a while. */
static void visit_pause(visit_adaptor_t *visit) {
    const struct timespec pause = {0, VISIT_PAUSE_NS};
    visit_leave(visit);
    nanosleep(&pause, NULL);
    visit_enter(visit);
}

/* ---- Turns ---- */

static bool visit_is_taken(const visit_adaptor_t *visit, const void *pointer) {
    for (const visit_turn_t *turn = visit->turns; turn != NULL; turn = turn->next)
        if (turn->pointer == pointer)
            return true;
    return false;
}
/* Whether the calling thread is in a visitor's function. */
static bool visit_is_inside(const visit_adaptor_t *visit) {
    for (const visit_turn_t *turn = visit->turns; turn != NULL; turn = turn->next)
        if (turn->thread == ji_thread_self())
            return true;
    return false;
}
static bool visit_is_called(const visit_adaptor_t *visit, int slot) {
    for (const visit_turn_t *turn = visit->turns; turn != NULL; turn = turn->next)
        if (turn->calling == slot)
            return true;
    return false;
}

/* Who is to be told next: that the block goes, the last added first, then that it came, the first
 * added first; -1: nobody. */
static int visit_next(const visit_adaptor_t *visit, uint32_t known, bool goes) {
    int next = -1;
    for (int i = 0; i < VISIT_MAX_VISITORS; ++i)
        if ((known >> i & 1) != 0 && (goes || !visit->slots[i].present) &&
            (next < 0 || visit->slots[i].order > visit->slots[next].order))
            next = i;

    if (next >= 0 || goes)
        return next;

    for (int i = 0; i < VISIT_MAX_VISITORS; ++i)
        if ((known >> i & 1) == 0 && visit->slots[i].present &&
            (next < 0 || visit->slots[i].order < visit->slots[next].order))
            next = i;

    return next;
}

/* Settles a block that nobody else has a turn of. Under the lock, which is free while visitors are
 * called. */
static void visit_settle(visit_adaptor_t *visit, void *pointer, bool goes) {
    visit_turn_t turn = {pointer, ji_thread_self(), -1, visit->turns};
    visit->turns = &turn;

    for (;;) {
        /* Looked up each time: it moves when others change the ledger. */
        ji_ledger_entry_t *entry = ji_ledger_find(&visit->self->ledger, pointer);
        int next = visit_next(visit, entry->number, goes);
        if (next < 0)
            break;

        visit_slot_t *slot = &visit->slots[next];
        bool knew = (entry->number >> next & 1) != 0;
        size_t size_bytes = entry->size_bytes;
        void (*function)(void *, void *, size_t) = knew ? slot->visitor.shrink : slot->visitor.grow;
        void *function_context = slot->visitor.context;

        entry->number ^= (uint32_t)1 << next;
        slot->known_count += knew ? (size_t)-1 : 1;

        if (function == NULL)
            continue;

        turn.calling = next;
        visit_leave(visit);
        function(function_context, pointer, size_bytes);
        visit_enter(visit);
        turn.calling = -1;
    }

    visit_turn_t **link = &visit->turns;
    while (*link != &turn)
        link = &(*link)->next;
    *link = turn.next;
}

/* Settles every block for the sake of one visitor. Blocks that others settle at the moment are
 * waited for, unless the calling thread is in a visitor's function: then they will be right when
 * those others are done. */
static void visit_settle_all(visit_adaptor_t *visit, int slot) {
    for (bool again = true; again;) {
        bool worked = false, waits = false;
        for (size_t i = 0; i < ji_ledger_slots(&visit->self->ledger); ++i) {
            const ji_ledger_entry_t *entry = ji_ledger_at(&visit->self->ledger, i);
            if (entry == NULL || ((entry->number >> slot & 1) != 0) == visit->slots[slot].present)
                continue;

            void *pointer = (void *)entry->address;
            if (visit_is_taken(visit, pointer)) {
                waits = true;
            } else {
                /* Entries may have moved: another round will tell. */
                visit_settle(visit, pointer, false);
                worked = true;
            }
        }

        again = worked || (waits && !visit_is_inside(visit));
        if (again && !worked)
            visit_pause(visit);
    }
}

/* ---- Functions ---- */

/* Enters a block and tells of it. False without bookkeeping memory. Under the lock. */
static bool visit_add_block(visit_adaptor_t *visit, void *pointer, size_t size_bytes) {
    if (!ji_ledger_reserve(&visit->self->ledger))
        return false;

    ji_ledger_insert(&visit->self->ledger, pointer, size_bytes, ji_tag_current);
    ji_books_allocate(&visit->self->books, size_bytes);
    visit_settle(visit, pointer, false);
    return true;
}

/* The same for one that was told of as going, and stays after all. */
static void visit_restore_block(visit_adaptor_t *visit, void *pointer, size_t size_bytes,
                                jtag_t tag) {
    ji_books_restore(&visit->self->books, size_bytes);
    if (ji_ledger_restore(&visit->self->ledger, pointer, size_bytes, tag) != NULL)
        visit_settle(visit, pointer, false);
}

static jstatus_t visit_allocate(void *context, size_t size_bytes, size_t alignment,
                                jstream_t *stream, void **pointer) {
    visit_adaptor_t *visit = context;
    void *memory;
    JTRY_RETURN(jallocator_allocate(visit->adaptor.below, size_bytes, alignment, stream, &memory));

    visit_enter(visit);
    bool added = visit_add_block(visit, memory, size_bytes);
    visit_leave(visit);

    if (!added) {
        (void)jallocator_deallocate(visit->adaptor.below, memory, size_bytes, stream);
        return ji_fail(JSTATUS_MEMORY_ERROR, "no memory for bookkeeping");
    }

    *pointer = memory;
    return JSTATUS_SUCCESS;
}

/* Takes a live block out after telling that it goes. Under the lock. */
static jstatus_t visit_remove_block(visit_adaptor_t *visit, void *pointer, size_t size_bytes,
                                    jtag_t *tag) {
    while (visit_is_taken(visit, pointer)) {
        if (visit_is_inside(visit))
            return ji_fail(JSTATUS_BUSY,
                           "visit: visitors are being told of %p: it cannot be freed by one "
                           "of them",
                           pointer);
        visit_pause(visit);
    }

    const ji_ledger_entry_t *entry = ji_ledger_find(&visit->self->ledger, pointer);
    if (entry == NULL)
        return ji_refuse_unknown(visit->self->name, pointer, "already");
    if (entry->size_bytes != size_bytes)
        return ji_fail(JSTATUS_INVALID_SIZE, "visit: %p has %zu bytes and is given back with %zu",
                       pointer, entry->size_bytes, size_bytes);

    *tag = entry->tag;
    visit_settle(visit, pointer, true);
    ji_ledger_remove(&visit->self->ledger, ji_ledger_find(&visit->self->ledger, pointer));
    ji_books_deallocate(&visit->self->books, size_bytes);
    return JSTATUS_SUCCESS;
}

static jstatus_t visit_deallocate(void *context, void *pointer, size_t size_bytes,
                                  jstream_t *stream) {
    visit_adaptor_t *visit = context;

    jtag_t tag = 0;
    visit_enter(visit);
    jstatus_t status = visit_remove_block(visit, pointer, size_bytes, &tag);
    visit_leave(visit);

    if (status != JSTATUS_SUCCESS)
        return status;

    status = jallocator_deallocate(visit->adaptor.below, pointer, size_bytes, stream);
    if (JI_UNLIKELY(status != JSTATUS_SUCCESS)) { /* it stays after all */
        visit_enter(visit);
        visit_restore_block(visit, pointer, size_bytes, tag);
        visit_leave(visit);
    }

    return status;
}

static jstatus_t visit_create(const ji_request_t *request, jallocator_t **out) {
    jallocator_ops_t ops = ji_adaptor_ops;
    ops.allocate = visit_allocate;
    ops.deallocate = visit_deallocate;
    ops.coalesces = NULL; /* a visitor makes something of each block by itself, e.g. registers it */

    ji_traits_t traits = {.name = request->name,
                          .below = request->below,
                          .threads = JALLOCATOR_THREADS_SAFE,
                          .keeps_books = true, /* a block is known while visitors are told of it */
                          .kind = &ji_kind_visit};

    jstatus_t status = JSTATUS_SUCCESS;
    visit_adaptor_t *visit;
    JTRY_ALLOC(visit = ji_metadata_zalloc(sizeof *visit));
    visit->adaptor.below = request->below;
    ji_fork_watch();
    visit->fork_generation = ji_fork_generation;

    JTRY(ji_allocator_make(&ops, visit, &traits, &visit->self));
    *out = visit->self;
    visit = NULL;

done:
    ji_metadata_free(visit);
    return status;
}

const ji_kind_t ji_kind_visit = {
    .public = {"visit", JALLOCATOR_ADAPTOR, "tells visitors of each block that comes and goes",
               ji_no_keys},
    .create = visit_create,
};

jstatus_t jallocator_create_visit(jallocator_t *below, jallocator_t **allocator) {
    return ji_kind_make(&ji_kind_visit, NULL, below, NULL, allocator);
}

/* ---- Visitors ---- */

/* The slot of a present visitor with the same members; -1 where there is none. */
static int visit_find_visitor(const visit_adaptor_t *visit, const jvisitor_t *visitor) {
    for (int i = 0; i < VISIT_MAX_VISITORS; ++i) {
        const visit_slot_t *slot = &visit->slots[i];
        if (slot->present && slot->visitor.grow == visitor->grow &&
            slot->visitor.shrink == visitor->shrink && slot->visitor.context == visitor->context)
            return i;
    }
    return -1;
}

/* A slot that nobody has, knows or is in. */
static int visit_find_free_slot(const visit_adaptor_t *visit) {
    for (int i = 0; i < VISIT_MAX_VISITORS; ++i)
        if (!visit->slots[i].present && visit->slots[i].known_count == 0 &&
            !visit_is_called(visit, i))
            return i;
    return -1;
}

static jstatus_t visit_require(jallocator_t *allocator, const jvisitor_t *visitor,
                               const char *caller, visit_adaptor_t **visit) {
    jallocator_t *found;
    JTRY_RETURN(ji_allocator_require_kind(allocator, &ji_kind_visit, caller, &found));
    if (visitor == NULL)
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: the visitor is NULL", caller);

    *visit = found->context;
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_visit_add(jallocator_t *allocator, const jvisitor_t *visitor) {
    visit_adaptor_t *visit = NULL;
    JTRY_RETURN(visit_require(allocator, visitor, __func__, &visit));
    jstatus_t status = JSTATUS_SUCCESS;

    visit_enter(visit);
    int slot = visit_find_free_slot(visit);

    if (visit_find_visitor(visit, visitor) >= 0) {
        status = ji_fail(JSTATUS_EXISTS, "%s: such a visitor was added already", __func__);
    } else if (slot < 0) {
        status = ji_fail(JSTATUS_MEMORY_ERROR, "%s: there are %d visitors", __func__,
                         VISIT_MAX_VISITORS);
    } else {
        visit->slots[slot] = (visit_slot_t){*visitor, ++visit->last_order, 0, true};
        visit_settle_all(visit, slot);
    }

    visit_leave(visit);
    return status;
}

jstatus_t jallocator_visit_remove(jallocator_t *allocator, const jvisitor_t *visitor) {
    visit_adaptor_t *visit = NULL;
    JTRY_RETURN(visit_require(allocator, visitor, __func__, &visit));
    jstatus_t status = JSTATUS_SUCCESS;

    visit_enter(visit);
    int slot = visit_find_visitor(visit, visitor);

    if (slot < 0) {
        status = ji_fail(JSTATUS_NOT_FOUND, "%s: no such visitor", __func__);
    } else {
        uint64_t order = visit->slots[slot].order;
        visit->slots[slot].present = false;
        visit_settle_all(visit, slot);
        while (visit->slots[slot].order == order && visit_is_called(visit, slot) &&
               !visit_is_inside(visit))
            visit_pause(visit);
    }

    visit_leave(visit);
    return status;
}
