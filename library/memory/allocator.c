/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The one allocator object: how one is made, found and ended. The calls on it are in calls.c.
 *
 * Everything that hands out memory is a table of functions and a context behind this object,
 * jalloc's own kinds as well as a caller's callbacks. The table is checked and copied when the
 * object is made, and its empty slots are filled, so that a call never asks whether a slot is
 * there. What every allocator would have to do again is done here: arguments are checked before a
 * function sees them, what a function gives is checked before a caller sees it, requests are
 * counted, and where the allocator does not know its own blocks a ledger does. How all that is done
 * is decided once, by an entry (entry.h). */

#include <pthread.h>
#include <string.h>

#include "memory/adaptor.h"
#include "memory/entry.h"
#include "memory/refuse.h"

/* ---- All allocators of the process ---- */

static ji_lock_t allocator_list_lock;
static ji_list_t allocator_list = JI_LIST_EMPTY(allocator_list);
static bool allocator_keeps_call_traces;

/* A stream is about to be destroyed, all its work done. */
static void allocator_forget_stream(jstream_t *stream) {
    const ji_list_t *allocators = ji_allocator_list_acquire();
    JI_LIST_EACH(allocators, jallocator_t, allocator, link) {
        bool locks = allocator->threads == JALLOCATOR_THREADS_LOCK;
        if (locks)
            ji_lock_acquire(&allocator->lock);

        allocator->ops.forget_stream(allocator->context, stream);

        if (locks)
            ji_lock_release(&allocator->lock);
    }

    ji_allocator_list_release();
}

static void allocator_list_start(void) {
    ji_lock_init(&allocator_list_lock);
    atomic_store_explicit(&ji_stream_destroy_hook, allocator_forget_stream, memory_order_release);
}

ji_list_t *ji_allocator_list_acquire(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, allocator_list_start);

    ji_lock_acquire(&allocator_list_lock);
    return &allocator_list;
}

void ji_allocator_list_release(void) { ji_lock_release(&allocator_list_lock); }

/* Before the first allocator is made; again for the next one, where the environment is not
 * understood. */
static jstatus_t allocator_start_report(void) {
    static atomic_bool started;
    if (JI_LIKELY(atomic_load_explicit(&started, memory_order_acquire)))
        return JSTATUS_SUCCESS;

    jstatus_t status = JSTATUS_SUCCESS;
    (void)ji_allocator_list_acquire();

    if (!atomic_load_explicit(&started, memory_order_relaxed)) {
        status = ji_leak_report_start(&allocator_keeps_call_traces);
        atomic_store_explicit(&started, status == JSTATUS_SUCCESS, memory_order_release);
    }

    ji_allocator_list_release();
    return status;
}

static void allocator_list_add(jallocator_t *allocator) {
    ji_list_t *allocators = ji_allocator_list_acquire();
    if (allocator_keeps_call_traces &&
        (allocator->call_traces = ji_metadata_alloc(sizeof *allocator->call_traces)) != NULL)
        ji_call_traces_init(allocator->call_traces);

    ji_list_push_front(allocators, &allocator->link);
    ji_allocator_list_release();
}

static void allocator_list_remove(jallocator_t *allocator) {
    (void)ji_allocator_list_acquire();
    ji_list_remove(&allocator->link);
    ji_allocator_list_release();
}

/* ---- Entries ---- */

/* Whoever has no `find`, or answers with what is below, does not know which blocks are its own. */
static bool allocator_needs_ledger(const jallocator_ops_t *ops) {
    return ops->find == NULL || ops->find == ji_adaptor_ops.find;
}

jstatus_t ji_entry_judge(jallocator_t *allocator, jstatus_t status, void **pointer,
                         size_t size_bytes, size_t alignment, jstream_t *stream, bool explained) {
    void *memory = *pointer;
    *pointer = NULL;

    if (status == JSTATUS_SUCCESS) {
        status = ji_fail(JSTATUS_INTERNAL_ERROR,
                         "allocator \"%s\" answered %zu bytes aligned to %zu with the pointer %p",
                         allocator->name, size_bytes, alignment, memory);
        if (memory != NULL)
            (void)allocator->ops.deallocate(allocator->context, memory, size_bytes, stream);
        return status;
    }

    ji_fail(status, "allocator \"%s\": no %zu bytes aligned to %zu: %s", allocator->name,
            size_bytes, alignment, explained ? jstatus_last_message() : jstatus_text(status));

    /* A status that is no error would look to the caller as if there were memory. */
    return jstatus_is_error(status) ? status : JSTATUS_INTERNAL_ERROR;
}

jstatus_t ji_entry_refuse(jallocator_t *allocator, const void *pointer, size_t size_bytes) {
    const ji_ledger_entry_t *entry = ji_ledger_find(&allocator->ledger, pointer);
    if (entry != NULL)
        return ji_refuse_size(allocator, pointer, 0, entry->size_bytes, size_bytes);

    entry = ji_ledger_find_containing(&allocator->ledger, pointer);
    if (entry != NULL)
        return ji_refuse_interior(allocator, pointer, entry->address, 0);

    return ji_refuse_foreign(allocator, pointer);
}

jstatus_t ji_refuse_unknown(const char *name, const void *pointer, const char *when) {
    return ji_fail(JSTATUS_NOT_FOUND,
                   "allocator \"%s\": %p is not live: never handed out, or given back %s", name,
                   pointer, when);
}

jstatus_t ji_entry_lacks_books(jallocator_t *allocator) {
    return ji_fail(JSTATUS_MEMORY_ERROR, "allocator \"%s\": no memory for bookkeeping",
                   allocator->name);
}

JI_ENTRY(entry_keeping, keeping, allocator->ops.allocate, allocator->ops.deallocate, false)
JI_ENTRY(entry_straight, straight, allocator->ops.allocate, allocator->ops.deallocate, false)
JI_ENTRY(entry_single, booked, allocator->ops.allocate, allocator->ops.deallocate, false)
JI_ENTRY(entry_single_ledger, booked, allocator->ops.allocate, allocator->ops.deallocate, true)
JI_ENTRY(entry_locked, locked, allocator->ops.allocate, allocator->ops.deallocate, false)
JI_ENTRY(entry_locked_ledger, locked, allocator->ops.allocate, allocator->ops.deallocate, true)
JI_ENTRY(entry_safe, unlocked, allocator->ops.allocate, allocator->ops.deallocate, false)
JI_ENTRY(entry_safe_ledger, unlocked, allocator->ops.allocate, allocator->ops.deallocate, true)

static ji_entry_t allocator_choose_entry(const ji_traits_t *traits, bool ledger) {
    if (traits->entry != NULL)
        return *traits->entry;
    if (traits->threads == JALLOCATOR_THREADS_LOCK)
        return ledger ? entry_locked_ledger : entry_locked;
    if (traits->threads == JALLOCATOR_THREADS_NONE)
        return ledger ? entry_single_ledger : entry_single;

    /* Safe by themselves: only books and ledger need the lock. */
    if (traits->counts_itself)
        return entry_straight;
    if (traits->keeps_books)
        return entry_keeping;
    return ledger ? entry_safe_ledger : entry_safe;
}

/* ---- Defaults of empty slots ---- */

static size_t allocator_default_usable_size(void *context, const void *pointer, size_t size_bytes) {
    (void)context, (void)pointer;
    return size_bytes;
}
static void allocator_default_get_stats(void *context, jallocator_stats_t *stats) {
    (void)context, (void)stats;
}
static void allocator_default_notify(void *context) { (void)context; }
static jstatus_t allocator_default_trim(void *context, size_t keep_bytes) {
    (void)context, (void)keep_bytes;
    return JSTATUS_SUCCESS;
}
static jstatus_t allocator_default_check(void *context) {
    (void)context;
    return JSTATUS_SUCCESS;
}
static void allocator_default_forget_stream(void *context, jstream_t *stream) {
    (void)context, (void)stream;
}
static bool allocator_default_coalesces(void *context) {
    (void)context;
    return false;
}

static size_t allocator_default_page_bytes(void *context) {
    (void)context;
    return 0;
}

static void allocator_fill_defaults(jallocator_ops_t *ops) {
    if (ops->usable_size == NULL)
        ops->usable_size = allocator_default_usable_size;
    if (ops->get_stats == NULL)
        ops->get_stats = allocator_default_get_stats;
    if (ops->clear_stats == NULL)
        ops->clear_stats = allocator_default_notify;
    if (ops->trim == NULL)
        ops->trim = allocator_default_trim;
    if (ops->check == NULL)
        ops->check = allocator_default_check;
    if (ops->forget_stream == NULL)
        ops->forget_stream = allocator_default_forget_stream;
    if (ops->destroy == NULL)
        ops->destroy = allocator_default_notify;
    if (ops->coalesces == NULL)
        ops->coalesces = allocator_default_coalesces;
    if (ops->page_bytes == NULL || ops->set_pages == NULL)
        ops->page_bytes = allocator_default_page_bytes;
}

/* ---- Life ---- */

jstatus_t ji_allocator_make(const jallocator_ops_t *ops, void *context, const ji_traits_t *traits,
                            jallocator_t **out) {
    JTRY_RETURN(allocator_start_report());
    jallocator_t *allocator = ji_metadata_zalloc(sizeof *allocator);
    if (allocator == NULL)
        return ji_fail(JSTATUS_MEMORY_ERROR, "allocator \"%s\": no memory for bookkeeping",
                       traits->name);

    allocator->ops = *ops;
    allocator_fill_defaults(&allocator->ops);
    allocator->context = context;
    allocator->threads = traits->threads;

    allocator->has_ledger = allocator_needs_ledger(&allocator->ops);
    allocator->entry = allocator_choose_entry(traits, allocator->has_ledger);

    allocator->kind = traits->kind;
    allocator->below = traits->below;
    allocator->owns_below = allocator->below_is_part = traits->below_is_part;
    allocator->device = traits->device != NULL  ? traits->device
                        : traits->below != NULL ? traits->below->device
                                                : jdevice_host();
    allocator->granule_bytes = jdevice_granule_bytes(allocator->device);
    strncpy(allocator->name, traits->name, JALLOCATOR_NAME_BYTES - 1);

    if (traits->below != NULL)
        (void)jallocator_retain(traits->below);
    ji_lock_init(&allocator->lock);

    *out = allocator; /* where its functions look: as soon as it is in the list they may be asked */
    allocator_list_add(allocator);
    return JSTATUS_SUCCESS;
}

static jstatus_t allocator_check_name(const char *name, const char *caller) {
    if (strnlen(name, JALLOCATOR_NAME_BYTES) == JALLOCATOR_NAME_BYTES)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: the name \"%.40s...\" has more than %d characters", caller, name,
                       JALLOCATOR_NAME_BYTES - 1);

    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_create(const jallocator_ops_t *given_ops, void *context,
                            const jallocator_options_t *given_options, jallocator_t **out) {
    JREQUIRE_POINTER(given_ops, "ops");
    JREQUIRE_POINTER(out, "allocator");
    jallocator_ops_t ops = JALLOCATOR_OPS_INIT;
    JTRY_RETURN(JI_TAKE_OPTIONS(jallocator_ops_t, &ops, given_ops, deallocate));
    JREQUIRE(ops.allocate != NULL && ops.deallocate != NULL, JSTATUS_INVALID_POINTER);

    jallocator_options_t options = JALLOCATOR_OPTIONS_INIT;
    JTRY_RETURN(JI_TAKE_OPTIONS(jallocator_options_t, &options, given_options, name));
    JREQUIRE_VALUE((unsigned)options.threads <= JALLOCATOR_THREADS_SAFE, JSTATUS_INVALID_VALUE,
                   __func__, "threads", options.threads, "must be of jallocator_threads_t");

    const char *name = options.name != NULL ? options.name : "callbacks";
    JTRY_RETURN(allocator_check_name(name, __func__));

    bool is_default = options.threads == JALLOCATOR_THREADS_DEFAULT;
    ji_traits_t traits = {.name = name,
                          .device = options.device,
                          .below = options.below,
                          .threads = is_default ? JALLOCATOR_THREADS_SAFE : options.threads};

    jallocator_t *allocator = NULL;
    jstatus_t status = ji_allocator_make(&ops, context, &traits, &allocator);
    return status == JSTATUS_SUCCESS ? ji_record_wrap(allocator, out) : status;
}

jstatus_t ji_kind_make(const ji_kind_t *kind, jdevice_t *device, jallocator_t *below,
                       const void *options, jallocator_t **out) {
    static const ji_common_options_t no_options = {sizeof no_options, NULL};
    const char *caller = kind->public.name;
    if (out == NULL)
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: no pointer for the allocator", caller);
    if (below == NULL && kind->public.role != JALLOCATOR_PROVIDER)
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: below is NULL", caller);

    _Alignas(max_align_t) char complete[JI_KIND_MAX_OPTIONS_BYTES];
    size_t bytes = kind->options_bytes != 0 ? kind->options_bytes : sizeof no_options;
    memcpy(complete, kind->options_bytes != 0 ? kind->defaults : &no_options, bytes);
    const char *type = kind->options_bytes != 0 ? kind->options_type : caller;
    JTRY_RETURN(ji_options_take(complete, bytes, options, sizeof no_options, type));

    const ji_common_options_t *common = (const ji_common_options_t *)complete;
    ji_request_t request = {device, below, complete,
                            common->name != NULL ? common->name : kind->public.name};
    JTRY_RETURN(allocator_check_name(request.name, caller));
    if (request.device == NULL)
        request.device = below != NULL ? below->device : jdevice_host();

    jallocator_t *allocator;
    JTRY_RETURN(kind->create(&request, &allocator));
    return kind == &ji_kind_record ? (*out = allocator, JSTATUS_SUCCESS)
                                   : ji_record_wrap(allocator, out);
}

void ji_allocator_dispose(jallocator_t *allocator) {
    jallocator_t *below = allocator->below;
    bool owns_below = allocator->owns_below;

    allocator_list_remove(allocator); /* first: whoever walks the list may look at what it has */
    allocator->ops.destroy(allocator->context);

    ji_lock_fini(&allocator->lock);
    ji_ledger_fini(&allocator->ledger);
    if (allocator->call_traces != NULL)
        ji_call_traces_fini(allocator->call_traces);
    ji_metadata_free(allocator->call_traces);
    ji_metadata_free(allocator);

    if (below != NULL) {
        (void)jallocator_release(below);
        jstatus_t status = owns_below ? jallocator_destroy(below) : JSTATUS_SUCCESS;
        if (status != JSTATUS_SUCCESS)
            jlog_write(JLOG_WARNING, __func__, "%s: it stays", jstatus_last_message());
    }
}

static bool count_live(void *context, const jallocation_t *block) {
    jallocator_stats_t *stats = context;
    stats->live_count += block->live;
    stats->in_use_bytes += block->live ? block->size_bytes : 0;
    return true;
}

/* What is live. Where each thread counts for itself, a block that goes from one to another while
 * counts are added up may be missed, and hide another one; the blocks themselves are looked at
 * then. */
static jallocator_stats_t allocator_live(const jallocator_t *allocator) {
    jallocator_stats_t stats = JALLOCATOR_STATS_INIT;
    (void)jallocator_get_stats(allocator, &stats);
    if (stats.live_count == 0 &&
        (allocator->kind == &ji_kind_small || allocator->kind == &ji_kind_general)) {
        stats.in_use_bytes = 0;
        (void)jallocator_visit(allocator, count_live, &stats);
    }
    return stats;
}

jstatus_t jallocator_destroy(jallocator_t *allocator) {
    if (allocator == NULL)
        return JSTATUS_SUCCESS;

    const jallocator_stats_t stats = allocator_live(allocator);
    size_t users = atomic_load_explicit(&allocator->retain_count, memory_order_acquire);
    if (stats.live_count != 0 || users != 0)
        return ji_fail(JSTATUS_BUSY,
                       "allocator \"%s\" cannot be destroyed: %zu bytes in %llu allocations are "
                       "live, %zu %s it",
                       allocator->name, stats.in_use_bytes, (unsigned long long)stats.live_count,
                       users, users == 1 ? "user keeps" : "users keep");

    ji_allocator_dispose(allocator);
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_own_below(jallocator_t *allocator) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    if (allocator->below == NULL)
        return ji_fail(JSTATUS_NOT_FOUND, "allocator \"%s\" has nothing below", allocator->name);

    if (allocator->below_is_part)
        allocator = allocator->below;
    allocator->owns_below = true;
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_retain(jallocator_t *allocator) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    atomic_fetch_add_explicit(&allocator->retain_count, 1, memory_order_relaxed);
    return JSTATUS_SUCCESS;
}

jstatus_t jallocator_release(jallocator_t *allocator) {
    JREQUIRE(allocator != NULL, JSTATUS_INVALID_POINTER);
    size_t users = atomic_load_explicit(&allocator->retain_count, memory_order_relaxed);

    do {
        if (users == 0)
            return ji_fail(JSTATUS_NOT_FOUND, "allocator \"%s\": released more often than retained",
                           allocator->name);
    } while (!atomic_compare_exchange_weak_explicit(&allocator->retain_count, &users, users - 1,
                                                    memory_order_release, memory_order_relaxed));

    return JSTATUS_SUCCESS;
}

jallocator_t *ji_allocator_of_kind(const jallocator_t *allocator, const ji_kind_t *kind) {
    while (allocator != NULL && allocator->kind != kind)
        allocator = allocator->below;
    return (jallocator_t *)allocator;
}

jstatus_t ji_allocator_require_kind(const jallocator_t *allocator, const ji_kind_t *kind,
                                    const char *caller, jallocator_t **found) {
    if (allocator == NULL)
        return ji_fail(JSTATUS_INVALID_POINTER, "%s: the allocator is NULL", caller);

    jallocator_t *of_kind = ji_allocator_of_kind(allocator, kind);
    if (of_kind == NULL)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: neither \"%s\" nor what is below it is of the kind \"%s\"", caller,
                       allocator->name, kind->public.name);

    *found = of_kind;
    return JSTATUS_SUCCESS;
}
